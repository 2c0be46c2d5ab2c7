"""minigrid_lavagap's batched twin beside minigrid's LavaGap environments as `gymnasium.make` gives them.

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
from minigrid.core.grid import Grid
from minigrid.core.world_object import Goal, Lava, Wall

from simulacrum.contract.package import load_package
from simulacrum.contract.spaces import single_action_space, single_observation_space
from simulacrum.engine.vector import SimulacrumVectorEnv

NAME = "minigrid_lavagap"
SIZES = (5, 6, 7)
ACTIONS = range(7)


def env_of(size: int) -> Any:
    return original(f"MiniGrid-LavaGapS{size}-v0")


def put(env: Any, state: Row, t: int) -> None:
    """Everything made anew, cell by cell."""
    size = state["size"]
    env.grid = Grid(size, size)
    for x, y in itertools.product(range(size), repeat=2):
        if x in (0, size - 1) or y in (0, size - 1):
            env.grid.set(x, y, Wall())
        elif x == state["gap_x"] and y != state["gap_y"]:
            env.grid.set(x, y, Lava())
    env.put_obj(Goal(), size - 2, size - 2)
    env.agent_pos, env.agent_dir, env.step_count = (state["x"], state["y"]), state["direction"], t


def taken(env: Any) -> Row:
    size, things = env.width, env.grid.grid
    lava = {(number % size, number // size) for number, thing in enumerate(things) if isinstance(thing, Lava)}
    ((gap_x, gap_y),) = {(x, y) for x in {x for x, _ in lava} for y in range(1, size - 1)} - lava
    x, y = env.agent_pos
    return {"size": size, "gap_x": gap_x, "gap_y": gap_y, "x": int(x), "y": int(y), "direction": int(env.agent_dir)}


def all_states(size: int) -> list[Row]:
    """Every state that the invariants allow, in the lava and on the goal as well."""
    inside = range(1, size - 1)
    return [
        {"size": size, "gap_x": gap_x, "gap_y": gap_y, "x": x, "y": y, "direction": d}
        for gap_x, gap_y, x, y, d in itertools.product(range(2, size - 2), inside, inside, inside, range(4))
    ]


@pytest.mark.parametrize("size", SIZES)
def test_every_state_and_action(size: int) -> None:
    env, cases = env_of(size), list(itertools.product(all_states(size), ACTIONS))
    cases = cases if size == 5 else cases[:: 3 if size == 6 else 9]  # both ways around: 7 has no factor of these
    theirs = []
    for state, action in cases:
        put(env, state, 3)
        theirs.append(original_step(env, taken, action))
    ours = fast_steps(NAME, [state for state, _ in cases], [action for _, action in cases], [3] * len(cases))
    same(ours, theirs, cases)
    ends = Counter((one.terminated, one.reward > 0) for one in theirs)
    assert set(ends) == {(False, False), (True, False), (True, True)}


@pytest.mark.parametrize("size", SIZES)
def test_reward_and_truncation_at_every_step(size: int) -> None:
    env, most = env_of(size), 4 * size * size
    assert env.max_steps == most
    goal = {"size": size, "gap_x": 2, "gap_y": 1, "x": size - 2, "y": size - 3, "direction": 1}
    lava = goal | {"x": 1, "y": 2, "direction": 0}
    for before in (goal, lava):
        theirs, times = [], list(range(most))
        for t in times:
            put(env, before, t)
            theirs.append(original_step(env, taken, 2))
        same(fast_steps(NAME, [before] * len(times), [2] * len(times), times), theirs, times)
        assert [one.truncated for one in theirs] == [t == most - 1 for t in times]
        assert all(one.terminated for one in theirs)
        assert all((one.reward > 0) == (before is goal) for one in theirs)


def test_the_comparison_sees_another_gap() -> None:
    env, state = env_of(7), {"size": 7, "gap_x": 3, "gap_y": 3, "x": 1, "y": 3, "direction": 0}
    put(env, state | {"gap_y": 4}, 0)
    with pytest.raises(AssertionError, match="image differs at"):
        same(fast_steps(NAME, [state], [6], [0]), [original_step(env, taken, 6)], [state])


@pytest.mark.parametrize("size", SIZES)
def test_engine_runs_whole_episodes_as_minigrid_does(size: int) -> None:
    """Starts taken from our draws and put into minigrid, each left to itself from then on, episode after episode."""
    rows, package = 6, load_package(NAME)
    envs = SimulacrumVectorEnv(package, rows, compile=False, params={"size": size}, autoreset_mode="same_step")
    envs.reset(seed=5)
    theirs = [env_of(size) for _ in range(rows)]
    for env, state in zip(theirs, envs.dump_states(), strict=True):
        put(env, state, 0)
    generator, ends = np.random.default_rng(6), Counter[str]()
    lead, kind = package.module("probes").shortest, reference_twin(NAME).State
    for _ in range(150):
        actions = generator.choice(7, rows, p=[0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1])
        for row, state in enumerate(envs.dump_states()):
            if generator.random() < 0.5:
                actions[row] = lead(None, kind(**state), 0)
        seen, rewards, terminated, truncated, info = envs.step(torch.from_numpy(actions))
        after = envs.dump_states()
        for row in range(rows):
            one = original_step(theirs[row], taken, int(actions[row]))
            assert (one.reward, one.terminated, one.truncated) == (rewards[row], terminated[row], truncated[row])
            shown = seen if not (one.terminated or one.truncated) else info["final_obs"]
            assert one.image == shown["image"][row].numpy().tobytes()
            assert one.direction == shown["direction"][row]
            if one.terminated or one.truncated:
                ends["goal" if one.reward > 0 else "lava" if one.terminated else "time"] += 1
                put(theirs[row], after[row], 0)
            assert taken(theirs[row]) == after[row]
    assert ends["goal"] > 10
    assert ends["lava"] > 3


@pytest.mark.parametrize("size", SIZES)
def test_starts_are_equally_likely_in_minigrid_too(size: int) -> None:
    """All that it may draw: it asks for a column and a row, once each, and takes what it is given."""
    env, ways = env_of(size), list(itertools.product(range(2, size - 2), range(1, size - 1)))
    for gap in ways:
        env.np_random = Proposals(gap)
        env.reset()
        assert env.np_random.asked == [(2, size - 2), (1, size - 1)]
        assert taken(env) == {"size": size, "gap_x": gap[0], "gap_y": gap[1], "x": 1, "y": 1, "direction": 0}
    chances = {gap: 1 / len(ways) for gap in ways}
    ours = Counter((state["gap_x"], state["gap_y"]) for state in fast_starts(NAME, 3_000, size=size)[0])
    assert not too_rare(*chi_square(ours, chances))
    assert too_rare(*chi_square(Counter({gap: 90 + 90 * (gap[1] == 1) for gap in ways}), chances))


def test_starts_look_as_in_minigrid() -> None:
    env = env_of(7)
    for state, image, direction in zip(*fast_starts(NAME, 30), strict=True):
        put(env, state, 0)
        seen = env.gen_obs()
        assert (seen["image"].tobytes(), seen["direction"]) == (image, direction)


def test_spaces_are_those_of_minigrid() -> None:
    schema, env = load_package(NAME).schema, env_of(7)
    seen: Any = single_observation_space(schema)
    assert single_action_space(schema) == env.action_space
    assert seen["image"] == env.observation_space["image"]
    assert seen["direction"] == env.observation_space["direction"]
    assert set(env.observation_space) - set(seen) == {"mission"}
    assert env.mission == "avoid the lava and get to the green goal square"


@pytest.mark.parametrize("size", [5, 7])
def test_drawings_are_those_of_minigrid(size: int) -> None:
    package, env = load_package(NAME), env_of(size)
    for state in all_states(size)[:: 11 if size == 5 else 67]:
        put(env, state, 0)
        drawn = package.module("render").rgb(reference_twin(NAME).State(**state))
        assert np.array_equal(drawn, env.get_frame())


def test_reference_keeps_nothing_and_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    from simulacrum.twin.reference import Context

    reference: Any = reference_twin(NAME)
    before = {key: list(grid.grid) for key, grid in reference._grids.items()}
    rooms = {size: dict(vars(room)) for size, room in reference._rooms.items()}
    state = reference.State(size=7, gap_x=3, gap_y=2, x=5, y=4, direction=1)
    first = reference.step(state, 2, Context(None, 10, None))
    assert first == reference.step(state, 2, Context(None, 10, None))
    assert first.reward == 1 - 0.9 * (11 / 196)
    assert {key: grid.grid for key, grid in reference._grids.items()} == before
    assert {size: dict(vars(room)) for size, room in reference._rooms.items()} == rooms
    assert not recwarn.list
