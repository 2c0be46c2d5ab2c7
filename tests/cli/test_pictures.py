"""Results of commands as pictures: the numbers that are handed to be drawn, and what is refused."""

from __future__ import annotations

import pytest
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.cli import pictures
from simulacrum.cli.measure import Measured
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import UsageError
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.coverage import Coverage
from simulacrum.harness.drivers import standard
from simulacrum.harness.lockstep import Lockstep
from simulacrum.mutate.matrix import check_by_kind
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.verdict import Verdict


def pair(name, kind, status, killer="", *, also=()):
    mutant = Mutant(name, kind, "another", "fast.py", 3, "a", "b", "b", original="a")
    checks = dict.fromkeys((*([killer] if killer else []), *also), "failed") | {"determinism": "passed"}
    return mutant, Verdict(name, status, killer=killer, checks=checks)


PAIRS = [
    pair("a", "K01", "killed", "replay"),
    pair("b", "K06", "killed", "differential.rollouts", also=("replay",)),
    pair("c", "K06", "survived"),
    pair("d", "K07", "duplicate"),
]


def test_with_a_matrix_every_check_counts_and_else_the_first():
    assert check_by_kind(PAIRS, matrix=False) == {"replay": {"K01": 1}, "differential.rollouts": {"K06": 1}}
    both = check_by_kind(PAIRS, matrix=True)
    assert both == {"replay": {"K01": 1, "K06": 1}, "differential.rollouts": {"K06": 1}}


@pytest.mark.parametrize("matrix", [False, True])
def test_mutants_are_told_in_the_picture(tmp_path, matrix):
    pytest.importorskip("matplotlib")
    path = tmp_path / "made.svg"
    pictures.mutants(path, PAIRS, matrix=matrix, name="toywalk")
    text = path.read_text()
    assert "toywalk: 2 of 3 planted faults found" in text
    assert "counter or time limit off by one  K06" in text
    assert "K07" not in text  # a duplicate is no fault of its own
    assert ("and nothing else does" in text) == matrix


def test_a_run_of_mutants_that_found_nothing_makes_no_picture(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(UsageError, match="nothing to draw"):
        pictures.mutants(tmp_path / "made.png", PAIRS[2:], matrix=False, name="toywalk")
    assert not (tmp_path / "made.png").exists()


def test_speeds_have_a_panel_for_each_environment_and_a_line_for_each_form(tmp_path):
    pytest.importorskip("matplotlib")
    lines = [
        Measured("reference", 1, 5e3, 4e3, 6e3, 1.0, None),
        *(Measured("native", n, 1e4 * n, 9e3 * n, 2e4 * n, 2.0 * n, 1.0) for n in (1, 64)),
    ]
    path = tmp_path / "made.svg"
    pictures.speeds(path, {"simulacrum/one-v0": lines, "simulacrum/other-v0": lines})
    text = path.read_text()
    assert text.count(">native</text>") == 1  # one legend for both
    assert "simulacrum/one-v0" in text
    assert "simulacrum/other-v0" in text


SILENT = (
    "        return position\n",
    "        if position == 77:\n            position = 3\n            return GOAL\n        return position\n",
)


def watched(judged: EnvPackage, rows: int, most: int) -> Coverage:
    """What the rows of a few steps exercise of both twins."""
    bench, coverage = Bench(judged), Coverage(judged)
    lock = Lockstep(bench, bench.env(rows, params=bench.row_params(rows, 3)))
    with coverage.watching():
        assert lock.run(standard(judged.schema, rows, 1), seeds_for(rows, 2), episodes=2, most=most) is None
    return coverage


@pytest.mark.parametrize(("rows", "most"), [(16, 60), (1, 1)])
@pytest.mark.parametrize("name", ["toywalk", "blackjack", "forager"])
def test_what_the_gaps_leave_of_each_rule_is_what_was_seen(name, rows, most):
    coverage = watched(package(name), rows, most)
    reference = coverage.reference
    told = {rule.name: rule for rule in pictures.rules_of(coverage.package, coverage.figures())}
    assert list(told) == sorted(coverage.rules, key=lambda rule: int(rule[1:]))
    for name, places in coverage.rules.items():
        lines = {line for place in places for line in place} - set(reference.declared)
        own = [point for point in reference.asked if point.is_statement and point.line in lines]
        assert (told[name].ran, told[name].statements) == (sum(map(reference.saw, own)), len(own)), name
    never = {name for name, rule in told.items() if rule.batched is False}
    assert never == set(coverage.twins["fast"].unmet) & set(told)


def test_all_of_a_silent_block_counts_as_silent(tmp_path):
    changed = load_package(copy_env("toywalk", tmp_path / "changed", [Edit("reference.py", *SILENT)]))
    coverage = watched(changed, 16, 60)
    named = [gap.what for gap in coverage.missing if gap.where in ("reference.py:46", "reference.py:47")]
    assert named == ["`position = 3` never ran"]  # and `return GOAL` after it is not named again
    (rule,) = [rule for rule in pictures.rules_of(changed, coverage.figures()) if rule.name == "R5"]
    whole = next(rule for rule in pictures.rules_of(changed, {"missing": []}) if rule.name == "R5")
    assert whole.ran == whole.statements == rule.statements
    seen = [p for p in coverage.reference.asked if p.is_statement and coverage.reference.saw(p)]
    lines = {line for place in coverage.rules["R5"] for line in place}
    assert rule.ran == sum(point.line in lines for point in seen)


def test_rules_that_nothing_was_seen_of_are_drawn_as_such(tmp_path):
    pytest.importorskip("matplotlib")
    judged = package("toywalk")
    path = tmp_path / "made.svg"
    pictures.rules(path, judged, Coverage(judged).figures())
    assert "simulacrum/toywalk-v0: 0 of 8 rules exercised in full" in path.read_text()
    with pytest.raises(UsageError, match="nothing to draw"):
        pictures.rules(path, judged, None)


def test_validate_draws_what_differential_saw(cli, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "rules.svg"
    done = cli("validate", "toywalk", "--quick", "-k", "differential", "--compile", "eager", "--plot", path)
    assert done.code == 0, done.out + done.err
    assert "8 of 8 rules exercised in full" in path.read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("mutate", "toywalk"), ".png or .svg or .pdf"),
        (("bench", "toywalk"), ".png or .svg or .pdf"),
        (("validate", "toywalk"), ".png or .svg or .pdf"),
    ],
)
def test_a_picture_that_cannot_be_is_refused_before_anything_runs(cli, words, told):
    done = cli(*words, "--plot", "made.txt")
    assert (done.code, done.out) == (2, "")
    assert told in done.err


@pytest.mark.parametrize("more", [("-k", "replay"), ("--level", "2")])
def test_a_run_without_rollouts_has_no_coverage_to_draw(cli, more):
    done = cli("validate", "toywalk", *more, "--plot", "made.png")
    assert (done.code, done.out) == (2, "")
    assert "seen by differential, at level 3" in done.err


def test_bench_draws_what_it_measured(cli, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "speed.svg"
    words = ("--num-envs", "1,8", "--compile", "eager", "--seconds", "0.05", "--plot", path)
    done = cli("bench", "toywalk", *words)
    assert done.code == 0, done.out + done.err
    text = path.read_text()
    assert ">reference</text>" in text
    assert ">eager</text>" in text
