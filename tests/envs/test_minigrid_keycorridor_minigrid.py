"""minigrid_keycorridor's batched twin beside minigrid's KeyCorridorS3R1 as `gymnasium.make` gives it.

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
from minigrid.core.constants import COLOR_NAMES, COLOR_TO_IDX, IDX_TO_COLOR
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Door, Key, Wall

from simulacrum.contract.package import load_package
from simulacrum.contract.spaces import single_action_space, single_observation_space
from simulacrum.engine.vector import SimulacrumVectorEnv

NAME = "minigrid_keycorridor"
COLOURS = [COLOR_TO_IDX[name] for name in COLOR_NAMES]  # in the order in which minigrid draws them


def env_of() -> Any:
    return original("MiniGrid-KeyCorridorS3R1-v0")


def put(env: Any, state: Row, t: int) -> None:
    """Everything made anew, cell by cell."""
    env.grid, env.carrying = Grid(7, 3), None
    for x, y in itertools.product(range(7), range(3)):
        if y != 1 or x in (0, 6):
            env.grid.set(x, y, Wall())
    right = IDX_TO_COLOR[state["right_colour"]]
    env.put_obj(Door(IDX_TO_COLOR[state["left_colour"]], is_open=state["left_door"] == 0), 2, 1)
    env.put_obj(Door(right, is_open=state["right_door"] == 0, is_locked=state["right_door"] == 2), 4, 1)
    env.obj = Ball(IDX_TO_COLOR[state["ball_colour"]])
    for thing, x in ((Key(right), state["key_x"]), (env.obj, state["ball_x"])):
        if x < 0:
            env.carrying = thing
        else:
            env.put_obj(thing, x, 1)
    env.agent_pos, env.agent_dir, env.step_count = (state["x"], 1), state["direction"], t


def taken(env: Any) -> Row:
    row = [env.grid.get(x, 1) for x in range(7)]
    things = {type(thing): thing for thing in (*row, env.carrying) if isinstance(thing, (Key, Ball))}
    assert things[Key].color == row[4].color
    assert things[Ball] is env.obj
    assert env.agent_pos[1] == 1
    return {
        "left_colour": COLOR_TO_IDX[row[2].color], "right_colour": COLOR_TO_IDX[row[4].color],
        "ball_colour": COLOR_TO_IDX[env.obj.color], "left_door": row[2].encode()[2], "right_door": row[4].encode()[2],
        "key_x": -1 if env.carrying is things[Key] else row.index(things[Key]),
        "ball_x": -1 if env.carrying is things[Ball] else row.index(things[Ball]),
        "x": int(env.agent_pos[0]), "direction": int(env.agent_dir),
    }  # fmt: skip


def all_states() -> list[Row]:
    """Every state that the invariants allow, reachable or not, each in some colours."""
    pick, made = random.Random(0), []
    for left, right, key, ball, x, direction in itertools.product(
        (0, 1), (0, 1, 2), (-1, 1, 3, 5), (-1, 1, 3, 5), range(1, 6), range(4)
    ):
        stands = {2: left == 0, 4: right == 0}.get(x, x not in (key, ball))
        locked = right != 2 or (ball == 5 and max(x, key) <= 3)
        if key != ball and stands and locked:
            made.append({
                "left_colour": pick.randrange(6), "right_colour": pick.randrange(6), "ball_colour": pick.randrange(6),
                "left_door": left, "right_door": right, "key_x": key, "ball_x": ball, "x": x, "direction": direction,
            })  # fmt: skip
    return made


def stepped(cases: list[tuple[Row, int]], t: int = 3) -> list[Outcome]:
    env, made = env_of(), []
    for state, action in cases:
        put(env, state, t)
        made.append(original_step(env, taken, action))
    return made


def test_every_state_and_action() -> None:
    cases = list(itertools.product(all_states(), range(7)))
    theirs = stepped(cases)
    same(fast_steps(NAME, [s for s, _ in cases], [a for _, a in cases], [3] * len(cases)), theirs, cases)
    changes = Counter(
        name for (state, _), one in zip(cases, theirs, strict=True) for name in state if state[name] != one.state[name]
    )
    assert set(changes) == {"left_door", "right_door", "key_x", "ball_x", "x", "direction"}
    assert sum(one.terminated for one in theirs) > 20


def test_reward_and_truncation_at_every_step() -> None:
    env, times = env_of(), list(range(270))
    assert env.max_steps == 270
    before = all_states()[0] | {"right_door": 0, "key_x": 1, "ball_x": 5, "x": 4, "direction": 0}
    theirs = []
    for t in times:
        put(env, before, t)
        theirs.append(original_step(env, taken, 3))
    same(fast_steps(NAME, [before] * 270, [3] * 270, times), theirs, times)
    assert [one.truncated for one in theirs] == [t == 269 for t in times]
    assert all(one.terminated for one in theirs)


def test_the_comparison_sees_another_colour() -> None:
    state = all_states()[0] | {"left_colour": 1, "left_door": 1, "x": 3, "direction": 2, "key_x": 1, "ball_x": 5}
    with pytest.raises(AssertionError, match="image differs at"):
        same(fast_steps(NAME, [state], [6], [0]), stepped([(state | {"left_colour": 2}, 6)], 0), [state])


def test_engine_runs_whole_episodes_as_minigrid_does() -> None:
    """Starts taken from our draws and put into minigrid, each left to itself from then on, episode after episode."""
    rows, package = 6, load_package(NAME)
    envs = SimulacrumVectorEnv(package, rows, compile=False, autoreset_mode="same_step")
    envs.reset(seed=5)
    theirs = [env_of() for _ in range(rows)]
    for env, state in zip(theirs, envs.dump_states(), strict=True):
        put(env, state, 0)
    generator, ends = np.random.default_rng(6), Counter[str]()
    probes, kind = package.module("probes"), reference_twin(NAME).State
    for _ in range(300):
        actions = generator.integers(0, 7, rows)
        for row, state in enumerate(envs.dump_states()):
            if generator.random() < 0.7 and row < 4 and probes.node_of(kind(**state)) in probes.plan():
                actions[row] = probes.shortest(None, kind(**state), 0)
        seen, rewards, terminated, truncated, info = envs.step(torch.from_numpy(actions))
        after = envs.dump_states()
        for row in range(rows):
            one = original_step(theirs[row], taken, int(actions[row]))
            assert (one.reward, one.terminated, one.truncated) == (rewards[row], terminated[row], truncated[row])
            shown = seen if not (one.terminated or one.truncated) else info["final_obs"]
            assert one.image == shown["image"][row].numpy().tobytes()
            assert one.direction == shown["direction"][row]
            if one.terminated or one.truncated:
                ends["ball" if one.terminated else "time"] += 1
                put(theirs[row], after[row], 0)
            assert taken(theirs[row]) == after[row]
    assert ends["ball"] > 10
    assert ends["time"] > 0


def accepted(env: Any, answers: list[int]) -> bool:
    """Whether minigrid's reset needs no more than these."""
    env.np_random = Proposals(answers)
    try:
        env.reset()
    except StopIteration:
        return False
    assert env.np_random.answers == []
    return True


