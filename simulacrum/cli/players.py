"""Something that plays one row, step by step, and says what happened in the form that trajectories keep.

A player starts an episode (or stands at a recorded state) and takes actions; a policy or a recording says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.single import scalar_action
from simulacrum.trace.trajectory import Start, Step, Trajectory, words_by_slot
from simulacrum.twin.state import canonical_group, dump_state, load_state

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

REFERENCE = "reference"


class Reading(NamedTuple):
    """What a scripted policy is shown: the reference's scalars, whichever twin plays. `mask` None: no mask."""

    observation: Any
    state: Any
    t: int
    mask: Any


class Player(Protocol):
    """One row of one twin. `form` is "reference" or the name of a form of the batched twin."""

    form: str

    def start(self, seed: int, episode: int) -> Start:
        """Begin an episode of a seed."""
        ...

    def stand(self, start: Start, seed: int) -> Start:
        """Stand at a recorded start that was no reset (its t is not 0)."""
        ...

    def step(self, action: Any) -> Step:
        """Take an action (scalar, list, tuple, or a dict of them)."""
        ...

    def reading(self) -> Reading:
        """What a policy sees now."""
        ...


def player(
    package: EnvPackage, form: str, *, params: Mapping[str, Any] | None = None, limit: int | None = None
) -> Player:
    """A player of the reference or of one form of the batched twin; `limit` is the time limit in steps."""
    if form == REFERENCE:
        return ReferencePlayer(package, params, limit)
    from simulacrum.cli.batched_player import BatchedPlayer

    return BatchedPlayer(package, form, params, limit)


class ReferencePlayer:
    """The reference twin, every word it draws written down."""

    form = REFERENCE

    def __init__(self, package: EnvPackage, params: Mapping[str, Any] | None, limit: int | None) -> None:
        self.schema = package.schema
        self.runner = ReferenceRunner(package, params=params, max_episode_steps=limit, ledger=True)
        self.words = {slot.name: slot.words for slot in self.runner.layout.slots}

    def start(self, seed: int, episode: int) -> Start:
        self.runner.reset(seed, episode)
        return self._start()

    def stand(self, start: Start, seed: int) -> Start:
        self.runner.load(start.state, t=start.t, seed=seed, episode=start.episode)
        return self._start(drawn=False)

    def _start(self, *, drawn: bool = True) -> Start:
        runner = self.runner
        return Start(
            episode=runner.episode,
            state=dump_state(self.schema, runner.state),
            observation=runner.observe(),
            info=runner.info(),
            action_mask=runner.action_mask(),
            draws=words_by_slot(runner.draws, self.words) if drawn else {},
            t=runner.t,
        )

    def step(self, action: Any) -> Step:
        runner, t = self.runner, self.runner.t
        taken = scalar_action(self.schema.action, action)
        result = runner.step(taken)
        return Step(
            episode=runner.episode,
            t=t,
            action=taken,
            reward=result.reward,
            terminated=result.terminated,
            truncated=result.truncated,
            observation=result.observation,
            state=dump_state(self.schema, result.state),
            info=result.info,
            action_mask=result.action_mask,
            draws=words_by_slot(runner.draws, self.words),
        )

    def reading(self) -> Reading:
        runner = self.runner
        return Reading(runner.observe(), runner.state, runner.t, runner.action_mask())


def reading_of(package: EnvPackage, moment: Start | Step) -> Reading:
    """What a policy would have seen at a recorded moment."""
    schema = package.schema
    t = moment.t if isinstance(moment, Start) else moment.t + 1
    observation = canonical_group(schema.observation, moment.observation)
    return Reading(observation, load_state(schema, moment.state), t, moment.action_mask)


def repeat(package: EnvPackage, recorded: Trajectory, form: str) -> Trajectory:
    """The recording's episodes and actions played again by another twin or form, unchecked."""
    from dataclasses import replace

    again = player(package, form, params=recorded.params, limit=recorded.max_episode_steps)
    starts: list[Start] = []
    steps: list[Step] = []
    for start, taken in recorded.episodes():
        begun = again.stand(start, recorded.seed) if start.t else again.start(recorded.seed, start.episode)
        starts.append(begun)
        for step in taken:
            steps.append(again.step(step.action))
            if steps[-1].ended:
                break
    return replace(recorded, form=form, starts=tuple(starts), steps=tuple(steps))
