"""Packages written from environments of Gymnasium's registry: their references are those programs, unedited."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from simulacrum.cli.agreement import compare_with_origin
from simulacrum.contract.agreement import check_agreement
from simulacrum.contract.package import load_package
from simulacrum.scaffold import write_from

ROOT = Path(__file__).resolve().parents[2]
long = pytest.mark.long
# The id, its fields, and by how much a step may differ from the untouched program (sine and cosine of the C library).
IDS = [
    ("CartPole-v1", "x x_dot theta theta_dot", 1e-15),
    ("FrozenLake-v1", "s", 0.0),
    pytest.param("MountainCar-v0", "position velocity", 1e-15, marks=long),
    pytest.param("MountainCarContinuous-v0", "state", 1e-7, marks=long),
    pytest.param("Pendulum-v1", "th thdot", 1e-14, marks=long),
    pytest.param("Acrobot-v1", "state", 1e-14, marks=long),
    pytest.param("CliffWalking-v1", "s", 0.0, marks=long),
    pytest.param("Taxi-v4", "s", 0.0, marks=long),
    pytest.param("Blackjack-v1", "player dealer", 0.0, marks=long),
    pytest.param(
        "kit.strange_envs:strange/Everything-v2", "board at boat_x boat_tired tank_fuel tank_leaks cards order", 0.0,
        marks=long,
    ),
]


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory):
    return write_from("gym:CartPole-v1", "cart", tmp_path_factory.mktemp("lab"))


@pytest.mark.parametrize(("gym_id", "fields", "most"), IDS)
def test_reference_agrees_at_once(tmp_path, gym_id, fields, most):
    written = write_from(f"gym:{gym_id}", "someone", tmp_path)
    package = load_package(written.folder)
    assert list(package.schema.state.fields) == fields.split()
    found = compare_with_origin(package, gym_id, 300)
    assert found.failed is None, found
    assert found.steps == 300
    assert found.resets > 1
    assert all(part.ulp and part.distance <= most for part in found.different.values()), found.different
    assert {"reward", "terminated", "truncated"} <= set(found.parts)
    assert any(name.startswith("observation") for name in found.parts)


@long
@pytest.mark.parametrize("id", ["MiniGrid-Empty-5x5-v0", "MiniGrid-Empty-Random-5x5-v0"])
def test_minigrid(tmp_path, id):
    pytest.importorskip("minigrid")
    written = write_from(f"gym:minigrid:{id}", "someone", tmp_path)
    assert any("mission" in sentence for sentence in written.guesses)
    assert any("step_count" in sentence for sentence in written.guesses)
    assert compare_with_origin(load_package(written.folder), f"minigrid:{id}", 200).exact


def test_a_field_that_is_left_out_does_not_agree(cartpole, tmp_path):
    """The comparison can fail: without the angle's speed, and with the draws in another order."""
    folder = cartpole.folder
    reference = folder / "reference.py"
    text = reference.read_text()
    edits = (("theta_dot=float(env.state[3])", "theta_dot=0.0"), ("reshape(shape)[()]", "reshape(shape)[::-1]"))
    for old, new in edits:
        assert old in text
        reference.write_text(text.replace(old, new))
        package = load_package(folder)
        package.reload()
        found = compare_with_origin(package, "CartPole-v1", 50)
        assert found.failed or any(part.distance > 1e-3 for part in found.different.values())
    reference.write_text(text)


def test_todos_are_told_by_line_and_nothing_else_is_wrong(cartpole):
    package = load_package(cartpole.folder)
    told = [str(problem) for problem in check_agreement(package)]
    lines = (cartpole.folder / "spec.md").read_text().splitlines()
    open_lines = [number for number, line in enumerate(lines, 1) if "TODO" in line]
    assert len(told) == 1
    assert all(f"TODO in line {number}" in told[0] for number in open_lines)
    assert len(open_lines) > 6


def test_with_the_todos_gone_the_files_agree(cartpole, tmp_path):
    """Everything but the rules is there: tables, tags, draws, imports."""
    folder = tmp_path / "cart"
    folder.mkdir()
    for file in cartpole.files:
        (folder / file).write_text((cartpole.folder / file).read_text().replace("TODO", "LATER"))
    assert check_agreement(load_package(folder)) == []


def test_guesses_are_marked(cartpole):
    for file in ("reference.py", "schema.json", "spec.md"):
        assert "GUESSED" in (cartpole.folder / file).read_text()
    fast = (cartpole.folder / "fast.py").read_text()
    assert re.findall(r"TODO (R\d)", fast) == ["R2", "R3", "R5", "R6"]


def test_schema_says_where_it_comes_from(cartpole):
    schema = load_package(cartpole.folder).schema
    assert (schema.id, schema.outside, schema.max_episode_steps) == ("simulacrum/cart-v1", ("gymnasium", "numpy"), 500)
    assert schema.raw["$comment"] == "simulacrum new --from gym:CartPole-v1"
    assert schema.state["x"].high == 4.8


def test_probes_were_measured(cartpole):
    probes = load_package(cartpole.folder).probes().PROBES
    assert [probe.name for probe in probes] == ["always_0", "always_1"]
    assert all(8.5 < probe.low < 9.35 < probe.high < 10.2 for probe in probes)


def test_drawing_draws(cartpole):
    package = load_package(cartpole.folder)
    state = package.reference().State(0.1, -1.0, 0.0, 2.0)
    assert "theta_dot  2.0" in package.render().text(state)
    assert package.render().rgb(state).shape == (64, 320, 3)


def test_written_code_is_in_style(cartpole):
    pytest.importorskip("ruff")
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", ROOT / "pyproject.toml"]
    done = subprocess.run([*command, cartpole.folder], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_a_class_of_the_same_name(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "kit"))
    written = write_from("gym:river:lab/Ferry-v0", "ferry", tmp_path)
    assert "from river import Ferry as TheirFerry" in (written.folder / "reference.py").read_text()
    assert compare_with_origin(load_package(written.folder), "river:lab/Ferry-v0", 100).failed is None


def test_the_page_tells_of_the_same_ferry():
    page = (ROOT / "docs" / "bringing-an-environment.md").read_text(encoding="utf-8")
    assert (ROOT / "tests" / "kit" / "river.py").read_text(encoding="utf-8").rstrip() in page
