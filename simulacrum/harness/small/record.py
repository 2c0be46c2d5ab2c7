"""The record of a transition that differs: state, clock, action and chosen draws, which is all there is to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from simulacrum.harness.compare import BITS, FieldDifference
from simulacrum.harness.diverge import rule_of, shown_difference
from simulacrum.harness.frames import Frame, row_action
from simulacrum.harness.small.choices import Taken
from simulacrum.harness.small.forced import ForcedCore
from simulacrum.harness.small.table import Table
from simulacrum.trace.divergence import Configuration, Counts, Divergence
from simulacrum.trace.failures import write_failure
from simulacrum.trace.values import spell_group
from simulacrum.twin.state import dump_state

if TYPE_CHECKING:
    from simulacrum.harness.small.comparison import Comparison


@dataclass(frozen=True)
class Failed:
    """A portion of a table in which something differs.

    form, mode: what the batched side ran as. notes: for the record's hints.
    """

    table: Table
    reference: Frame
    batched: Frame
    found: list[FieldDifference]
    form: str = "eager"
    mode: str = "disabled"
    notes: tuple[str, ...] = ()
    forced: bool = True  # whether the draws were chosen, and not drawn


def failure(comparison: Comparison, where: Failed) -> Divergence:
    """The record of the first differing row, written to the failures folder."""
    schema, bench = comparison.schema, comparison.bench
    row = int(min(difference.rows[0] for difference in where.found))
    here = [one for one in where.found if row in one.rows or one.reason != BITS]
    shown = [shown_difference(one, row, where.reference, where.batched, comparison.fields) for one in here]
    it, at_reset, size = where.table[row], where.table[row].source < 0, len(where.reference["t"])
    p, t, state = comparison.nodes.places[it.end if at_reset else it.source]
    chosen = forced_values(comparison.fast.core, comparison.chosen.all[it.chosen], row) if where.forced else {}
    params = {name: float(value) if isinstance(value, float) else value
              for name, value in comparison.scalar.params[p]._asdict().items()}  # fmt: skip
    record = Divergence(
        check=bench.check, env_id=schema.id,
        configuration=Configuration(
            where.form, bench.device, size, where.mode, params, comparison.limit, torch.get_num_threads(),
            comparison.small,
        ),
        seed=row, row=row, episode=0, t=0 if at_reset else t, step=-1 if at_reset else 0,
        difference=shown[0], others=tuple(shown[1:]),
        previous_state=None if at_reset else spell_group(schema.state, dump_state(schema, state)),
        action=None if at_reset else spell_group(schema.action, row_action(schema, comparison.actions, it.action)),
        forced=chosen,
        rule=rule_of(comparison.package, shown[0], at_reset=at_reset),
        counts=Counts(len({int(r) for one in where.found for r in one.rows}), size, len(where.found),
                      comparison.compared),
        hints=(*(one.reason for one in here if one.reason != BITS), *where.notes),
    )  # fmt: skip
    return write_failure(record, None, None, bench.failures, schema=schema, env=bench.told_env).divergence


def forced_values(core: ForcedCore, taken: Taken, row: int) -> dict[str, Any]:
    """What was chosen, slot by slot. A slot of which only some indices were chosen has what was drawn at the others."""
    forced: dict[str, Any] = {}
    for name, index, value in taken:
        if index is None:
            forced[name] = list(value) if isinstance(value, tuple) else value
            continue
        slot = next(slot for slot in core.layout.slots if slot.name == name)
        forced.setdefault(name, [_drawn(core, name, each, row) for each in range(slot.count or 1)])[index] = value
    return forced


def _drawn(core: ForcedCore, name: str, index: int, row: int) -> Any:
    given = core.given.get(name, {})
    if index in given:
        return given[index][row].item()
    return given[None][row, index].item() if None in given else 0
