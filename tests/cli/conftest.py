"""The command line inside this process and as a program, with folders of its own and no colour."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from simulacrum.cli import main

ENVS = Path(__file__).resolve().parents[2] / "envs"
KIT = Path(__file__).resolve().parents[1] / "kit"


class Done(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Done]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory and a state folder; 80 columns, no terminal."""
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run `simulacrum` with the given words in this process."""

    def run(*words: object) -> Done:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def program(own_folders: Path) -> Cli:
    """Run Python with the given words as a program of its own."""

    def run(*words: object, **more: Any) -> Done:
        command = [sys.executable, *(str(word) for word in words)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **more.pop("env", {})}
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, **more)
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def toywalk(tmp_path: Path) -> Path:
    """A copy of toywalk that may be edited."""
    return copied(ENVS / "toywalk", tmp_path / "copies")


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """A copy of the smallest package of the tests' kit."""
    return copied(KIT / "counter", tmp_path / "copies")


def copied(source: Path, into: Path) -> Path:
    target = into / source.name
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "validation_report*"))
    return target


@pytest.fixture
def edit() -> Callable[[Path, str, str], None]:
    """Replace a text in a file; the text must be there."""

    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return replace
