"""The drivers beside the plain ones: what they do, what they reach, and that they see faults that are planted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from kit import NAMES, package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.engine.single import SimulacrumEnv
from simulacrum.harness.bench import Bench, Outcome, seeds_for
from simulacrum.harness.drivers import Constant, standard
from simulacrum.harness.drivers.campaign import Campaign
from simulacrum.harness.drivers.checks import driven
from simulacrum.harness.drivers.novelty import Archive, LoadedLockstep
from simulacrum.harness.drivers.outside import refusal
from simulacrum.harness.drivers.reached import Reached
from simulacrum.harness.drivers.replayed import Replayed, Tape, params_of, tapes
from simulacrum.harness.illegal import ROWS, illegal_actions
from simulacrum.harness.lockstep import Lockstep

WIDE = ("schema.json", '"maximum": 1,\n      "x-dtype": "int64"', '"maximum": 2,\n      "x-dtype": "int64"')
Judged = Callable[..., tuple[Outcome, Campaign]]


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """`judged(sub_check, package)`: its outcome in a quick run, after a few recorded rows."""

    def run(name: str, given: EnvPackage | str) -> tuple[Outcome, Campaign]:
        judged = package(given) if isinstance(given, str) else given
        bench = Bench(judged, ("eager",), quick=True, failures=tmp_path / "failures", check="differential")
        campaign = Campaign.of(bench)
        if name == "mutated_replays":
            lock, seeds = Lockstep(bench, bench.env(6, params=bench.row_params(6, 1))), seeds_for(6, 1)
            lock.run(standard(bench.schema, 6, 3), seeds, episodes=1, most=40)
            campaign.tapes += tapes(lock, seeds, range(6))
        return driven(bench)[name](bench, campaign), campaign

    return run


def changed(tmp_path: Path, *edits: tuple[str, str, str]) -> EnvPackage:
    return load_package(copy_env("toywalk", tmp_path / "changed", [Edit(*edit) for edit in edits]))


@pytest.mark.parametrize("name", [*NAMES, "toywalk"])
@pytest.mark.parametrize("sub_check", ["illegal_actions", "mutated_replays", "novelty"])
def test_sound_twins_agree_and_what_was_reached_is_counted(judged: Judged, sub_check: str, name: str) -> None:
    outcome, campaign = judged(sub_check, name)
    assert outcome.status == "passed", outcome.message
    (tally,) = campaign.reached.drivers.values()
    assert tally.transitions > 50
    assert tally.cells


# --- actions outside the space -----------------------------------------------------------------------------------


def test_an_illegal_action_that_is_accepted_is_told(tmp_path: Path) -> None:
    bench = Bench(package("toywalk"), failures=tmp_path)
    wide = changed(tmp_path, WIDE)
    accepting = Bench(wide, failures=tmp_path)
    lock, single = Lockstep(accepting, accepting.env(ROWS)), SimulacrumEnv(wide)
    lock.reset(seeds_for(ROWS, 1))
    single.reset(seed=1)
    _, value, actions = next(one for one in illegal_actions(bench) if one[1] == 2)
    assert refusal(lock, single, actions) == "the batch's step() accepts it", value


def test_a_single_env_that_accepts_is_told(tmp_path: Path) -> None:
    bench = Bench(package("toywalk"), failures=tmp_path)
    lock = Lockstep(bench, bench.env(ROWS))
    lock.reset(seeds_for(ROWS, 1))
    _, _, actions = next(one for one in illegal_actions(bench) if one[1] == 2)
    single = SimulacrumEnv(changed(tmp_path, WIDE))
    single.reset(seed=1)
    assert refusal(lock, single, actions) == "the single environment's step() accepts it"
    sound = SimulacrumEnv(package("toywalk"))
    sound.reset(seed=1)
    assert refusal(lock, sound, actions) is None


def test_a_batch_that_moves_before_it_refuses_is_told(tmp_path: Path) -> None:
    bench = Bench(package("toywalk"), failures=tmp_path)
    lock, single = Lockstep(bench, bench.env(ROWS)), SimulacrumEnv(package("toywalk"))
    lock.reset(seeds_for(ROWS, 1))
    single.reset(seed=1)
    _, _, actions = next(illegal_actions(bench))
    step = lock.env.step

    def moving(given: object) -> object:
        step(np.zeros(ROWS, np.int64))
        return step(given)

    lock.env.step = moving  # type: ignore[method-assign, assignment]  # the fault to be told
    assert "its state has changed all the same" in str(refusal(lock, single, actions))


# --- replays -----------------------------------------------------------------------------------------------------


def test_a_faithful_replay_does_the_same_again() -> None:
    bench = Bench(package("toywalk"))
    lock, seeds = Lockstep(bench, bench.env(5, params=bench.row_params(5, 1))), seeds_for(5, 1)
    lock.run(standard(bench.schema, 5, 3), seeds, episodes=1, most=30)
    taped = tapes(lock, seeds, range(5))
    again = Lockstep(bench, bench.env(5, params=params_of(bench.schema, taped)))
    again.run(Replayed(bench.schema, taped, 9, faithful=True), seeds, episodes=99, most=len(lock.actions))
    assert all(np.array_equal(a[1]["state.position"], b[1]["state.position"])
               for a, b in zip(lock.frames, again.frames, strict=True))  # fmt: skip
    ends = [tape for tape in taped if tape.ended]
    assert ends
    assert all(1 <= tape.length <= 60 for tape in ends)


def test_a_changed_replay_changes_leaves_out_and_repeats() -> None:
    tape = Tape(np.zeros(2000, np.int64), 1)
    driver = Replayed(package("forager").schema, [tape], 5)
    (order,) = driver.order
    assert len(set(order)) < 2000  # some are left out
    assert len(order) > len(set(order))  # some come twice
    assert order == sorted(order)
    taken = np.array([driver.actions({}, step)[0] for step in range(len(order))])
    assert 0.01 < (taken != 0).mean() < 0.06
    assert driver.actions({}, 5000).shape == (1,)  # beyond the tape it acts at random


def test_ends_by_rules_and_clock_at_once_are_brought_about(judged: Judged) -> None:
    _, campaign = judged("mutated_replays", "counter")
    assert {"both", "an episode of one step", "mode SAME_STEP", "mode DISABLED"} <= campaign.reached.met


ENDLESS = [
    ("schema.json", '"x-max-episode-steps": 60', '"x-max-episode-steps": 200'),
    ("reference.py", "terminated = position == GOAL  # R7", "terminated = False  # R7"),
    ("fast.py", "reward, at_goal)  # R7", "reward, at_goal & False)  # R7"),
]


def test_each_mode_meets_an_end_where_only_a_late_clock_ends_episodes(judged: Judged, tmp_path: Path) -> None:
    outcome, campaign = judged("mutated_replays", changed(tmp_path, *ENDLESS))
    assert outcome.status == "passed", outcome.message
    assert {"mode SAME_STEP", "mode DISABLED"} <= campaign.reached.met


def test_a_fault_is_found_by_a_changed_replay(judged: Judged, tmp_path: Path) -> None:
    late = ("fast.py", "reward = self._reward(at_goal)", "reward = self._reward(at_goal) + (ctx.t == 5)")
    outcome, _ = judged("mutated_replays", changed(tmp_path, late))
    assert outcome.status == "failed"
    assert outcome.divergence is not None


# --- restarts from rare states -----------------------------------------------------------------------------------


def test_the_archive_keeps_the_shortest_way_and_picks_what_is_rare() -> None:
    bench = Bench(package("toywalk"))
    archive, lock = Archive(bench.schema, 1), Lockstep(bench, bench.env(8))
    lock.reset(seeds_for(8, 1))
    for step in range(40):
        archive.add(lock.frames[-1][0])
        lock.step(standard(bench.schema, 8, step).actions({}, 0))
    best = {place.state["position"]: place.t for place in archive.places.values()}
    assert set(best) <= set(range(-5, 5))  # the goal is an end, and no place to begin from
    assert all(place.t >= max(0, abs(place.state["position"]) - 2) for place in archive.places.values())
    for place in archive.places.values():
        place.seen = 1_000_000
    rare = next(iter(archive.places.values()))
    rare.seen = 1
    assert [place is rare for place in archive.rare(20)].count(True) > 15


def test_loaded_rows_go_on_from_the_state_with_their_own_clock() -> None:
    bench = Bench(package("toywalk"))
    archive = Archive(bench.schema, 1)
    lock = Lockstep(bench, bench.env(4))
    lock.reset([1, 2, 3, 4])
    for _ in range(3):
        lock.step(np.array([0, 1, 0, 1]))
        archive.add(lock.frames[-1][0])
    places = list(archive.places.values())[:4]
    places = (places * 4)[:4]
    loaded = LoadedLockstep(bench, bench.env(4))
    assert loaded.begin(places, [5, 6, 7, 8]) is None
    assert loaded.last["t"].tolist() == [place.t for place in places]
    assert loaded.last["state.position"].tolist() == [place.state["position"] for place in places]
    assert loaded.step(np.array([0, 1, 1, 0])) is None


def test_a_fault_after_a_load_is_found_with_its_state(judged: Judged, tmp_path: Path) -> None:
    rare = ("fast.py", "reward = self._reward(at_goal)", "reward = self._reward(at_goal) + (state.position == -5)")
    outcome, _ = judged("novelty", changed(tmp_path, rare))
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert "after states were loaded" in outcome.message
    assert outcome.divergence.previous_state is not None


# --- a given policy ----------------------------------------------------------------------------------------------


def test_a_given_policy_plays_rows_of_its_own(tmp_path: Path) -> None:
    bench = Bench(package("toywalk"), quick=True, failures=tmp_path, check="differential",
                  policy=lambda observation, state, t: 1)  # fmt: skip
    campaign = Campaign.of(bench)
    outcome = driven(bench)["given_policy"](bench, campaign)
    assert outcome.status == "passed"
    assert campaign.reached.drivers["policy"].ends["terminated"] > 5
    assert campaign.reached.untaken() == ["the action 0 of action"]
    assert "given_policy" not in driven(Bench(package("toywalk")))


def test_what_was_reached_knows_rows_ends_and_actions() -> None:
    bench = Bench(package("toywalk"))
    reached, lock = Reached(bench.schema), Lockstep(bench, bench.env(4, limit=1))
    lock.run(Constant(bench.schema, 4, 0), [1, 2, 3, 4], episodes=2, most=9)
    reached.add(lock, ["left", "right"] * 2)
    assert set(reached.drivers) == {"left", "right"}
    assert reached.drivers["left"].ends["truncated"] == 4
    assert {"an episode of one step", "reset in row 0", "reset in the last row", "truncated"} <= reached.met
    assert "neither" not in reached.met
    assert reached.untaken() == []
