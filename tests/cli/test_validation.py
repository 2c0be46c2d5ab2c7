"""`simulacrum validate`: what is printed as it runs, what afterwards, and the exit codes."""

from __future__ import annotations

import io
import json
from importlib.metadata import version

import pytest
from rich.console import Console

from simulacrum.cli.progress import LiveView, Plan
from simulacrum.contract.package import load_package
from simulacrum.harness.bench import failed, passed

QUICK = ("-k", "differential", "--quick", "--compile", "eager")


def test_partial_run_passes_and_grants_nothing(cli, counter):
    done = cli("validate", counter, *QUICK)
    assert done.code == 0, done.out + done.err
    assert "partial run: it grants nothing and revokes nothing" in done.out
    assert "passed       differential" in done.out
    assert "result  passed: 1 check in " in done.out
    assert "gate    closed (partial), as before" in done.out
    assert not (counter / "validation_report.json").exists()
    assert "\x1b" not in done.out


def test_the_program_that_a_reference_drives_is_named(cli, counter, own_folders):
    driven = cli("validate", "cartpole", "-k", "spec_contract").out
    assert f"the reference drives gymnasium {version('gymnasium')}" in driven
    assert "drives" not in cli("validate", str(counter), "-k", "spec_contract").out


def test_planted_fault_is_1_with_the_first_divergence(cli, counter, edit, own_folders):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 1 + (state.count > 4).to(torch.int32)")
    done = cli("validate", counter, *QUICK)
    assert done.code == 1
    assert "DIVERGENCE in differential: simulacrum/counter-v0" in done.out
    assert "state.count (int32)" in done.out
    assert "result  FAILED: differential" in done.out
    (record,) = [path for path in (own_folders / "failures").glob("*.json") if path.stem.isalnum()]
    assert f"next    simulacrum replay failures/{record.name} --env {counter}" in done.out


def test_failures_folder_is_where_it_is_asked_to_be(cli, counter, edit, own_folders):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 2")
    cli("validate", counter, *QUICK, "--failures", "elsewhere")
    assert list((own_folders / "elsewhere").glob("*.json"))
    assert not (own_folders / "failures").exists()


def test_failures_folder_that_cannot_be_written(cli, counter, edit):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 2")
    done = cli("validate", counter, *QUICK, "--failures", "/proc/nowhere")
    assert done.code == 1
    assert "cannot be written" in done.out
    assert "/proc/nowhere" in done.out


def events(done):
    """The JSON lines, without those that tell that a slow run goes on."""
    return [event for event in map(json.loads, done.out.splitlines()) if event["event"] != "progress"]


def test_json_lines(cli, counter):
    done = cli("validate", counter, *QUICK, "--json")
    started, check, finished = events(done)
    assert (started["event"], started["version"], started["forms"]) == ("started", 1, ["eager"])
    assert (started["checks"], started["full"]) == (["differential"], False)
    assert (check["event"], check["name"], check["status"]) == ("check", "differential", "passed")
    assert check["evidence"]["compared_transitions"] > 0
    assert check["divergence"] is None
    assert (finished["event"], finished["passed"], finished["failed"]) == ("finished", True, [])
    assert finished["gate"]["status"] == "partial"


def test_json_holds_the_whole_divergence(cli, counter, edit):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 2")
    done = cli("validate", counter, *QUICK, "--json")
    assert done.code == 1
    _, check, finished = events(done)
    assert check["divergence"]["format"] == "simulacrum-divergence"
    assert finished["failed"] == ["differential"]


def test_verbose_log_says_what_is_done(cli, counter):
    done = cli("validate", counter, *QUICK, "-v")
    assert "... differential: 1 rows (0/3)" in done.out
    assert "compared_transitions: " in done.out


def test_unknown_check_names_the_nearest(cli):
    done = cli("validate", "toywalk", "-k", "diferential")
    assert done.code == 2
    assert "did you mean 'differential'?" in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("words", "told"), [(["--device", "cuda:7"], "cuda:7"), (["--compile", "magic"], "unknown form")]
)
def test_device_and_form_that_are_not_there(cli, words, told):
    done = cli("validate", "toywalk", *QUICK[:3], *words)
    assert done.code == 2
    assert told in done.err


