"""cartpole's batched twin beside Gymnasium's CartPole as `gymnasium.make` gives it, sine and cosine included.

The battery holds the twin to the bits of Gymnasium's code with portable sine and cosine in it. Here nothing is
handed to Gymnasium, and what is left between the two is measured: sine and cosine that differ by 1 ulp.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from simulacrum.contract.package import load_package
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.compare import ulps
from simulacrum.portable import tensor as portable
from simulacrum.twin.reference import Context

Array = Any
X, ANGLE = 2.4, 12 * 2 * np.pi / 360
# Half an ulp of a speed near 4, twice: what one step may add, however many ulp that is of a speed near zero.
ONE_STEP = 8.9e-16
NOTHING = Context(None, None, None)


@pytest.fixture(scope="module")
def gym_step() -> Callable[[Array, Array], tuple[Array, Array, Array]]:
    """One step of Gymnasium's env from each of many states: states float64 `[N, 4]`, ends, observations."""
    env: Any = gymnasium.make("CartPole-v1").unwrapped

    def step(states: Array, actions: Array) -> tuple[Array, Array, Array]:
        after, ends = np.empty_like(states), np.empty(len(states), dtype=bool)
        seen = np.empty(states.shape, dtype=np.float32)
        for row, (state, action) in enumerate(zip(states, actions.tolist(), strict=True)):
            env.state, env.steps_beyond_terminated = state, None
            seen[row], reward, ends[row], truncated, _ = env.step(action)
            assert (reward, truncated) == (1.0, False)
            after[row] = env.state
        return after, ends, seen

    return step


@functools.cache
def batched_twin() -> Any:
    return load_package("cartpole").fast()


def fast_step(states: Array, actions: Array) -> tuple[Array, Array, Array]:
    """The same by the batched twin."""
    twin = batched_twin()
    given = twin.State(*torch.from_numpy(states).unbind(-1))
    made = twin.step(given, torch.from_numpy(actions), NOTHING)
    after = torch.stack(list(made.state), dim=-1)
    return after.numpy(), made.terminated.numpy(), twin.observe(made.state, NOTHING).numpy()


def states_within(count: int, seed: int) -> tuple[Array, Array]:
    """States that a step can begin in, and actions."""
    generator = np.random.default_rng(seed)
    most = np.array([X, 3.5, ANGLE, 4.0])
    return generator.uniform(-most, most, (count, 4)), generator.integers(0, 2, count)


def states_at_the_limits(count: int, seed: int) -> tuple[Array, Array]:
    """States from which `x` or `theta` comes within a few ulp of its limit in the next step."""
    generator = np.random.default_rng(seed)
    states, actions = states_within(count, seed)
    for column, limit in ((0, X), (2, ANGLE)):
        chosen = generator.random(count) < 0.6
        aim = limit + generator.integers(-4, 5, count) * np.spacing(limit)
        aim *= generator.choice([-1.0, 1.0], count)
        states[:, column] = np.where(chosen, aim - 0.02 * states[:, column + 1], states[:, column])
    return states, actions


def near_limits(states: Array) -> int:
    """How many values of `x` and `theta` are within 4 ulp of a limit."""
    return sum(
        int((ulps(np.abs(states[:, column]), np.full(len(states), limit)) <= 4).sum())
        for column, limit in ((0, X), (2, ANGLE))
    )


def test_sine_and_cosine_are_an_ulp_apart_at_most() -> None:
    angles = np.random.default_rng(0).uniform(-0.3, 0.3, 200_000)
    for theirs, ours in ((np.sin, portable.sin), (np.cos, portable.cos)):
        apart = ulps(theirs(angles), ours(torch.from_numpy(angles)).numpy())
        # glibc 2.36 differs in 0.35 and 0.54 % of the angles; another library may be another ulp away.
        assert apart.max() <= 2
        assert (apart > 0).mean() < 0.05


@pytest.mark.parametrize("choose", [states_within, states_at_the_limits])
def test_one_step(choose: Callable[[int, int], tuple[Array, Array]], gym_step: Any) -> None:
    states, actions = choose(20_000, 1)
    theirs, their_ends, they_see = gym_step(states, actions)
    ours, our_ends, we_see = fast_step(states, actions)
    # Positions use no sine of this step: their bits, and with them the end of the episode, cannot differ.
    assert np.array_equal(theirs[:, [0, 2]].view(np.int64), ours[:, [0, 2]].view(np.int64))
    assert np.array_equal(their_ends, our_ends)
    assert np.abs(theirs - ours).max() <= ONE_STEP
    assert (theirs != ours).any(axis=1).mean() < 0.02
    assert np.array_equal(they_see, we_see)
    if choose is states_at_the_limits:
        assert near_limits(theirs) > 10_000  # ties are met, on either side
        assert (theirs[:, 0] == X).any()
        assert (np.abs(theirs[:, 2]) == ANGLE).any()


