"""The one step of a record whose draws were put in, or that is of a small model, run again."""

from __future__ import annotations

from collections.abc import Iterator

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import SimulacrumError
from simulacrum.harness.casework import Casework
from simulacrum.harness.small.config import small_package
from simulacrum.trace.case import Case, Line
from simulacrum.trace.difference import Difference
from simulacrum.trace.divergence import Divergence

MOST_ROWS = 4_097  # of the batch in which the row stands again among copies of itself

Ran = tuple[str, int, tuple[Difference, ...], "str | None"]  # how, in how many rows, what differs, why it was not run


def is_given(record: Divergence) -> bool:
    """Whether the record is of a step that no rollout leads to: with chosen draws, or in a small model."""
    return bool(record.forced) or record.configuration.small is not None


def given_stages(package: EnvPackage, record: Divergence) -> Iterator[Ran]:
    """The step alone, and in its row with copies of it in all others; on the package made small as the record says.

    Raises:
        PackageError, SchemaError: the package can no longer be made small like that.
    """
    small = record.configuration.small
    size = min(record.configuration.num_envs, MOST_ROWS)
    row = min(record.row, size - 1)
    with small_package(package, None if small is None else dict(small)) as made:
        work = Casework(made, shown=False)
        for name, rows, place in (("alone", 1, 0), ("in its row among copies", size, row)):
            told = f"{name}, in the small model" if small else name
            try:
                found = next(work.each_step(_case(record, rows, place)), None)
                yield told, rows, () if found is None else found.differences, None
            except SimulacrumError as error:
                yield told, rows, (), error.message
            if rows == size:
                break


def _case(record: Divergence, num_envs: int, row: int) -> Case:
    ran = record.configuration
    at_reset = record.previous_state is None
    line = Line(
        row, record.seed, record.previous_state, record.episode, record.t, False, ran.params,
        () if at_reset else (record.action,),
    )  # fmt: skip
    return Case(
        form="eager", device="cpu", autoreset_mode=ran.autoreset_mode, max_episode_steps=ran.max_episode_steps,
        num_envs=num_envs, lines=(line,), forced=record.forced, small=ran.small,
    )  # fmt: skip
