"""minigrid_keycorridor's scripted policies: what the quickest way earns, and that the others earn nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from kit.minigrid import original, play_fast, reference_twin

from simulacrum.contract.package import load_package
from simulacrum.twin.reference import Context

MODULE = load_package("minigrid_keycorridor").module("probes")
PROBES = {probe.name: probe for probe in MODULE.PROBES}


def test_no_way_is_quicker_than_the_plan() -> None:
    """All that any actions come to in minigrid's own steps, from each start, until one of them has the ball."""
    reference: Any = reference_twin("minigrid_keycorridor")
    for direction in (1, 2, 3):
        start = reference.State(
            left_colour=1, right_colour=2, ball_colour=3, left_door=1, right_door=2, key_x=1, ball_x=5, x=3,
            direction=direction,
        )  # fmt: skip
        reached, edge, steps, fetched = {start}, {start}, 0, False
        while not fetched:
            made = [reference.step(state, action, Context(None, 0, None)) for state in edge for action in range(6)]
            steps, fetched = steps + 1, any(one.terminated for one in made)
            edge = {one.state for one in made} - reached
            reached |= edge
        assert steps == MODULE.plan()[MODULE.node_of(start)][0] == (14 if direction == 2 else 15)


def test_the_interval_is_that_of_the_three_starts() -> None:
    probe = PROBES["shortest"]
    paid = [1 - 0.9 * (steps / 270) for steps in (15, 14, 15)]
    mean = sum(paid) / 3
    spread = 5 * (sum((one - mean) ** 2 for one in paid) / 3) ** 0.5 / probe.episodes**0.5
    assert f"mean {mean:.6f}," in probe.why
    assert abs(probe.low - (mean - spread)) < 1e-5
    assert abs(probe.high - (mean + spread)) < 1e-5


def test_the_quickest_way_earns_what_its_plan_says() -> None:
    returns, lengths = play_fast("minigrid_keycorridor", PROBES["shortest"])
    assert returns == [1 - 0.9 * (steps / 270) for steps in lengths]
    assert set(lengths) == {14, 15}


def test_the_quickest_way_leads_to_the_ball_in_minigrid() -> None:
    """Its own starts and steps, seed by seed; what it shows is where its things are."""
    for seed in range(12):
        env = original("MiniGrid-KeyCorridorS3R1-v0")
        env.reset(seed=seed)
        plan, ended, reward = MODULE.plan(), False, 0.0
        while not ended:
            row = [env.grid.get(x, 1) for x in range(7)]
            places = {thing.type: x for x, thing in enumerate(row) if thing is not None}
            node = (
                row[2].encode()[2], row[4].encode()[2], places.get("key", -1), places.get("ball", -1),
                int(env.agent_pos[0]), env.agent_dir,
            )  # fmt: skip
            _, reward, ended, cut, _ = env.step(plan[node][1])
            assert not cut
        assert reward == 1 - 0.9 * (env.step_count / 270)
        assert env.step_count in (14, 15)


@pytest.mark.parametrize("name", ["doorkeeper", "juggler", "grasping", "knocker"])
def test_the_others_run_out_of_time(name: str) -> None:
    returns, lengths = play_fast("minigrid_keycorridor", dataclasses.replace(PROBES[name], episodes=1))
    assert (returns, lengths) == ([0.0], [270])
