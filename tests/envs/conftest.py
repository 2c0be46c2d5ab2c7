"""A table to put one state on, act once, and read what both twins make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.contract.schema import Schema
from simulacrum.portable import Float32
from simulacrum.rng import batched
from simulacrum.rng.layout import Layout, Slot
from simulacrum.rng.scalar import ScalarDraw, episode_key
from simulacrum.twin.batched import check_field, check_group, check_state, load_states, torch_dtype
from simulacrum.twin.batched import dump_state as dump_row
from simulacrum.twin.invariant import invariants_of
from simulacrum.twin.probe import Probe
from simulacrum.twin.reference import Context, Transition
from simulacrum.twin.state import (
    canonical,
    canonical_group,
    dump_state,
    load_state,
    params_type,
    params_values,
)

# One environment for each program that references drive, and the two that everything else is tested on. What is
# beside the others runs with `make test-long`: each checks its own package alone.
EVERY_TIME = ("cartpole", "forager", "frozenlake", "minatar_breakout", "minigrid_empty", "toywalk", "render")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and not item.path.name.removeprefix("test_").startswith(EVERY_TIME):
            item.add_marker(pytest.mark.long)


def layout_of(schema: Schema) -> Layout:
    return Layout(Slot(d.name, d.phase, d.distribution, d.dtype, d.count) for d in schema.draws)


@dataclass(frozen=True)
class Seen:
    """What both twins agree on, bit for bit, as plain Python: ints, bools, floats and lists of them."""

    state: dict[str, Any]
    observation: list[Any]  # floats, nested as the schema has them
    info: dict[str, Any]
    invariants: dict[str, bool]
    reward: float | None = None
    terminated: bool | None = None


class Table:
    """Both twins of one package. Every answer is checked to be the same in both, to the bit, and in bounds.

    The batched twin works on three rows, of which the middle one is the row asked for; its neighbours begin
    another episode, so that an answer that depended on them would differ.
    """

    def __init__(self, package: EnvPackage) -> None:
        self.schema = package.schema
        self.reference, self.fast = package.reference(), package.fast()
        self.layout = layout_of(self.schema)

    def reset(self, *, seed: int = 0, episode: int = 0, **override: Any) -> Seen:
        """The start of an episode; `override` sets draws by slot."""
        scalar, rows = self._contexts("reset", 0, seed, episode, {}, override)
        return self._compare(self.reference.reset(scalar), self.fast.reset(rows), scalar, rows)

    def step(
        self,
        state: Mapping[str, Any],
        action: int | float,
        *,
        t: int = 0,
        seed: int = 0,
        params: Mapping[str, Any] | None = None,
        **override: Any,
    ) -> Seen:
        """One action on a state after `t` steps, an int, or the one number of a Box; `override` sets draws by slot."""
        scalar, rows = self._contexts("step", t, seed, 0, params or {}, override)
        boxed = isinstance(action, float)
        given = (Float32(action),) if boxed else action
        one = self.reference.step(load_state(self.schema, state), given, scalar)
        neighbour = dump_row(self.schema, self.fast.reset(self._contexts("reset", 0, 7, 0, {}, {})[1]), 0)
        states = load_states(self.schema, [neighbour, state, neighbour])
        actions = torch.tensor([0, action, 1])
        many = self.fast.step(states, actions[:, None] if boxed else actions, rows)
        assert many.truncated is False
        assert one.truncated is False
        after = scalar._replace(t=t + 1), rows._replace(t=rows.t + 1)
        return self._compare(one.state, many.state, *after, one, many)

    def look(self, state: Mapping[str, Any], *, t: int) -> Seen:
        """Observation, info and invariants of a state after `t` steps."""
        scalar, rows = self._contexts("step", t, 0, 0, {}, {})
        one, many = load_state(self.schema, state), load_states(self.schema, [state] * 3)
        return self._compare(one, many, scalar, rows)

    def _contexts(
        self,
        phase: Any,
        t: int,
        seed: int,
        episode: int,
        params: Mapping[str, Any],
        override: Mapping[str, Any],
    ) -> tuple[Context, Context]:
        values = params_values(self.schema, params)
        kind, times = params_type(self.schema), torch.full((3,), t, dtype=torch.int32)
        seeds = batched.split_seed([seed + 100, seed, seed + 200])
        keys = batched.episode_key(seeds, torch.full((3,), episode, dtype=torch.int32))
        scalar = ScalarDraw(self.layout, phase, episode_key(seed, episode), t, override=override)
        wide = {slot: [value] * 3 for slot, value in override.items()}  # [3] or [3, K]
        rows = batched.BatchedDraw(self.layout, phase, keys, times, override=wide)
        dtypes = {name: torch_dtype(param.field.dtype) for name, param in self.schema.params.items()}
        columns = kind(**{name: torch.full((3,), value, dtype=dtypes[name]) for name, value in values.items()})
        return Context(scalar, t, kind(**values)), Context(rows, times, columns)

    def _compare(
        self,
        state: Any,
        states: Any,
        scalar: Context,
        rows: Context,
        one: Transition | None = None,
        many: Transition | None = None,
    ) -> Seen:
        schema = self.schema
        check_state(schema, states, 3)
        plain = dump_state(schema, state)
        assert dump_row(schema, states, 1) == plain
        observation = canonical_group(schema.observation, self.reference.observe(state, scalar))
        seen = self.fast.observe(states, rows)
        check_group(schema.observation, seen, 3)
        assert _bits(seen[1]) == _bits(observation)
        info, holds = self._info(state, states, scalar, rows), self._invariants(state, states, scalar, rows)
        if one is None or many is None:
            return Seen(plain, _floats(observation), info, holds)
        reward = canonical(schema.reward, one.reward)
        check_field(schema.reward, many.reward, 3)
        assert _bits(many.reward[1:2]) == _bits([reward])
        assert many.terminated.dtype == torch.bool
        assert many.terminated[1].item() is one.terminated
        return Seen(plain, _floats(observation), info, holds, float(reward), one.terminated)

    def _info(self, state: Any, states: Any, scalar: Context, rows: Context) -> dict[str, Any]:
        info = canonical_group(self.schema.info, self.reference.info(state, scalar))
        metrics = self.fast.info(states, rows)
        check_group(self.schema.info, metrics, 3)
        for name, value in info.items():
            assert metrics[name][1].item() == value, name
        return info

    def _invariants(self, state: Any, states: Any, scalar: Context, rows: Context) -> dict[str, bool]:
        names = [each.method for each in invariants_of(self.reference)]
        holds = {name: getattr(self.reference, name)(state, scalar) for name in names}
        for name, value in holds.items():
            assert getattr(self.fast, name)(states, rows)[1].item() is value, name
        return holds


def _floats(values: Any) -> list[Any]:
    return [_floats(value) if isinstance(value, tuple) else float(value) for value in values]


def _bits(values: Any) -> list[int]:
    """float32 values as integers, so that -0.0 and 0.0 differ and NaN equals itself."""
    return torch.as_tensor(values, dtype=torch.float32).view(torch.int32).tolist()


@pytest.fixture(scope="session")
def toywalk() -> Table:
    return Table(load_package("toywalk"))


@pytest.fixture(scope="session")
def forager() -> Table:
    return Table(load_package("forager"))


@pytest.fixture(scope="session")
def cartpole() -> Table:
    return Table(load_package("cartpole"))


@pytest.fixture(scope="session")
def pendulum() -> Table:
    return Table(load_package("pendulum"))


@pytest.fixture(scope="session")
def mountaincar() -> Table:
    return Table(load_package("mountaincar"))


@pytest.fixture(scope="session")
def acrobot() -> Table:
    return Table(load_package("acrobot"))


@pytest.fixture(scope="session")
def mountaincarcontinuous() -> Table:
    return Table(load_package("mountaincarcontinuous"))


def play_probe(name: str, probe: Probe) -> list[float]:
    """The returns of a probe's episodes, played on the reference without an engine."""
    package = load_package(name)
    env, schema = package.reference(), package.schema
    layout = layout_of(schema)
    params = params_type(schema)(**params_values(schema, None))
    limit = schema.max_episode_steps or 0
    returns: list[float] = []
    for seed in range(probe.seed, probe.seed + probe.episodes):
        key, total = episode_key(seed, 0), 0.0
        ctx = Context(ScalarDraw(layout, "reset", key, 0), 0, params)
        state = env.reset(ctx)
        for t in range(limit):
            ctx = Context(ScalarDraw(layout, "step", key, t), t, params)
            action = probe.act(env.observe(state, ctx), state, t)
            state, reward, terminated, _ = env.step(state, action, ctx)
            total += float(reward)
            if terminated:
                break
        returns.append(total)
    return returns


@pytest.fixture(scope="session")
def play() -> Callable[[str, Probe], list[float]]:
    return play_probe
