"""The benchmark suite behind `make bench`: who is measured, how, and what is made of the figures.

    contender.py   what can be measured, and windows of calls taken in turns
    ours.py        forms of the batched twins, through the public VectorEnv
    limits.py      hand-written C programs of the same rules (../limits/*.c)
    gymnasiums.py  Gymnasium's own vector environments
    workers.py     peers that live in virtual environments of their own (peers/*.py runs there)
    venvs.py       those virtual environments, made on request
    plan.py        which contenders meet at which environment and size
    growth.py      cost against N, memory of a row, bytes moved, share of the machine's copy rate
    variants.py    forager with other numbers of berries and other grids
    machine.py     what the machine is
    tables.py      Markdown tables of a run
    plots.py       pictures of a run
"""