def test_the_comparison_sees_a_threshold_one_ulp_off(gym_step: Any) -> None:
    states, actions = states_at_the_limits(2_000, 2)
    theirs, ends, _ = gym_step(states, actions)
    mistaken = (np.abs(theirs[:, 0]) >= X) | (np.abs(theirs[:, 2]) > ANGLE)
    assert (mistaken != ends).sum() > 20


POLICIES: dict[str, Callable[[Array, Any], Array]] = {
    "random": lambda states, generator: generator.integers(0, 2, len(states)),
    "lean": lambda states, _: (states[:, 2] > 0.0).astype(np.int64),
    "balance": lambda s, _: (0.1 * s[:, 0] + 0.2 * s[:, 1] + 3.0 * s[:, 2] + s[:, 3] > 0.0).astype(np.int64),
}


@pytest.mark.parametrize(("policy", "episodes"), [("random", 400), ("lean", 300), ("balance", 40)])
def test_whole_episodes_left_to_themselves(policy: str, episodes: int, gym_step: Any) -> None:
    """Both from equal starts, each on its own state from then on: ends at the same step, and never far apart."""
    generator = np.random.default_rng(3)
    theirs = generator.uniform(-0.05, 0.05, (episodes, 4))
    ours, going, near = theirs.copy(), np.arange(episodes), 0
    for _ in range(500):
        actions = POLICIES[policy](theirs[going], generator)
        theirs[going], ends, they_see = gym_step(theirs[going], actions)
        ours[going], our_ends, we_see = fast_step(ours[going], actions)
        assert np.array_equal(ends, our_ends)
        # A gap may straddle the middle between two float32 numbers.
        assert ulps(they_see, we_see).max() <= 1 or np.abs(they_see - we_see).max() < 1e-9
        near += near_limits(theirs[going])
        going = going[~ends]
        if not len(going):
            break
    # Pushes that do not answer to the pole's fall let gaps grow; measured: 4e-11 after 500 steps at most.
    assert np.abs(theirs - ours).max() < 1e-9
    assert near == 0  # no episode of these came near enough to a limit for the gap to decide
    assert (len(going) > 0) == (policy == "balance")


def test_a_wrong_integrator_parts_at_once(gym_step: Any) -> None:
    states, actions = states_within(100, 4)
    theirs, _, _ = gym_step(states, actions)
    implicit = states[:, 0] + 0.02 * theirs[:, 1]
    assert (np.abs(implicit - theirs[:, 0]) > ONE_STEP).all()


def test_engine_runs_whole_episodes_as_gymnasium_does() -> None:
    """Starts taken from our draws and put into `gymnasium.make`, time limit included."""
    package = load_package("cartpole")
    envs = SimulacrumVectorEnv(package, 8, compile=False)
    envs.reset(seed=5)
    theirs: list[Any] = [gymnasium.make("CartPole-v1") for _ in range(8)]
    for env, state in zip(theirs, envs.dump_states(), strict=True):
        env.reset(seed=0)
        env.unwrapped.state = np.array(list(state.values()))
    going = set(range(8))
    for _ in range(500):
        states = np.array([list(state.values()) for state in envs.dump_states()])
        actions = POLICIES["balance" if len(going) % 2 == 0 else "lean"](states, None)
        _, rewards, terminated, truncated, _ = envs.step(torch.from_numpy(actions))
        for row in sorted(going):
            _, reward, ends, cut, _ = theirs[row].step(int(actions[row]))
            assert (reward, ends, cut) == (rewards[row], terminated[row], truncated[row])
            going -= {row} if ends or cut else set()
    assert not going


def test_make_gives_the_reference_and_leaves_nothing_in_it() -> None:
    twin: Any = load_package("cartpole").reference()
    before = dict(vars(twin._gym))
    state = twin.State(0.01, 0.02, 0.2, 3.0)
    first = twin.step(state, 1, NOTHING)
    assert twin.step(state, 1, NOTHING) == first
    assert dict(vars(twin._gym)) == before
    assert first.terminated is True


def test_gymnasium_warns_of_nothing_while_it_is_driven(recwarn: pytest.WarningsRecorder) -> None:
    twin: Any = load_package("cartpole").reference()
    state = twin.State(0.0, 0.0, 0.3, 3.0)
    for _ in range(3):
        assert twin.step(state, 1, NOTHING).reward == 1.0
    assert not recwarn.list
