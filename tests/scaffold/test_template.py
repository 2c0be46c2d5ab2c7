"""From `simulacrum new` to an open gate and to a stale one, as a newcomer types it. Nothing is edited in between."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest

import simulacrum
from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)

    def command(*words):
        capsys.readouterr()
        code = main(words)
        return code, *capsys.readouterr()

    return command


def gate_of(run, name):
    _, out, _ = run("list", ".", "--json")
    return next(row for row in json.loads(out)["environments"] if row["name"] == name)


@pytest.mark.long
@pytest.mark.nightly
def test_template_passes_every_check_and_opens_its_gate(run, tmp_path):
    assert run("new", "two_doors", "--id", "lab/two_doors-v0")[0] == 0
    code, out, _ = run("validate", "./two_doors", "--json")
    *events, finished = (json.loads(line) for line in out.splitlines()[1:])
    checks = [event for event in events if event["event"] == "check"]
    assert {check["name"]: check["status"] for check in checks} == dict.fromkeys(CHECK_NAMES, "passed"), out
    assert (code, finished["passed"], finished["full"], finished["failed"]) == (0, True, True, [])
    assert finished["gate"] == {**finished["gate"], "status": "fresh", "why": []}
    assert finished["report"] == str(tmp_path / "two_doors" / "validation_report.json")

    row = gate_of(run, "two_doors")
    form = "native"
    assert (row["gate"], f"{form} on cpu" in row["validated"]) == ("fresh", True)
    assert simulacrum.register_envs("two_doors") == ["lab/two_doors-v0"]
    try:
        env = gym.make_vec("lab/two_doors-v0", num_envs=3, vectorization_mode="vector_entry_point", compile=form)
        env.reset(seed=0)
        env.close()
        with (tmp_path / "two_doors" / "spec.md").open("a", encoding="utf-8") as spec:
            spec.write("\n")
        row = gate_of(run, "two_doors")
        assert (row["gate"], row["why"]) == ("stale", ["envs/two_doors/spec.md changed"])
        with pytest.raises(simulacrum.errors.GateError, match=r"spec.md changed"):
            gym.make_vec("lab/two_doors-v0", num_envs=3, vectorization_mode="vector_entry_point")
    finally:
        del gym.registry["lab/two_doors-v0"]


def test_a_todo_makes_spec_contract_fail(run, tmp_path):
    run("new", "two_doors")
    spec = tmp_path / "two_doors" / "spec.md"
    spec.write_text(spec.read_text(encoding="utf-8").replace("## Step\n", "## Step\n\nTODO: knock first.\n"), "utf-8")
    code, out, _ = run("validate", "./two_doors", "-k", "spec_contract", "--compile", "eager")
    assert code == 1
    assert "failed       spec_contract" in out
    assert "spec.md:" in out
    assert "TODO" in out
