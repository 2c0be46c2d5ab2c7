"""A long rollout of the batched twin alone, with every stated truth looked at after each reset and step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.engine.boundary import EngineState
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import SimulacrumError, TwinError
from simulacrum.harness.bench import Bench
from simulacrum.harness.diverge import Moment, rule_for, told
from simulacrum.harness.drivers import Driver
from simulacrum.harness.frames import Array, BatchSide, Frame, ReferenceSide, take
from simulacrum.harness.legal import Breach, Legal, contiguous
from simulacrum.trace.divergence import Counts, Difference, Divergence, RuleText, Shown, shown
from simulacrum.twin.invariant import invariants_of


@dataclass
class Sweep:
    """One batch and what has happened in it. `looked` counts rows times moments at which everything was looked at."""

    bench: Bench
    env: SimulacrumVectorEnv
    frames: list[Frame] = field(default_factory=list[Frame])
    actions: list[Any] = field(default_factory=list[Any])
    looked: int = 0
    ends: int = 0

    def __post_init__(self) -> None:
        self.side = BatchSide(self.env)
        self.legal = Legal(self.bench.schema, final=self.env.autoreset_mode == AutoresetMode.SAME_STEP)
        self.invariants = {found.method: found for found in invariants_of(self.env.core.env)}
        self.seeds: list[int] = []
        self.before: EngineState | None = None

    def run(self, driver: Driver, seeds: Sequence[int], steps: int) -> Divergence | None:
        """Reset and step, looking each time; the record of the first thing that does not hold, or None."""
        self.seeds = list(seeds)
        found = self._look(self.side.reset(seed=self.seeds), None)
        for step in range(steps):
            if found is not None:
                return found
            actions = driver.actions(self.frames[-1], step)
            self.before = self.env.state
            frame = self.side.step(actions)
            self.actions.append(actions)
            found = self._look(frame, self._stepped())
        return found

    def _stepped(self) -> Array:
        """The rows that took a step: in NEXT_STEP, those that were not being reset."""
        reset = self.side.info.get("autoreset")
        if reset is None:
            return np.ones(self.env.num_envs, dtype=np.bool_)
        return ~reset.cpu().numpy()

    def _look(self, frame: Frame, stepped: Array | None) -> Divergence | None:
        self.frames.append(frame)
        self.looked += self.env.num_envs
        self.ends += int(np.count_nonzero(np.logical_or(frame["terminated"], frame["truncated"])))
        loose = contiguous({name: value for name, value in frame.items() if not name.startswith("state.")})
        if loose:
            raise TwinError("an output does not lie in memory row by row", expected="contiguous tensors", found=loose)
        found = [*self.legal.breaches(frame, stepped), *self._broken(), *self._no_action(frame)]
        return self._record(found, frame) if found else None

    def _broken(self) -> list[Breach]:
        """The invariants that some row breaks."""
        found: list[Breach] = []
        for name, holds in self.env.core.invariants(self.env.state, self.env.params).items():
            if holds.dtype != torch.bool or tuple(holds.shape) != (self.env.num_envs,):
                raise TwinError(
                    f"invariant {name} is not one truth a row", expected=f"torch.bool [{self.env.num_envs}]",
                    found=f"{holds.dtype} {list(holds.shape)}", where=f"fast.py, {name}",
                )
            if not bool(holds.all()):
                rows: Array = np.flatnonzero(~holds.cpu().numpy())
                found.append(Breach(f"invariant.{name}", rows, (), self.invariants[name].text))
        return found

    def _no_action(self, frame: Frame) -> list[Breach]:
        """Rows that go on and may do nothing at all."""
        if self.bench.schema.action_mask is None:
            return []
        ended: Array = np.logical_or(frame["terminated"], frame["truncated"])
        over = ended if self.env.autoreset_mode != AutoresetMode.SAME_STEP else np.zeros_like(ended)
        mask = frame["action_mask"]
        stuck = ~mask.reshape(len(mask), -1).any(axis=1) & ~over
        if not stuck.any():
            return []
        return [Breach("action_mask", np.flatnonzero(stuck), (), "at least one legal action")]

    # --- the record of what does not hold ---------------------------------------------------------------------

    def _record(self, found: list[Breach], frame: Frame) -> Divergence:
        row = int(min(breach.rows[0] for breach in found))
        here = [breach for breach in found if row in breach.rows]
        reference, notes = self._reference(row)
        moment = Moment(
            bench=self.bench, env=self.env, row=row, place=0, step=len(self.actions) - 1, before=self.before,
            actions=self.actions, frames=list(zip(reference.frames, self.frames, strict=False)),
            runner=reference.side.runners[0], sampled=True, transitions=self.looked, notes=notes,
        )
        differing = len({int(r) for breach in found for r in breach.rows})
        counts = Counts(differing, self.env.num_envs, len(found), self.looked)
        differences = [self._difference(breach, frame, row, reference) for breach in here]
        return told(moment, differences, rule=self._rule(moment, here[0], differences[0]), counts=counts)

    def _difference(self, breach: Breach, frame: Frame, row: int, reference: _Beside) -> Difference:
        kind, _, name = breach.name.partition(".")
        if kind == "invariant":
            holds = name not in {found.method for found in reference.broken}
            return Difference(kind, name, (), shown(holds, "bool"), shown(False, "bool"))
        if kind in ("info", "final_info"):
            kind, name = breach.name, ""
        spec, value = self.legal.fields[breach.name], frame[breach.name][row]
        index = breach.index if row == breach.rows[0] else _first_wrong(self.legal, breach, frame, row)
        expected = Shown(breach.expected, None, spec.dtype)
        return Difference(kind, name, index, expected, shown(value[index] if index else value, spec.dtype))

    def _rule(self, moment: Moment, breach: Breach, first: Difference) -> RuleText | None:
        if first.kind != "invariant":
            return rule_for(moment, first)
        invariant = self.invariants[first.field]
        rule = self.bench.package.spec.rules.get(invariant.rule)
        return RuleText(invariant.rule, rule.text if rule is not None else invariant.text)

    def _reference(self, row: int) -> tuple[_Beside, tuple[str, ...]]:
        """The same row once more in the reference, and what that says about where to look."""
        beside = _Beside(ReferenceSide.beside(self.env, [row]))
        beside.replay(self.seeds[row], [take(action, [row]) for action in self.actions])
        if beside.stopped is not None:
            return beside, (f"the reference stops on the way there: {beside.stopped}",)
        if beside.broken:
            return beside, ("the reference breaks it too: the rule or the invariant is wrong, not the batched twin",)
        return beside, ()


@dataclass
class _Beside:
    """A reference that was taken along the same way afterwards."""

    side: ReferenceSide
    frames: list[Frame] = field(default_factory=list[Frame])
    stopped: str | None = None

    def replay(self, seed: int, actions: Sequence[Any]) -> None:
        """Reset and step; a SimulacrumError on the way ends it and is kept in `stopped`."""
        try:
            self.frames.append(self.side.reset([seed]))
            self.frames.extend(self.side.step(action) for action in actions)
        except SimulacrumError as error:
            self.stopped = error.message

    @property
    def broken(self) -> list[Any]:
        """The invariants that the reference breaks where it stands now."""
        return [] if self.stopped is not None else self.side.runners[0].broken_invariants()


def _first_wrong(legal: Legal, breach: Breach, frame: Frame, row: int) -> tuple[int, ...]:
    """The first place in one row at which a field is not allowed."""
    one = {name: value[row : row + 1] for name, value in frame.items()}
    again = [found for found in legal.breaches(one, np.ones(1, dtype=np.bool_)) if found.name == breach.name]
    return again[0].index if again else ()
