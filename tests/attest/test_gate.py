"""The gate: open for a passing, full report on exactly this content and configuration; else it says why."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from simulacrum.attest.gate import GateWarning, gate_state, require_fresh_report, wanted_configuration
from simulacrum.attest.report import (
    REPORT_NAME,
    CheckResult,
    Configuration,
    Report,
    partial_place,
    write_report,
)
from simulacrum.contract.package import EnvPackage
from simulacrum.errors import DeviceError, GateError, UnknownEnvError, UsageError

MakeReport = Callable[..., Report]
Reseal = Callable[[Path, Callable[[dict[str, Any]], None]], None]
EAGER = wanted_configuration()
INDUCTOR = wanted_configuration(compile="inductor")
REQUIRED = ("spec_contract", "differential", "batch_independence", "invariant_sweep", "auto_reset")
REQUIRED += ("determinism", "replay", "scripted_policies", "throughput")


def test_missing_then_fresh(package: EnvPackage, make_report: MakeReport) -> None:
    state = gate_state(package)
    assert (state.status, state.fresh) == ("missing", False)
    assert state.next_command == f"python -m simulacrum.validate {package.folder}"
    path = write_report(package, make_report())
    state = gate_state(package, EAGER)
    assert (state.status, state.why, state.report_path) == ("fresh", [], path)
    assert state.report is not None
    assert require_fresh_report(package).report == state.report
    assert require_fresh_report(str(package.folder)).fresh
    assert require_fresh_report(package.folder, configuration=EAGER).fresh


def subjects_of(package: EnvPackage) -> list[str]:
    return sorted(path.name for path in package.folder.iterdir() if path.is_file())


@pytest.mark.parametrize(
    "name", ["__init__.py", "fast.py", "probes.py", "reference.py", "schema.json", "spec.md"]
)
def test_one_byte_of_any_file_makes_it_stale(package: EnvPackage, make_report: MakeReport, name: str) -> None:
    assert name in subjects_of(package)
    write_report(package, make_report())
    file = package.folder / name
    content, times = file.read_bytes(), file.stat()
    file.write_bytes(content.replace(b"e", b"f", 1))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    state = gate_state(package)
    assert state.status == "stale"
    assert any(f"envs/toywalk/{name} changed" in reason for reason in state.why)
    with pytest.raises(GateError, match=rf"(?s)toywalk-v0.*stale.*{name}.*python -m simulacrum.validate"):
        require_fresh_report(package)
    file.write_bytes(content)
    assert gate_state(package).fresh


def test_times_of_files_do_not_matter(package: EnvPackage, make_report: MakeReport) -> None:
    path = write_report(package, make_report())
    os.utime(path, (1, 1))
    for file in package.folder.rglob("*.py"):
        os.utime(file)
    assert gate_state(package).fresh


def test_a_helper_outside_the_folder_counts(
    package: EnvPackage, make_report: MakeReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "library" / "walkrules"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text("")
    (library / "limits.py").write_text("FAR = 5\n")
    monkeypatch.syspath_prepend(str(library.parent))
    code = package.folder / "fast.py"
    code.write_text(code.read_text() + "\n\nfrom walkrules.limits import FAR\n")
    report = make_report()
    assert {"walkrules/__init__.py", "walkrules/limits.py"} <= set(report.subjects)
    write_report(package, report)
    assert gate_state(package).fresh
    (library / "limits.py").write_text("FAR = 6\n")
    assert gate_state(package).why == ["walkrules/limits.py changed"]
    (library / "limits.py").unlink()
    assert gate_state(package).why == ["walkrules/limits.py was removed"]


def test_files_that_come_and_go_make_it_stale(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    (package.folder / "helper.py").write_text("X = 1\n")
    assert gate_state(package).why == ["envs/toywalk/helper.py was added"]
    (package.folder / "helper.py").unlink()
    (package.folder / "render.py").unlink()
    assert gate_state(package).why == ["envs/toywalk/render.py was removed"]


def test_line_ends_alone_are_named_as_such(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    spec = package.folder / "spec.md"
    spec.write_bytes(spec.read_bytes().replace(b"\n", b"\r\n"))
    assert "line ends only" in gate_state(package).why[0]


def test_hidden_files_and_bytecode_are_no_subjects(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    (package.folder / ".validation_report.json.1-0123abcd.tmp").write_text("")
    (package.folder / "__pycache__").mkdir(exist_ok=True)
    (package.folder / "__pycache__" / "fast.pyc").write_text("")
    assert gate_state(package).fresh


def test_a_module_older_than_its_file_is_noticed(package: EnvPackage, make_report: MakeReport) -> None:
    """The edited file was validated, but this process still runs what it imported before the edit."""
    code = package.folder / "fast.py"
    old = code.read_text()
    new = old + "# newer\n"
    code.write_text(new)
    write_report(package, make_report())
    assert gate_state(package).fresh
    package.reload()
    code.write_text(old)
    package.module("fast")
    code.write_text(new)
    assert gate_state(package).why == ["fast.py changed after this process imported it (start a new process)"]
    package.reload()
    assert gate_state(package).fresh


@pytest.mark.parametrize(
    ("key", "value", "fragment"),
    [
        ("torch", "2.0.1+cu118", r"torch 2\.0\.1\+cu118 -> "),
        ("system", "Windows", "system Windows -> "),
        ("machine", "riscv64", "machine riscv64 -> "),
        ("python", "3.9.1", r"python 3\.9\.1 -> "),
        ("cpu_capability", "Z-VECTOR", "cpu capability Z-VECTOR -> "),
        ("outside gymnasium", "0.0.1", r"outside gymnasium 0\.0\.1 -> "),
        ("outside no-such-simulator", "0.0.1", r"outside no-such-simulator 0\.0\.1 -> absent"),
    ],
)
def test_another_environment_makes_it_stale(
    package: EnvPackage, make_report: MakeReport, reseal: Reseal, key: str, value: str, fragment: str
) -> None:
    path = write_report(package, make_report())
    reseal(path, lambda body: body["digest"]["environment"].update({key: value}))
    state = gate_state(package)
    assert state.status == "stale"
    with pytest.raises(GateError, match=rf"(?s)stale.*{fragment}"):
        require_fresh_report(package)


def test_other_cpu_kernels_make_a_configuration_stale(package: EnvPackage, make_report: MakeReport) -> None:
    here = torch.backends.cpu.get_cpu_capability()
    (eager,) = make_report().configurations
    write_report(package, make_report(configurations=(replace(eager, cpu_capability=here),)))
    assert gate_state(package, EAGER).fresh
    write_report(package, make_report(configurations=(replace(eager, cpu_capability="Z-VECTOR"),)))
    state = gate_state(package, EAGER)
    assert state.status == "stale"
    assert state.why == [f"CPU kernels of torch: validated with Z-VECTOR, this process uses {here}"]


@pytest.mark.parametrize("name", REQUIRED)
def test_a_failed_check_of_the_environment_closes_every_configuration(
    package: EnvPackage, make_report: MakeReport, name: str
) -> None:
    write_report(package, make_report(failed=(name,)))
    state = gate_state(package, EAGER)
    assert state.status == "failing"
    assert state.why == [f"{name}: failed: {name} broke at step 3"]


@pytest.mark.parametrize("status", ["inconclusive", "skipped", "not_run"])
def test_a_required_check_must_pass_and_nothing_less(
    package: EnvPackage, make_report: MakeReport, status: str
) -> None:
    report = make_report()
    write_report(package, replace(report, checks={**report.checks, "replay": CheckResult(status)}))
    state = gate_state(package)
    assert (state.status, state.why) == ("failing", [f"replay: {status.replace('_', ' ')}"])


def test_a_check_that_is_not_in_the_report_counts_as_not_run(
    package: EnvPackage, make_report: MakeReport
) -> None:
    checks = dict(make_report().checks)
    del checks["differential"]
    write_report(package, make_report(checks=checks))
    assert gate_state(package).why == ["differential: not run"]


def test_policies_may_be_skipped_and_throughput_inconclusive(
    package: EnvPackage, make_report: MakeReport
) -> None:
    report = make_report()
    checks = {
        **report.checks,
        "scripted_policies": CheckResult("skipped", message="no probes.py"),
        "throughput": CheckResult("inconclusive"),
    }
    write_report(package, replace(report, checks=checks))
    assert gate_state(package).fresh


def test_a_configuration_that_was_not_validated(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    state = gate_state(package, INDUCTOR)
    assert state.status == "other_configuration"
    assert state.why == ["asked for inductor on cpu, validated: eager on cpu"]
    assert state.next_command.endswith("--compile inductor")
    on_gpu = gate_state(package, Configuration(device_class="cuda:NVIDIA H200", compile="inductor"))
    assert on_gpu.next_command.endswith("--compile inductor --device cuda")


def test_a_failed_parity_closes_its_configuration_alone(package: EnvPackage, make_report: MakeReport) -> None:
    report = make_report(failed=("benchmark_factory_parity",))
    closed = replace(report.configurations[0], compile="inductor", outcome="failed")
    write_report(package, replace(report, configurations=(*report.configurations, closed)))
    assert gate_state(package, EAGER).fresh
    assert gate_state(package).fresh
    state = gate_state(package, INDUCTOR)
    assert state.status == "failing"
    assert state.why == ["inductor on cpu: failed (benchmark_factory_parity broke at step 3)"]


def test_a_report_without_any_passed_configuration_opens_nothing(
    package: EnvPackage, make_report: MakeReport
) -> None:
    write_report(package, make_report(configurations=()))
    assert gate_state(package).status == "failing"
    assert gate_state(package, EAGER).status == "other_configuration"


def params_cases() -> list[tuple[Any, bool]]:
    return [
        (0.25, True),
        (0.5, True),
        (np.float32(0.1), True),
        ([0.1, 0.5], True),
        (torch.tensor([0.1, 0.5]), True),
        (np.array([0.2, 0.3]), True),
        (0.5001, False),
        ([0.2, 0.75], False),
        (torch.tensor([0.0, 0.2]), False),
        ([0.2, float("nan")], False),
        (float("nan"), False),
        (torch.tensor([0.2, float("nan")]), False),
    ]


@pytest.mark.parametrize(("value", "open_"), params_cases())
def test_parameters_must_lie_in_the_validated_range(
    package: EnvPackage, make_report: MakeReport, value: Any, open_: bool
) -> None:
    (eager,) = make_report().configurations
    write_report(package, make_report(configurations=(replace(eager, params={"slip": (0.1, 0.5)}),)))
    state = gate_state(package, wanted_configuration(params={"slip": value}))
    assert state.fresh == open_
    if not open_:
        assert state.status == "other_configuration"
        assert "parameter slip: validated 0.1 to 0.5, asked for" in state.why[0]


@pytest.mark.parametrize(("low", "high", "value"), [(0.7, 0.8, 0.7), (0.2, 0.3, 0.3)])
def test_a_limit_stays_inside_when_float32_rounds_it_out(low: float, high: float, value: float) -> None:
    validated = Configuration(params={"slip": (low, high)})
    rounded = np.float32(value)
    assert not low <= float(rounded) <= high
    assert validated.uncovered(wanted_configuration(params={"slip": rounded})) == []
    beyond = np.nextafter(rounded, np.float32(0.0 if value == low else 1.0))
    assert len(validated.uncovered(wanted_configuration(params={"slip": beyond}))) == 1


def test_a_parameter_that_nobody_validated(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    state = gate_state(package, wanted_configuration(params={"wind": 1}))
    assert state.why == ["parameter wind was not part of the validation"]


def test_what_asks_for_no_configuration() -> None:
    with pytest.raises(UsageError, match="slip is not made of numbers"):
        wanted_configuration(params={"slip": "high"})
    with pytest.raises(UsageError, match="slip is not made of numbers"):
        wanted_configuration(params={"slip": []})
    with pytest.raises(UsageError, match="names the form"):
        wanted_configuration(compile=True)
    if not torch.cuda.is_available():
        with pytest.raises(DeviceError, match="not there"):
            wanted_configuration(device="cuda")


def test_partial_runs_open_nothing(package: EnvPackage, make_report: MakeReport, reseal: Reseal) -> None:
    write_report(package, make_report(full=False))
    state = gate_state(package)
    assert (state.status, state.report_path) == ("partial", partial_place(package))
    path = write_report(package, make_report())
    assert gate_state(package).fresh
    write_report(package, make_report(full=False, failed=("replay",)))
    assert gate_state(package).fresh
    reseal(path, lambda body: body.update(full=False))
    assert gate_state(package).status == "partial"


def test_damaged_reports_open_nothing(package: EnvPackage, make_report: MakeReport) -> None:
    path = write_report(package, make_report())
    path.write_bytes(path.read_bytes()[:500])
    state = gate_state(package)
    assert (state.status, state.report_path) == ("damaged", path)
    with pytest.raises(GateError, match=r"(?s)damaged.*not JSON.*validate"):
        require_fresh_report(package)


def test_the_report_with_more_runs_behind_it_speaks(
    package: EnvPackage, make_report: MakeReport, state_folder: Path
) -> None:
    """A failing run that could not write to the folder overrules the passing report that lies there."""
    write_report(package, make_report())
    failing = make_report(failed=("replay",), revision=2)
    kept = state_folder / "reports" / "toywalk" / failing.whole
    kept.mkdir(parents=True)
    original = package.folder / REPORT_NAME
    moved = original.read_bytes()
    original.unlink()
    written = write_report(package, failing)
    written.rename(kept / REPORT_NAME)
    original.write_bytes(moved)
    os.utime(original)
    assert gate_state(package).status == "failing"
    path = write_report(package, make_report())
    assert gate_state(package).fresh
    assert path == original


def test_the_fresh_one_of_several_reports_speaks(
    package: EnvPackage, make_report: MakeReport, state_folder: Path
) -> None:
    report = make_report()
    kept = state_folder / "reports" / "toywalk" / report.whole / "validation_report.json"
    kept.parent.mkdir(parents=True)
    write_report(package, report).rename(kept)
    (package.folder / "validation_report.json").write_text("damaged")
    state = gate_state(package)
    assert (state.status, state.report_path) == ("fresh", kept)


def test_strict_false_warns_and_goes_on(package: EnvPackage) -> None:
    with pytest.warns(GateWarning, match=r"(?s)missing.*python -m simulacrum\.validate"):
        state = require_fresh_report(package, strict=False)
    assert state.status == "missing"


def test_strict_false_is_silent_where_the_gate_is_open(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert require_fresh_report(package, strict=False).fresh


def test_an_unknown_name_is_named_with_its_neighbour() -> None:
    with pytest.raises(UnknownEnvError, match="toywalk"):
        require_fresh_report("toywolk")


def test_many_changes_are_cut_short(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    for index in range(9):
        (package.folder / f"extra{index}.py").write_text("")
    with pytest.raises(GateError, match=r"extra5\.py was added; and 3 more"):
        require_fresh_report(package)


def test_it_is_quick(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    gate_state(package, EAGER)
    seconds: list[float] = []
    for _ in range(5):
        begin = time.process_time()  # other work on the machine does not count
        assert gate_state(package, EAGER).fresh
        seconds.append(time.process_time() - begin)
    assert min(seconds) < 0.2, seconds


def test_asking_imports_neither_torch_nor_tests_nor_training(
    package: EnvPackage, make_report: MakeReport
) -> None:
    write_report(package, make_report())
    code = (
        "import sys\nfrom simulacrum.harness import require_fresh_report\n"
        "state = require_fresh_report(sys.argv[1])\n"
        "heavy = {'torch', 'pytest', 'stable_baselines3', 'tensorboard', 'matplotlib'} & set(sys.modules)\n"
        "print(state.status, sorted(heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(package.folder)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "fresh []\n", done.stderr
