"""Which mutants a run looks at, and how each is to be judged."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import UsageError
from simulacrum.mutate.mutant import Mutant, mutants, rewrites

TIME = 600.0  # seconds that one mutant has


@dataclass(frozen=True)
class Plan:
    """What is run: which mutants, and how each is judged.

    files: those that are changed. kinds: only these; None for all. doses: the faults in their rarer forms. rewrites:
    the changes that change nothing, in place of faults. sample: so many, spread over kinds and lines, chosen by `seed`.
    only: ids. forms, quick, matrix, unread: as in `judge.Settings`. output: the folder of results; None keeps none.
    """

    package: EnvPackage
    files: tuple[str, ...] = ("fast.py",)
    kinds: tuple[str, ...] | None = None
    doses: bool = False
    rewrites: bool = False
    sample: int | None = None
    seed: int = 0
    only: tuple[str, ...] = ()
    forms: tuple[str, ...] = ("eager",)
    quick: bool = False
    matrix: bool = False
    unread: bool = False
    jobs: int = 1
    timeout: float = TIME
    output: Path | None = None

    @property
    def scored(self) -> bool:
        """Whether mutants of fast.py of all kinds, undosed, are judged by the whole battery: what a score speaks of."""
        chosen = self.kinds or self.doses or self.rewrites or self.only or self.quick or self.unread
        return not chosen and self.files == ("fast.py",)


def chosen_mutants(plan: Plan) -> tuple[list[Mutant], int]:
    """The mutants of a plan, and how many there are before sampling and choosing by id.

    Raises:
        UsageError: there is none, or an id that none has.
    """
    if plan.rewrites:
        found = [one for one in rewrites(plan.package) if one.file in plan.files]
    else:
        found = [
            one for file in plan.files for one in mutants(plan.package, file=file, kinds=plan.kinds, doses=plan.doses)
        ]
    if plan.only:
        every = found if plan.rewrites else [*found, *_dosed(plan)]
        chosen = [one for one in every if one.id in plan.only]
        unknown = sorted({*plan.only} - {one.id for one in chosen})
        if unknown:
            raise UsageError(f"no mutant is called {', '.join(unknown)}", found=f"{len(every)} others",
                             next_step="an edit of the twin makes other mutants: run all of them again")
        return list({one.id: one for one in chosen}.values()), len(found)
    if not found:
        raise UsageError("there is nothing to mutate", expected="at least one place where an operator applies",
                         found=f"none in {', '.join(plan.files)}" + (f" of {', '.join(plan.kinds or ())}"))
    if plan.sample is None or plan.sample >= len(found):
        return found, len(found)
    return spread(found, plan.sample, plan.seed), len(found)


def _dosed(plan: Plan) -> Iterable[Mutant]:
    return [one for file in plan.files for one in mutants(plan.package, file=file, doses=True)]


def spread(found: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """`count` of them, chosen at random, taking turns over the kinds and, within a kind, over the operators."""
    groups: dict[str, dict[str, list[Mutant]]] = defaultdict(lambda: defaultdict(list))
    order = list(found)
    random.Random(seed).shuffle(order)
    for one in order:
        groups[one.kind][one.operator].append(one)
    kinds = deque(_turns(list(groups[kind].values())) for kind in sorted(groups))
    chosen = _turns([list(kind) for kind in kinds])[:count]
    places = {id(one): place for place, one in enumerate(found)}
    return sorted(chosen, key=lambda one: places[id(one)])


def _turns(lists: list[list[Mutant]]) -> list[Mutant]:
    """All items, one of each list in turn."""
    longest = max((len(one) for one in lists), default=0)
    return [one[i] for i in range(longest) for one in lists if i < len(one)]


