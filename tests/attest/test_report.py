"""Reports on disk: read back as written, damage noticed, earlier configurations kept, partial ones apart."""

from __future__ import annotations

import errno
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulacrum.attest.report import (
    REPORT_NAME,
    CheckResult,
    Configuration,
    Report,
    add_result,
    merged,
    partial_place,
    read_report,
    report_places,
    write_report,
)
from simulacrum.contract.package import EnvPackage
from simulacrum.errors import ReportError

MakeReport = Callable[..., Report]
Reseal = Callable[[Path, Callable[[dict[str, Any]], None]], None]
INDUCTOR = Configuration(compile="inductor", params={"slip": (0.0, 1.0)}, batch_sizes=(64,))


def refuse(code: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


def refuse_opening_in(folder: Path, code: int) -> Callable[..., int]:
    """os.open, refusing to create files in `folder`: what a read-only folder does also to root."""
    real = os.open

    def opening(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & os.O_CREAT and Path(path).parent == folder:
            raise OSError(code, os.strerror(code), str(path))
        return real(path, flags, *rest, **named)

    return opening


def test_reads_back_what_was_written(package: EnvPackage, make_report: MakeReport) -> None:
    report = make_report()
    path = write_report(package, report)
    assert path == package.folder / REPORT_NAME
    found = read_report(path)
    assert found == report
    assert found.seal == report.seal == json.loads(path.read_text())["seal"]
    assert found.passed


def test_the_text_is_canonical_and_has_a_fixed_top(package: EnvPackage, make_report: MakeReport) -> None:
    report = make_report()
    text = write_report(package, report).read_text("utf-8")
    body = json.loads(text)
    assert text == json.dumps(body, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
    assert (body["format"], body["version"], body["outcome"]) == ("simulacrum validation report", 1, "passed")
    assert set(body["digest"]["subjects"]) >= {"envs/toywalk/fast.py", "simulacrum/engine/vector.py"}


def test_evidence_with_nan_is_still_written(package: EnvPackage, make_report: MakeReport) -> None:
    report = make_report(failed=("differential",))
    evidence = {"reference": math.nan, "fast": (1, -math.inf)}
    checks = {**report.checks, "differential": CheckResult("failed", 1.0, "NaN", evidence)}
    found = read_report(write_report(package, replace(report, checks=checks)))
    assert found.checks["differential"].evidence == {"reference": "nan", "fast": [1, "-inf"]}
    assert not found.passed


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_report_is_noticed(package: EnvPackage, make_report: MakeReport, share: float) -> None:
    path = write_report(package, make_report())
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ReportError, match=r"(?s)not JSON.*validation_report"):
        read_report(path)


EDITS: list[Callable[[dict[str, Any]], Any]] = [
    lambda body: body.update(full=False),
    lambda body: body.update(finished="2030-01-01T00:00:00+00:00"),
    lambda body: body["checks"]["differential"].update(seconds=0.26),
    lambda body: body["checks"]["differential"]["evidence"].update(rows=8),
    lambda body: body["digest"]["subjects"].update({"envs/toywalk/fast.py": "0" * 64}),
    lambda body: body["configurations"][0].update(compile="inductor"),
    lambda body: body["throughput"].update(fast=-0.0),
    lambda body: body.update(seal="0" * 64),
]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_report_is_noticed(package: EnvPackage, make_report: MakeReport, edit: Any) -> None:
    path = write_report(package, make_report())
    body = json.loads(path.read_text())
    edit(body)
    path.write_text(json.dumps(body))
    with pytest.raises(ReportError, match="changed after it was written"):
        read_report(path)


def test_every_flipped_byte_is_noticed_or_changes_nothing(
    package: EnvPackage, make_report: MakeReport
) -> None:
    path = write_report(package, make_report())
    good, data = read_report(path), path.read_bytes()
    noticed = 0
    for position in range(0, len(data), 211):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        try:
            assert read_report(path) == good, f"byte {position}"
        except ReportError:
            noticed += 1
    assert noticed > 40


MALFORMED: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda body: body.update(version=2), "another version"),
    (lambda body: body.pop("format"), "another version"),
    (lambda body: body.pop("digest"), "digest"),
    (lambda body: body.update(extra=1), "extra"),
    (lambda body: body["checks"].update(magic=body["checks"]["replay"]), "magic"),
    (lambda body: body["checks"]["replay"].update(status="fine"), r"checks\.replay\.status"),
    (lambda body: body["digest"].update(whole="abc"), r"digest\.whole"),
    (lambda body: body["configurations"][0].update(params={"slip": [0]}), r"configurations\[0\]"),
]


