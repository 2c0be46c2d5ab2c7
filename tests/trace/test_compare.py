"""The comparison of two recordings: it finds what was planted, where it was planted, and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from simulacrum.trace import first_difference, until


def with_step(trajectory, number, **changes):
    steps = list(trajectory.steps)
    steps[number] = replace(steps[number], **changes)
    return replace(trajectory, steps=tuple(steps))


def with_state(trajectory, number, **changes):
    return with_step(trajectory, number, state={**trajectory.steps[number].state, **changes})


def test_equal_recordings_have_no_difference(schema, trajectory):
    assert first_difference(trajectory, trajectory, schema) is None
    assert first_difference(trajectory, replace(trajectory, form="eager"), schema) is None


PLANTED = [
    (lambda t: with_state(t, 1, energy=float(np.nextafter(np.float32(0.2), np.float32(1)))), "state.energy"),
    (lambda t: with_state(t, 1, berry_x=[2, -2, 8]), "state.berry_x[2]"),
    (lambda t: with_state(t, 1, grid=[[0.2, 0.0], [math.inf, math.nan]]), "state.grid[0][1]"),
    (lambda t: with_state(t, 1, grid=[[0.2, -0.0], [math.inf, -math.nan]]), "state.grid[1][1]"),
    (lambda t: with_state(t, 1, big=2**62 + 3), "state.big"),
    (lambda t: with_step(t, 1, reward=0.75), "reward"),
    (lambda t: with_step(t, 1, observation=[0.5, 1.0]), "observation[1]"),
    (lambda t: with_step(t, 1, info={"distance": 9}), "info.distance"),
    (lambda t: with_step(t, 1, action_mask=[True, False, True, False]), "action_mask[3]"),
    (lambda t: with_step(t, 1, action=0), "action"),
    (lambda t: with_step(t, 1, draws={"gust": [1, 6]}), "draw.gust[1]"),
]


@pytest.mark.parametrize(("plant", "path"), PLANTED)
def test_a_planted_difference_is_found_where_it_is(schema, trajectory, plant, path):
    found = first_difference(trajectory, plant(trajectory), schema)
    assert found is not None
    assert found.difference.path == path
    assert (found.episode, found.t, found.step, found.seed) == (0, 1, 1, trajectory.seed)
    assert found.previous_state["energy"] == 0.1
    assert found.others == ()


def test_flags_and_lengths(schema, trajectory):
    cut = with_step(trajectory, 2, truncated=True)
    found = first_difference(trajectory, cut, schema)
    assert found.difference.path == "truncated"
    shorter = replace(trajectory, steps=trajectory.steps[:-1])
    found = first_difference(trajectory, shorter, schema)
    assert (found.difference.kind, found.difference.reference.decimal, found.difference.batched.decimal) == (
        "steps",
        "2",
        "1",
    )
    one_episode = replace(trajectory, starts=trajectory.starts[:1], steps=trajectory.steps[:3])
    for pair in ((trajectory, one_episode), (one_episode, trajectory)):
        assert first_difference(*pair, schema).difference.kind == "episodes"
    left_early = replace(trajectory, steps=(trajectory.steps[0], *trajectory.steps[3:]))
    found = first_difference(trajectory, left_early, schema)
    assert (found.difference.kind, found.episode, found.t) == ("steps", 0, 1)


def test_starts_are_compared_too(schema, trajectory):
    start = replace(trajectory.starts[1], state={**trajectory.starts[1].state, "alive": False})
    found = first_difference(trajectory, replace(trajectory, starts=(trajectory.starts[0], start)), schema)
    assert (found.difference.path, found.episode, found.step, found.action) == ("state.alive", 1, -1, None)
    later = replace(trajectory.starts[1], episode=4)
    steps = tuple(replace(s, episode=4) if s.episode == 1 else s for s in trajectory.steps)
    other = replace(trajectory, starts=(trajectory.starts[0], later), steps=steps)
    assert first_difference(trajectory, other, schema).difference.path == "episode"


def test_words_drawn_by_one_side_only_are_no_difference(schema, trajectory):
    assert first_difference(trajectory, with_step(trajectory, 1, draws={}), schema) is None
    assert (
        first_difference(trajectory, with_step(trajectory, 1, draws={"gust": [1, None, 3]}), schema) is None
    )


def test_the_first_of_two_is_reported_and_the_other_listed(schema, trajectory):
    other = with_step(with_state(trajectory, 2, big=1), 3, reward=9.0)
    other = with_step(other, 2, reward=9.0)
    found = first_difference(trajectory, other, schema)
    assert (found.difference.path, found.t) == ("state.big", 2)
    assert [item.path for item in found.others] == ["reward"]


def test_until_keeps_what_led_there(schema, trajectory):
    found = first_difference(trajectory, with_step(trajectory, 3, reward=9.0), schema)
    kept = until(trajectory, found)
    assert kept.steps == trajectory.steps[:4]
    assert kept.starts == trajectory.starts
    found = first_difference(trajectory, with_step(trajectory, 0, reward=9.0), schema)
    assert len(until(trajectory, found).starts) == 1
