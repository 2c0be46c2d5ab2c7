"""minigrid_fourrooms's batched twin beside minigrid's FourRooms as `gymnasium.make` gives it.

Everything is exact: states, all numbers of the image, the float64 reward, both flags.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from kit.minigrid import (
    Outcome,
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
from minigrid.core.world_object import Goal, Wall

from simulacrum.contract.package import load_package
from simulacrum.contract.spaces import single_action_space, single_observation_space
from simulacrum.engine.vector import SimulacrumVectorEnv

NAME = "minigrid_fourrooms"
UPPER, LOWER = range(1, 9), range(10, 18)  # on either side of the walls between the rooms
GAPS = ("gap_top", "gap_left", "gap_right", "gap_bottom")


def env_of() -> Any:
    return original("MiniGrid-FourRooms-v0")


def floor(state: Row) -> list[tuple[int, int]]:
    """The cells of the rooms and the gaps, row by row."""
    gaps = [(9, state["gap_top"]), (state["gap_left"], 9), (state["gap_right"], 9), (9, state["gap_bottom"])]
    rooms = itertools.product((*UPPER, *LOWER), repeat=2)
    return sorted([*rooms, *gaps], key=lambda place: place[::-1])


def put(env: Any, state: Row, t: int) -> None:
    """Everything made anew, cell by cell."""
    env.grid, free = Grid(19, 19), set(floor(state))
    for place in itertools.product(range(19), repeat=2):
        if place not in free:
            env.grid.set(*place, Wall())
    env.put_obj(Goal(), state["goal_x"], state["goal_y"])
    env.agent_pos, env.agent_dir, env.step_count = (state["x"], state["y"]), state["direction"], t


def taken(env: Any) -> Row:
    things = env.grid.grid
    (goal,) = [number for number, thing in enumerate(things) if isinstance(thing, Goal)]

    def gap(places: list[tuple[int, int]]) -> tuple[int, int]:
        (found,) = [(x, y) for x, y in places if not isinstance(things[19 * y + x], Wall)]
        return found

    return {
        "gap_top": gap([(9, y) for y in UPPER])[1], "gap_left": gap([(x, 9) for x in UPPER])[0],
        "gap_right": gap([(x, 9) for x in LOWER])[0], "gap_bottom": gap([(9, y) for y in LOWER])[1],
        "goal_x": goal % 19, "goal_y": goal // 19,
        "x": int(env.agent_pos[0]), "y": int(env.agent_pos[1]), "direction": int(env.agent_dir),
    }  # fmt: skip


def some_states(count: int, seed: int) -> list[Row]:
    """So many states, the agent near a gap and the goal near the agent more often than not; some stand on the goal."""
    pick, made = random.Random(seed), []
    while len(made) < count:
        state: Row = {name: pick.choice(UPPER if name in ("gap_top", "gap_left") else LOWER) for name in GAPS}
        free = floor(state)
        gaps = [place for place in free if 9 in place]
        middle = pick.choice(gaps if pick.random() < 0.6 else free)
        reach = 1 if pick.random() < 0.4 else 4
        x, y = (middle[axis] + pick.randint(-reach, reach) for axis in (0, 1))
        reach = pick.choice((1, 3))
        near = (x + pick.randint(-reach, reach), y + pick.randint(-reach, reach))
        goal = near if pick.random() < 0.7 else pick.choice(free)
        if (x, y) in free and goal in free:
            made.append(state | {"goal_x": goal[0], "goal_y": goal[1], "x": x, "y": y, "direction": pick.randrange(4)})
    return made


def stepped(cases: list[tuple[Row, int]], t: int = 3) -> list[Outcome]:
    env, made = env_of(), []
    for state, action in cases:
        put(env, state, t)
        made.append(original_step(env, taken, action))
    return made


def test_any_state_and_action() -> None:
    cases = [(state, number % 7) for number, state in enumerate(some_states(1400, 1))]
    theirs = stepped(cases)
    same(fast_steps(NAME, [s for s, _ in cases], [a for _, a in cases], [3] * len(cases)), theirs, cases)
    # What makes them differ is met: hidden cells, the goal in sight and reached, agents in gaps.
    shown = {cell[0] for one in theirs for cell in np.frombuffer(one.image, np.uint8).reshape(49, 3).tolist()}
    assert shown == {0, 1, 2, 8}
    assert sum(one.terminated for one in theirs) > 5
    assert sum(9 in (state["x"], state["y"]) for state, _ in cases) > 50


def test_every_place_and_direction_of_one_grid() -> None:
    gaps = {"gap_top": 1, "gap_left": 5, "gap_right": 17, "gap_bottom": 13}
    states = [
        gaps | {"goal_x": 9, "goal_y": 1, "x": x, "y": y, "direction": d}
        for (x, y), d in itertools.product(floor(gaps), range(4))
    ]
    cases = [(state, 2) for state in states]
    same(fast_steps(NAME, states, [2] * len(states), [3] * len(states)), stepped(cases), cases)


def test_reward_and_truncation_at_every_step() -> None:
    env, times = env_of(), list(range(100))
    assert env.max_steps == 100
    before = {"gap_top": 4, "gap_left": 4, "gap_right": 14, "gap_bottom": 14, "goal_x": 9, "goal_y": 4}
    before |= {"x": 8, "y": 4, "direction": 0}
    theirs = []
    for t in times:
        put(env, before, t)
        theirs.append(original_step(env, taken, 2))
    same(fast_steps(NAME, [before] * 100, [2] * 100, times), theirs, times)
    assert [one.truncated for one in theirs] == [t == 99 for t in times]
    assert all(one.terminated for one in theirs)


def test_the_comparison_sees_another_gap() -> None:
    state = some_states(1, 3)[0] | {"gap_top": 4, "x": 8, "y": 4, "direction": 0, "goal_x": 1, "goal_y": 1}
    with pytest.raises(AssertionError, match="image differs at"):
        same(fast_steps(NAME, [state], [6], [0]), stepped([(state | {"gap_top": 5}, 6)], 0), [state])


def test_engine_runs_whole_episodes_as_minigrid_does() -> None:
    """Starts taken from our draws and put into minigrid, each left to itself from then on, episode after episode."""
    rows, package = 6, load_package(NAME)
    envs = SimulacrumVectorEnv(package, rows, compile=False, autoreset_mode="same_step")
    envs.reset(seed=5)
    theirs = [env_of() for _ in range(rows)]
    for env, state in zip(theirs, envs.dump_states(), strict=True):
        put(env, state, 0)
    generator, ends = np.random.default_rng(6), Counter[str]()
    lead, kind = package.module("probes").shortest, reference_twin(NAME).State
    for _ in range(220):
        actions = generator.choice(7, rows, p=[0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1])
        for row, state in enumerate(envs.dump_states()):
            if generator.random() < 0.8 and row < 4:
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
                ends["goal" if one.terminated else "time"] += 1
                put(theirs[row], after[row], 0)
            assert taken(theirs[row]) == after[row]
    assert ends["goal"] > 10
    assert ends["time"] > 1


def test_starts_are_equally_likely_in_minigrid_too() -> None:
    """What it proposes is as likely for every cell, and free ones are taken at the first try, those of gaps too."""
    env, gaps = env_of(), {"gap_top": 3, "gap_left": 8, "gap_right": 10, "gap_bottom": 17}
    drawn, free = [gaps[name] for name in GAPS], floor(gaps)
    agents, goals = [], []
    for place in itertools.product(range(19), repeat=2):
        if accepted(env, [*drawn, *place, 3, *free[0 if place != free[0] else 1]]):
            assert env.np_random.asked == [
                *[(1, 9), (1, 9), (10, 18), (10, 18)],
                (0, 19),
                (0, 19),
                (0, 4),
                (0, 19),
                (0, 19),
            ]
            agents.append(place)
        if accepted(env, [*drawn, *free[20], 1, *place]):
            state = taken(env)
            assert [state[name] for name in GAPS] == drawn
            assert (state["x"], state["y"], state["direction"]) == (*free[20], 1)
            assert (state["goal_x"], state["goal_y"]) == place
            goals.append(place)
    assert sorted(agents) == sorted(free)
    assert sorted(goals) == sorted(set(free) - {free[20]})


def accepted(env: Any, answers: list[int]) -> bool:
    """Whether minigrid's reset takes every place of these at its first try."""
    env.np_random = Proposals(answers)
    try:
        env.reset()
    except StopIteration:
        return False
    return True