@pytest.mark.parametrize(("edit", "fragment"), MALFORMED)
def test_a_malformed_report_names_the_place(
    package: EnvPackage, make_report: MakeReport, reseal: Reseal, edit: Any, fragment: str
) -> None:
    path = write_report(package, make_report())
    reseal(path, edit)
    with pytest.raises(ReportError, match=rf"(?s){fragment}.*next:"):
        read_report(path)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b"{" * 3])
def test_what_is_no_report_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.json").write_bytes(content)
    with pytest.raises(ReportError):
        read_report(tmp_path / "r.json")


def test_a_report_that_is_not_there_and_one_that_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no validation report"):
        read_report(tmp_path / "r.json")
    with pytest.raises(ReportError, match="cannot be read"):
        read_report(tmp_path)


def test_a_failing_full_run_replaces_a_passing_report(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    path = write_report(package, make_report(failed=("replay",)))
    found = read_report(path)
    assert not found.passed
    assert found.problems == ["replay: failed: replay broke at step 3"]
    assert found.revision == 2


def test_a_partial_run_touches_no_full_report(package: EnvPackage, make_report: MakeReport) -> None:
    path = write_report(package, make_report())
    before = path.read_bytes()
    partial = write_report(package, make_report(full=False, failed=("replay",)))
    assert partial == partial_place(package) != path
    assert path.read_bytes() == before
    assert report_places(package) == [path]
    assert not read_report(partial).passed


def test_a_second_configuration_joins_the_first(package: EnvPackage, make_report: MakeReport) -> None:
    write_report(package, make_report())
    found = read_report(write_report(package, make_report(configurations=(INDUCTOR,))))
    assert [one.title for one in found.configurations] == ["eager on cpu", "inductor on cpu"]
    assert found.passed


def test_the_newest_outcome_of_a_configuration_wins_and_the_others_stay(
    package: EnvPackage, make_report: MakeReport
) -> None:
    eager = make_report()
    write_report(package, replace(eager, configurations=(*eager.configurations, INDUCTOR)))
    broken = replace(INDUCTOR, outcome="failed")
    again = make_report(configurations=(broken,), failed=("benchmark_factory_parity",))
    found = read_report(write_report(package, again))
    assert {one.title: one.outcome for one in found.configurations} == {
        "eager on cpu": "passed",
        "inductor on cpu": "failed",
    }
    assert found.problems == []
    assert found.passed


def test_simultaneous_runs_lose_no_configuration(package: EnvPackage, make_report: MakeReport) -> None:
    reports = [make_report(configurations=(Configuration(compile=f"form{n}"),)) for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda report: write_report(package, report), reports))
    found = read_report(paths[0])
    assert [one.compile for one in found.configurations] == [f"form{n}" for n in range(8)]
    assert found.revision == 8


def test_nothing_is_kept_of_a_report_on_other_content(package: EnvPackage, make_report: MakeReport) -> None:
    first = make_report()
    write_report(package, first)
    with (package.folder / "spec.md").open("a") as spec:
        spec.write("\n")
    second = make_report(configurations=(INDUCTOR,))
    assert first.whole != second.whole
    found = read_report(write_report(package, second))
    assert found.configurations == (INDUCTOR,)
    assert found.revision == 1
    assert merged(first, second) is second


def test_a_damaged_report_is_replaced(package: EnvPackage, make_report: MakeReport) -> None:
    path = package.folder / REPORT_NAME
    path.write_text("{")
    assert write_report(package, make_report()) == path
    assert read_report(path).passed


