"""A failure with its rules, its source and its values."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import UsageError
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.explain import explain
from simulacrum.harness.explain.explanation import Explanation
from simulacrum.harness.explain.standing import Standing
from simulacrum.harness.explain.watched import comparable, first_parting, watch_fast, watch_reference
from simulacrum.harness.explain.watched_case import watch_case
from simulacrum.harness.lockstep import Lockstep
from simulacrum.trace.case import Case, Line, Shrunk
from simulacrum.trace.difference import difference
from simulacrum.trace.divergence import Divergence

LATE_WALL = ("(state.position + move).clamp(LEFT_END, GOAL)", "(state.position + move).clamp(LEFT_END + 1, GOAL)")
START = ("START_HIGH + 1, low=START_LOW)", "START_HIGH + 1, low=START_LOW).abs()")
SHIFTED = ("move = self._move(action, slips)", "move = self._move(action, slips).roll(1)")
SLOWEST = ("elapsed = ctx.t.clamp(", "elapsed = ctx.t.amax().expand_as(ctx.t).clamp(")
TURNED = ("move = self._move(action, slips)", "move = self._move(action, ~slips)")


def faulty(tmp_path: Path, edit: tuple[str, str]) -> EnvPackage:
    return load_package(copy_env("toywalk", tmp_path, [Edit("fast.py", *edit)]))


def part(package: EnvPackage, tmp_path: Path) -> Divergence:
    bench = Bench(package, failures=tmp_path / "failures", check="differential")
    lock = Lockstep(bench, bench.env(9, params=bench.row_params(9, 1)))
    found = lock.run(drivers.standard(bench.schema, 9, 4), seeds_for(9, 4), episodes=3, most=200)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def wall(tmp_path_factory: pytest.TempPathFactory) -> tuple[EnvPackage, Explanation]:
    folder = tmp_path_factory.mktemp("wall")
    package = faulty(folder, LATE_WALL)
    return package, explain(part(package, folder), package)


def test_rules_come_with_their_lines(wall: tuple[EnvPackage, Explanation]) -> None:
    package, told = wall
    assert told.rules[0].id == "R5"
    spec = (package.folder / "spec.md").read_text("utf-8").split("\n")
    for rule in told.rules:
        assert f"**{rule.id}**" in spec[rule.line - 1]


def test_the_lines_of_both_twins_are_those_of_the_files(wall: tuple[EnvPackage, Explanation]) -> None:
    package, told = wall
    assert told.fast.file == "fast.py"
    for side in (told.reference, told.fast):
        text = (package.folder / side.file).read_text("utf-8").split("\n")
        assert all(text[line.line - 1] == line.text for line in side.lines)
    assert any(LATE_WALL[1] in line.text and line.distance is not None for line in told.fast.lines)


def test_the_value_on_the_way(wall: tuple[EnvPackage, Explanation]) -> None:
    _, told = wall
    assert told.parting is not None
    assert (told.parting.name, told.parting.reference, told.parting.fast) == ("position", -5, -4)
    assert "R5" in told.watched_reference.rules
    assert told.watched_reference.words["slip"] == list(told.record.draws[0].reference)


def test_the_first_of_several_values_is_named(tmp_path: Path) -> None:
    package = faulty(tmp_path, TURNED)
    told = explain(part(package, tmp_path), package)
    assert told.parting is not None
    assert (told.parting.function, told.parting.name) == ("_move", "slips")  # given on the line that calls it
    line = (package.folder / "fast.py").read_text("utf-8").split("\n")[told.parting.fast_line - 1]
    assert TURNED[1] in line


def test_a_fault_of_the_start_is_watched_in_reset(tmp_path: Path) -> None:
    package = faulty(tmp_path, START)
    told = explain(part(package, tmp_path), package)
    assert told.parting is not None
    assert (told.parting.function, told.parting.name) == ("reset", "position")
    assert told.rules[0].id == "R2"
    assert told.summary.endswith("at the start of an episode")


def test_json_says_all_of_it_and_is_json(wall: tuple[EnvPackage, Explanation]) -> None:
    _, told = wall
    body = json.loads(json.dumps(told.to_json(), allow_nan=False))
    assert body["summary"].startswith("state.position is -5 in the reference and -4 in the batched twin, in step t=")
    assert body["difference"]["batched"]["decimal"] == "-4"
    assert body["first_value"]["fast"] == -4
    assert [line["line"] for line in body["sources"]["fast.py"]] == [line.line for line in told.fast.lines]
    assert body["trace"]["reference.py"]["raised"] is None
    assert body["commands"]["explain"].startswith("simulacrum explain ")


def test_a_fault_that_needs_other_rows_is_watched_in_its_smallest_case(tmp_path: Path) -> None:
    package = faulty(tmp_path, SHIFTED)
    record = part(package, tmp_path)
    assert explain(record, package).parting is None
    lines = tuple(
        Line(row, row, {"position": 0}, actions=(action,), params={"slip": 0.0}) for row, action in enumerate((1, 0))
    )
    case = Case("eager", "cpu", "disabled", 40, 2, lines)
    told = explain(replace(record, shrunk=Shrunk(case, record.difference, 0, True, 1)), package)
    assert told.parting is not None
    assert (told.parting.name, told.parting.reference, told.parting.fast) == ("move", 1, -1)
    assert told.in_smallest
    assert told.to_json()["trace_of"] == "the smallest case"


def test_what_a_state_shows_at_once_is_watched_too(tmp_path: Path) -> None:
    package = faulty(tmp_path, SLOWEST)
    shown = difference("observation", "", (1,), 0.0, 0.5, "float32")
    lines = (Line(0, 0, {"position": 0}), Line(1, 1, {"position": 0}, t=30))
    shrunk = Shrunk(Case("eager", "cpu", "next_step", 60, 2, lines), shown, -1, True, 1)
    one, two = watch_case(package, shrunk)
    found = first_parting(one, two)
    assert found is not None
    assert (found.function, found.name, found.index) == ("observe", "return", (1,))
    assert (found.reference, found.fast) == (0.0, 0.5)
    assert found.spoken == "`[1]` of what `observe` gives back"


def test_a_twin_that_raises_is_told(tmp_path: Path) -> None:
    package = faulty(tmp_path, LATE_WALL)
    record = part(package, tmp_path)
    path = package.folder / "fast.py"
    path.write_text(path.read_text("utf-8").replace(LATE_WALL[1], "(1 // 0)"), "utf-8")
    package.reload()
    told = explain(record, load_package(package.folder))
    assert told.watched_fast.raised == "ZeroDivisionError: integer division or modulo by zero"
    assert told.watched_fast.lines


def test_a_record_that_no_longer_fits_the_schema_is_still_explained(wall: tuple[EnvPackage, Explanation]) -> None:
    package, told = wall
    old = replace(told.record, previous_state={"gone": 1})
    again = explain(old, package)
    assert again.rules == told.rules
    assert again.watched_fast.lines == ()


def test_a_record_of_another_environment_is_refused(wall: tuple[EnvPackage, Explanation]) -> None:
    package, told = wall
    with pytest.raises(UsageError, match="another environment"):
        explain(replace(told.record, env_id="simulacrum/other-v0"), package)


def test_names_that_mean_two_things_are_not_blamed(wall: tuple[EnvPackage, Explanation]) -> None:
    package, _ = wall
    at = Standing({"position": -4}, 0, 1, 0, 3, {"slip": 0.0})
    one, two = watch_reference(package, at), watch_fast(package, at)
    found = first_parting(one, two)
    assert found is not None
    assert (found.function, found.name) == ("step", "position")
    other = first_parting(one, two, {("step", "position"): False})
    assert other is not None
    assert (other.function, other.name) == ("step", "return.state.position")
    agreeing = replace(at, state={"position": 0})
    assert comparable(watch_reference(package, agreeing), watch_fast(package, agreeing))[("step", "position")]


def test_another_tracer_is_put_back(wall: tuple[EnvPackage, Explanation]) -> None:
    package, _ = wall

    def tracer(*_: object) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        watch_reference(package, Standing({"position": 0}, 0, 1, 0, 3, {"slip": 0.0}))
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