def test_starts_by_count() -> None:
    """All gaps, and the cells of agent and goal by their numbers; chance alone fails one of six once in 10^5 seeds."""
    states = fast_starts(NAME, 20_000)[0]
    for name in GAPS:
        chances = dict.fromkeys(UPPER if name in ("gap_top", "gap_left") else LOWER, 1 / 8)
        assert not too_rare(*chi_square(Counter(state[name] for state in states), chances))
    for who in (("x", "y"), ("goal_x", "goal_y")):
        # The number of the cell among those that are free, in 20 heaps of 13.
        met = Counter(floor(state).index((state[who[0]], state[who[1]])) // 13 for state in states[:4_000])
        assert not too_rare(*chi_square(met, dict.fromkeys(range(20), 1 / 20)))
    assert not any((state["x"], state["y"]) == (state["goal_x"], state["goal_y"]) for state in states)
    assert {state["direction"] for state in states} == {0, 1, 2, 3}
    # The gaps of all four walls, by agents and by goals.
    assert {(state["x"] == 9, state["y"] == 9) for state in states} == {(False, False), (True, False), (False, True)}
    assert {(state["goal_x"] == 9, state["goal_y"] == 9) for state in states} >= {(True, False), (False, True)}


def test_starts_look_as_in_minigrid() -> None:
    env = env_of()
    for state, image, direction in zip(*fast_starts(NAME, 40), strict=True):
        put(env, state, 0)
        seen = env.gen_obs()
        assert (seen["image"].tobytes(), seen["direction"]) == (image, direction)


def test_spaces_are_those_of_minigrid() -> None:
    schema, env = load_package(NAME).schema, env_of()
    seen: Any = single_observation_space(schema)
    assert single_action_space(schema) == env.action_space
    assert seen["image"] == env.observation_space["image"]
    assert seen["direction"] == env.observation_space["direction"]
    assert set(env.observation_space) - set(seen) == {"mission"}
    assert env.observation_space["mission"].sample() == "reach the goal"


def test_drawings_are_those_of_minigrid() -> None:
    package, env = load_package(NAME), env_of()
    for state in some_states(5, 4):
        put(env, state, 0)
        drawn = package.module("render").rgb(reference_twin(NAME).State(**state))
        assert np.array_equal(drawn, env.get_frame())


def test_reference_keeps_nothing_and_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    from simulacrum.twin.reference import Context

    reference: Any = reference_twin(NAME)
    walls, rooms = list(reference._walls), dict(vars(reference._rooms))
    state = reference.State(
        gap_top=4, gap_left=4, gap_right=14, gap_bottom=14, goal_x=3, goal_y=3, x=2, y=3, direction=0
    )
    first = reference.step(state, 2, Context(None, 10, None))
    assert first == reference.step(state, 2, Context(None, 10, None))
    assert first.reward == 1 - 0.9 * (11 / 100)
    assert reference._walls == walls
    assert dict(vars(reference._rooms)) == rooms
    assert not recwarn.list