def test_files_edited_during_the_run_make_no_report(package: EnvPackage, make_report: MakeReport) -> None:
    path = write_report(package, make_report())
    before, report = path.read_bytes(), make_report()
    with (package.folder / "fast.py").open("a") as code:
        code.write("# edited while the checks ran\n")
    with pytest.raises(ReportError, match=r"(?s)changed while the validation ran.*fast\.py"):
        write_report(package, report)
    assert path.read_bytes() == before


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_a_read_only_folder_sends_the_report_to_the_state_directory(
    package: EnvPackage,
    make_report: MakeReport,
    state_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
) -> None:
    report = make_report()
    monkeypatch.setattr(os, "open", refuse_opening_in(package.folder, code))
    path = write_report(package, report)
    assert path == state_folder / "reports" / "toywalk" / report.whole / REPORT_NAME
    assert read_report(path) == report
    assert not (package.folder / REPORT_NAME).exists()
    second = read_report(write_report(package, make_report(configurations=(INDUCTOR,))))
    assert len(second.configurations) == 2


def test_no_place_to_write_is_an_error_that_names_one(
    package: EnvPackage, make_report: MakeReport, monkeypatch: pytest.MonkeyPatch, state_folder: Path
) -> None:
    report = make_report()
    state_folder.write_text("a file where the folder should be")
    monkeypatch.setattr(os, "open", refuse_opening_in(package.folder, errno.EROFS))
    with pytest.raises(ReportError, match="SIMULACRUM_STATE_DIR"):
        write_report(package, report)


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_report(
    package: EnvPackage, make_report: MakeReport, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = write_report(package, make_report())
    before, report = path.read_bytes(), make_report(failed=("replay",))
    monkeypatch.setattr(os, step, refuse(errno.ENOSPC))
    with pytest.raises(ReportError, match="No space left"):
        write_report(package, report)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [name for name in os.listdir(package.folder) if name.startswith(".")] == []


def test_what_json_cannot_hold_is_refused_before_anything_is_written(
    package: EnvPackage, make_report: MakeReport
) -> None:
    with pytest.raises(ReportError, match=r"(?s)JSON values only.*report\.coverage\.slots"):
        write_report(package, make_report(coverage={"slots": {1, 2}}))
    with pytest.raises(ReportError, match="magic"):
        write_report(package, make_report(checks={"magic": CheckResult("passed")}))
    assert not (package.folder / REPORT_NAME).exists()


def test_the_state_directory_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from simulacrum.attest.report import state_folder; print(state_folder())"
    environment = {name: value for name, value in os.environ.items() if name != "SIMULACRUM_STATE_DIR"}
    environment |= {"XDG_STATE_HOME": "/somewhere"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.strip().endswith("simulacrum"), done.stderr


def test_optional_result_is_added_and_outlives_the_next_full_run(package: EnvPackage, make_report: MakeReport) -> None:
    path = write_report(package, make_report())
    before = read_report(path)
    found = CheckResult("passed", 2.0, "2 policies play the same", {"verdict": "equal"})
    assert add_result(package, path, before.whole, "policy_transfer", found) == path
    after = read_report(path)
    assert after.checks["policy_transfer"] == found
    assert replace(after, checks=before.checks) == before
    assert after.passed
    write_report(package, make_report())
    again = read_report(path)
    assert again.checks["policy_transfer"] == found
    assert again.revision == before.revision + 1


def test_no_report_needs_an_optional_check_and_a_failed_one_speaks_against_it(make_report: MakeReport) -> None:
    report = make_report()
    assert report.passed
    for status, passes in {"passed": True, "inconclusive": True, "skipped": True, "failed": False}.items():
        added = replace(report, checks={**report.checks, "policy_transfer": CheckResult(status, message="reward")})
        assert added.passed is passes, status
        assert added.problems == ([] if passes else ["policy_transfer: failed: reward"])


def test_result_found_on_other_files_is_refused(package: EnvPackage, make_report: MakeReport) -> None:
    path = write_report(package, make_report())
    kept = path.read_bytes()
    with pytest.raises(ReportError, match="other files"):
        add_result(package, path, "0" * 64, "policy_transfer", CheckResult("passed"))
    whole = read_report(path).whole
    with (package.folder / "spec.md").open("a") as file:
        file.write("\nmore\n")
    with pytest.raises(ReportError, match="other files") as raised:
        add_result(package, path, whole, "policy_transfer", CheckResult("passed"))
    assert "spec.md" in str(raised.value.found)
    assert path.read_bytes() == kept
    with pytest.raises(ReportError, match="does not fit its schema"):
        write_report(package, make_report(checks={"policy_transport": CheckResult("passed")}))
