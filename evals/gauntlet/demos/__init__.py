"""The demos, a module each: what runs, what is claimed of it, its tables and its picture.

base.py          what a demo is
two_agents.py    demo: one agent learns, others hold what it learned in two ways
poison.py        a falsehood is believed, disproved and superseded; a hostile lesson is held back
generations.py   fresh agents take fewer steps, generation by generation
chaos.py         garbled tools, killed agents
time_travel.py   what was believed at each moment, asked for later
restraint.py     control: tasks in which memory must not be used
"""
