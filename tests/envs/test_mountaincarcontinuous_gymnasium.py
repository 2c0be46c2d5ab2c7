"""mountaincarcontinuous' batched twin beside Gymnasium's MountainCarContinuous as `gymnasium.make` gives it.

The battery holds the twin to the bits of Gymnasium's code with the portable cosine in it. Here nothing is handed to
Gymnasium, and what is left between the two is measured and held to the figures of spec.md, "Beside Gymnasium".
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from kit.untouched import After, Ours, Theirs, figures, play

from simulacrum.contract.package import load_package
from simulacrum.engine.params import batch_params
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.twin.reference import Context

Array = Any
FIGURES = figures("mountaincarcontinuous")
GOAL, LEFT_END, RIGHT_END = np.float32(0.45), np.float32(-1.2), np.float32(0.6)
TIE = 4 * np.spacing(GOAL)


class TheirCar(Theirs):
    """Gymnasium's car: its state is float64 in the first step of an episode and float32 in the others."""

    first = False

    def step(self, states: Array, actions: Array) -> After:
        wide = super().step(states if self.first else states.astype(np.float32), actions)
        return wide._replace(states=wide.states.astype(np.float32).astype(np.float64))


class OurCar(Ours):
    """The batched twin, told whether the step is the first."""

    first = False

    def step(self, states: Array, actions: Array) -> After:
        params = batch_params(self.schema, self.params, len(states), torch.device("cpu"))
        ctx: Any = Context(None, torch.full((len(states),), 0 if self.first else 5, dtype=torch.int32), params)
        made = self.twin.step(self.twin.State(*torch.from_numpy(states.T.copy())), torch.from_numpy(actions), ctx)
        after, seen = torch.stack(list(made.state), dim=-1), self.twin.observe(made.state, ctx)
        return After(after.numpy(), made.reward.to(torch.float64).numpy(), made.terminated.numpy(), seen.numpy())


@pytest.fixture
def theirs() -> TheirCar:
    return TheirCar("MountainCarContinuous-v0")


@pytest.fixture
def ours() -> OurCar:
    return OurCar("mountaincarcontinuous")


def states_within(count: int, seed: int) -> tuple[Array, Array]:
    """Float64 states, some at rest, at top speed or at an end, and pushes."""
    generator = np.random.default_rng(seed)
    states = generator.uniform([-1.2, -0.07], [0.6, 0.07], (count, 2))
    states[::7, 1] = generator.choice([0.0, 0.07, -0.07], len(states[::7]))
    states[::11, 0] = generator.choice([-1.2, 0.6], len(states[::11]))
    pushes = generator.uniform(-1.0, 1.0, (count, 1))
    pushes[::5] = generator.choice([-1.0, 0.0, 1.0], (len(pushes[::5]), 1))
    return states, pushes.astype(np.float32)


def states_at_the_limits(count: int, seed: int, ours: OurCar) -> tuple[Array, Array]:
    """Float32 states from which the position comes within a few ulp of the flag, the wall or the right end."""
    generator = np.random.default_rng(seed)
    states, pushes = states_within(count, seed)
    limit = generator.choice([GOAL, LEFT_END, RIGHT_END], count)
    aim = limit + generator.integers(-4, 5, count) * np.spacing(np.abs(limit)).astype(np.float32)
    states[:, 0] = limit
    for _ in range(8):  # what a step adds changes little with the place
        states[:, 0] = np.clip(aim - ours.step(states, pushes).states[:, 1], -1.2, 0.6).astype(np.float32)
    return states.astype(np.float32).astype(np.float64), pushes


@pytest.mark.parametrize("where", ["first", "later", "limits"])
def test_one_step(where: str, theirs: TheirCar, ours: OurCar) -> None:
    theirs.first = ours.first = where == "first"
    states, pushes = states_at_the_limits(8_000, 1, ours) if where == "limits" else states_within(8_000, 2)
    one, other = theirs.step(states, pushes), ours.step(states, pushes)
    differing = (one.states != other.states).any(axis=1).mean() * 100
    assert differing <= FIGURES[f"one step, {'first' if where == 'first' else 'later'}: states that differ"]
    assert (one.ends != other.ends).sum() == FIGURES["one step: ends that differ"]
    assert np.abs(one.rewards - other.rewards).max() <= FIGURES["one step: rewards apart"]
    assert one.ends.sum() > 300
    if where == "limits":
        near = np.abs(one.states[:, 0] - GOAL) <= TIE
        assert near.sum() > 1_000
        assert (one.states[:, 0] == GOAL).sum() > 50
        assert ((one.states[:, 0] == LEFT_END) & (one.states[:, 1] == 0.0)).sum() > 300


