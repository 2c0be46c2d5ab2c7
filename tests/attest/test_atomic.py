"""Replacing a file: the old content or the new, whatever goes wrong and whenever."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulacrum.attest.atomic import folder_lock, replace_file
from simulacrum.errors import ReportError

# Imports once; then, a hundred times over: starts a writer, kills it after a random while, and looks.
KILLER = """
import os, pathlib, random, signal, sys, time
from simulacrum.attest.atomic import replace_file
path, size, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
dice = random.Random(7)
seen = set()
for turn in range(rounds):
    child = os.fork()
    if child == 0:
        while True:
            for letter in (b"ab" if turn % 2 else b"ba"):
                replace_file(path, bytes([letter]) * size)
    time.sleep(dice.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, "the writer ended by itself"
    content = path.read_bytes()
    assert len(content) == size, len(content)
    assert content in (b"a" * size, b"b" * size), "a mixture"
    seen.add(content[:1])
    litter = len(list(path.parent.glob(".*")))
    seen.add(f"litter {min(litter, 1)}")
print(sorted(map(str, seen)))
"""
SIZE = 200_000


def litter(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.startswith(".")]


def test_replaces_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, b"one")
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills by fork and signal")
def test_a_killed_writer_leaves_the_old_content_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, b"a" * SIZE)
    command = [sys.executable, "-c", KILLER, str(path), str(SIZE), "100"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    # The kills did strike in mid-write: both contents were met, and hidden files of killed writers as well.
    assert "litter 1" in done.stdout
    assert "b'a'" in done.stdout
    assert "b'b'" in done.stdout
    replace_file(path, b"a" * SIZE)
    assert litter(tmp_path) == []


@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_step_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, code: int
) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old")
    monkeypatch.setattr(os, step, failing(code))
    with pytest.raises(ReportError, match="could not be written"):
        replace_file(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert litter(tmp_path) == []


def test_a_disk_that_fills_up_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old")
    real, calls = os.write, iter(range(100))

    def write_some(handle: int, data: Any) -> int:
        if next(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, bytes(data[:3]))

    monkeypatch.setattr(os, "write", write_some)
    with pytest.raises(ReportError, match="No space left"):
        replace_file(path, b"new content")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert litter(tmp_path) == []


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data[:3])))
    replace_file(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert litter(tmp_path) == []


def test_a_read_only_folder_is_told_apart_from_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", failing(errno.EROFS))
    with pytest.raises(OSError, match="Read-only"):
        replace_file(tmp_path / "file", b"new")


def test_hidden_files_of_the_living_stay_and_of_the_dead_go(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead = tmp_path / f".file.{gone.pid}-0123abcd.tmp"
    alive = tmp_path / f".file.{os.getpid()}-0123abcd.tmp"
    foreign = tmp_path / ".file.notes.tmp"
    for hidden in (dead, alive, foreign):
        hidden.write_bytes(b"")
    replace_file(tmp_path / "file", b"new")
    assert sorted(litter(tmp_path)) == sorted([alive.name, foreign.name])


def test_the_lock_keeps_a_second_writer_waiting(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\nfrom simulacrum.attest.atomic import folder_lock\n"
        "with folder_lock(pathlib.Path(sys.argv[1])): print('in', flush=True)"
    )
    with folder_lock(tmp_path):
        second = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        with pytest.raises(subprocess.TimeoutExpired):
            second.wait(timeout=1.5)
    output, _ = second.communicate(timeout=20)
    assert output == "in\n"


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail
