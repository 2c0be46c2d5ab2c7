"""The faults that the article plants. Most are those of `tests/mutants`, where the battery is held to catching them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ENV = "toywalk"
GROUP = 8  # rows that a leaking module steps together

if str(ROOT / "tests") not in sys.path:
    sys.path.append(str(ROOT / "tests"))

from mutants.mutant import Mutant, copy_env, planted  # noqa: E402
from mutants.table import FAST, FRAMEWORK, TWINS  # noqa: E402

__all__ = ["ENV", "FAULTS", "GROUP", "ROOT", "Fault", "copy_env"]

_BY_NAME = {mutant.name: mutant for mutant in (*TWINS, *FRAMEWORK)}


@dataclass(frozen=True)
class Fault:
    """One wrong environment.

    key: names its module. title: in a few words. short: in one. story: how such a thing comes about. mutant: what is
    edited, and the checks of the battery that catch it (none where nobody has looked). sizes: rows of a group, for each
    module of a fault that crosses rows; empty where rows stay alone.
    """

    key: str
    title: str
    short: str
    story: str
    mutant: Mutant
    sizes: tuple[int, ...] = ()

    @property
    def modules(self) -> tuple[tuple[str, int], ...]:
        """(name of the module, rows of a group or 0)."""
        return tuple((f"{self.key}{size}", size) for size in self.sizes) or ((self.key, 0),)


FAULTS = (
    Fault(
        "leak",
        "A reward leaks between rows",
        "leak",
        "One axis too many: [N, 1] meets [N], becomes [N, N], and a reduction hides it. "
        "With one row it is the same number.",
        _BY_NAME["K01 rewards broadcast over the batch"],
        sizes=(1, GROUP),
    ),
    Fault(
        "clamp",
        "The wall before the move",
        "wall",
        "The two operations of one rule in the other order. Only a walker that pushes against the wall can tell.",
        _BY_NAME["K05 walls before the move"],
    ),
    Fault(
        "late",
        "The draw keyed one step late",
        "draw",
        "The random word of step t + 1 is used in step t. Every distribution is right, and every episode is another.",
        _BY_NAME["K11 step draws keyed after the step"],
    ),
    Fault(
        "final",
        "The last observation is lost",
        "end",
        "Where an episode ends and the next begins in the same step, the first observation of the new episode stands "
        "where the last one of the old should be.",
        _BY_NAME["K08 the final observation is the next one"],
    ),
    Fault(
        "wrap",
        "The line is a ring",
        "ring",
        "A remainder where a bound was meant: who walks off the left end arrives at the right one.",
        planted(
            "walls that wrap around",
            ENV,
            "",
            (
                FAST,
                "(state.position + move).clamp(LEFT_END, GOAL)",
                "(state.position + move - LEFT_END) % (GOAL - LEFT_END + 1) + LEFT_END",
            ),
        ),
    ),
)
