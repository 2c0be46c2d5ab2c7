"""A failure made small: one state and one action where that shows it, else the fewest rows, steps and values.

The order is: the single step from the state before it, alone; then fewer rows, a later start, fewer and plainer
actions, a plainer state, parameters at their defaults. What is kept all along is the kind and the field that differ.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.casework import Casework, Found
from simulacrum.harness.diverge import Moment
from simulacrum.harness.shrink.rows import fewer_rows
from simulacrum.harness.shrink.source import Recorded, Rollout, Source, case_of
from simulacrum.harness.shrink.steps import plain_reset, simpler_actions, start_later
from simulacrum.harness.shrink.strangers import among_strangers
from simulacrum.harness.shrink.trial import Trial
from simulacrum.harness.shrink.values import plainer_values
from simulacrum.harness.small.config import Small, small_package
from simulacrum.trace.case import Case, Shrunk
from simulacrum.trace.divergence import Divergence

MOST, SECONDS = 600, 5.0
QUICK_MOST, QUICK_SECONDS = 200, 1.0


def shrink(
    package: EnvPackage,
    record: Divergence,
    moment: Moment | None = None,
    *,
    quick: bool = False,
    say: Callable[[int], None] = lambda _: None,
) -> Shrunk | None:
    """The smallest case of a failure that the budget allows to find; None where none of the first cases shows it.

    moment: the failing batch, where it is still there. say: called with the number of each case tried.
    """
    with small_package(package, small_of(record)) as made:
        return _shrink(made, record, moment, quick, say)


def small_of(record: Divergence) -> Small | None:
    """The content of the small.json that the failure's package was made smaller with, if it was."""
    return None if record.configuration.small is None else dict(record.configuration.small)


def _shrink(
    package: EnvPackage, record: Divergence, moment: Moment | None, quick: bool, say: Callable[[int], None]
) -> Shrunk | None:
    most, seconds = (QUICK_MOST, QUICK_SECONDS) if quick else (MOST, SECONDS)
    trial = Trial(package, record.difference, most, seconds, say)
    source: Source = Recorded(package, record) if moment is None else Rollout(moment)
    began = _begin(trial, source, record)
    if began is None:
        return None
    rows, case_from = began
    done = [f"{'the single step' if trial.case.steps <= 1 else 'the whole way'} of {_rows(rows)}"]
    if trial.case.steps > 1:
        done.append(start_later(trial, case_from, max(source.first, 0), source.last) or "")
    done.append(fewer_rows(trial) or "")
    done.append(plain_reset(trial) or "")
    for _ in range(2):
        before = trial.case
        done.append(simpler_actions(trial) or "")
        done.append(plainer_values(trial) or "")
        if trial.case == before:
            break
    case, found = trial.best or (trial.case, None)
    assert found is not None
    shown = next(one for one in found.differences if (one.kind, one.field) == _name(record))
    return Shrunk(case, shown, found.step, _again(trial, case) == found, trial.count, tuple(filter(None, done)))


def _name(record: Divergence) -> tuple[str, str]:
    return record.difference.kind, record.difference.field


def _again(trial: Trial, case: Case) -> Found | None:
    """What the case shows in batches of its own."""
    work = Casework(trial.package, stated=trial.work.stated, shown=trial.work.shown)
    with contextlib.suppress(Exception):
        return next((found for found in work.each_step(case) if trial.shows(case, found)), None)
    return None


def _rows(rows: Sequence[int]) -> str:
    return "the row alone" if len(rows) == 1 else f"all {len(rows)} rows"


def _begin(
    trial: Trial, source: Source, record: Divergence
) -> tuple[list[int], Callable[[int], Case]] | None:
    """The first case that shows the failure: its rows, and how to make it from another frame."""
    starts = dict.fromkeys((source.last, max(source.first, min(source.last, 0)), source.first))
    crowds = [[source.row], list(range(source.num_envs))] if source.num_envs > 1 else [[source.row]]
    for start, rows, (form, against) in itertools.product(starts, crowds, _sides(record)):

        def case_from(start: int, rows: list[int] = rows, form: str = form, against: str = against) -> Case:
            return case_of(source, rows, start, form=form, against=against, record=record)

        with contextlib.suppress(LookupError, ValueError):
            if trial.take(case_from(start)):
                return rows, case_from
    if isinstance(source, Recorded):
        case = case_of(source, [0], source.last, form=record.configuration.form, against="reference", record=record)
        for crowded in among_strangers(trial.package, case):
            if trial.take(crowded):
                return list(range(crowded.num_envs)), lambda _, crowded=crowded: crowded
    return None


def _sides(record: Divergence) -> list[tuple[str, str]]:
    """(form, what it is held against), the plainest first."""
    form = record.configuration.form
    sides = [("eager", "reference"), (form, "reference")]
    if form != "eager" or record.configuration.device != "cpu":
        sides.append((form, "eager"))
    if record.check == "batch_independence":
        sides.append((form, "alone"))
    return list(dict.fromkeys(sides))


__all__ = ["shrink"]
