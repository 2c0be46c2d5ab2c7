from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kit import NAMES, package
from mutants.mutant import Edit, copy_env

from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.attest.gate import gate_state
from simulacrum.attest.report import REPORT_NAME, read_report
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import UsageError
from simulacrum.harness.battery import BatteryResult, device_class, run_battery, validated_params
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, seeds_for, skipped

Copied = Callable[..., EnvPackage]


@pytest.fixture(autouse=True)
def _own_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def copied(tmp_path: Path) -> Copied:
    def make(name: str, *edits: tuple[str, str, str]) -> EnvPackage:
        return load_package(copy_env(name, tmp_path / "copy", [Edit(*edit) for edit in edits]))

    return make


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[EnvPackage, BatteryResult, list[str]]:
    """One full run of a small package, eagerly."""
    folder = tmp_path_factory.mktemp("full")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMULACRUM_STATE_DIR", str(folder / "state"))
        judged, ended = load_package(copy_env("counter", folder)), list[str]()
        result = run_battery(
            judged, forms=("eager",), failures=folder / "failures", on_check=lambda name, *_: ended.append(name)
        )
        return judged, result, ended


@pytest.mark.long
def test_a_full_run_goes_through_the_catalogue_in_order(full: tuple[EnvPackage, BatteryResult, list[str]]) -> None:
    _, result, ended = full
    assert ended == list(CHECK_NAMES) == list(result.outcomes)
    assert result.passed, {name: outcome.message for name, outcome in result.outcomes.items()}
    assert result.note is None
    assert all(seconds >= 0 for seconds in result.seconds.values())


@pytest.mark.long
def test_a_full_run_writes_what_the_gate_reads(full: tuple[EnvPackage, BatteryResult, list[str]]) -> None:
    judged, result, _ = full
    assert result.report_path == judged.folder / REPORT_NAME
    report = read_report(judged.folder / REPORT_NAME)
    assert report.full
    assert report.passed
    assert report.checks["differential"].evidence["compared_transitions"] > 1000
    assert report.throughput["batched"]["eager"]
    assert report.coverage["ended"] > 0
    assert report.tolerances["never_needed"] == []
    assert gate_state(judged).status == "fresh"


def test_a_failing_form_closes_itself_and_not_the_eager_one() -> None:
    result = BatteryResult(package("counter"), {name: passed() for name in CHECK_NAMES})
    assert result.passed
    assert result.stands
    result.outcomes["benchmark_factory_parity"] = failed("no")
    assert not result.passed
    assert result.stands
    result.outcomes["replay"] = failed("no")
    assert not result.stands


@pytest.mark.parametrize(
    ("name", "outcome", "good"),
    [
        ("differential", inconclusive("-"), False), ("differential", skipped("-"), False),
        ("invariant_sweep", failed("-"), False), ("scripted_policies", skipped("-"), True),
        ("scripted_policies", failed("-"), False), ("scripted_policies", inconclusive("-"), False),
        ("throughput", inconclusive("-"), True), ("throughput", failed("-"), False),
        ("benchmark_factory_parity", skipped("-"), True), ("benchmark_factory_parity", failed("-"), False),
    ],
)  # fmt: skip
def test_what_counts_as_a_pass(name: str, outcome: Outcome, good: bool) -> None:
    assert BatteryResult(package("counter"), {name: outcome}).passed is good


def test_a_selection_writes_no_report_that_the_gate_takes(copied: Copied, tmp_path: Path) -> None:
    judged = copied("counter")
    result = run_battery(judged, checks=["spec_contract"], forms=("eager",), failures=tmp_path)
    assert result.passed
    assert list(result.outcomes) == ["spec_contract"]
    assert result.report is not None
    assert not result.report.full
    assert not (judged.folder / REPORT_NAME).exists()
    assert gate_state(judged).status in ("missing", "partial")


def test_a_quick_run_is_never_a_full_one(copied: Copied, tmp_path: Path) -> None:
    judged = copied("counter", ("fast.py", "from . import", "from . import no_such_name\nfrom . import"))
    result = run_battery(judged, quick=True, forms=("eager",), failures=tmp_path)
    assert not result.passed
    assert not (judged.folder / REPORT_NAME).exists()


