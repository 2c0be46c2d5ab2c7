"""minigrid_empty's batched twin beside minigrid's Empty environments as `gymnasium.make` gives them.

Everything is exact: states, all numbers of the image, the float64 reward, both flags.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from kit.minigrid import (
    Proposals,
    Row,
    chi_square,
    fast_starts,
    fast_steps,
    original,
    original_step,
    reference_twin,
    same,
    too_rare,
)

from simulacrum.contract.package import load_package
from simulacrum.contract.spaces import single_action_space, single_observation_space
from simulacrum.engine.vector import SimulacrumVectorEnv

NAME = "minigrid_empty"
SIZES = (5, 6, 8, 16)
ACTIONS = range(7)


def env_of(size: int) -> Any:
    return original(f"MiniGrid-Empty-{size}x{size}-v0")


def put(env: Any, state: Row, t: int) -> None:
    env.agent_pos, env.agent_dir, env.step_count = (state["x"], state["y"]), state["direction"], t


def taken(env: Any) -> Row:
    x, y = env.agent_pos
    return {"size": env.width, "x": int(x), "y": int(y), "direction": int(env.agent_dir)}


def all_states(size: int) -> list[Row]:
    inside = range(1, size - 1)
    return [{"size": size, "x": x, "y": y, "direction": d} for x, y, d in itertools.product(inside, inside, range(4))]


@pytest.mark.parametrize("size", SIZES)
def test_every_state_and_action(size: int) -> None:
    """From the goal as well, though no episode goes on from there."""
    env, cases = env_of(size), list(itertools.product(all_states(size), ACTIONS))
    cases = cases if size < 16 else cases[::5]  # both ways around, 5 and 7 have no common factor
    theirs = []
    for state, action in cases:
        put(env, state, 3)
        theirs.append(original_step(env, taken, action))
    ours = fast_steps(NAME, [state for state, _ in cases], [action for _, action in cases], [3] * len(cases))
    same(ours, theirs, cases)


@pytest.mark.parametrize("size", SIZES)
def test_reward_and_truncation_at_every_step(size: int) -> None:
    env, most = env_of(size), 4 * size * size
    before = {"size": size, "x": size - 3, "y": size - 2, "direction": 0}
    theirs, times = [], [t for t in range(most) if t % 7 == 0 or t > most - 5]
    assert env.max_steps == most
    for t in times:
        put(env, before, t)
        theirs.append(original_step(env, taken, 2))
    same(fast_steps(NAME, [before] * len(times), [2] * len(times), times), theirs, times)
    assert [one.truncated for one in theirs] == [t == most - 1 for t in times]
    assert theirs[-1].terminated
    assert theirs[-1].reward == 1 - 0.9 * 1.0


def test_the_comparison_sees_another_direction() -> None:
    env, state = env_of(8), {"size": 8, "x": 2, "y": 3, "direction": 0}
    put(env, state | {"direction": 1}, 0)
    with pytest.raises(AssertionError, match="image differs at"):
        same(fast_steps(NAME, [state], [6], [0]), [original_step(env, taken, 6)], [state])


@pytest.mark.parametrize(("size", "random_start"), [(5, 1), (6, 0), (8, 0), (16, 1)])
def test_engine_runs_whole_episodes_as_minigrid_does(size: int, random_start: int) -> None:
    """Starts taken from our draws and put into minigrid, each left to itself from then on until its end."""
    rows = 4 if size < 16 else 2
    envs = SimulacrumVectorEnv(
        load_package(NAME), rows, compile=False, params={"size": size, "random_start": random_start}
    )
    envs.reset(seed=5)
    theirs = [env_of(size) for _ in range(rows)]
    for env, state in zip(theirs, envs.dump_states(), strict=True):
        put(env, state, 0)
    generator, going, ends = np.random.default_rng(6), set(range(rows)), Counter[str]()
    for _ in range(min(4 * size * size, 256)):
        # Turns and forward mostly, or a long room is not crossed.
        actions = generator.choice(7, rows, p=[0.15, 0.2, 0.45, 0.05, 0.05, 0.05, 0.05])
        seen, rewards, terminated, truncated, _ = envs.step(torch.from_numpy(actions))
        after = envs.dump_states()
        for row in sorted(going):
            one = original_step(theirs[row], taken, int(actions[row]))
            assert (one.state, one.image) == (after[row], seen["image"][row].numpy().tobytes())
            assert (one.direction, one.reward) == (seen["direction"][row], rewards[row])
            assert (one.terminated, one.truncated) == (terminated[row], truncated[row])
            if one.terminated or one.truncated:
                going.remove(row)
                ends["goal" if one.terminated else "time"] += 1
    assert (not going) == (size < 16)
    assert ends["goal"] > 0 or size == 16


def test_start_in_the_corner() -> None:
    for size in SIZES:
        seen, _ = env_of(size).reset(seed=1)
        states, images, directions = fast_starts(NAME, 3, size=size)
        assert states == [{"size": size, "x": 1, "y": 1, "direction": 0}] * 3
        assert images == [seen["image"].tobytes()] * 3
        assert directions == [int(seen["direction"])] * 3


@pytest.mark.parametrize("size", [5, 6])
def test_random_starts_are_equally_likely_in_minigrid_too(size: int) -> None:
    """All that it may draw: it proposes every cell of the grid, each as likely, and takes these."""
    env, accepted = original(f"MiniGrid-Empty-Random-{size}x{size}-v0"), []
    for x, y in itertools.product(range(size), repeat=2):
        env.np_random = Proposals([x, y, 2])
        try:
            env.reset()
        except StopIteration:
            assert env.np_random.asked == [(0, size), (0, size), (0, size), (0, size)][: len(env.np_random.asked)]
            continue
        assert env.np_random.asked == [(0, size), (0, size), (0, 4)]
        assert (taken(env)["x"], taken(env)["y"], taken(env)["direction"]) == (x, y, 2)
        accepted.append((x, y))
    fast = load_package(NAME).fast()
    inside = sorted(set(itertools.product(range(1, size - 1), repeat=2)) - {(size - 2, size - 2)})
    assert sorted(accepted) == inside
    ours, _, _ = fast_starts(NAME, 4000, size=size, random_start=1)
    assert {(state["x"], state["y"]) for state in ours} == set(inside)
    assert fast.schema.params["size"].default == 8


def test_random_starts_by_count() -> None:
    """Both against equal chances; chance alone fails one of the two once in half a million seeds."""
    env, theirs = original("MiniGrid-Empty-Random-5x5-v0"), Counter[Any]()
    for seed in range(960):
        env.reset(seed=seed)
        theirs[tuple(taken(env).values())] += 1
    ours = Counter(tuple(state.values()) for state in fast_starts(NAME, 9_600, size=5, random_start=1)[0])
    chances = {
        (5, x, y, d): 1 / 32 for x, y, d in itertools.product((1, 2, 3), (1, 2, 3), range(4)) if (x, y) != (3, 3)
    }
    for counts in (theirs, ours):
        assert not too_rare(*chi_square(counts, chances))
    assert too_rare(*chi_square(Counter({key: 50 + 30 * (key[1] == 1) for key in chances}), chances))


def test_spaces_are_those_of_minigrid() -> None:
    schema, env = load_package(NAME).schema, env_of(8)
    seen: Any = single_observation_space(schema)
    assert single_action_space(schema) == env.action_space
    assert seen["image"] == env.observation_space["image"]
    assert seen["direction"] == env.observation_space["direction"]
    assert set(env.observation_space) - set(seen) == {"mission"}
    assert env.mission == "get to the green goal square"


@pytest.mark.parametrize("size", [5, 8])
def test_drawings_are_those_of_minigrid(size: int) -> None:
    package, env = load_package(NAME), env_of(size)
    for state in all_states(size)[:: 1 if size == 5 else 17]:
        put(env, state, 0)
        drawn = package.module("render").rgb(reference_twin(NAME).State(**state))
        assert np.array_equal(drawn, env.get_frame())


def test_reference_keeps_nothing_and_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    from simulacrum.twin.reference import Context

    reference: Any = reference_twin(NAME)
    before = [dict(vars(room)) for room in reference._rooms]
    state = reference.State(size=8, x=5, y=6, direction=0)
    first = reference.step(state, 2, Context(None, 10, None))
    assert first == reference.step(state, 2, Context(None, 10, None))
    assert first.reward == 1 - 0.9 * (11 / 256)
    assert [dict(vars(room)) for room in reference._rooms] == before
    assert not recwarn.list
