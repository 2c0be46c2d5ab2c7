"""Plans, samples, resumed runs, controls, duplicates and written reasons."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from mutate.kit import GOAL, canary, planted_by_hand

from simulacrum.attest.gate import GateState
from simulacrum.contract.package import load_package
from simulacrum.errors import PackageError, UsageError
from simulacrum.mutate import plan as plans
from simulacrum.mutate import runner
from simulacrum.mutate.argued import Argument, argument_for, arguments
from simulacrum.mutate.equivalence import Trace
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.plan import Plan, chosen_mutants, spread
from simulacrum.mutate.pool import Lost
from simulacrum.mutate.results import Results
from simulacrum.mutate.runner import Run, Watcher
from simulacrum.mutate.verdict import Verdict


class Told(Watcher):
    def __init__(self):
        self.heard = []

    def ended(self, mutant, verdict, again):
        self.heard.append((mutant.id, verdict.status, again))


class Still:
    """In place of the pool: answers from a table."""

    answered: dict[str, dict[str, object]]
    asked: list[tuple[str, str]]
    at_least: dict[str, float]

    def __init__(self, settings, jobs, timeout, on_start, at_least):
        Still.asked, Still.at_least = [], at_least

    def __enter__(self):
        return self

    def __exit__(self, *given):
        pass

    def answers(self, kind, mutants):
        for mutant in mutants:
            Still.asked.append((kind, mutant.id))
            yield mutant, Still.answered[kind][mutant.id]


def hand_made(*names: str) -> list[Mutant]:
    return [
        planted_by_hand(canary(), GOAL, f"        end = place >= GOAL + {number}", name=name)
        for number, name in enumerate(names)
    ]


@pytest.fixture
def still(monkeypatch):
    monkeypatch.setattr(runner, "Pool", Still)
    monkeypatch.setattr(plans, "mutants", lambda package, **given: hand_made("a", "b", "c", "d"))
    monkeypatch.setattr(runner, "trace_of", lambda package: Trace(graph="original"))
    monkeypatch.setattr(runner, "capture_of", lambda package: Trace(graph="whole"))
    Still.answered = {
        "trace": {"a": Trace(graph="one"), "b": Trace(graph="one"), "c": Trace(graph="original"),
                  "d": Trace(unfit="it does not run")},
        "capture": {"c": Trace(graph="whole")},
        "judge": {"control": Verdict("control", "survived"), "a": Verdict("a", "killed", killer="differential")},
    }  # fmt: skip


def statuses(run: Run) -> dict[str, str]:
    return {name: verdict.status for name, verdict in run.verdicts.items()}


def test_graphs_sort_out_what_is_no_fault_of_its_own(still):
    run = Run(Plan(canary())).go()
    assert statuses(run) == {"a": "killed", "b": "duplicate", "c": "equivalent", "d": "stillborn"}
    assert run.verdicts["b"].of == "a"
    assert [one for one in Still.asked if one[0] == "judge"] == [("judge", "control"), ("judge", "a")]


def test_the_same_recording_with_another_capture_is_judged(still):
    Still.answered["capture"]["c"] = Trace(graph="another")
    Still.answered["judge"]["c"] = Verdict("c", "survived")
    assert statuses(Run(Plan(canary())).go())["c"] == "survived"


def test_a_rewrite_with_the_graph_of_the_original_is_judged_by_its_text(still, monkeypatch):
    monkeypatch.setattr(plans, "rewrites", lambda package: hand_made("a", "b", "c", "d"))
    Still.answered["read"] = {"c": Verdict("c", "killed", killer="spec_contract")}
    Still.answered["judge"].update({name: Verdict(name, "survived") for name in "abd"})
    run = Run(Plan(canary(), rewrites=True)).go()
    assert statuses(run) == {"a": "survived", "b": "survived", "c": "killed", "d": "survived"}
    asked = [one for one in Still.asked if one[0] in ("read", "judge")]
    assert asked == [("read", "c"), ("judge", "control"), ("judge", "a"), ("judge", "b"), ("judge", "d")]


def test_a_package_that_does_not_pass_as_it_is_judges_no_mutant(still):
    Still.answered["judge"]["control"] = Verdict("control", "killed", killer="replay", message="no end")
    with pytest.raises(UsageError, match="refused by replay as it is") as caught:
        Run(Plan(canary())).go()
    assert caught.value.found == "no end"


def test_a_package_whose_gate_is_open_is_not_judged_once_more(still, monkeypatch):
    monkeypatch.setattr(runner, "gate_state", lambda package, wanted: GateState("fresh", [], ""))
    Run(Plan(canary())).go()
    assert [name for kind, name in Still.asked if kind == "judge"] == ["a"]
    Still.answered["capture"]["c"] = Trace(graph="another")
    Still.answered["judge"]["c"] = Verdict("c", "survived")
    Run(Plan(canary(), forms=("eager", "inductor"))).go()
    assert [name for kind, name in Still.asked if kind == "judge"] == ["control", "a", "c"]


def test_a_short_time_is_not_meant_for_the_package_as_it_is(still):
    Run(Plan(canary(), timeout=1.0)).go()
    assert Still.at_least == {"control": 600.0}


def test_what_is_said_to_be_no_fault_is_judged_last(still, monkeypatch):
    Still.answered["trace"]["b"] = Trace(graph="two")
    Still.answered["judge"]["b"] = Verdict("b", "killed", killer="replay")
    found = next(one for one in hand_made("a") if one.id == "a")
    reason = Argument(found.before, found.after, "it is none")
    monkeypatch.setattr(runner, "arguments", lambda package: {"a": reason})
    Run(Plan(canary())).go()
    assert [name for kind, name in Still.asked if kind == "judge"] == ["control", "b", "a"]


def test_a_mutant_that_gave_no_answer_is_counted_apart(still):
    Still.answered["judge"]["a"] = Lost(True, 12.0)
    run = Run(Plan(canary())).go()
    assert statuses(run)["a"] == "timeout"
    assert "given up after 12 s" in run.verdicts["a"].why


def test_a_second_run_takes_over_what_the_first_has_found(still, tmp_path):
    plan = Plan(canary(), output=tmp_path)
    Run(plan).go()
    told = Told()
    again = Run(plan, told).go()
    assert Still.asked == []
    assert again.judged == 0
    assert ("a", "killed", True) in told.heard
    assert statuses(again) == {"a": "killed", "b": "duplicate", "c": "equivalent", "d": "stillborn"}


def test_results_of_another_battery_are_not_taken_over(still, tmp_path):
    Run(Plan(canary(), output=tmp_path)).go()
    assert Run(Plan(canary(), output=tmp_path, quick=True)).go().judged == 1


def test_no_answer_is_not_taken_over(tmp_path):
    mutant, results = hand_made("a")[0], Results({"digest": "x"}, tmp_path)
    results.put(mutant, Verdict("a", "timeout"))
    assert results.get(mutant) is None


def test_a_file_of_another_kind_is_not_written_over(tmp_path):
    (tmp_path / "results.json").write_text("[]")
    with pytest.raises(UsageError, match="cannot be read"):
        Results.open(tmp_path, {})


def test_an_unknown_id_is_refused(still):
    with pytest.raises(UsageError, match="no mutant is called zz"):
        chosen_mutants(Plan(canary(), only=("zz", "a")))


def test_nothing_to_mutate_is_an_error(still, monkeypatch):
    monkeypatch.setattr(plans, "mutants", lambda package, **given: [])
    with pytest.raises(UsageError, match="nothing to mutate"):
        chosen_mutants(Plan(canary(), kinds=("K22",)))


def test_a_sample_takes_turns_over_kinds_and_is_the_same_for_a_seed():
    many = [
        replace(one, id=f"{kind}{i}", kind=kind, operator=f"o{i % 3}")
        for kind, count in (("K01", 3), ("K20", 90)) for i, one in enumerate(hand_made(*map(str, range(count))))
    ]
    chosen = spread(many, 8, 1)
    assert [one.id for one in chosen] == [one.id for one in spread(many, 8, 1)]
    assert sum(one.kind == "K01" for one in chosen) == 3
    assert {one.operator for one in chosen if one.kind == "K20"} == {"o0", "o1", "o2"}
    assert chosen != spread(many, 8, 2)


def test_the_score_goes_beside_the_report_and_into_it(argued, monkeypatch):
    from simulacrum.mutate import keep

    asked = []
    monkeypatch.setattr(keep, "add_score", asked.append)
    path = keep.keep(Run(Plan(argued)).go())
    assert path == argued.folder / "mutation_score.json"
    assert json.loads(path.read_text())["killed"] == 1
    assert asked == [argued]


def test_a_package_that_changed_meanwhile_gets_no_score(argued):
    from simulacrum.mutate.keep import keep

    run = Run(Plan(argued)).go()
    with (argued.folder / "spec.md").open("a") as file:
        file.write("\n")
    assert keep(run) is None


# --- reasons in writing ------------------------------------------------------------------------------------------


@pytest.fixture
def argued(still, tmp_path, monkeypatch):
    """A package whose survivor `a` is argued about."""
    import shutil

    folder = tmp_path / "canary"
    shutil.copytree(canary().folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    one = hand_made("a")[0]
    body = {"version": 1, "mutants": {"a": {"before": one.before, "after": one.after, "reason": "plus nothing"}}}
    (folder / "mutants.json").write_text(json.dumps(body))
    return load_package(folder)


def test_a_reason_stands_beside_a_complete_small_model(argued):
    Still.answered["judge"]["a"] = Verdict("a", "survived", small_model=True)
    verdict = Run(Plan(argued)).go().verdicts["a"]
    assert verdict.status == "equivalent"
    assert "plus nothing" in verdict.why


def test_a_reason_alone_changes_nothing(argued):
    Still.answered["judge"]["a"] = Verdict("a", "survived", small_model=False)
    verdict = Run(Plan(argued)).go().verdicts["a"]
    assert verdict.status == "survived"
    assert "the small model is not complete" in verdict.why


def test_a_reason_that_comes_later_or_goes_is_weighed_anew(argued, tmp_path):
    Still.answered["judge"]["a"] = Verdict("a", "survived", small_model=True)
    plan = Plan(argued, output=tmp_path / "kept")
    reasons = argued.folder / "mutants.json"
    given = reasons.read_text()
    reasons.unlink()
    assert Run(plan).go().verdicts["a"].status == "survived"
    reasons.write_text(given)
    assert Run(plan).go().verdicts["a"].status == "equivalent"
    reasons.unlink()
    assert Run(plan).go().verdicts["a"].status == "survived"


def test_a_reason_does_not_excuse_a_killed_mutant_or_another_change(argued):
    assert Run(Plan(argued)).go().verdicts["a"].status == "killed"
    assert argument_for(hand_made("a")[0], {"a": Argument("x", "y", "because")}) is None


def test_a_reason_stands_for_the_doses_of_a_change():
    reasons = {"a": Argument("x", "y", "because")}
    dosed = replace(hand_made("b")[0], dose="row>=1", undosed=("a", "x", "y"))
    assert argument_for(dosed, reasons) is reasons["a"]
    assert argument_for(replace(dosed, undosed=("a", "x", "z")), reasons) is None
    assert argument_for(replace(dosed, undosed=None), reasons) is None


def test_a_reason_has_to_be_given(argued):
    path = argued.folder / "mutants.json"
    path.write_text(path.read_text().replace("plus nothing", " "))
    with pytest.raises(PackageError, match=r"mutants\.json"):
        arguments(argued)
    path.write_text("{}")
    with pytest.raises(PackageError, match="form that is read"):
        arguments(argued)