def test_an_unknown_check_is_named_with_the_nearest(copied: Copied) -> None:
    with pytest.raises(UsageError, match="unknown check 'diferential'") as caught:
        run_battery(copied("counter"), checks=["diferential"])
    assert "'differential'" in str(caught.value)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("schema.json", '"x-max-episode-steps": 60,', '"x-max-episode-steps": 0,'), "x-max-episode-steps"),
        (("fast.py", "import torch\n", "import torch\nimport no_such_library\n"), "no_such_library"),
        (("fast.py", "def observe(self", "def observe(self,,"), "fast.py is not Python"),
        (("spec.md", "## Invariants", "## Truths"), "missing heading"),
        (("__init__.py", "GOAL = 5\n", "GOAL = 1 / 0\n"), "division by zero"),
    ],
)
def test_a_broken_package_ends_with_a_message_and_no_traceback(
    copied: Copied, tmp_path: Path, edit: tuple[str, str, str], said: str
) -> None:
    judged = copied("toywalk", edit)
    result = run_battery(judged, forms=("eager",), failures=tmp_path)
    assert list(result.outcomes) == ["spec_contract"]  # nothing else has anything to stand on
    assert said in result.outcomes["spec_contract"].message
    assert not result.passed
    assert result.report is None or not result.report.passed


def test_a_file_that_changes_meanwhile_makes_no_full_report(copied: Copied, tmp_path: Path) -> None:
    judged = copied("toywalk", ("schema.json", '"x-low": [-1, 0]', '"x-low": [-2, 0]'),
                    ("schema.json", '"x-high": [1, 1]', '"x-high": [1, 2]'))  # fmt: skip
    spec = judged.folder / "spec.md"
    spec.write_text(spec.read_text("utf-8").replace("| GOAL | 5 |", "| GOAL | 6 |"), "utf-8")

    def meddle(name: str, *_: object) -> None:
        spec.write_text(spec.read_text("utf-8") + "\n", "utf-8")

    result = run_battery(judged, forms=("eager",), failures=tmp_path, on_check=meddle)
    assert result.note is not None
    assert "changed while the battery ran" in result.note
    assert result.report is not None
    assert not result.report.full


@pytest.mark.parametrize(
    ("keep_going", "run"), [(False, ["batch_independence"]), (True, ["batch_independence", "replay"])]
)
def test_the_first_failure_can_end_the_run(copied: Copied, tmp_path: Path, keep_going: bool, run: list[str]) -> None:
    judged = copied("toywalk", ("fast.py", "elapsed = ctx.t.clamp(", "elapsed = ctx.t.amax().expand_as(ctx.t).clamp("))
    result = run_battery(
        judged, checks=["replay", "batch_independence"], quick=True, forms=("eager",), failures=tmp_path,
        keep_going=keep_going,
    )
    assert list(result.outcomes) == run
    assert result.outcomes["batch_independence"].status == "failed"
    assert not result.passed


def test_progress_names_the_check_and_what_it_does(copied: Copied, tmp_path: Path) -> None:
    seen: list[tuple[str, str, int, int]] = []
    run_battery(
        copied("counter"), checks=["spec_contract", "invariant_sweep"], quick=True, forms=("eager",),
        failures=tmp_path, progress=lambda *said: seen.append(said),
    )
    assert {name for name, *_ in seen} == {"spec_contract", "invariant_sweep"}
    assert all(what and 0 <= done <= total for _, what, done, total in seen)


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_parameters_per_row_hold_both_ends(name: str) -> None:
    bench = Bench(package(name))
    for key, values in bench.row_params(50, 1).items():
        field = bench.schema.params[key].field
        assert values.min() == (False if field.is_bool else field.low)
        assert values.max() == (True if field.is_bool else field.high)
        assert str(values.dtype) == field.dtype


def test_truths_vary_too_and_not_together() -> None:
    rows = Bench(package("taxi")).row_params(50, 1)
    pairs = set(zip(rows["rainy"].tolist(), rows["fickle_passenger"].tolist(), strict=True))
    assert pairs == {(False, False), (False, True), (True, False), (True, True)}


def test_what_is_validated_of_a_parameter_is_what_the_runs_drew() -> None:
    """A truth that only its default was tried of could not be built with the other one, or could without a run."""
    validated = validated_params(Bench(package("taxi")))
    assert validated["rainy"] == (0.0, 1.0)
    assert validated["fickle_probability"] == (0.0, 1.0)
    walls = Bench(package("frozenlake"))
    fixed = set(walls.schema.params) - set(walls.row_params(3, 1))
    assert all(validated_params(walls)[name] == (walls.schema.params[name].default,) * 2 for name in fixed)


def test_seeds_are_wide_and_have_neighbours_and_twins() -> None:
    seeds = seeds_for(40, 1)
    assert len(set(seeds)) == 40
    assert {0, 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1} <= set(seeds)
    assert seeds == seeds_for(40, 1)
    assert seeds[8:] != seeds_for(40, 2)[8:]


def test_the_cpu_is_a_device_class_of_its_own() -> None:
    assert device_class("cpu") == "cpu"
