"""The benchmark suite behind `make bench`: who is measured, how, and what is made of the figures.

    contender.py   what can be measured, and windows of calls taken in turns
    ours.py        forms of the batched twins, through the public VectorEnv
    limits.py      hand-written C programs of the same rules (../limits/*.c)
    gymnasiums.py  Gymnasium's own vector environments
    originals.py   which environment of other people is the same as one of ours
    workers.py     peers that live in virtual environments of their own (peers/*.py runs there)
    strangers.py   vector environments that judge_strangers.py judges
    venvs.py       those virtual environments, made on request
    plan.py        which contenders meet at which environment and size
    growth.py      cost against rows, and against forager's berries and grid
    variants.py    forager with other numbers of berries and other grids
    cost.py        bytes and operations of a row, and a copy of as many bytes
    machine.py     what the machine is
    roofline.py    share of the copy's rate, and where a curve bends
    tables.py      tables of a run
    text.py        the text of the page made of a run
    plots.py       its pictures
"""
