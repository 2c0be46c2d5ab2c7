"""What a failure looks like: its smallest case run again in other ways, and the kinds of fault that behave so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.diagnosis import draws, probes, settings, values
from simulacrum.harness.diagnosis.view import Clue, views
from simulacrum.harness.small.config import small_package
from simulacrum.trace.divergence import Divergence, Likely
from simulacrum.trace.kinds import kind

MOST = 3  # kinds told


def diagnose(package: EnvPackage, record: Divergence) -> tuple[Likely, ...]:
    """The likeliest kinds of fault behind a record, at most three, each with what speaks for it most.

    It reruns the record's shrunken case (milliseconds; seconds for a compiled form). A record without one, which did
    not show again when its batch was run again, has only that to tell.
    """
    return ranked(_clues(package, record))


def _clues(package: EnvPackage, record: Divergence) -> list[Clue]:
    shrunk = record.shrunk
    if shrunk is None or not shrunk.verified:
        why = "it does not show again in a second run of the same step: something outside the draws has a say"
        return [Clue("K11", 8, why), Clue("K19", 5, why), Clue("K23", 4, why)]
    small = record.configuration.small
    with small_package(package, None if small is None else dict(small)) as made:
        found: list[Clue] = []
        for view in views(made, record, shrunk.case, shrunk.step):
            for room in (settings, draws, values, probes):
                with contextlib.suppress(Exception):  # a rerun that fails takes nothing from the clues before it
                    found.extend(room.clues(view))
        return found


def ranked(clues: Iterable[Clue]) -> tuple[Likely, ...]:
    """Kinds by the weight of their strongest clue, and by how many clues there are where that is equal."""
    by_kind: dict[str, list[Clue]] = {}
    for clue in clues:
        by_kind.setdefault(clue.kind, []).append(clue)
    best = {name: max(found, key=lambda clue: clue.weight) for name, found in by_kind.items()}
    order = sorted(best, key=lambda name: (-best[name].weight, -len(by_kind[name]), name))
    return tuple(Likely(name, kind(name).title, best[name].why) for name in order[:MOST])


__all__ = ["diagnose", "ranked"]
