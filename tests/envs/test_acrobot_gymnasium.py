"""acrobot's batched twin beside Gymnasium's Acrobot as `gymnasium.make` gives it: its sines, its powers and all.

The battery holds the twin to the bits of Gymnasium's code with portable functions in it. Here nothing is handed to
Gymnasium, and what is left between the two is measured and held to the figures of spec.md, "Beside Gymnasium".
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.classic_control import acrobot as gymnasium_acrobot
from kit.untouched import After, Ours, Theirs, figures, play

from simulacrum.contract.package import load_package
from simulacrum.engine.params import batch_params
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.compare import ulps
from simulacrum.portable import tensor as portable
from simulacrum.twin.reference import Context

Array = Any
FIGURES = figures("acrobot")
ENDS = np.array([math.pi, math.pi, 4 * math.pi, 9 * math.pi])
CALM = np.array([math.pi, math.pi, 5.0, 9.0])  # what episodes seldom leave


class Quiet:
    """A draw that is always nothing: Gymnasium adds no noise unless it is asked to."""

    def uniform(self, slot: str, low: Any, high: Any) -> Any:
        return torch.zeros_like(high)


class OurAcrobot(Ours):
    """The batched twin without noise."""

    def step(self, states: Array, actions: Array) -> After:
        params = batch_params(self.schema, self.params, len(states), torch.device("cpu"))
        ctx: Any = Context(Quiet(), None, params)
        made = self.twin.step(self.twin.State(*torch.from_numpy(states.T.copy())), torch.from_numpy(actions), ctx)
        after, seen = torch.stack(list(made.state), dim=-1), self.twin.observe(made.state, ctx)
        return After(after.numpy(), made.reward.to(torch.float64).numpy(), made.terminated.numpy(), seen.numpy())


@pytest.fixture(scope="module")
def theirs() -> Theirs:
    return Theirs("Acrobot-v1")


@pytest.fixture(scope="module")
def ours() -> OurAcrobot:
    return OurAcrobot("acrobot")


def distance(one: Array, other: Array) -> Array:
    """Of angles the short way round."""
    apart = np.abs(one - other)
    apart[:, :2] = np.minimum(apart[:, :2], np.abs(2 * math.pi - apart[:, :2]))
    return apart


def heights(states: Array) -> Array:
    return -np.cos(states[:, 0]) - np.cos(states[:, 1] + states[:, 0])


def states_within(bounds: Array, count: int, seed: int) -> tuple[Array, Array]:
    generator = np.random.default_rng(seed)
    states = generator.uniform(-bounds, bounds, (count, 4))
    states[::9] = np.where(generator.random((len(states[::9]), 4)) < 0.5, np.sign(states[::9]) * bounds, states[::9])
    return states, generator.integers(0, 3, count)


def states_at_the_line(count: int, seed: int, ours: OurAcrobot) -> tuple[Array, Array]:
    """Neighbouring states, one of which ends the episode in the next step and the other does not: by bisection."""
    states, actions = states_within(CALM, 8 * count, seed)
    ends = ours.step(states, actions).ends
    low, high, actions = states[~ends][:count].copy(), states[ends][:count].copy(), actions[~ends][:count]
    flips = ours.step(high, actions).ends  # with the other one's action
    low, high, actions = low[flips], high[flips], actions[flips]
    high[:, 1:] = low[:, 1:]  # now only theta1 differs
    flips = ours.step(high, actions).ends
    low, high, actions = low[flips], high[flips], actions[flips]
    for _ in range(64):
        middle = (low + high) / 2
        ends = ours.step(middle, actions).ends[:, None]
        low, high = np.where(ends, low, middle), np.where(ends, middle, high)
    return np.concatenate([low, high]), np.concatenate([actions, actions])


def test_sines_cosines_and_squares_are_an_ulp_apart_at_most() -> None:
    values = np.random.default_rng(0).uniform(-8.0, 8.0, 100_000)
    given = torch.from_numpy(values)
    pairs = {
        "sines and cosines": [(np.sin(values), portable.sin(given)), (np.cos(values), portable.cos(given))],
        "squares": [(np.array([value**2 for value in values]), given * given)],
    }
    for what, both in pairs.items():
        for their, our in both:
            apart = ulps(their, our.numpy())
            assert apart.max() <= FIGURES[f"{what}: apart, ulp"]
            assert (apart > 0).mean() * 100 <= FIGURES[f"{what}: that differ"]


def test_an_angle_is_wrapped_as_gymnasium_wraps_it(ours: OurAcrobot) -> None:
    """At exactly half a turn, a bit beside it, and several turns out, where each turn taken off is rounded."""
    values = [0.0, 1e-300]
    for turns in range(8):
        for base in (math.pi, 2 * math.pi, 3 * math.pi):
            middle = base + turns * 2 * math.pi
            beside = [math.nextafter(middle, end) for end in (0.0, math.inf)]
            values += [middle, *beside, math.nextafter(beside[0], 0.0), math.nextafter(beside[1], math.inf)]
    furthest = 16.9 * math.pi  # eight turns are taken off
    values += np.random.default_rng(1).uniform(0.0, furthest, 4_000).tolist()
    values = [value for value in values if value <= furthest]
    values += [-value for value in values]
    expected = np.array([gymnasium_acrobot.wrap(value, -math.pi, math.pi) for value in values])
    got = ours.twin._wrapped(torch.tensor(values, dtype=torch.float64)).numpy()
    assert np.array_equal(expected.view(np.int64), got.view(np.int64))
    assert math.pi in expected
    assert -math.pi in expected
    by_remainder = np.array([(value + math.pi) % (2 * math.pi) - math.pi for value in values])
    assert (by_remainder != expected).mean() > 0.2  # one turn at a time is another number


def test_no_step_leads_further_than_is_looked(ours: OurAcrobot) -> None:
    states, actions = states_within(ENDS, 40_000, 2)
    furthest = 0.0
    for nips in (0, 1):
        twin = OurAcrobot("acrobot", {"nips": nips}).twin
        start = load_package("acrobot").module("fast").Motion(*(torch.from_numpy(column.copy()) for column in states.T))
        torque, flag = torch.from_numpy(actions - 1.0), torch.full((len(states),), nips == 1)
        moved = twin._integrated(start, torque, flag)
        furthest = max(furthest, *(float(angle.abs().max()) for angle in moved[:2]))
    assert 20.0 < furthest < 29.8


@pytest.mark.parametrize("where", ["calm", "wild", "line"])
def test_one_step(where: str, theirs: Theirs, ours: OurAcrobot) -> None:
    states, actions = {
        "calm": lambda: states_within(CALM, 1_500, 3),
        "wild": lambda: states_within(ENDS, 1_500, 4),
        "line": lambda: states_at_the_line(1_500, 5, ours),
    }[where]()
    one, other = theirs.step(states, actions), ours.step(states, actions)
    apart, differing = distance(one.states, other.states), (one.ends != other.ends).sum()
    angles, speeds = apart[:, :2].max(), apart[:, 2:].max()
    if where == "wild":
        assert angles <= FIGURES["one step from anywhere: angles apart"]
        assert speeds <= FIGURES["one step from anywhere: speeds apart"]
        assert (np.abs(one.states[:, 2:]) == ENDS[2:]).any(axis=1).sum() > 100  # bounds of the speeds are met
        return
    assert angles <= FIGURES["one step from usual speeds: angles apart"]
    assert speeds <= FIGURES["one step from usual speeds: speeds apart"]
    if where == "calm":
        assert differing == 0
        assert np.array_equal(one.rewards, other.rewards)
        assert ulps(one.seen, other.seen)[np.abs(one.seen) > 1e-3].max() <= 1
        return
    near = np.abs(heights(one.states) - 1.0) < 1e-14
    assert near.sum() > 200
    assert differing / near.sum() * 100 <= FIGURES["one step: ends that differ, of heights within 1e-14 of the line"]
    assert not (one.ends != other.ends)[~near].any()


def test_the_comparison_sees_a_threshold_one_ulp_off(theirs: Theirs, ours: OurAcrobot) -> None:
    states, actions = states_at_the_line(1_500, 6, ours)
    after = theirs.step(states, actions)
    high = heights(after.states)
    assert np.array_equal(high > 1.0, after.ends)
    for mistaken in (high > math.nextafter(1.0, 2.0), high >= 1.0):
        assert (mistaken != after.ends).sum() > 5


def test_one_step_with_the_equations_of_the_paper() -> None:
    theirs, ours = Theirs("Acrobot-v1", {"book_or_nips": "nips"}), OurAcrobot("acrobot", {"nips": 1})
    states, actions = states_within(CALM, 300, 7)
    one, other = theirs.step(states, actions), ours.step(states, actions)
    assert distance(one.states, other.states)[:, 2:].max() <= FIGURES["one step from usual speeds: speeds apart"]
    book = OurAcrobot("acrobot").step(states, actions)
    assert (distance(book.states, other.states) > 1e-6).any(axis=1).mean() > 0.9


def test_first_observations_are_single_precision_there(ours: OurAcrobot) -> None:
    env: Any = gymnasium.make("Acrobot-v1").unwrapped
    starts, seen = np.empty((1_000, 4)), np.empty((1_000, 6), dtype=np.float32)
    for row in range(len(starts)):
        seen[row], _ = env.reset(seed=row)
        assert env.state.dtype == np.float32
        starts[row] = env.state
    ctx: Any = None
    we_see = ours.twin.observe(ours.twin.State(*torch.from_numpy(starts.T.copy())), ctx).numpy()
    apart = ulps(seen, we_see)
    assert apart.max() <= FIGURES["first observations: apart, ulp of float32"]
    assert (apart > 0).any(axis=1).mean() * 100 <= FIGURES["first observations: that differ"]


def swing(states: Array, t: int) -> Array:
    return np.where(states[:, 2] > 0.0, 0, 2)


def drive(states: Array, t: int) -> Array:
    return np.where(states[:, 3] > 0.0, 2, 0)


def random_actions(episodes: int) -> Any:
    given = np.random.default_rng(8).integers(0, 3, (500, episodes))
    return lambda states, t: given[t]


@pytest.mark.parametrize(("name", "episodes"), [("random", 6), ("swing", 30), ("drive", 30)])
def test_whole_episodes_left_to_themselves(name: str, episodes: int, theirs: Theirs, ours: OurAcrobot) -> None:
    starts = np.random.default_rng(9).uniform(-0.1, 0.1, (episodes, 4)).astype(np.float32).astype(np.float64)
    policy = {"random": random_actions(episodes), "swing": swing, "drive": drive}[name]
    near: list[int] = []
    run = play(theirs, ours, starts, policy, 120 if name == "random" else 500, distance,
               lambda states: near.append(int((np.abs(heights(states) - 1.0) < 1e-9).sum())))  # fmt: skip
    assert run.other_lengths == FIGURES["episodes: of another length"]
    assert run.returns_apart == 0.0
    assert run.apart[:2].max() <= FIGURES["episodes: angles apart"]
    assert run.apart[2:].max() <= FIGURES["episodes: speeds apart"]
    assert sum(near) == FIGURES["episodes: heights within 1e-9 of the line"]
    assert name == "random" or 70 < run.theirs.lengths.mean() < 110


def test_engine_runs_whole_episodes_as_gymnasium_does() -> None:
    """Starts taken from our draws and put into `gymnasium.make`, time limit included."""
    envs = SimulacrumVectorEnv(load_package("acrobot"), 3, compile=False)
    envs.reset(seed=5)
    theirs: list[Any] = [gymnasium.make("Acrobot-v1") for _ in range(3)]
    for env, state in zip(theirs, envs.dump_states(), strict=True):
        env.reset(seed=0)
        env.unwrapped.state = np.array(list(state.values()))
    going, ended = set(range(3)), []
    for t in range(500):
        states = np.array([list(state.values()) for state in envs.dump_states()])
        actions = np.where(np.arange(3) < 2, swing(states, t), 1)
        _, rewards, terminated, truncated, _ = envs.step(torch.from_numpy(actions))
        for row in sorted(going):
            _, reward, ends, cut, _ = theirs[row].step(int(actions[row]))
            assert (reward, ends, cut) == (rewards[row], terminated[row], truncated[row])
            ended += [cut] if ends or cut else []
            going -= {row} if ends or cut else set()
        if not going:
            break
    assert sorted(ended) == [False, False, True]


def test_make_gives_the_reference_and_leaves_nothing_in_it() -> None:
    package = load_package("acrobot")
    twin: Any = package.reference()
    ctx: Any = Context(None, 0, type("Params", (), {"torque_noise_max": 0.0, "nips": 0})())
    before = {name: repr(value) for name, value in vars(twin._gym).items()}
    state = twin.State(1.5, 0.7, 2.0, -1.0)
    first, seen = twin.step(state, 2, ctx), twin.observe(state, ctx)
    assert (twin.step(state, 2, ctx), twin.observe(state, ctx)) == (first, seen)
    assert {name: repr(value) for name, value in vars(twin._gym).items()} == before
