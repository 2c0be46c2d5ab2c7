"""The library beside a report: kept under its hash, found again, and everything that makes it another file is said."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simulacrum.attest import certificate
from simulacrum.attest.certificate import Certified, binary_of, certified
from simulacrum.attest.gate import certified_binary, gate_state, wanted_configuration
from simulacrum.attest.record import Configuration, Report
from simulacrum.attest.report import read_report, write_report
from simulacrum.contract.digest import package_files
from simulacrum.contract.package import EnvPackage
from simulacrum.lower.compiler import processor

MakeReport = Callable[..., Report]
NATIVE = Configuration(compile="native", params={"slip": (0.0, 1.0)})


def library(folder: Path, data: bytes = b"machine code") -> Any:
    """A file, and what a native form says of itself."""
    folder.mkdir(exist_ok=True)
    path = folder / "native.so"
    path.write_bytes(data)
    return SimpleNamespace(path=path, about={"processor": processor(), "compiler": "clang", "more": 1})


@pytest.fixture
def report_path(package: EnvPackage, make_report: MakeReport, tmp_path: Path) -> Path:
    return write_report(package, make_report(configurations=(NATIVE,)), library(tmp_path / "built"))


def test_the_report_names_the_file_and_its_hash(package: EnvPackage, report_path: Path) -> None:
    (one,) = read_report(report_path).configurations
    about = binary_of(one)
    assert about is not None
    path = report_path.parent / about["file"]
    assert path.read_bytes() == b"machine code"
    assert certified(report_path, one) == Certified(path, about["sha256"])
    assert (about["processor"], about["compiler"]) == (processor(), "clang")
    state = gate_state(package, wanted_configuration(compile="native"))
    assert state.fresh
    assert certified_binary(state, wanted_configuration(compile="native")) == Certified(path, about["sha256"])
    assert certified_binary(state, wanted_configuration(compile="inductor")) is None


def test_it_is_no_subject_of_the_digest(package: EnvPackage, report_path: Path) -> None:
    assert any(path.name.startswith("native-") for path in report_path.parent.iterdir())
    assert not any(name.startswith("native-") for name in package_files(package.folder))


@pytest.mark.parametrize("what", ["damaged", "cut", "swapped", "gone"])
def test_another_file_closes_the_gate(package: EnvPackage, report_path: Path, what: str) -> None:
    (one,) = read_report(report_path).configurations
    path = report_path.parent / str(one.details["binary"]["file"])
    if what == "gone":
        path.unlink()
    else:
        path.write_bytes({"damaged": b"machine cod\0", "cut": b"machine", "swapped": b"other code.."}[what])
    state = gate_state(package, wanted_configuration(compile="native"))
    assert state.status == "stale"
    assert ("cannot be read" if what == "gone" else "not the file that was validated") in state.why[0]
    assert state.next_command == f"python -m simulacrum.validate {package.folder}"


def test_another_processor_is_another_configuration(
    package: EnvPackage, report_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulacrum.lower import compiler

    monkeypatch.setattr(compiler, "processor", lambda: "Another (x86_64, 0)")
    state = gate_state(package, wanted_configuration(compile="native"))
    assert state.status == "stale"
    assert "was built for" in state.why[0]


def test_a_configuration_without_a_file_does_not_open(package: EnvPackage, make_report: MakeReport) -> None:
    path = write_report(package, make_report(configurations=(NATIVE,)))
    assert "names no file" in str(certified(path, NATIVE))
    assert not gate_state(package, wanted_configuration(compile="native")).fresh


def test_a_new_library_takes_the_old_ones_place(
    package: EnvPackage, make_report: MakeReport, report_path: Path, tmp_path: Path
) -> None:
    before = {path.name for path in report_path.parent.glob("native-*")}
    write_report(package, make_report(configurations=(NATIVE,)), library(tmp_path / "again", b"newer code"))
    after = {path.name for path in report_path.parent.glob("native-*")}
    assert len(before) == len(after) == 1
    assert before != after


def test_other_configurations_keep_the_library(
    package: EnvPackage, make_report: MakeReport, report_path: Path
) -> None:
    inductor = dataclasses.replace(NATIVE, compile="inductor")
    write_report(package, make_report(configurations=(inductor,)))
    assert gate_state(package, wanted_configuration(compile="native")).fresh
    assert certificate.NATIVE == "native"
