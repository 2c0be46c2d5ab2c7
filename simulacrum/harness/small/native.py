"""The native form put into every place that the eager one was stepped from, and stepped once; draws as they come."""

from __future__ import annotations

from dataclasses import replace

from gymnasium.vector import AutoresetMode

from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import differences
from simulacrum.harness.frames import BatchSide, Frame, take
from simulacrum.harness.small.comparison import Comparison
from simulacrum.harness.small.record import Failed, failure
from simulacrum.harness.small.table import Row, Table, chunks
from simulacrum.trace.divergence import Divergence

SIDE = "the eager form, which the reference agreed with"


class Native:
    """The native form beside the eager one; `states` counts the steps compared."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.states = 0

    def run(self, comparison: Comparison) -> Divergence | None:
        """One step from each place that was stepped from, with each action; the first difference."""
        actions = range(len(comparison.given))
        table = [Row(place, action, 0, place) for place in dict.fromkeys(comparison.sources) for action in actions]
        for rows in chunks(table):
            eager, native = (self._step(comparison, rows, form) for form in ("eager", "native"))
            self.states += len(rows)
            # Tolerances are between the twins, and these are two forms of one.
            fields = {name: replace(field, tolerance=None) for name, field in comparison.fields.items()}
            found = differences(eager, native, fields)
            if found:
                notes = (f"the column `reference` shows {SIDE}", "built as native on cpu")
                return failure(comparison, Failed(rows, eager, native, found, "native", "next_step", notes, False))
        return None

    def _step(self, comparison: Comparison, rows: Table, form: str) -> Frame:
        """The frame after one step of an env of this form in these places, row r with the seed r."""
        sources, size = [row.source for row in rows], len(rows)
        params = comparison.fast.params(sources)
        columns = {name: value.cpu().numpy() for name, value in zip(params._fields, params, strict=True)}
        env = self.bench.env(size, mode=AutoresetMode.NEXT_STEP, form=form, params=columns)
        env.reset(seed=list(range(size)))
        before, data = comparison.fast.state(sources), env.state_dict()
        data["env"] = dict(zip(before.env._fields, before.env, strict=True))
        data["clock"] |= {"t": before.t, "returns": before.returns, "ended": before.ended}
        env.load_state_dict(data)
        return BatchSide(env).step(take(comparison.actions, [row.action for row in rows]))
