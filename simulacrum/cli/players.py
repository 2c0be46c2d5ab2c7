"""Something that plays one row, step by step, and says what happened in the form that trajectories keep.

A player starts an episode (or stands at a recorded state) and takes actions; a policy or a recording says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from simulacrum.engine.single import scalar_action
from simulacrum.harness.scribe import Scribe
from simulacrum.trace.trajectory import Start, Step, Trajectory
from simulacrum.twin.state import canonical_group, load_state

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
    """One row of one twin, of one seed. `form` is "reference" or the name of a form of the batched twin."""

    form: str

    def start(self, episode: int) -> Start:
        """Begin an episode of the seed."""
        ...

    def stand(self, start: Start) -> Start:
        """Stand at a recorded start that was no reset (its t is not 0)."""
        ...

    def step(self, action: Any) -> Step:
        """Take an action (scalar, list, tuple, or a dict of them)."""
        ...

    def reading(self) -> Reading:
        """What a policy sees now."""
        ...


def player(
    package: EnvPackage,
    form: str,
    *,
    seed: int,
    params: Mapping[str, Any] | None = None,
    limit: int | None = None,
) -> Player:
    """A player of the reference or of one form of the batched twin; `limit` is the time limit in steps."""
    if form == REFERENCE:
        return ReferencePlayer(Scribe(package, seed=seed, params=params, limit=limit))
    from simulacrum.cli.batched_player import BatchedPlayer

    return BatchedPlayer(package, form, seed, params, limit)


class ReferencePlayer:
    """The reference twin, every word it draws written down."""

    form = REFERENCE

    def __init__(self, scribe: Scribe) -> None:
        self.scribe = scribe
        self.start, self.stand = scribe.start, scribe.stand

    def step(self, action: Any) -> Step:
        return self.scribe.step(scalar_action(self.scribe.schema.action, action))

    def reading(self) -> Reading:
        runner = self.scribe.runner
        return Reading(runner.observe(), runner.state, runner.t, runner.action_mask())


def reading_of(package: EnvPackage, moment: Start | Step) -> Reading:
    """What a policy would have seen at a recorded moment."""
    schema = package.schema
    t = moment.t if isinstance(moment, Start) else moment.t + 1
    observation = canonical_group(schema.observation, moment.observation)
    return Reading(observation, load_state(schema, moment.state), t, moment.action_mask)


def repeat(package: EnvPackage, recorded: Trajectory, form: str) -> Trajectory:
    """The recording's episodes and actions played again by another twin or form, unchecked."""
    return gathered(recorded, form, repeated(package, recorded, form))


def repeated(package: EnvPackage, recorded: Trajectory, form: str) -> Iterator[Start | Step]:
    """The recording's episodes and actions played again, moment by moment; an episode ends where the player ends it."""
    again = player(package, form, seed=recorded.seed, params=recorded.params, limit=recorded.max_episode_steps)
    for start, taken in recorded.episodes():
        yield again.stand(start) if start.t else again.start(start.episode)
        for step in taken:
            made = again.step(step.action)
            yield made
            if made.ended:
                break


def gathered(header: Trajectory, form: str, moments: Iterable[Start | Step]) -> Trajectory:
    """A trajectory of these moments, with seed, parameters and limit of another."""
    from dataclasses import replace

    made = list(moments)
    starts = tuple(one for one in made if isinstance(one, Start))
    return replace(header, form=form, starts=starts, steps=tuple(one for one in made if isinstance(one, Step)))
