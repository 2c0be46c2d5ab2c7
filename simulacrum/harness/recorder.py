"""One row's trajectory out of recorded frames, from either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulacrum.engine.params import row_params
from simulacrum.harness.frames import Array, Frame, row_action
from simulacrum.trace.trajectory import Start, Step, Trajectory, schema_digest

if TYPE_CHECKING:
    from simulacrum.contract.fields import Group
    from simulacrum.contract.schema import Schema
    from simulacrum.harness.diverge import Moment


@dataclass(frozen=True)
class Restart:
    """Stands among the actions of a rollout where rows were reset by hand: bool `[N]`, and their seeds if given."""

    rows: Array
    seeds: tuple[int | None, ...] | None = None


def recorded(moment: Moment, side: str) -> Trajectory:
    """The row of a `Moment` on one side ("reference" or "batched"), from the reset to the last frame."""
    index = 0 if side == "reference" else 1
    place = moment.place if index == 0 else moment.row
    frames = [pair[index] for pair in moment.frames]
    actions = [row_event(moment.bench.schema, action, moment.row) for action in moment.actions]
    first = max((i + 1 for i, action in enumerate(actions) if action is RESEEDED), default=0)
    frames, actions = frames[first:], actions[first:]  # a trajectory has one seed: the last one given
    return trajectory(
        moment.bench.schema,
        frames,
        actions,
        place,
        form=moment.reference_form if index == 0 else moment.env.form,
        seed=moment.runner.seed,
        params=row_params(moment.env.params, moment.row),
        limit=moment.env.max_episode_steps,
        mode=moment.env.autoreset_mode.name,
    )


RESTARTED, RESEEDED, LEFT_ALONE = "restarted", "reseeded", "left alone"  # what a `Restart` is to one row


def row_event(schema: Schema, action: Any, row: int) -> Any:
    """What an entry of a rollout's actions is to one row: its action, or what a `Restart` does to it."""
    if not isinstance(action, Restart):
        return row_action(schema, action, row)
    if not action.rows[row]:
        return LEFT_ALONE
    return RESTARTED if action.seeds is None or action.seeds[row] is None else RESEEDED


def trajectory(
    schema: Schema,
    frames: list[Frame],
    actions: list[Any],
    place: int,
    *,
    form: str,
    seed: int,
    params: dict[str, Any],
    limit: int | None,
    mode: str,
) -> Trajectory:
    """Row `place` of a list of frames (the reset's first) with the row's actions, as a `Trajectory`.

    In NEXT_STEP a frame after an end is a start and its action is dropped. In SAME_STEP the state before the reset
    is not in the frames, so only DISABLED and NEXT_STEP rollouts become trajectories step by step; a SAME_STEP one
    ends with its first episode. In place of an action may stand RESTARTED, RESEEDED or LEFT_ALONE, for a reset of
    this row, or of others, by hand.
    """
    starts = [_start(schema, frames[0], place)]
    steps: list[Step] = []
    ended = False
    for frame, action in zip(frames[1:], actions, strict=False):
        if action is LEFT_ALONE:
            continue
        if action in (RESTARTED, RESEEDED):
            starts.append(_start(schema, frame, place))
            ended = False
            continue
        if ended:
            if mode != "NEXT_STEP":
                break
            starts.append(_start(schema, frame, place))
            ended = False
            continue
        ended = bool(frame["terminated"][place] or frame["truncated"][place])
        if ended and mode == "SAME_STEP":
            break
        steps.append(_step(schema, frame, place, action))
    return Trajectory(
        env_id=schema.id, schema_digest=schema_digest(schema), form=form, seed=seed, params=params,
        max_episode_steps=limit, starts=tuple(starts), steps=tuple(steps),
    )


def _start(schema: Schema, frame: Frame, place: int) -> Start:
    return Start(
        episode=int(frame["episode"][place]),
        state=_values(schema.state, "state", frame, place),
        observation=_values(schema.observation, "observation", frame, place),
        info=_values(schema.info, "info", frame, place),
        action_mask=_mask(schema, frame, place),
        t=int(frame["t"][place]),  # not 0 where the state was loaded
    )


def _step(schema: Schema, frame: Frame, place: int, action: Any) -> Step:
    return Step(
        episode=int(frame["episode"][place]),
        t=int(frame["t"][place]) - 1,
        action=action,
        reward=frame["reward"][place].item(),
        terminated=bool(frame["terminated"][place]),
        truncated=bool(frame["truncated"][place]),
        observation=_values(schema.observation, "observation", frame, place),
        state=_values(schema.state, "state", frame, place),
        info=_values(schema.info, "info", frame, place),
        action_mask=_mask(schema, frame, place),
    )


def _values(group: Group, name: str, frame: Frame, place: int) -> Any:
    if group.single:
        return np.asarray(frame[name][place]).tolist()
    return {key: np.asarray(frame[f"{name}.{key}"][place]).tolist() for key in group.fields}


def _mask(schema: Schema, frame: Frame, place: int) -> Any:
    return None if schema.action_mask is None else frame["action_mask"][place].tolist()
