"""What follows a divergence: each side goes on by itself from the state it is in, with the same actions.

Nobody recorded it, since a check stops at the first difference. It shows what the difference leads to: whether it
heals, stays, or grows. One row of each side is run, the batched twin eagerly; a fault that needs other rows does not
show.
"""

from __future__ import annotations

from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.casework import Casework
from simulacrum.harness.explain.standing import Standing, standing_before
from simulacrum.harness.frames import rows_of
from simulacrum.harness.page.story import Moment, Pair, Story
from simulacrum.harness.recorder import trajectory
from simulacrum.trace.case import Case, Line
from simulacrum.trace.trajectory import Step, Trajectory
from simulacrum.trace.values import read_group

FORMS = ("reference", "eager")  # of the two sides, as trajectories name them
Going = list[tuple[Step, Standing]]


def afterwards(story: Story, package: EnvPackage, last: Pair, steps: int) -> list[Pair]:
    """Up to `steps` moments after the pair `last`; fewer where an episode ends, none where neither side has a state.

    The action is the one given at `last`, over and over. Moments are paired by time; a side that has ended is None.
    """
    if steps < 1 or not isinstance(last.any, Step):
        return []
    action = last.any.action
    sides: list[Going] = []
    for number, (given, moment) in enumerate([(story.reference, last.reference), (story.batched, last.batched)]):
        sides.append([] if given is None or moment is None else _alone(package, given, moment, action, steps, number))
    pairs: list[Pair] = []
    for place in range(max(map(len, sides))):
        found = [side[place] if place < len(side) else (None, None) for side in sides]
        at = found[0][1] if last.reference is not None else None
        pairs.append(Pair(found[0][0], found[1][0], at or found[1][1], here=False))
    return pairs


def _alone(package: EnvPackage, given: Trajectory, moment: Moment, action: Any, steps: int, side: int) -> Going:
    """One side's steps from its own state, with where the row stands before each."""
    if isinstance(moment, Step) and moment.ended:
        return []
    t = moment.t + isinstance(moment, Step)
    line = Line(0, given.seed, moment.state, moment.episode, t, params=dict(given.params), actions=(action,) * steps)
    case = Case("eager", "cpu", "next_step", given.max_episode_steps, 1, (line,))
    frames: list[Any] = []
    try:
        for _, own, batch, _ in Casework(package, stated=False).frames(case):
            frames.append((own, rows_of(batch, [0]))[side])
    except Exception:  # a twin under judgement may raise anything; what came until then is shown
        if not frames:
            return []
    made = trajectory(
        package.schema, frames, [read_group(package.schema.action, action)] * steps, 0, form=FORMS[side],
        seed=given.seed, params=dict(given.params), limit=given.max_episode_steps, mode="NEXT_STEP",
    )  # fmt: skip
    _, taken = next(iter(made.episodes()))
    before: list[Moment] = [moment, *taken]
    return [(step, standing_before(made, one, step)) for one, step in zip(before, taken, strict=False)]
