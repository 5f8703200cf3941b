"""What tests can't assert, scored on labelled data: `python -m evals.run`.

run.py          the command: options, the suites in turn, exit codes
suites/         one module a suite: from a bench to what was measured; data/ holds their labelled cases
bench.py        what a suite works on; models.py, ground.py, purse.py, charged.py, bars.py give it
figures.py      metrics with intervals, confusion matrices, tables
baseline.py     what figures may not fall below: baseline.json
report.py       a run as Markdown, JSON and tables; pictures.py draws it
retrieval/      questions about foreign runbooks (runbooks.py), and what is made of the answers
discipline.py   the scripted policy for the use of memory
here.py         a tribe in this process, for the agents of gauntlet/
gauntlet/       the trap world and its agents; also a demo of its own
"""