def test_broken_package_is_2(cli, counter):
    (counter / "schema.json").write_text("{")
    done = cli("validate", counter)
    assert done.code == 2
    assert "schema.json" in done.err


def test_no_compiler_is_one_warning(cli, counter, monkeypatch):
    from simulacrum.engine import forms

    monkeypatch.setattr(forms, "cpp_compiler", lambda: None)
    monkeypatch.setattr(forms, "find_compiler", lambda: None)
    done = cli("validate", counter, "-k", "differential", "--quick")
    assert done.code == 0
    assert done.err.count("warning: no compiler was found") == 1
    assert "eager on cpu" in done.out


class Stopped(Exception):
    pass


def live(width):
    plan = Plan(
        load_package("toywalk"), ("spec_contract", "differential", "throughput"), ("eager",), "cpu", False, True
    )
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    return LiveView(plan, console), console


def shown(view, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(view.table())
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_live_table_moves(own_folders):
    view, _ = live(80)
    with view:
        assert [line.split()[-1] for line in shown(view)[1:]] == ["differential", "throughput"]
        assert "running" in shown(view)[0]
        view.ended("spec_contract", passed("all agrees"), 0.25)
        view.progress("differential", "513 rows", 5, 7)
        first, second, third = shown(view)
        assert first.split() == ["passed", "spec_contract", "0.2", "s", "all", "agrees"]
        assert "5/7 513 rows" in second
        assert third.split() == ["waiting", "throughput"]
        view.ended("differential", failed("the twins part: state.x\n  more"), 3.0)
    assert shown(view)[1].split()[0] == "failed"
    assert shown(view)[2].split() == ["not", "run", "throughput"]


def test_live_table_stays_whole_when_the_run_breaks_off():
    view, console = live(80)
    with pytest.raises(Stopped), view:
        raise Stopped
    assert [line.split()[0] for line in shown(view)] == ["stopped", "not", "not"]
    assert "stopped" in console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_live_table_fits(width):
    view, _ = live(width)
    with view:
        view.ended("spec_contract", passed("a sentence that is long enough to need a second line at 80 columns"), 1.0)
        view.progress("differential", "a rather long description of what is done", 3, 7)
        assert max(map(len, shown(view, width))) <= width


POLICY = "def act(observation, state, t):\n    return t % 2\n\n\nWORD = 1\n"


@pytest.fixture
def policies(tmp_path):
    """A Python file with policies."""
    path = tmp_path / "policies.py"
    path.write_text(POLICY)
    return path


def test_given_policy_drives_rows_of_its_own(cli, counter, policies):
    chosen = ("-k", "differential.given_policy", "--quick", "--compile", "eager")
    done = cli("validate", counter, *chosen, "--policy", f"{policies}:act")
    assert done.code == 0, done.out + done.err
    assert "transitions of the given policy agree" in done.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{0}.txt:act", "names no file"),
        ("{0}", "names no function"),
        ("{0}:none", "has no function 'none'"),
        ("{0}:WORD", "has no function 'WORD'"),
    ],
)
def test_policy_that_is_none_is_refused(cli, counter, policies, given, said):
    done = cli("validate", counter, *QUICK, "--policy", given.format(policies))
    assert done.code == 2
    assert said in done.err


def test_policy_file_that_does_not_run_is_refused(cli, counter, policies):
    policies.write_text("import nothing_of_that_name\n")
    done = cli("validate", counter, *QUICK, "--policy", f"{policies}:act")
    assert done.code == 2
    assert "does not run: ModuleNotFoundError" in done.err


def test_saved_model_plays(cli, tmp_path):
    library = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import DummyVecEnv

    from simulacrum.engine.single import SimulacrumEnv

    one = DummyVecEnv([lambda: SimulacrumEnv("toywalk")])
    library.PPO("MlpPolicy", one, n_steps=8, batch_size=8, device="cpu").save(tmp_path / "model.zip")
    chosen = ("-k", "differential.given_policy", "--quick", "--compile", "eager")
    done = cli("validate", "toywalk", *chosen, "--policy", f"{tmp_path / 'model.zip'}")
    assert done.code == 0, done.out + done.err
    wrong = cli("validate", "toywalk", *chosen, "--policy", f"{tmp_path / 'model.zip'}:NOPE")
    assert wrong.code == 2
    assert "has no algorithm 'NOPE'" in wrong.err
