"""Where actions come from, and what each source of them reached.

- `basic`: random, edges of the space, one action for good, policies, and rows with a driver each.
- `outside`: actions just outside the space, in between.
- `replayed`: recorded actions with changes, deletions and repeats.
- `novelty`: restarts from rarely visited states.
- `cells`, `reached`: which kinds of states were come to, how episodes ended, which actions were taken.
"""

from simulacrum.harness.drivers.basic import (
    UNBOUNDED,
    Constant,
    Driver,
    Edge,
    Mixed,
    Random,
    Reading,
    Scripted,
    choose,
    limits,
    per_field,
    standard,
)

__all__ = [
    "UNBOUNDED",
    "Constant",
    "Driver",
    "Edge",
    "Mixed",
    "Random",
    "Reading",
    "Scripted",
    "choose",
    "limits",
    "per_field",
    "standard",
]
