"""The gauntlet: a simulated operations world full of traps, and agents that cross it with and without shared memory.

    names.py       words, and how a seed draws names from them
    terminal.py    commands, what they answer, and the one thing that an agent can do to the world
    world.py       the world, and estates of several services; its four traps are in traps/
    advice.py      how a lesson states what to do, and how it is read again
    diagnosis.py   working out a cure from what the world says
    policy.py      the scripted agent: recall, try, verify, work it out, learn or contest
    minded.py      an agent whose every move a language model chooses
    when.py        when a memory is asked, as rules for words
    garbled.py     tools whose results arrive corrupted, and how they are read
    tribe.py       what the policy needs of a shared memory; remote.py: that, over HTTP, through tributary.client;
                   briefing.py: that, read out of a prompt
    agent.py       one agent as a process of its own; asker.py answers questions, payer.py pays an invoice once
    curator.py     a curator who tries both sides of a dispute
    server.py      a server of the demo's own, with tribes and tokens, in a folder that vanishes
    crew.py        starts agents; runner.py: the first demo; demos/ the others
    claims.py      what the first demo claims, checked
    report.py      its tables and plot; pictures.py: how all pictures look; spending.py: what a model came to

The agents never see the seed: names and values reach them through the world's answers and through recall alone.
"""
