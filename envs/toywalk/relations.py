"""What the rules of toywalk do not notice."""

from __future__ import annotations

from simulacrum.twin.relations import Derived, NoOp, Symmetry

from . import GOAL, LEFT_END, STEP_REWARD

LEFT = 0

RELATIONS = [
    Symmetry(
        "a slip is the other move", action=lambda action: 1 - action,
        draws=lambda drawn: {"slip": ~drawn["slip"]} if "slip" in drawn else {},
        why="R4: only the move counts that comes out of action and slip",
    ),
    NoOp(
        "left at the left end", action=LEFT, when=lambda state: state.position == LEFT_END, draws={"slip": False},
        reward=STEP_REWARD, why="R5",
    ),
    Derived("info.distance", lambda state, ctx: 0 - (state.position - GOAL), why="R10"),
]  # fmt: skip
