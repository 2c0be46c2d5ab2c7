"""Two trajectories on paper, compared bit by bit: what `replay` says about a recording and its repetition.

(The battery compares whole batches of tensors; this is for two rows that are already here.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from simulacrum.trace.bits import bits_of
from simulacrum.trace.divergence import (
    Configuration,
    Difference,
    Divergence,
    difference,
    pair_draws,
)
from simulacrum.trace.records import checked
from simulacrum.trace.trajectory import Start, Step, Trajectory, Words
from simulacrum.trace.values import spell_group

if TYPE_CHECKING:
    from simulacrum.contract.fields import Field
    from simulacrum.contract.schema import Schema

Moment = Start | Step
_AFTER_START = ("state", "observation", "info")
_AFTER_STEP = ("action", "state", "reward", "terminated", "truncated", "observation", "info")


def first_difference(
    reference: Trajectory,
    other: Trajectory,
    schema: Schema,
    *,
    check: str = "replay",
    configuration: Configuration | None = None,
) -> Divergence | None:
    """The earliest difference of two trajectories, or None when all bits agree.

    Within one step the order is: action, state, reward, terminated, truncated, observation, info,
    action_mask, words of draws. Where one side ends before the other, the difference is of kind "steps" or
    "episodes" (how many there are). Raises TraceError when a trajectory does not fit the schema."""
    reference, other = checked(reference, schema), checked(other, schema)
    before: Any = None
    number = -1
    for one, two in _side_by_side(reference, other):
        number += isinstance(one or two, Step)
        found = (
            _apart(reference, other, one, two) if one is None or two is None else _moment(one, two, schema)
        )
        if found:
            at = one or two
            assert at is not None
            return Divergence(
                check=check,
                env_id=reference.env_id,
                configuration=configuration or _configuration(other, schema),
                seed=reference.seed,
                row=0,
                episode=at.episode,
                t=at.t,
                step=number if isinstance(at, Step) else -1,
                difference=found[0],
                others=tuple(found[1:]),
                previous_state=before if isinstance(at, Step) else None,
                action=spell_group(schema.action, at.action) if isinstance(at, Step) else None,
                draws=pair_draws(one.draws if one else {}, two.draws if two else {}),
            )
        if one is not None:
            before = spell_group(schema.state, one.state)
    return None


def _configuration(trajectory: Trajectory, schema: Schema) -> Configuration:
    params = {name: trajectory.params[name] for name in schema.params}
    return Configuration(trajectory.form, "unknown", 1, "unknown", params, trajectory.max_episode_steps)


def _moments(trajectory: Trajectory) -> list[Moment]:
    moments: list[Moment] = []
    for start, steps in trajectory.episodes():
        moments += [start, *steps]
    return moments


def _side_by_side(
    one: Trajectory, two: Trajectory
) -> Iterator[tuple[Start | Step | None, Start | Step | None]]:
    """Moments in order of time, paired; None where a side has ended or stands at another place."""
    left, right = _moments(one), _moments(two)
    for index in range(max(len(left), len(right))):
        first = left[index] if index < len(left) else None
        second = right[index] if index < len(right) else None
        if isinstance(first, Step) != isinstance(second, Step) and first is not None and second is not None:
            # One side is still in its episode where the other begins the next; nothing can be paired from
            # here on.
            yield (None, second) if isinstance(second, Step) else (first, None)
            return
        yield first, second


def _apart(
    reference: Trajectory, other: Trajectory, one: Moment | None, two: Moment | None
) -> list[Difference]:
    at = one or two
    if isinstance(at, Start):
        return [_count("episodes", len(reference.starts), len(other.starts))]
    assert at is not None
    lengths = [sum(step.episode == at.episode for step in side.steps) for side in (reference, other)]
    return [_count("steps", *lengths)]


def _count(kind: str, one: int, two: int) -> Difference:
    return difference(kind, "", (), one, two, "int64")


def _moment(one: Moment, two: Moment, schema: Schema) -> list[Difference]:
    found = [
        d
        for name in ("episode", "t")
        for d in _leaves(name, "", getattr(one, name), getattr(two, name), "int64")
    ]
    for name in _AFTER_STEP if isinstance(one, Step) else _AFTER_START:
        left, right = getattr(one, name), getattr(two, name)
        if name in ("terminated", "truncated"):
            found += _leaves(name, "", left, right, "bool")
        elif name == "reward":
            found += _leaves(name, "", left, right, schema.reward.dtype)
        else:
            found += _group(name, getattr(schema, name).fields, left, right)
    if schema.action_mask is not None:
        found += _leaves("action_mask", "", one.action_mask, two.action_mask, "bool")
    return found or list(_words(one.draws, two.draws))


def _group(name: str, fields: Mapping[str, Field], left: Any, right: Any) -> Iterator[Difference]:
    for key, leaf in fields.items():
        kind, rest = (f"info.{key}", "") if name == "info" and key else (name, key)
        values = (left[key], right[key]) if key else (left, right)
        yield from _leaves(kind, rest, *values, leaf.dtype)


def _leaves(
    kind: str, name: str, left: Any, right: Any, dtype: str, index: tuple[int, ...] = ()
) -> Iterator[Difference]:
    if isinstance(left, list):
        for i, item in enumerate(cast("list[Any]", left)):
            yield from _leaves(kind, name, item, right[i], dtype, (*index, i))
    elif bits_of(left, dtype) != bits_of(right, dtype):
        yield difference(kind, name, index, left, right, dtype)


def _words(one: Words, two: Words) -> Iterator[Difference]:
    """Words that both sides drew and that differ. A word drawn by one side only is no difference: a
    batched twin draws for every row and discards."""
    for slot in one:
        for index, (left, right) in enumerate(zip(one[slot], two.get(slot, ()), strict=False)):
            if left is not None and right is not None and left != right:
                yield difference("draw", slot, (index,), left, right, "uint32")


def until(trajectory: Trajectory, divergence: Divergence) -> Trajectory:
    """The trajectory up to and including the divergent step (or start): what a failure's files need to
    hold."""
    last = (divergence.episode, divergence.t) if divergence.step >= 0 else (divergence.episode, -1)
    starts = tuple(start for start in trajectory.starts if start.episode <= divergence.episode)
    steps = tuple(step for step in trajectory.steps if (step.episode, step.t) <= last)
    return replace(trajectory, starts=starts, steps=steps)
