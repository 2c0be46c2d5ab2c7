"""What one reference runner does, written down step by step. No torch in here: the command line records with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.trace.records import checked
from simulacrum.trace.trajectory import Start, Step, Trajectory, Words, schema_digest, words_by_slot
from simulacrum.twin.state import dump_state


class Scribe:
    """Writes down what one reference runner does, with the words it draws (the runner keeps a ledger)."""

    def __init__(self, package: EnvPackage, *, seed: int, params: Mapping[str, Any] | None, limit: int | None) -> None:
        self.schema, self.seed, self.limit = package.schema, seed, limit
        self.runner = ReferenceRunner(package, params=params, max_episode_steps=limit, ledger=True)
        self.counts = {slot.name: slot.words for slot in self.runner.layout.slots}
        self.starts: list[Start] = []
        self.steps: list[Step] = []
        self.returns: list[float] = []  # of the episodes that ended, as the engine kept them

    def start(self, episode: int) -> Start:
        """Begin an episode of the row's seed; returns what was written."""
        observation = self.runner.reset(self.seed, episode)
        return self._begin(observation, words_by_slot(self.runner.draws, self.counts))

    def stand(self, start: Start) -> Start:
        """Stand at a recorded start that was no reset (its t is not 0); returns what was written, without words."""
        self.runner.load(start.state, t=start.t, seed=self.seed, episode=start.episode)
        return self._begin(self.runner.observe(), {})

    def _begin(self, observation: Any, draws: Words) -> Start:
        runner = self.runner
        start = Start(
            episode=runner.episode, state=dump_state(self.schema, runner.state), observation=observation,
            info=runner.info(), action_mask=runner.action_mask(), draws=draws, t=runner.t,
        )  # fmt: skip
        self.starts.append(start)
        return start

    def step(self, action: Any) -> Step:
        """Take a step, `action` as the reference takes it; returns what was written."""
        runner, t = self.runner, self.runner.t
        out = runner.step(action)
        step = Step(
            episode=runner.episode, t=t, action=action, reward=out.reward, terminated=out.terminated,
            truncated=out.truncated, observation=out.observation, state=dump_state(self.schema, out.state),
            info=out.info, action_mask=out.action_mask, draws=words_by_slot(runner.draws, self.counts),
        )  # fmt: skip
        self.steps.append(step)
        if runner.ended:
            self.returns.append(runner.returns)
        return step

    def written(self) -> Trajectory:
        """The trajectory so far. `TraceError` for one that does not fit the schema."""
        given = {name: getattr(self.runner.params, name) for name in self.schema.params}
        raw = Trajectory(
            env_id=self.schema.id, schema_digest=schema_digest(self.schema), form="reference", seed=self.seed,
            params=given, max_episode_steps=self.limit, starts=tuple(self.starts), steps=tuple(self.steps),
        )  # fmt: skip
        return checked(raw, self.schema)
