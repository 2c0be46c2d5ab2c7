"""From "these two steps should have shown the same" to a record of one row."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from simulacrum.engine.params import row_params
from simulacrum.errors import SimulacrumError
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import FieldDifference, differences
from simulacrum.harness.diverge import shown_difference
from simulacrum.harness.frames import Array, frame_fields, row_action
from simulacrum.harness.recording import exact
from simulacrum.harness.relations.moments import Moments, Shown, arrays
from simulacrum.trace.divergence import Configuration, Counts, Divergence, Likely, RuleText
from simulacrum.trace.failures import write_failure
from simulacrum.trace.kinds import kind
from simulacrum.trace.values import spell_group
from simulacrum.twin.batched import dump_state


def apart(
    bench: Bench,
    at: Moments,
    one: Shown,
    other: Shown,
    *,
    side: str,
    kinds: Sequence[str],
    notes: tuple[str, ...] = (),
    live: Mapping[str, Array] | None = None,
    reset: bool = False,
    forced: Mapping[str, Tensor] | None = None,
) -> Divergence | None:
    """The record of the first row in which `other` differs from `one`, by any bit of what both show, or None.

    at: the moments in which `other` was made. side: what `one` is. kinds: of faults (`trace.kinds`) that break the
    relation. live: elements that count, bool `[M, ...]` by name; all of them for names that are left out. reset: that
    the moment is an episode's start and not a step. forced: the values that were put in for draws, `[M]` or `[M, K]`.
    """
    left, right = arrays(one), arrays(other)
    for name, mask in (live or {}).items():
        right[name] = _where(mask, right[name], left[name])
    fields = exact(frame_fields(bench.schema))
    found = differences(left, right, fields, names=[name for name in fields if name in left and name in right])
    if not found:
        return None
    record = _record(bench, at, found, left, right, side, notes, reset=reset)
    likely = tuple(Likely(number, kind(number).title, f"the relation that it breaks: {notes[0]}") for number in kinds)
    values = {slot: value[record.row].tolist() for slot, value in (forced or {}).items()}
    record = replace(record, diagnosis=likely, forced=values)
    return write_failure(record, None, None, bench.failures, schema=bench.schema, env=bench.told_env).divergence


def _where(mask: Array, yes: Array, no: Array) -> Array:
    wide = mask.reshape(*mask.shape, *([1] * (yes.ndim - mask.ndim)))
    return np.where(wide, yes, no)


def _record(
    bench: Bench, at: Moments, found: list[FieldDifference], one: dict[str, Array], other: dict[str, Array], side: str,
    notes: tuple[str, ...], *, reset: bool,
) -> Divergence:
    row = int(min(difference.rows[0] for difference in found))
    fields = frame_fields(bench.schema)
    shown = [shown_difference(d, row, one, other, fields) for d in found if row in d.rows]
    differing = len({int(i) for difference in found for i in difference.rows})
    state = at.state
    return Divergence(
        check=bench.check,
        env_id=bench.schema.id,
        configuration=Configuration(
            form="eager", device=str(at.env.device), num_envs=len(at), autoreset_mode="disabled",
            params=row_params(at.params, row), max_episode_steps=at.env.max_episode_steps,
            threads=torch.get_num_threads(),
        ),
        seed=at.seeds[row],
        row=row,
        episode=int(state.episode[row]),
        t=0 if reset else int(state.t[row]),
        step=-1 if reset else 0,
        difference=shown[0],
        others=tuple(shown[1:]),
        previous_state=None if reset else _spelled_state(bench, at, row),
        action=None if reset else _spelled_action(bench, at, row),
        draws=(),
        rule=_rule(bench, shown[0].field or shown[0].kind.partition(".")[2] or shown[0].kind),
        counts=Counts(differing, len(at), len(found), len(at)),
        hints=(f"the column `reference` shows {side}", *notes),
    )  # fmt: skip


def _spelled_state(bench: Bench, at: Moments, row: int) -> Any:
    host = type(at.state.env)(*(value.cpu() for value in at.state.env))
    with contextlib.suppress(SimulacrumError):  # a state that holds more than the schema allows has no spelling
        return spell_group(bench.schema.state, dump_state(bench.schema, host, row))
    return None


def _spelled_action(bench: Bench, at: Moments, row: int) -> Any:
    group = bench.schema.action
    given = at.action.cpu().numpy() if group.single else {k: v.cpu().numpy() for k, v in at.action.items()}
    return spell_group(group, row_action(bench.schema, given, row))


def _rule(bench: Bench, name: str) -> RuleText | None:
    """The first rule of the spec that names the field."""
    try:
        rules = bench.package.spec.rules.values()
    except SimulacrumError:
        return None
    named = [rule for rule in rules if f"`{name}`" in rule.text]
    return RuleText(named[0].id, named[0].text) if named else None
