"""One file: what it says of itself, and the files that are refused before anything in them runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from kit import package

from simulacrum.engine.boundary import core_of
from simulacrum.engine.native import binary
from simulacrum.engine.native.binary import Binary, load
from simulacrum.errors import CompileError
from simulacrum.lower import compiler


@pytest.fixture(scope="module")
def built() -> Binary:
    return core_of(package("counter"), None).native()


def test_it_says_what_it_is(built: Binary) -> None:
    assert built.about["env"] == "simulacrum/counter-v0"
    assert built.about["processor"] == compiler.processor()
    assert "ziglang" in built.about["compiler"]
    assert built.about["split"] == {"reset": True, "next_step": True, "same_step": True}
    assert "out.observation" in built.about["shown"]["next_step"]
    assert built.ports["t"].dtype == torch.int32
    assert built.ports["t"].layout == "blocks"


def test_cores_with_other_limits_share_it(built: Binary) -> None:
    assert core_of(package("counter"), 7).native() is built


def test_loaded_again_it_is_the_same(built: Binary, tmp_path: Path) -> None:
    copy = Path(shutil.copy(built.path, tmp_path / built.path.name))
    again = load(copy, built.sha256)
    assert (again.sha256, again.ports, again.about) == (built.sha256, built.ports, built.about)


def test_another_hash_is_refused_before_anything_runs(
    built: Binary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("the file was loaded")

    monkeypatch.setattr(binary.ctypes, "CDLL", forbidden)
    for name, data in (
        ("swapped", built.path.read_bytes() + b"\0"),
        ("cut", built.path.read_bytes()[:-100]),
    ):
        path = tmp_path / f"{name}.so"
        path.write_bytes(data)
        with pytest.raises(CompileError, match="not the one that was validated"):
            load(path, built.sha256)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="cannot be read"):
        load(tmp_path / "missing.so")
    (tmp_path / "text.so").write_text("not a library")
    with pytest.raises(CompileError, match="cannot be loaded"):
        load(tmp_path / "text.so")
    compiler.compile_library("int nothing(void) { return 0; }\n", tmp_path / "other.so")
    with pytest.raises(CompileError, match="cannot be loaded"):
        load(tmp_path / "other.so")


def test_a_library_of_another_processor_is_refused(built: Binary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "processor", lambda: "Another one (x86_64, 0123456789ab)")
    with pytest.raises(CompileError, match="another processor"):
        load(built.path)
