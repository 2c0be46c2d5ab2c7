from __future__ import annotations

from collections.abc import Callable

import pytest
from kit import package

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.checks.differential import CHECKED_ROWS, CHECKED_STEPS, checked_inputs
from simulacrum.harness.running import run_check

Check = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]
STEP = "def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:\n"


def test_the_speed_of_both_twins_is_recorded_with_the_checksum(check: Check) -> None:
    outcome = check("throughput", "toywalk", quick=False)
    assert outcome.status == "passed", outcome.message
    evidence = outcome.evidence
    assert evidence["reference"] > 100
    assert set(evidence["batched"]["eager"]) == {"1", "64", "512", "4096"}
    assert evidence["batched"]["eager"]["4096"] > evidence["batched"]["eager"]["1"]
    assert evidence["times_the_reference"] > 1
    assert evidence["checksum_of"] == "this check alone"
    assert "differential was not run" in outcome.message
    assert evidence["warm_up_seconds"]["eager"] >= 0


def test_the_checksum_must_be_the_one_that_differential_compared(tmp_path: object) -> None:
    bench = Bench(package("toywalk"), forms=("eager",), quick=True)
    first = run_check(bench, "throughput")[0]
    bench.checksums["differential"] = first.evidence["checksum"]
    again = run_check(bench, "throughput")[0]
    assert (again.status, again.evidence["checksum_of"]) == ("passed", "differential")
    bench.checksums["differential"] = "0" * 64
    outcome = run_check(bench, "throughput")[0]
    assert outcome.status == "failed"
    assert "0" * 64 in outcome.message


@pytest.mark.parametrize(
    "lazy",
    [
        # From the 70th step on, nothing is done any more: the rollout that is compared is over by then.
        f"{STEP}        CALLS.append(1)\n        if len(CALLS) > 70:\n"
        "            zeros = torch.zeros_like(state.position, dtype=torch.float32)\n"
        "            return Transition(state, zeros, zeros > 0)\n",
        # Only in large batches, where speed is shown off.
        f"{STEP}        if len(action) > 1000:\n"
        "            zeros = torch.zeros_like(state.position, dtype=torch.float32)\n"
        "            return Transition(state, zeros, zeros > 0)\n",
    ],
)
def test_a_step_that_does_nothing_is_not_fast(check: Check, changed: Changed, lazy: str) -> None:
    edits = [("fast.py", STEP, lazy)]
    if "CALLS" in lazy:
        edits.append(("fast.py", "class ToyWalk(BatchedEnv):", "CALLS: list[int] = []\n\n\nclass ToyWalk(BatchedEnv):"))
    outcome = check("throughput", changed("toywalk", *edits), quick=False)
    assert outcome.status == "failed"
    assert "without doing the work" in outcome.message


def test_the_rollout_is_that_of_differential() -> None:
    bench = Bench(package("toywalk"))
    seeds, actions = checked_inputs(bench)
    assert len(seeds) == CHECKED_ROWS
    assert len(actions) == CHECKED_STEPS
    assert actions[0].shape == (CHECKED_ROWS,)
