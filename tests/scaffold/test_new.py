"""The template: what it writes, what it refuses, and that the game in it is what its probes say."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from simulacrum.contract.agreement import check_agreement
from simulacrum.contract.package import load_package
from simulacrum.contract.spec import load_spec
from simulacrum.errors import PackageError, SpecError, UsageError
from simulacrum.scaffold import CHECKLIST, write_package
from simulacrum.scaffold.new import suggested_name


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_package("two_doors", tmp_path_factory.mktemp("lab"), env_id="lab/two_doors-v0")


def test_writes_every_file_of_the_template(written):
    template = files("simulacrum.scaffold").joinpath("template")
    names = sorted(entry.name.removesuffix(".template") for entry in template.iterdir() if entry.is_file())
    assert sorted(written.files) == sorted(path.name for path in written.folder.iterdir()) == names
    assert sorted(file for file, _ in CHECKLIST) == names


def test_no_mark_is_left_and_no_gap_to_fill(written):
    for path in written.folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\{\{\w*\}\}", text)
        assert not any(word in text for word in ("TODO", "FIXME", "XXX", "TBD"))


def test_names_are_the_given_ones(written):
    package = load_package(written.folder)
    assert (package.name, package.env_id) == ("two_doors", "lab/two_doors-v0") == (package.schema.name, written.env_id)
    assert package.spec.title == "two_doors"
    assert package.twin_class("reference").__name__ == package.twin_class("fast").__name__ == "TwoDoors"


def test_contract_holds(written):
    assert check_agreement(load_package(written.folder)) == []


def test_has_one_of_everything_an_author_has_to_write(written):
    package = load_package(written.folder)
    schema = package.schema
    assert [draw.phase for draw in schema.draws] == ["reset", "step"]
    assert [schema.reward.dtype, *(field.dtype for _, field in schema.state)] == ["float32", "int32"]
    assert len(schema.params) == len(schema.info.fields) == 1
    assert schema.max_episode_steps is not None
    assert package.spec.rules_under("Invariants")
    assert package.probes().PROBES
    assert {"text", "rgb"} <= set(vars(package.render()))


@pytest.mark.parametrize("name", ["x", "a_rather_long_name_for_it"])
def test_written_code_is_in_style(tmp_path, name):
    pytest.importorskip("ruff")
    root = Path(__file__).resolve().parents[2]
    folder = write_package(name, tmp_path).folder
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", root / "pyproject.toml", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_a_todo_left_in_the_spec_is_found(written, tmp_path):
    folder = write_package("two_doors", tmp_path).folder
    spec = folder / "spec.md"
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace("## Reward\n", "## Reward\n\nTODO: say what a door pays.\n"), encoding="utf-8")
    with pytest.raises(SpecError, match="TODO"):
        load_spec(spec)
    line = next(i for i, text in enumerate(spec.read_text().splitlines(), 1) if "TODO" in text)
    problems = [str(problem) for problem in check_agreement(load_package(folder))]
    assert any(problem.startswith(f"spec.md:{line}: ") and "TODO" in problem for problem in problems)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Two-Doors", "two_doors"),
        ("twoDoors", "two_doors"),
        ("2doors", "doors"),
        ("class", "class_env"),
        ("../up", "up"),
        ("a b", "a_b"),
        ("_x", "x"),
        ("\u00fcber", "ber"),
    ],
)
def test_wrong_name_and_the_nearest_right_one(tmp_path, name, near):
    with pytest.raises(UsageError, match=f"did you mean '{near}'"):
        write_package(name, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert write_package(near, tmp_path).folder.name == near


def test_name_of_which_nothing_is_left():
    assert suggested_name("---") is None


@pytest.mark.parametrize("env_id", ["two_doors", "lab/other-v0", "lab/two_doors", "la b/two_doors-v0"])
def test_id_that_does_not_fit(tmp_path, env_id):
    with pytest.raises(UsageError, match="/two_doors-v0'"):
        write_package("two_doors", tmp_path, env_id=env_id)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_whatever_stands_there_stays(tmp_path, kind):
    target = tmp_path / "two_doors"
    if kind == "file":
        target.write_text("mine")
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(PackageError, match="nothing was touched"):
        write_package("two_doors", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["two_doors"]


def test_taken_id(tmp_path):
    with pytest.raises(PackageError, match="already taken"):
        write_package("toywalk", tmp_path)
    assert write_package("toywalk", tmp_path, env_id="lab/toywalk-v0").env_id == "lab/toywalk-v0"


def test_folder_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PackageError, match="could not be written"):
        write_package("two_doors", tmp_path / "file")
    with pytest.raises(PackageError, match="could not be written"):
        write_package("two_doors", "/proc/nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def returns(constants, policy):
    """Mean and standard deviation of an episode's return, exactly, by the rules of the template's spec."""
    flow, full, last = 0.4, constants.CAPACITY, constants.MAX_EPISODE_STEPS - 1
    alive = dict.fromkeys(range(constants.START_HIGH + 1), (1 / (constants.START_HIGH + 1), 0.0, 0.0))
    done = [0.0, 0.0, 0.0]  # probability, and its shares of the first and second moment of the return
    for t in range(constants.MAX_EPISODE_STEPS):
        after = {}
        for level, (mass, first, second) in alive.items():
            empties = policy(None, type("State", (), {"level": level}), t) == 1
            poured = level if empties else 0
            for drip, chance in ((1, flow), (0, 1 - flow)):
                content = level - poured + drip
                spills = content > full
                reward = poured / full - constants.FEE if empties else constants.SPILL_REWARD if spills else 0.0
                moments = (mass, first + reward * mass, second + 2 * reward * first + reward * reward * mass)
                moments = tuple(chance * moment for moment in moments)
                if spills or t == last:
                    done = [a + b for a, b in zip(done, moments, strict=True)]
                else:
                    old = after.get(content, (0.0, 0.0, 0.0))
                    after[content] = tuple(a + b for a, b in zip(old, moments, strict=True))
        alive = after
    assert math.isclose(done[0], 1.0)
    return done[1], math.sqrt(done[2] - done[1] ** 2)


def test_intervals_of_the_probes_are_the_exact_expectations(written):
    package = load_package(written.folder)
    for probe in package.probes().PROBES:
        mean, deviation = returns(package.module("__init__"), probe.act)
        reach = 5 * deviation / math.sqrt(probe.episodes)
        assert probe.low == pytest.approx(max(mean - reach, -1.0), abs=6e-4)
        assert probe.high == pytest.approx(mean + reach, abs=6e-4)
        assert f"{mean:.4f}" in probe.why
        assert f"{deviation:.4f}" in probe.why