def test_the_comparison_sees_a_threshold_one_ulp_off(theirs: TheirCar, ours: OurCar) -> None:
    states, pushes = states_at_the_limits(4_000, 3, ours)
    after = theirs.step(states, pushes)
    moving_on = after.states[:, 1] >= 0.0
    assert np.array_equal((after.states[:, 0] >= GOAL) & moving_on, after.ends)
    for off in (np.float32(1.0), np.float32(0.0)):
        mistaken = (after.states[:, 0] >= np.nextafter(GOAL, off)) & moving_on
        assert (mistaken != after.ends).sum() > 10


def test_the_comparison_sees_the_other_width(theirs: TheirCar, ours: OurCar) -> None:
    states, pushes = states_within(2_000, 4)
    ours.first = True
    assert (theirs.step(states, pushes).states != ours.step(states, pushes).states).any(axis=1).mean() > 0.1


def test_one_step_under_another_goal_velocity() -> None:
    goal_velocity = float(np.float32(0.02))
    theirs = TheirCar("MountainCarContinuous-v0", goal_velocity=goal_velocity)
    ours = OurCar("mountaincarcontinuous", {"goal_velocity": goal_velocity})
    states, pushes = states_within(2_000, 5)
    states[:, 0] = 0.45 + states[:, 0] / 12
    one, other = theirs.step(states, pushes), ours.step(states, pushes)
    assert np.array_equal(one.ends, other.ends)
    assert ((one.states[:, 0] >= GOAL) & ~one.ends).sum() > 20
    assert one.ends.sum() > 50


def pump(states: Array, t: int) -> Array:
    return np.where(states[:, 1:] >= 0.0, 1.0, -1.0).astype(np.float32)


def gentle(states: Array, t: int) -> Array:
    return np.float32(0.3) * pump(states, t)


def random_pushes(episodes: int) -> Any:
    given = np.random.default_rng(6).uniform(-1.0, 1.0, (999, episodes, 1)).astype(np.float32)
    return lambda states, t: given[t]


@pytest.mark.parametrize(("name", "episodes", "limit"), [("random", 10, 300), ("pump", 60, 999), ("gentle", 40, 999)])
def test_whole_episodes_left_to_themselves(
    name: str, episodes: int, limit: int, theirs: TheirCar, ours: OurCar
) -> None:
    generator = np.random.default_rng(7)
    starts = np.stack([generator.uniform(-0.6, -0.4, episodes), np.zeros(episodes)], axis=1)
    policy = {"random": random_pushes(episodes), "pump": pump, "gentle": gentle}[name]
    near: list[int] = []

    def first_is_wide(states: Array, t: int) -> Array:
        theirs.first = ours.first = t == 0
        return policy(states, t)

    run = play(theirs, ours, starts, first_is_wide, limit,
               watch=lambda seen: near.append(int((np.abs(seen[:, 0] - GOAL) <= TIE).sum())))  # fmt: skip
    assert run.other_lengths == FIGURES["episodes: of another length"]
    assert run.returns_apart <= FIGURES["episodes: returns apart"]
    assert run.apart[0] <= FIGURES["episodes: position apart"]
    assert run.apart[1] <= FIGURES["episodes: velocity apart"]
    assert sum(near) == FIGURES["episodes: positions within 4 ulp of the flag"]
    assert (run.theirs.lengths < limit).all() == (name != "random")


def test_engine_runs_whole_episodes_as_gymnasium_does() -> None:
    """Starts taken from our draws and put into `gymnasium.make`, first step and time limit included."""
    envs = SimulacrumVectorEnv(load_package("mountaincarcontinuous"), 3, compile=False)
    envs.reset(seed=5)
    theirs: list[Any] = [gymnasium.make("MountainCarContinuous-v0") for _ in range(3)]
    for env, state in zip(theirs, envs.dump_states(), strict=True):
        env.reset(seed=0)
        env.unwrapped.state = np.array(list(state.values()))
    going, ended = set(range(3)), 0
    for t in range(200):
        states = np.array([list(state.values()) for state in envs.dump_states()])
        pushes = pump(states, t)
        seen, rewards, terminated, _, _ = envs.step(torch.from_numpy(pushes))
        for row in sorted(going):
            they_see, reward, ends, _, _ = theirs[row].step(pushes[row])
            assert np.float32(reward) == rewards[row]
            assert ends == terminated[row]
            assert np.abs(they_see - seen[row].numpy()).max() <= FIGURES["episodes: position apart"]
            ended += ends
            going -= {row} if ends else set()
    assert ended == 3


def test_make_gives_the_reference_and_leaves_nothing_in_it() -> None:
    package = load_package("mountaincarcontinuous")
    twin: Any = package.reference()
    ctx: Any = Context(None, 3, type("Params", (), {"goal_velocity": 0.0})())
    before = {name: repr(value) for name, value in vars(twin._gym).items()}
    state = twin.State(0.43, 0.03)
    first = twin.step(state, (1.0,), ctx)
    assert twin.step(state, (1.0,), ctx) == first
    assert {name: repr(value) for name, value in vars(twin._gym).items()} == before
    assert first.terminated is True