# What minigrid asks before and after the numbers that vary: doors, rows of rooms, places.
ASKED = [
    (1, 2), (1, 2), (0, 1), (0, 6), (0, 6), (4, 7), (0, 3), (0, 1), (0, 3), (0, 3), (2, 5), (0, 3), (0, 4),
    (0, 3), (0, 1), (0, 4), (0, 6),
]  # fmt: skip


def answers(right: int, ball: int, direction: int, room: int, wall: int, left: int) -> list[int]:
    return [1, 1, 0, right, ball, 5, 1, 0, 1, 1, 3, 1, direction, room, 0, wall, left]


def test_starts_are_equally_likely_in_minigrid_too() -> None:
    """All colours and directions that it may draw; the directions and walls that it does not take are drawn again."""
    env = env_of()
    for right, ball, left in [*itertools.product(range(6), [2], [4]), *((1, k, 5 - k) for k in range(6))]:
        for direction, (room, wall) in itertools.product((1, 2, 3), ((0, 0), (1, 2))):
            assert accepted(env, answers(right, ball, direction, room, wall, left))
            assert env.np_random.asked == ASKED
            colours = {"left_colour": COLOURS[left], "right_colour": COLOURS[right], "ball_colour": COLOURS[ball]}
            assert taken(env) == colours | {
                "left_door": 1, "right_door": 2, "key_x": 1, "ball_x": 5, "x": 3, "direction": direction
            }  # fmt: skip
            assert env.mission == f"pick up the {COLOR_NAMES[ball]} ball"
    assert not accepted(env, answers(0, 0, 0, 0, 0, 0))  # it looks at the locked door
    for room, wall in set(itertools.product(range(3), range(4))) - {(0, 0), (1, 2)}:
        assert not accepted(env, answers(0, 0, 1, room, wall, 0))


def test_starts_by_count() -> None:
    """Every start of ours is as likely; chance alone fails this once in a million seeds."""
    starts = fast_starts(NAME, 13_000)[0]
    names = ("left_colour", "right_colour", "ball_colour", "direction")
    chances = dict.fromkeys(itertools.product(range(6), range(6), range(6), (1, 2, 3)), 1 / 648)
    assert not too_rare(*chi_square(Counter(tuple(state[name] for name in names) for state in starts), chances))
    rest = {tuple(value for name, value in state.items() if name not in names) for state in starts}
    assert rest == {(1, 2, 1, 5, 3)}


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


def test_drawings_are_those_of_minigrid() -> None:
    package, env = load_package(NAME), env_of()
    for state in all_states()[::61]:
        put(env, state, 0)
        drawn = package.module("render").rgb(reference_twin(NAME).State(**state))
        assert np.array_equal(drawn, env.get_frame())


def test_reference_keeps_nothing_and_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    from simulacrum.twin.reference import Context

    reference: Any = reference_twin(NAME)
    walls, corridor = list(reference._walls), dict(vars(reference._corridor))
    state = reference.State(
        left_colour=1, right_colour=2, ball_colour=3, left_door=1, right_door=0, key_x=3, ball_x=5, x=4, direction=0
    )
    first = reference.step(state, 3, Context(None, 10, None))
    assert (first.state.ball_x, first.terminated, first.reward) == (-1, True, 1 - 0.9 * (11 / 270))
    assert first == reference.step(state, 3, Context(None, 10, None))
    assert reference._walls == walls
    assert dict(vars(reference._corridor)) == corridor
    assert not recwarn.list
