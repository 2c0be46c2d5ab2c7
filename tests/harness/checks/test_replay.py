from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gymnasium.vector import AutoresetMode
from kit import NAMES, package

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.checks import replay
from simulacrum.harness.rerun import in_batch, in_reference, timeline, whole_episodes
from simulacrum.harness.scribe import Scribe
from simulacrum.trace.compare import first_difference
from simulacrum.trace.files import read_trajectories
from simulacrum.trace.trajectory import Trajectory

Check = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]
WHERE = "where = state.position.to(torch.float32) / GOAL  # R9: float32 [N]"


@pytest.mark.parametrize("name", [*NAMES, "toywalk", pytest.param("forager", marks=pytest.mark.long)])
def test_sound_twins_reproduce_what_was_recorded(check: Check, name: str) -> None:
    outcome = check("replay", name)
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["trajectories"] == 6
    assert min(outcome.evidence["ended_episodes"]) >= 2
    assert set(outcome.evidence["bytes"]) == {"json", "jsonl", "npz"}


def written(name: str, actions: list[Any], episodes: int = 2, **settings: Any) -> tuple[EnvPackage, Trajectory, Scribe]:
    one = package(name)
    scribe = Scribe(one, seed=11, params={}, limit=one.schema.max_episode_steps, **settings)
    for number in range(episodes):
        scribe.start(number)
        for action in actions:
            if not scribe.runner.ended:
                scribe.step(action)
    return one, scribe.written(), scribe


def test_a_recording_says_everything_even_the_words() -> None:
    _, made, scribe = written("toywalk", [1] * 60)
    assert len(made.starts) == 2
    assert made.steps[-1].ended
    assert made.returns() == scribe.returns
    assert set(made.starts[0].draws) == {"start"}
    assert set(made.steps[0].draws) == {"slip"}
    assert in_reference(package("toywalk"), made) == made


def test_next_step_spends_a_step_between_episodes() -> None:
    _, made, _ = written("toywalk", [1] * 60)
    counts = [len(steps) for _, steps in made.episodes()]
    assert timeline(made, AutoresetMode.DISABLED) == [1] * sum(counts)
    assert timeline(made, AutoresetMode.NEXT_STEP) == [*[1] * counts[0], None, *[1] * counts[1]]
    assert len(whole_episodes(made, 1).steps) == counts[0]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
@pytest.mark.parametrize("strangers", [False, True])
def test_rows_are_done_again_at_their_places(mode: AutoresetMode, strangers: bool) -> None:
    one, right, _ = written("toywalk", [1] * 60)
    _, left, _ = written("toywalk", [0] * 60)
    bench = Bench(one)
    env, rows, made = in_batch(bench, [right, left], mode=mode, strangers=strangers)
    assert (env.num_envs, rows) == ((5, [1, 3]) if strangers else (2, [0, 1]))
    for given, again in zip((right, left), made, strict=True):
        assert first_difference(given, again, one.schema) is None
        assert again.form == "eager"


@pytest.mark.parametrize(
    ("term", "who", "start"),
    [
        ("(ctx.t == 7).to(torch.float32)", "reference", False),
        ("(torch.arange(len(ctx.t)) > 4).to(torch.float32) * 0.1", "among 12 other rows", True),
        ("((torch.arange(len(ctx.t)) > 4) & (ctx.t == 2)).to(torch.float32)", "among 12 other rows", False),
    ],
)
def test_a_twin_that_goes_another_way_is_found(
    check: Check, changed: Changed, term: str, who: str, start: bool
) -> None:
    outcome = check("replay", changed("toywalk", ("fast.py", WHERE, WHERE.replace("/ GOAL", f"/ GOAL - {term}"))))
    assert outcome.status == "failed"
    assert who in outcome.message
    found = outcome.divergence
    assert found is not None
    assert found.difference.path == "observation[0]"
    assert (found.previous_state is None) == start
    for side in ("reference", "batched"):
        assert read_trajectories(Path(found.files[side]), package("toywalk").schema)


def test_rewards_must_add_up_to_the_reported_return() -> None:
    _, made, scribe = written("toywalk", [1] * 60)
    taken = replay.Taken("the reference", made, tuple(scribe.returns))
    assert replay._returns([taken]) is None
    wrong = replace(taken, returns=(scribe.returns[0], scribe.returns[1] + 1e-9))
    assert "episode 1" in (replay._returns([wrong]) or "")


@pytest.mark.long
def test_episodes_that_nothing_ends_are_cut_off_by_a_clock_of_the_recordings(check: Check, changed: Changed) -> None:
    edits = [
        ("schema.json", '"x-max-episode-steps": 60,', ""),
        ("__init__.py", "MAX_EPISODE_STEPS = 60", "CLOCK = 60"),
        ("fast.py", "MAX_EPISODE_STEPS, START_HIGH", "CLOCK, START_HIGH"),
        ("fast.py", "clamp(max=MAX_EPISODE_STEPS)", "clamp(max=CLOCK)"),
        ("fast.py", "to(torch.float32) / MAX_EPISODE_STEPS", "to(torch.float32) / CLOCK"),
        ("fast.py", "reward, at_goal)  # R7", "reward, at_goal & (ctx.t > 10000))  # R7"),
        ("reference.py", "MAX_EPISODE_STEPS, START_HIGH", "CLOCK, START_HIGH"),
        ("reference.py", "min(ctx.t, MAX_EPISODE_STEPS)", "min(ctx.t, CLOCK)"),
        ("reference.py", "Float32(elapsed) / MAX_EPISODE_STEPS", "Float32(elapsed) / CLOCK"),
        ("reference.py", "terminated = position == GOAL  # R7", "terminated = False  # R7"),
    ]
    outcome = check("replay", changed("toywalk", *edits))
    assert outcome.status == "passed", outcome.message
    assert set(outcome.evidence["ended_episodes"]) == {2}
    assert outcome.evidence["steps"] == 6 * 2 * replay.QUICK_LIMIT


def test_two_episodes_of_two_hundred_steps_are_recorded_by_a_full_run(changed: Changed) -> None:
    endless = changed("toywalk", ("schema.json", '"x-max-episode-steps": 60', '"x-max-episode-steps": 200'))
    assert replay._steps(Bench(endless)) == 402
    assert replay._steps(Bench(endless, quick=True)) == 2 * (replay.QUICK_LIMIT + 1)
