"""The gauntlet: a simulated operations world full of traps, and agents that cross it with and without shared memory.

    names.py       words, and how a seed draws names from them
    terminal.py    commands, what they answer, and the one thing that an agent can do to the world
    world.py       the world; its four traps are in traps/
    advice.py      how a lesson states what to do, and how it is read again
    diagnosis.py   working out a cure from what the world says
    policy.py      the scripted agent: recall, try, verify, work it out, learn
    tribe.py       what the policy needs of a shared memory; remote.py: that, over HTTP, through tributary.client
    agent.py       one agent as a process of its own
    server.py      a server of the demo's own, with tribes and tokens, in a folder that vanishes
    runner.py      the demo: agent-a, agent-b and two controls
    claims.py      what the demo claims, checked
    report.py      tables and plot

The agents never see the seed: names and values reach them through the world's answers and through recall alone.
"""
