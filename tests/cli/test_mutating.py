"""`simulacrum mutate`: what is printed, how it ends, and what the list shows afterwards."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from simulacrum.attest.mutation import Score, digests, now, write_score
from simulacrum.cli import mutation_outcome
from simulacrum.cli.mutation_view import line
from simulacrum.contract.package import load_package
from simulacrum.harness.canaries import HOME
from simulacrum.mutate import mutants
from simulacrum.mutate.plan import Plan
from simulacrum.mutate.runner import Run
from simulacrum.mutate.verdict import SAME_GRAPH, Verdict


@pytest.fixture(scope="module")
def canary(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mutating") / "canary"
    shutil.copytree(HOME, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def found(canary):
    """A fault that the small model shows at once."""
    every = mutants(load_package(canary))
    return next(one for one in every if one.kind == "K20" and "GOAL" in one.before and one.before != one.after)


@pytest.mark.long
def test_one_mutant_from_end_to_end(cli, canary, found):
    done = cli("mutate", canary, "--only", found.id, "--quick", "--jobs", 1, "--json")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0, done.err
    assert [one["event"] for one in events if one["event"] != "stage"] == ["started", "mutant", "finished"]
    (mutant,) = [one for one in events if one["event"] == "mutant"]
    assert mutant["verdict"]["status"] == "killed"
    assert mutant["diff"].startswith("--- a/fast.py")
    finished = events[-1]
    assert (finished["score"], finished["survived"], finished["kept"]) == ("1/1", [], None)


@pytest.mark.parametrize(("words", "said"), [
    (("--kinds", "K99"), "no kind of fault is called K99"),
    (("--only", "nobody"), "no mutant is called nobody"),
    (("--sample", "0"), "--sample"),
])  # fmt: skip
def test_wrong_words_are_refused(cli, canary, words, said):
    done = cli("mutate", canary, *words)
    assert done.code == 2
    assert said in done.err


def finished(canary, status, **more):
    """A run that has come to one verdict on one mutant."""
    package = load_package(canary)
    mutant = mutants(package)[0]
    run = Run(Plan(package, **more))
    run.chosen, run.total, run.seconds, run.judged = [mutant], 1, 2.0, 1
    run.verdicts = {mutant.id: Verdict(mutant.id, status, seconds=1.0, checks={"replay": "inconclusive"})}
    return run, mutant


def test_a_survivor_is_shown_with_its_diff_and_the_command_to_run_it_again(canary, capsys):
    run, mutant = finished(canary, "survived")
    mutation_outcome.show(run, None, json=False, verbose=False)
    out = capsys.readouterr().out
    assert "0/1" in out
    assert mutant.diff.splitlines()[-1] in out
    assert f"--only {mutant.id} -v" in out
    assert "inconclusive: replay" in out


def test_a_refused_rewrite_fails_and_is_shown(canary, capsys):
    from simulacrum.cli.mutating import _failed

    run, mutant = finished(canary, "killed", rewrites=True)
    assert _failed(run)
    mutation_outcome.show(run, None, json=False, verbose=False)
    out = capsys.readouterr().out
    assert "0 of 1 pass" in out
    assert f"--only {mutant.id} --rewrites -v" in out
    kept, _ = finished(canary, "survived", rewrites=True)
    assert _failed(kept)  # it was left open by a check
    kept.verdicts = {name: Verdict(name, "survived", why=SAME_GRAPH) for name in kept.verdicts}
    assert not _failed(kept)
    mutation_outcome.show(kept, None, json=False, verbose=False)
    assert "1 of 1 pass, 1 of them by having the original's graph" in capsys.readouterr().out


def test_a_rewrite_is_said_to_have_passed_and_a_mutant_to_have_survived(canary):
    run, mutant = finished(canary, "survived")
    (verdict,) = run.verdicts.values()
    assert line(mutant, verdict).plain.startswith("survived ")
    rewrite = replace(mutant, kind="same")
    assert line(rewrite, verdict).plain.startswith("passed ")
    assert line(rewrite, replace(verdict, status="killed")).plain.startswith("refused ")


def test_a_slow_run_is_not_said_to_judge_none_a_minute(canary, capsys):
    run, _ = finished(canary, "survived")
    run.seconds = 200.0
    mutation_outcome.show(run, None, json=False, verbose=False)
    assert "1 judged in 200 s, 0.3 a minute" in capsys.readouterr().out


def test_the_list_shows_the_score_and_when_it_is_stale(cli, canary):
    package = load_package(canary)
    own, battery = digests(package)
    write_score(package, Score(package.env_id, 9, 9, 9, 9, 1.0, now(), own, battery))
    assert "9/9" in cli("list", canary).out
    (row,) = [row for row in json.loads(cli("list", canary, "--json").out)["environments"] if row["name"] == "canary"]
    assert (row["mutants"]["score"], row["mutants"]["stale"]) == ("9/9", False)
    with (canary / "spec.md").open("a") as file:
        file.write("\n")
    assert "stale" in cli("list", canary).out
