"""Each sub-check of single steps, on sound packages and on faults that it is there for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from kit import NAMES, package

from simulacrum.contract.package import EnvPackage
from simulacrum.engine import boundary as engine_boundary
from simulacrum.harness.bench import Outcome
from simulacrum.harness.small import checks
from simulacrum.harness.small.table import CHUNK
from simulacrum.harness.small.walk import Budget

Steps = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]

REWARD = "reward = self._reward(at_goal)  # R6: float32 [N]"
RIVALS = "reward = first.to(torch.float32) - second.to(torch.float32)  # R7"


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "cartpole", "pendulum"])
@pytest.mark.parametrize("sub_check", ["small_model", "boundary_states", "boundary_pairs"])
def test_sound_twins_agree(steps: Steps, name: str, sub_check: str) -> None:
    outcome = steps(sub_check, name)
    assert outcome.status in ("passed", "skipped"), outcome.message
    assert (outcome.status == "skipped") == (outcome.message.startswith("not enumerable"))


def test_all_of_toywalk_is_walked_and_the_table_says_so(steps: Steps) -> None:
    outcome = steps("small_model", "toywalk")
    assert outcome.message == "all 2,364 transitions of the small model agree"
    depths = outcome.evidence["depths"]
    assert [depth["states"] for depth in depths[:4]] == [5, 7, 9, 10]
    assert depths[0] == {"depth": 0, "states": 5, "transitions": 20, "terminated": 0, "truncated": 0}
    assert depths[-1]["truncated"] == depths[-1]["transitions"] == 40
    told = outcome.evidence["small_model"]
    assert told["same_states"]
    assert told["illegal_actions"] == 4 * told["states"]


@pytest.mark.parametrize(
    ("name", "old", "new", "path", "forced"),
    [
        # At one border cell only.
        ("toywalk", REWARD, f"{REWARD}\n        reward = reward - 0.5 * (position == LEFT_END)", "reward", None),
        # Where two rules meet: the first walker would take the prize, and is blocked.
        ("rivals", RIVALS, f"{RIVALS}\n        reward = reward * (~(first & blocked)).to(torch.float32)", "reward",
         None),
        # Off by one at the time limit.
        ("toywalk", "elapsed = ctx.t.clamp(max=MAX_EPISODE_STEPS)", "elapsed = ctx.t.clamp(max=MAX_EPISODE_STEPS - 1)",
         "observation[1]", None),
        # A draw used wrongly.
        ("toywalk", "(action == 1) ^ slips", "(action == 1) & ~slips", "state.position", {"slip": True}),
        # A state that one side never comes to.
        ("rivals", 'ctx.draw.integers("next", LENGTH)', 'ctx.draw.integers("next", LENGTH).clamp(max=LENGTH - 2)',
         "state.prize", {"next": 4}),
        # A value that is not drawn at all.
        ("toywalk", 'ctx.draw.bernoulli("slip", ctx.params.slip)', "torch.zeros_like(action, dtype=torch.bool)",
         "state.position", {"slip": True}),
        # At the start.
        ("rivals", "% LENGTH\n", "% (LENGTH - 1)\n", "state.places[1]", {"first": 0, "gap": 3, "prize": 0}),
    ],
)  # fmt: skip
def test_a_small_model_shows_the_fault_and_the_draws(
    steps: Steps, changed: Changed, name: str, old: str, new: str, path: str, forced: dict[str, Any] | None
) -> None:
    outcome = steps("small_model", changed(name, ("fast.py", old, new)), quick=False)
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert outcome.divergence.difference.path == path
    assert path in outcome.message
    if forced is not None:
        assert outcome.divergence.forced == forced


def test_a_fault_that_shows_at_once_is_found_at_once(steps: Steps, changed: Changed) -> None:
    """The reference takes most of the time, so the batched twin is asked long before a portion is full."""
    broken = changed("forager", ("fast.py", "gust.to(torch.int32)) % 4", "gust.to(torch.int32)).clamp(max=3)"))
    outcome = steps("small_model", broken, quick=False)
    assert outcome.status == "failed"
    assert outcome.evidence["small_model"]["transitions"] < 2_000 < CHUNK


def test_what_cannot_be_enumerated_says_what_to_write(steps: Steps) -> None:
    outcome = steps("small_model", "glider", quick=False)
    assert outcome.status == "skipped"
    assert outcome.message == "not enumerable within 20,000 transitions or 5 s: write small.json"


def test_what_was_walked_of_a_large_package_is_compared_all_the_same(steps: Steps, changed: Changed) -> None:
    start = "fuel=torch.ones_like(position[:, 0])"
    made = changed("glider", ("fast.py", start, f"{start} / 2"))
    assert steps("small_model", made).status == "failed"


def test_a_small_model_that_is_too_large_is_not_passed_over(
    steps: Steps, changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "ASKED", Budget(500, 60.0))
    outcome = steps("small_model", changed("toywalk"), quick=False)
    assert outcome.status == "inconclusive"
    assert "make it smaller" in outcome.message


def test_a_small_json_that_means_nothing_is_an_error(steps: Steps, changed: Changed) -> None:
    with pytest.raises(Exception, match="no constant is called GAOL"):
        steps("small_model", changed("toywalk", small='{"constants": {"GAOL": 3}}'))


def test_an_environment_without_a_time_limit_is_walked_once_from_each_state(steps: Steps, changed: Changed) -> None:
    edits = [("schema.json", '"x-max-episode-steps": 9,', "")]
    outcome = steps("small_model", changed("dials", *edits), quick=False)
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["small_model"]["states"] <= 24


def test_a_twin_that_raises_in_one_state_is_told_with_that_state(steps: Steps, changed: Changed) -> None:
    fault = f"{REWARD}\n        if bool((state.position == -4).any()): raise ValueError('left')"
    outcome = steps("small_model", changed("toywalk", ("fast.py", REWARD, fault)))
    assert outcome.status == "failed"
    assert "position=-4" in outcome.message
    assert "ValueError: left" in outcome.message


def test_an_illegal_action_that_is_let_in_is_told(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(group: Any, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return action.clamp(0, 1), torch.zeros_like(action, dtype=torch.bool)

    monkeypatch.setattr(engine_boundary, "sanitize", lenient)
    outcome = steps("small_model", "toywalk")
    assert outcome.status == "failed"
    assert outcome.message.startswith("illegal action -1 in action: step() accepts it in the state {'position': -2}")


@pytest.mark.parametrize(
    ("name", "old", "new", "path"),
    [
        ("cartpole", "state.x_dot + TAU * x_acc", "state.x_dot + TAU * x_acc + 1e-9 * (state.theta == 0)",
         "state.x_dot"),
        ("toywalk", REWARD, f"{REWARD}\n        reward = reward - 0.5 * (ctx.t >= MAX_EPISODE_STEPS)", "reward"),
        ("toywalk", REWARD, f"{REWARD}\n        reward = reward - 0.5 * (ctx.params.slip == 1)", "reward"),
        ("glider", "torch.where(fuel < 0.0, 0.0, fuel)", "torch.where(fuel < 1e-30, 0.0, fuel)", "state.fuel"),
    ],
)  # fmt: skip
def test_boundary_states_show_faults_at_ends(
    steps: Steps, changed: Changed, name: str, old: str, new: str, path: str
) -> None:
    outcome = steps("boundary_states", changed(name, ("fast.py", old, new)), quick=False)
    assert outcome.status == "failed", outcome.evidence
    assert outcome.divergence is not None
    assert outcome.divergence.difference.path == path


def test_boundary_states_try_draws_at_their_ends_and_starts_too(steps: Steps, changed: Changed) -> None:
    made = changed("cartpole", ("fast.py", "return self.State(*start.unbind(dim=-1))",
                                "return self.State(*start.clamp(max=0.0499999).unbind(dim=-1))"))  # fmt: skip
    outcome = steps("boundary_states", made)
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert outcome.divergence.step == -1
    assert max(outcome.divergence.forced["start"]) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("name", "old", "new", "path"),
    [
        # On the limit and not moving: two numbers at an end each.
        ("cartpole", "(x > X_LIMIT)", "(x >= X_LIMIT)", "terminated"),
        # In one cell and in the last step.
        ("toywalk", REWARD, f"{REWARD}\n        reward = reward - 1.0 * ((state.position == -5) & (ctx.t == 59))",
         "reward"),
        # One beside the other.
        ("rivals", RIVALS, f"{RIVALS}\n        reward = reward * ((old[:, 0] != 4) | (old[:, 1] != 0))", "reward"),
    ],
)  # fmt: skip
def test_boundary_pairs_show_what_needs_two_things_at_once(
    steps: Steps, changed: Changed, name: str, old: str, new: str, path: str
) -> None:
    outcome = steps("boundary_pairs", changed(name, ("fast.py", old, new)), quick=False)
    assert outcome.status == "failed", outcome.evidence
    assert outcome.divergence is not None
    assert outcome.divergence.difference.path == path


def test_states_that_the_invariants_refuse_are_counted_and_left_out(steps: Steps) -> None:
    told = steps("boundary_states", "toywalk").evidence["boundary_states"]
    assert told["broke_invariants"] > 0
    assert told["params"] == 4
    assert told["states"] > 50


@pytest.mark.slow
def test_native_states_show_what_the_compiled_form_alone_does(steps: Steps, changed: Changed) -> None:
    fault = f"{REWARD}\n        reward = reward - (position == -5) * float(torch.compiler.is_compiling())"
    made = changed("toywalk", ("fast.py", REWARD, fault))
    outcome = steps("native_states", made, forms=("eager", "native"))
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert (outcome.divergence.configuration.form, outcome.divergence.difference.path) == ("native", "reward")
    assert not outcome.divergence.forced
    assert steps("native_states", package("toywalk"), forms=("eager", "native")).status == "passed"


def test_native_states_need_the_native_form(steps: Steps) -> None:
    assert steps("native_states", package("toywalk")).status == "skipped"


def test_a_state_that_the_reference_alone_cannot_show_is_a_difference(steps: Steps, changed: Changed) -> None:
    broken = changed("toywalk", ("reference.py", "elapsed = min(ctx.t, MAX_EPISODE_STEPS)", "elapsed = ctx.t"))
    outcome = steps("boundary_states", broken)
    assert outcome.status == "failed"
    assert "the reference raises where the batched twin" in outcome.message
    assert "observation[1] is not what the schema declares" in outcome.message


def test_a_step_that_the_reference_alone_cannot_take_is_a_difference(steps: Steps, changed: Changed) -> None:
    broken = changed("toywalk", ("reference.py", "if position > GOAL:", "if False:"))  # over the wall, from the goal
    outcome = steps("boundary_states", broken)
    assert outcome.status == "failed"
    assert "the reference raises where the batched twin steps to what the schema allows" in outcome.message
    assert "State(position=5)" in outcome.message
