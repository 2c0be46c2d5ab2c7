"""`simulacrum transfer`: what it runs, what it refuses, what it puts into the report and what the gate makes of it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from simulacrum.attest.catalog import CHECKS
from simulacrum.attest.gate import gate_state
from simulacrum.attest.record import CheckResult, Configuration, Report
from simulacrum.attest.report import read_report, write_report
from simulacrum.cli.listing import listed
from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import load_package

SMALL = ("--episodes", 8, "--train-steps", 0)
REWARD = "reward = self._reward(at_goal)"


@pytest.fixture
def validated():
    """Write a passing report by hand; nobody runs the battery for these tests."""

    def write(folder):
        package = load_package(folder)
        digest = compute_digest(package)
        report = Report(
            package=package.name, env_id=package.env_id, full=True, started="2026-01-01T00:00:00Z",
            finished="2026-01-01T00:00:00Z", subjects=digest.subjects, environment=digest.environment,
            whole=digest.whole, checks={info.name: CheckResult("passed") for info in CHECKS},
            configurations=(Configuration(),),
        )  # fmt: skip
        write_report(package, report)
        return package

    return write


def result_of(package):
    return read_report(package.folder / "validation_report.json").checks["policy_transfer"]


def test_probes_play_the_same_and_the_report_says_so(cli, toywalk, validated):
    package = validated(toywalk)
    before = read_report(toywalk / "validation_report.json")
    done = cli("transfer", toywalk, *SMALL)
    assert done.code == 0, done.out + done.err
    assert "2 policies play the same in both twins" in done.out
    after = read_report(toywalk / "validation_report.json")
    assert after.checks["policy_transfer"].status == "passed"
    assert after.checks["policy_transfer"].evidence["policies"]["dither"]["equal"] is True
    assert after.passed
    assert {name: one for name, one in after.checks.items() if name != "policy_transfer"} == dict(before.checks)
    assert (after.configurations, after.revision, after.whole) == (before.configurations, before.revision, before.whole)
    assert gate_state(package).fresh
    own = listed(package)
    assert (own.gate, own.transfer) == ("fresh", "equal"), own.why


def test_a_trained_policy_plays_too(cli, toywalk, validated):
    package = validated(toywalk)
    done = cli("transfer", toywalk, "--episodes", 8, "--train-steps", 2048, "--seed", 4)
    assert done.code == 0, done.out + done.err
    about = result_of(package).evidence["policies"]["trained"]
    assert (about["learner"], about["seed"], about["steps"]) == ("built-in PPO", 4, 2048)


def test_a_difference_closes_the_gate_until_it_is_run_again(cli, toywalk, edit, validated):
    edit(toywalk / "fast.py", REWARD, f"{REWARD} - (at_goal & (ctx.t >= 50)) * 1.0")
    package = validated(toywalk)
    done = cli("transfer", toywalk, "--episodes", 200, "--policy", "dither")
    assert done.code == 1
    assert "the twins part where dither plays: reward" in done.out
    assert "reference  10.0" in done.out
    assert "simulacrum replay" in done.out
    assert len(list(Path("failures").glob("*.html"))) == 1
    state = gate_state(package)
    assert state.status == "failing"
    assert state.why == ["policy_transfer: failed: the twins part where dither plays: reward"]
    record = next(path for path in Path("failures").glob("*.json") if path.name.count(".") == 1)
    explained = cli("explain", record, "--env", toywalk)
    assert explained.code == 0, explained.err
    assert "reward is 10.0 in the reference and 9.0 in the batched twin" in explained.out

    # A policy that never dawdles does not meet the fault; what the first run found stays on record.
    again = cli("transfer", toywalk, "--episodes", 8, "--policy", "always_right")
    assert again.code == 0, again.out + again.err
    assert gate_state(package).fresh
    earlier = result_of(package).evidence["earlier"]
    assert [one["status"] for one in earlier] == ["failed"]


def test_needs_a_fresh_report(cli, toywalk, validated):
    done = cli("transfer", toywalk, *SMALL)
    assert done.code == 1
    assert "is not validated as it stands (missing)" in done.err
    validated(toywalk)
    with (toywalk / "fast.py").open("a") as file:
        file.write("\n")
    done = cli("transfer", toywalk, *SMALL)
    assert done.code == 1
    assert "(stale)" in done.err
    assert "policy_transfer" not in (toywalk / "validation_report.json").read_text()


def test_level_4_is_transfer(cli, toywalk, validated):
    package = validated(toywalk)
    done = cli("validate", toywalk, "--level", 4, "--policy", "always_right")
    assert done.code == 0, done.out + done.err
    assert list(result_of(package).evidence["policies"]) == ["always_right"]
    done = cli("validate", toywalk, "--level", 4, "-k", "replay")
    assert done.code == 2
    assert "level 4 is one check" in done.err
    assert cli("validate", toywalk, "--level", 5).code == 2


def test_policies_by_name_and_by_file(cli, toywalk, validated):
    package = validated(toywalk)
    Path("mine.py").write_text("def act(observation, state, t):\n    return 1\n")
    done = cli("transfer", toywalk, "--episodes", 4, "--policy", "mine.py:act", "--policy", "random")
    assert done.code == 0, done.out + done.err
    policies = result_of(package).evidence["policies"]
    assert set(policies) == {"mine.py:act", "random"}
    assert len(policies["mine.py:act"]["sha256"]) == 64
    done = cli("transfer", toywalk, "--policy", "alwys_right")
    assert done.code == 2
    assert "no policy 'alwys_right'" in done.err
    assert "always_right" in done.err
    assert cli("transfer", toywalk, "--policy", "gone.py:act").code == 2


def test_checkpoint_of_ppo(cli, toywalk, validated):
    pytest.importorskip("tyro")
    pytest.importorskip("tensorboard")
    torch = pytest.importorskip("torch")
    package = validated(toywalk)
    training = Path(__file__).parents[2] / "training"
    sys.path.insert(0, str(training))
    try:
        spec = importlib.util.spec_from_file_location("ppo_here", training / "ppo.py")
        ppo = sys.modules["ppo_here"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(ppo)
    finally:
        sys.path.remove(str(training))
        sys.modules.pop("ppo_here", None)
    import simulacrum.contract.spaces as made

    torch.manual_seed(3)
    args = {**vars(ppo.Args()), "env_id": package.env_id, "width": 16, "runs": "runs"}
    spaces = made.single_observation_space(package.schema), made.single_action_space(package.schema)
    agent = ppo.Agent(*spaces, (0, 0), ppo.Args(**args))
    torch.save({"args": args, "agent": agent.state_dict()}, "c.pt")
    done = cli("transfer", toywalk, "--episodes", 4, "--policy", "c.pt")
    assert done.code == 0, done.out + done.err
    assert "c.pt" in result_of(package).evidence["policies"]

    torch.save({"args": {**args, "width": 8}, "agent": agent.state_dict()}, "d.pt")
    done = cli("transfer", toywalk, "--policy", "d.pt")
    assert done.code == 2
    assert "the checkpoint does not load" in done.err
    done = cli("transfer", toywalk, "--policy", "c.pt:nowhere/ppo.py")
    assert done.code == 2
    assert "the script that wrote the checkpoint is not found" in done.err


def test_margin_where_there_is_nothing_to_allow_for(cli, toywalk, validated):
    validated(toywalk)
    done = cli("transfer", toywalk, "--margin", 1)
    assert done.code == 2
    assert "bit-identical, so there is nothing to allow for" in done.err
    done = cli("transfer", toywalk, "--plot", "made.png")
    assert done.code == 2
    assert "bit-identical twins leave no interval to draw" in done.err


@pytest.fixture
def tolerant(toywalk, edit):
    """toywalk with a tolerance of the reward, and a batched twin that uses it: each step costs 0.01 more."""
    edit(toywalk / "schema.json", '"reward": {', '"reward": {"x-atol": 0.5, "x-tolerance-reason": "a test", ')
    edit(toywalk / "fast.py", "STEP_REWARD, dtype", "STEP_REWARD - 0.01, dtype")
    Path("mine.py").write_text(
        "import numpy as np\n"
        "def train(envs, seed, steps):\n"
        "    return lambda observations, mask: np.ones(len(observations), np.int64)\n"
    )
    return toywalk


STUDY = ("--seeds", 3, "--train", "mine.py:train", "--eval-episodes", 32)


def test_tolerance_needs_a_margin_that_was_stated(cli, tolerant, validated):
    validated(tolerant)
    done = cli("transfer", tolerant, *STUDY)
    assert done.code == 2
    assert "declares a tolerance in reward, and no margin was stated" in done.err
    assert not Path("runs").exists()
    done = cli("transfer", tolerant, *STUDY, "--margin", 1, "--policy", "random")
    assert done.code == 2
    assert "trains its policies in both twins" in done.err


def test_study_is_planned_drawn_and_recorded(cli, tolerant, validated):
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib")
    package = validated(tolerant)
    done = cli("transfer", tolerant, *STUDY, "--margin", 1)
    assert done.code == 0, done.out + done.err
    folder = Path("runs/transfer-toywalk-v0")
    assert json.loads((folder / "plan.json").read_text())["margin"] == 1
    assert (folder / "transfer.png").stat().st_size > 10_000
    found = result_of(package)
    assert (found.status, found.evidence["verdict"]) == ("passed", "equivalent")
    # Each of the steps but the last costs 0.01 more, and always right takes six of them.
    assert found.evidence["tests"]["judged"]["difference"] == pytest.approx(-0.05, abs=0.02)
    assert "±1" in done.out
    again = cli("transfer", tolerant, *STUDY, "--margin", 1, "--plot", "elsewhere.svg")
    assert again.code == 0, again.out + again.err
    assert "judged in the batched twin" in Path("elsewhere.svg").read_text()
    refused = cli("transfer", tolerant, *STUDY, "--margin", 2)
    assert refused.code == 2
    assert "another plan" in refused.err


def test_forced_statistics_leave_the_report_alone(cli, toywalk, validated):
    pytest.importorskip("scipy")
    validated(toywalk)
    Path("mine.py").write_text("def train(envs, seed, steps):\n    return lambda seen, mask: [1] * len(seen)\n")
    before = (toywalk / "validation_report.json").read_bytes()
    assert cli("transfer", toywalk, "--force-statistics").code == 2
    done = cli("transfer", toywalk, *STUDY, "--margin", 1, "--force-statistics")
    assert done.code == 0, done.out + done.err
    assert (toywalk / "validation_report.json").read_bytes() == before


def test_events(cli, toywalk, validated):
    validated(toywalk)
    done = cli("transfer", toywalk, *SMALL, "--json")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [one["event"] for one in events] == ["started", "policy", "policy", "finished"]
    assert (events[0]["form"], events[0]["policies"]) == ("exact", ["always_right", "dither"])
    assert (events[-1]["status"], events[-1]["verdict"], events[-1]["gate"]["status"]) == ("passed", "equal", "fresh")
    done = cli("transfer", toywalk, "--policy", "nobody", "--json")
    assert json.loads(done.out.splitlines()[-1])["event"] == "error"
