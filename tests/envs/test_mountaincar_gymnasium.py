"""mountaincar's batched twin beside Gymnasium's MountainCar as `gymnasium.make` gives it, its cosine included.

The battery holds the twin to the bits of Gymnasium's code with the portable cosine in it. Here nothing is handed to
Gymnasium, and what is left between the two is measured and held to the figures of spec.md, "Beside Gymnasium".
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from kit.untouched import Ours, Theirs, figures, play

from simulacrum.contract.package import load_package
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.compare import ulps
from simulacrum.portable import tensor as portable
from simulacrum.twin.reference import Context

Array = Any
FIGURES = figures("mountaincar")
TIES = "one step: ends that differ, of positions within 4 ulp of the flag"
GOAL, LEFT_END, RIGHT_END = 0.5, -1.2, 0.6


@pytest.fixture(scope="module")
def theirs() -> Theirs:
    return Theirs("MountainCar-v0")


@pytest.fixture(scope="module")
def ours() -> Ours:
    return Ours("mountaincar")


def states_within(count: int, seed: int) -> tuple[Array, Array]:
    """States that a step can begin in, some at rest or at top speed, and actions."""
    generator = np.random.default_rng(seed)
    states = generator.uniform([LEFT_END, -0.07], [RIGHT_END, 0.07], (count, 2))
    states[::7, 1] = generator.choice([0.0, 0.07, -0.07], len(states[::7]))
    states[::11, 0] = generator.choice([LEFT_END, RIGHT_END], len(states[::11]))
    return states, generator.integers(0, 3, count)


def states_at_the_limits(count: int, seed: int, ours: Ours) -> tuple[Array, Array]:
    """States from which the position comes within a few ulp of the flag, the wall or the right end."""
    generator = np.random.default_rng(seed)
    states, actions = states_within(count, seed)
    limit = generator.choice([GOAL, LEFT_END, RIGHT_END], count)
    aim = limit + generator.integers(-8, 9, count) * np.spacing(np.abs(limit)) / 2
    states[:, 0] = limit
    for _ in range(8):  # what a step adds changes little with the place
        states[:, 0] = np.clip(aim - ours.step(states, actions).states[:, 1], LEFT_END, RIGHT_END)
    return states, actions


def test_cosines_are_an_ulp_apart_at_most() -> None:
    angles = np.random.default_rng(0).uniform(-3.6, 1.8, 200_000)
    theirs = np.array([math.cos(angle) for angle in angles.tolist()])
    apart = ulps(theirs, portable.cos(torch.from_numpy(angles)).numpy())
    assert apart.max() <= FIGURES["cosines: apart, ulp"]
    assert (apart > 0).mean() * 100 <= FIGURES["cosines: that differ"]


@pytest.mark.parametrize("where", ["within", "limits"])
def test_one_step(where: str, theirs: Theirs, ours: Ours) -> None:
    count = 12_000
    states, actions = states_within(count, 1) if where == "within" else states_at_the_limits(count, 1, ours)
    one, other = theirs.step(states, actions), ours.step(states, actions)
    apart = np.abs(one.states - other.states).max(axis=0)
    assert apart[0] <= FIGURES["one step: position apart"]
    assert apart[1] <= FIGURES["one step: velocity apart"]
    assert (one.states != other.states).any(axis=1).mean() * 100 <= FIGURES["one step: states that differ"]
    assert np.array_equal(one.rewards, other.rewards)
    assert (one.seen != other.seen).sum() <= 1  # a gap may straddle the middle between two float32 numbers
    turned = one.ends != other.ends
    if where == "within":
        assert not turned.any()
        assert one.ends.sum() > 500
        return
    near = np.abs(one.states[:, 0] - GOAL) <= 4 * np.spacing(GOAL)
    assert near.sum() > 2_000  # ties are met, on either side and exactly
    assert (one.states[:, 0] == GOAL).sum() > 100
    assert (one.states[:, 0] == LEFT_END).sum() > 1_000
    assert ((one.states[:, 0] == LEFT_END) & (one.states[:, 1] == 0.0)).sum() > 500
    assert not turned[~near].any()
    assert turned.sum() / near.sum() * 100 <= FIGURES[TIES]


@pytest.mark.parametrize("off", [math.inf, -math.inf])
def test_the_comparison_sees_a_threshold_one_ulp_off(off: float, theirs: Theirs, ours: Ours) -> None:
    states, actions = states_at_the_limits(3_000, 2, ours)
    after = theirs.step(states, actions)
    mistaken = (after.states[:, 0] >= math.nextafter(GOAL, off)) & (after.states[:, 1] >= 0.0)
    share = FIGURES[TIES] / 100
    near = np.abs(after.states[:, 0] - GOAL) <= 4 * np.spacing(GOAL)
    assert (mistaken != after.ends).sum() > 20 + share * near.sum()


@pytest.mark.parametrize("goal_velocity", [0.02, -0.03])
def test_one_step_under_another_goal_velocity(goal_velocity: float) -> None:
    theirs = Theirs("MountainCar-v0", goal_velocity=goal_velocity)
    ours = Ours("mountaincar", {"goal_velocity": goal_velocity})
    states, actions = states_within(2_000, 3)
    states[:, 0] = 0.5 + states[:, 0] / 12
    one, other = theirs.step(states, actions), ours.step(states, actions)
    assert np.array_equal(one.ends, other.ends)
    there = one.states[:, 0] >= GOAL
    assert (there & ~one.ends).sum() > 20
    assert one.ends.sum() > 100


def random_actions(episodes: int) -> Any:
    given = np.random.default_rng(3).integers(0, 3, (200, episodes))
    return lambda states, t: given[t]


def pump(states: Array, t: int) -> Array:
    return np.where(states[:, 1] >= 0.0, 2, 0)


def curves(states: Array, t: int) -> Array:
    x, v = states.T
    low = np.minimum(-0.09 * (x + 0.25) ** 2 + 0.03, 0.3 * (x + 0.9) ** 4 - 0.008)
    return np.where((low < v) & (v < -0.07 * (x + 0.38) ** 2 + 0.07), 2, 0)


@pytest.mark.parametrize(("name", "episodes"), [("random", 60), ("pump", 120), ("curves", 120)])
def test_whole_episodes_left_to_themselves(name: str, episodes: int, theirs: Theirs, ours: Ours) -> None:
    generator = np.random.default_rng(4)
    starts = np.stack([generator.uniform(-0.6, -0.4, episodes), np.zeros(episodes)], axis=1)
    policy = {"random": random_actions(episodes), "pump": pump, "curves": curves}[name]
    near: list[int] = []
    run = play(theirs, ours, starts, policy, 200,
               watch=lambda states: near.append(int((np.abs(states[:, 0] - GOAL) < 1e-12).sum())))  # fmt: skip
    assert run.other_lengths == FIGURES["episodes: of another length"]
    assert run.returns_apart == 0.0
    assert run.apart[0] <= FIGURES["episodes: position apart"]
    assert run.apart[1] <= FIGURES["episodes: velocity apart"]
    assert sum(near) == FIGURES["episodes: positions within 1e-12 of the flag"]
    arrived = (run.theirs.lengths < 200).mean()
    assert arrived == 0.0 if name == "random" else arrived > 0.95


def test_a_wrong_order_of_rules_parts_at_once(theirs: Theirs, ours: Ours) -> None:
    states, actions = states_within(500, 5)
    after = theirs.step(states, actions).states
    moved_first = np.clip(states[:, 0] + states[:, 1], LEFT_END, RIGHT_END)
    free = (after[:, 0] > LEFT_END) & (after[:, 0] < RIGHT_END)
    assert (np.abs(moved_first - after[:, 0])[free] > FIGURES["one step: position apart"]).mean() > 0.9


def test_engine_runs_whole_episodes_as_gymnasium_does() -> None:
    """Starts taken from our draws and put into `gymnasium.make`, time limit included."""
    envs = SimulacrumVectorEnv(load_package("mountaincar"), 6, compile=False)
    envs.reset(seed=5)
    theirs: list[Any] = [gymnasium.make("MountainCar-v0") for _ in range(6)]
    for env, state in zip(theirs, envs.dump_states(), strict=True):
        env.reset(seed=0)
        env.unwrapped.state = np.array(list(state.values()))
    going, ends_seen = set(range(6)), 0
    for t in range(200):
        states = np.array([list(state.values()) for state in envs.dump_states()])
        actions = np.where(np.arange(6) < 3, pump(states, t), t % 3)
        _, rewards, terminated, truncated, _ = envs.step(torch.from_numpy(actions))
        for row in sorted(going):
            _, reward, ends, cut, _ = theirs[row].step(int(actions[row]))
            assert (reward, ends, cut) == (rewards[row], terminated[row], truncated[row])
            ends_seen += ends
            going -= {row} if ends or cut else set()
    assert not going
    assert ends_seen == 3


def test_make_gives_the_reference_and_leaves_nothing_in_it() -> None:
    package = load_package("mountaincar")
    twin: Any = package.reference()
    ctx = Context(None, 0, type("Params", (), {"goal_velocity": 0.0})())
    before = {name: repr(value) for name, value in vars(twin._gym).items()}
    state = twin.State(0.48, 0.03)
    first = twin.step(state, 2, ctx)
    assert twin.step(state, 2, ctx) == first
    assert {name: repr(value) for name, value in vars(twin._gym).items()} == before
    assert first.terminated is True
