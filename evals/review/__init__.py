"""The review queue as golden rows: `python -m evals.review list|show|accept|edit|reject`.

rows.py     from a case of the queue to the row of a golden set, and to which set
golden.py   golden files: a row goes in whole or not at all; what was begun is noted beside them
effect.py   what a set says of the local judge or screen, before and after
desk.py     the steps of accepting and rejecting, in an order in which a crash doubles nothing
words.py    how cases are shown
"""
