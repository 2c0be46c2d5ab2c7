"""Both twins of an environment of small integers, stepped from states of one's own choice with draws of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.rng import batched
from simulacrum.rng.layout import Layout, Slot
from simulacrum.rng.scalar import ScalarDraw, episode_key
from simulacrum.twin.batched import check_state, torch_dtype
from simulacrum.twin.reference import Context
from simulacrum.twin.state import dump_state, load_state, params_type, params_values

Array = Any


class Seen(NamedTuple):
    """What rows of the batched twin came to: arrays `[N]` by name, and what the step gave."""

    state: dict[str, Array]
    observation: Array
    reward: Array | None = None
    terminated: Array | None = None


class Fed:
    """A generator for Gymnasium's env that answers `random()` with the numbers it was given, one after the other."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.numbers = list(numbers)

    def random(self) -> float:
        return self.numbers.pop(0)


class Rows:
    """The batched twin of a package, eager, on rows that the caller puts together."""

    def __init__(self, name: str) -> None:
        self.package: EnvPackage = load_package(name)
        self.schema = self.package.schema
        self.twin: Any = self.package.fast()
        self.layout = Layout(Slot(d.name, d.phase, d.distribution, d.dtype, d.count) for d in self.schema.draws)

    def reset(self, count: int, params: Mapping[str, Any] | None = None, *, seed: int = 0, **override: Any) -> Seen:
        """Starts of `count` rows; draws that `override` does not set come from the row's seed."""
        ctx = self._context("reset", count, 0, params, seed, override)
        return self._seen(self.twin.reset(ctx), ctx, count)

    def step(
        self,
        state: Mapping[str, Any],
        action: Any,
        params: Mapping[str, Any] | None = None,
        *,
        t: int = 0,
        seed: int = 0,
        **override: Any,
    ) -> Seen:
        """One step: fields and draws are arrays `[N]` (`[N, K]`) or one value for all, actions and params likewise."""
        actions = torch.as_tensor(np.array(action, dtype=np.int64))
        count = len(actions)
        fields = {
            name: torch.as_tensor(np.array(np.broadcast_to(state[name], (count, *field.shape)), dtype=field.dtype))
            for name, field in self.schema.state.items()
        }
        ctx = self._context("step", count, t, params, seed, override)
        made = self.twin.step(self.twin.State(**fields), actions, ctx)
        seen = self._seen(made.state, ctx._replace(t=ctx.t + 1), count)
        return seen._replace(reward=made.reward.numpy(), terminated=made.terminated.numpy())

    def mask(self, state: Any, count: int) -> Array:
        """The action masks bool `[N, actions]` of states as `step` gives them."""
        rows = self.twin.State(**{name: torch.as_tensor(value) for name, value in state.items()})
        return self.twin.action_mask(rows, self._context("step", count, 0, None, 0, {})).numpy()

    def _context(
        self, phase: Any, count: int, t: int, params: Mapping[str, Any] | None, seed: int, override: Mapping[str, Any]
    ) -> Context:
        given = dict(params_values(self.schema, None)) | dict(params or {})
        columns = {
            name: torch.as_tensor(np.array(np.broadcast_to(given[name], (count,)))).to(torch_dtype(param.field.dtype))
            for name, param in self.schema.params.items()
        }
        keys = batched.episode_key(
            batched.split_seed(list(range(seed, seed + count))), torch.zeros(count, dtype=torch.int32)
        )
        times = torch.full((count,), t, dtype=torch.int32)
        wide = {slot: np.array(self._wide(slot, value, count)).tolist() for slot, value in override.items()}
        draw = batched.BatchedDraw(self.layout, phase, keys, times, override=wide)
        return Context(draw, times, params_type(self.schema)(**columns))

    def _wide(self, slot: str, value: Any, count: int) -> Array:
        size = next(d.count for d in self.schema.draws if d.name == slot)
        return np.broadcast_to(value, (count,) if size is None else (count, size))

    def _seen(self, state: Any, ctx: Context, count: int) -> Seen:
        check_state(self.schema, state, count)
        fields = {name: value.numpy().copy() for name, value in zip(state._fields, state, strict=True)}
        return Seen(fields, self.twin.observe(state, ctx).numpy().copy())


class Both:
    """One row in both twins, which must agree: plain numbers in, plain numbers out."""

    def __init__(self, name: str) -> None:
        self.rows = Rows(name)
        self.reference: Any = self.rows.package.reference()
        self.schema = self.rows.schema

    def reset(self, params: Mapping[str, Any] | None = None, *, seed: int = 0, **override: Any) -> dict[str, Any]:
        """The start of an episode as a JSON state with `observation` in it."""
        ctx = self._context("reset", 0, params, seed, override)
        one = self.reference.reset(ctx)
        return self._same(one, self.rows.reset(1, params, seed=seed, **override), self.reference.observe(one, ctx))

    def step(
        self,
        state: Mapping[str, Any],
        action: int,
        params: Mapping[str, Any] | None = None,
        *,
        t: int = 0,
        seed: int = 0,
        **override: Any,
    ) -> dict[str, Any]:
        """The state after a step, with `observation`, `reward` and `terminated` in it."""
        ctx = self._context("step", t, params, seed, override)
        plain = {name: state[name] for name in self.schema.state.fields}
        one = self.reference.step(load_state(self.schema, plain), action, ctx)
        many = self.rows.step(plain, [action], params, t=t, seed=seed, **override)
        told = self._same(one.state, many, self.reference.observe(one.state, ctx))
        assert many.reward is not None
        assert many.terminated is not None
        assert many.reward[0] == float(one.reward)
        assert bool(many.terminated[0]) is one.terminated
        return told | {"reward": float(one.reward), "terminated": one.terminated}

    def invariants(self, state: Mapping[str, Any], name: str, *, t: int = 0) -> bool:
        """What both twins say of the invariant of this name."""
        plain = {field: state[field] for field in self.schema.state.fields}
        one = getattr(self.reference, name)(load_state(self.schema, plain), self._context("step", t, None, 0, {}))
        rows = self.rows.twin.State(
            **{
                field: torch.as_tensor(np.array([plain[field]], dtype=leaf.dtype))
                for field, leaf in self.schema.state.items()
            }
        )
        many = getattr(self.rows.twin, name)(rows, self.rows._context("step", 1, t, None, 0, {}))
        assert bool(many[0]) is bool(one)
        return bool(one)

    def _context(
        self, phase: Any, t: int, params: Mapping[str, Any] | None, seed: int, override: Mapping[str, Any]
    ) -> Context:
        values = params_values(self.schema, params)
        draw = ScalarDraw(self.rows.layout, phase, episode_key(seed, 0), t, override=override)
        return Context(draw, t, params_type(self.schema)(**values))

    def _same(self, one: Any, many: Seen, observation: Any) -> dict[str, Any]:
        plain = dump_state(self.schema, one)
        assert {name: value[0].tolist() for name, value in many.state.items()} == plain
        seen = many.observation[0].tolist()
        assert np.array_equal(np.array(observation), np.array(seen))
        return plain | {"observation": seen}
