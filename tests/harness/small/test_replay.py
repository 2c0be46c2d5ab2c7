"""A record of a single step with chosen draws, of the package as it is and made small: shown, read, and run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Outcome
from simulacrum.harness.replay_step import replay_divergence
from simulacrum.trace.divergence import Divergence, read_divergence
from simulacrum.trace.show import render_plain

Steps = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]

FAULT = ("fast.py", "(action == 1) ^ slips", "(action == 1) & ~slips")
SMALL = (
    '{"constants": {"LEFT_END": -3, "GOAL": 3, "MAX_EPISODE_STEPS": 4}, "max_episode_steps": 4,'
    ' "schema": {"properties": {"state": {"properties": {"position": {"minimum": -3, "maximum": 3}}}}}}'
)


def met(outcome: Outcome) -> tuple[Divergence, Path]:
    assert outcome.divergence is not None, outcome.message
    return outcome.divergence, Path(outcome.divergence.files["record"])


@pytest.mark.parametrize("small", ["{}", SMALL])
def test_a_record_runs_again_with_its_draws_and_in_its_configuration(
    steps: Steps, changed: Changed, small: str
) -> None:
    made = changed("toywalk", FAULT, small=small)
    record, path = met(steps("small_model", made))
    assert read_divergence(path) == record
    assert record.forced == {"slip": True}
    assert (record.configuration.small is None) == (small == "{}")
    again = replay_divergence(path, made)
    assert again.same
    assert [stage.num_envs for stage in again.stages] == [1, record.configuration.num_envs]
    fast = made.folder / "fast.py"
    fast.write_text(fast.read_text().replace(FAULT[2], FAULT[1]))
    made.reload()
    mended = replay_divergence(path, made)
    assert not mended.differs


def test_a_start_runs_again(steps: Steps, changed: Changed) -> None:
    record, path = met(steps("small_model", made := changed("rivals", ("fast.py", "% LENGTH\n", "% (LENGTH - 1)\n"))))
    assert (record.step, record.previous_state) == (-1, None)
    assert replay_divergence(path, made).same


def test_actions_and_draws_of_several_numbers_run_again(steps: Steps, changed: Changed) -> None:
    made = changed("glider", ("fast.py", "* HALF + wind  # R4", "* HALF - wind  # R4"))
    record, path = met(steps("boundary_states", made))
    assert isinstance(record.action, list)
    assert set(record.forced) == {"wind"}
    assert replay_divergence(path, made).same


def test_a_record_shows_what_was_put_in(steps: Steps, changed: Changed) -> None:
    record, _ = met(steps("small_model", changed("toywalk", FAULT, small=SMALL)))
    text = " ".join(render_plain(record).split())
    assert 'draws put in: {"slip": true}' in text
    assert "small model (LEFT_END = -3, GOAL = 3, MAX_EPISODE_STEPS = 4)" in text


def test_a_record_without_chosen_draws_says_nothing_of_them(steps: Steps, changed: Changed) -> None:
    edit = ("fast.py", "second = (state.dials[:, 1]", "second = (1 + state.dials[:, 1]")
    record, _ = met(steps("small_model", changed("dials", edit)))
    body = record.to_json()
    assert "small" not in body["configuration"]
    assert "forced" not in body
