"""One row of the batched twin, played through the pure functions of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.cli.players import Reading, reading_of
from simulacrum.engine.actions import to_tensors
from simulacrum.engine.boundary import Core, EngineState, core_of
from simulacrum.engine.forms import resolve_form
from simulacrum.engine.params import batch_params
from simulacrum.rng.batched import episode_key, split_seed
from simulacrum.trace.trajectory import Start, Step
from simulacrum.twin.batched import dump_state, load_states

if TYPE_CHECKING:
    from simulacrum.contract.fields import Group
    from simulacrum.contract.package import EnvPackage

_CPU = torch.device("cpu")


class BatchedPlayer:
    """A batch of one row in any form; in the eager one every word drawn is written down."""

    def __init__(
        self, package: EnvPackage, form: str, seed: int, params: Mapping[str, Any] | None, limit: int | None
    ) -> None:
        self.package, self.schema = package, package.schema
        self.seed = split_seed([seed])
        self.form = resolve_form(form, _CPU)
        if self.form == "eager":
            self.core = Core(package.fast(), limit)
            self.core.ledger = {}
        else:
            self.core = core_of(package, limit)
        self.params = batch_params(package.schema, params, 1, _CPU)
        self.advance = self.core.form(AutoresetMode.DISABLED, self.form)
        self.at: EngineState | None = None
        self.last: Start | Step | None = None

    def start(self, episode: int) -> Start:
        """Begin an episode of the seed."""
        self._forget_words()
        with torch.no_grad():
            self.at = self.core.fresh(self.seed, _int32(episode), self.params)
        return self._start("reset")

    def stand(self, start: Start) -> Start:
        """Stand at a recorded start that was no reset (its t is not 0)."""
        episode = _int32(start.episode)
        state = load_states(self.schema, [dict(start.state)])
        with torch.no_grad():
            key = episode_key(self.seed, episode)
        nothing, running = torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.bool)
        self.at = EngineState(state, self.seed, episode, key, _int32(start.t), nothing, running)
        return self._start(None)

    def _start(self, phase: str | None) -> Start:
        assert self.at is not None
        with torch.no_grad():
            observation, info, mask = self.core.observe(self.at, self.params)
        start = Start(
            episode=int(self.at.episode[0]),
            state=dump_state(self.schema, self.at.env, 0),
            observation=_row(self.schema.observation, observation),
            info=_row(self.schema.info, info),
            action_mask=None if mask is None else mask[0].tolist(),
            draws=self._words(phase) if phase else {},
            t=int(self.at.t[0]),
        )
        self.last = start
        return start

    def step(self, action: Any) -> Step:
        """Take an action (scalar, list, or a dict of them)."""
        assert self.at is not None, "start() comes before step()"
        self._forget_words()
        single = self.schema.action.single
        batch: Any = [action] if single else {name: [value] for name, value in action.items()}
        t, episode = int(self.at.t[0]), int(self.at.episode[0])
        with torch.no_grad():
            tensors = to_tensors(self.schema.action, batch, 1, _CPU)
            after, out = self.advance(self.at, tensors, self.params)
        self.at = after
        step = Step(
            episode=episode,
            t=t,
            action=_row(self.schema.action, tensors),
            reward=out.reward[0].item(),
            terminated=bool(out.terminated[0]),
            truncated=bool(out.truncated[0]),
            observation=_row(self.schema.observation, out.observation),
            state=dump_state(self.schema, after.env, 0),
            info=_row(self.schema.info, out.info),
            action_mask=None if out.action_mask is None else out.action_mask[0].tolist(),
            draws=self._words("step"),
        )
        self.last = step
        return step

    def reading(self) -> Reading:
        """What a policy sees now."""
        assert self.last is not None, "start() comes before reading()"
        return reading_of(self.package, self.last)

    def _forget_words(self) -> None:
        if self.core.ledger is not None:
            self.core.ledger.clear()

    def _words(self, phase: str) -> dict[str, list[int | None]]:
        asked = (self.core.ledger or {}).get(phase, {})
        return {slot: [int(word) for word in words[0].tolist()] for slot, words in asked.items()}


def _int32(value: int) -> torch.Tensor:
    return torch.tensor([value], dtype=torch.int32)


def _row(group: Group, value: Any) -> Any:
    """Row 0 of a leaf or a dict of leaves as plain Python values."""
    return value[0].tolist() if group.single else {name: value[name][0].tolist() for name in group.fields}
