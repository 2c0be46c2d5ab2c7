"""`simulacrum build-wasm` on the command line; the modules themselves are tested in tests/lower/test_wasm.py."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from simulacrum.lower.compiler import zig_compiler

needs_zig = pytest.mark.skipif(zig_compiler() is None, reason="the package ziglang is not installed")


def test_closed_gate_is_told_with_the_command_that_opens_it(cli, counter, own_folders):
    done = cli("build-wasm", counter, "-o", "out")
    assert done.code == 1
    assert f"simulacrum.validate {counter}" in done.err
    assert list(own_folders.iterdir()) == []


@needs_zig
def test_writes_and_says_what_comes_next(cli, counter, own_folders):
    done = cli("build-wasm", counter, "-o", "deep/out", "--unvalidated")
    assert done.code == 0, done.err
    assert sorted(path.name for path in (own_folders / "deep" / "out").iterdir()) == ["counter.wasm", "simulacrum.js"]
    assert ", which is not validated, into deep/out" in done.out
    assert re.search(r"module +counter\.wasm, \d+\.\d kB \(\d+\.\d kB with gzip\)", done.out)
    (command,) = re.findall(r"^try +(.*)$", done.out, re.MULTILINE)
    if shutil.which("node"):
        said = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=True).stdout
        assert "observation: Float32Array(2)" in said


def test_what_cannot_be_lowered_is_an_error_with_its_place(cli, counter, edit, own_folders):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count.cumsum(0).to(torch.int32) + 1")
    done = cli("build-wasm", counter, "-o", "out", "--unvalidated")
    assert done.code == 2
    assert re.search(r"where: .*fast\.py:\d+", done.err), done.err
    assert not (own_folders / "out").exists()


@needs_zig
def test_folder_that_cannot_be_written_is_told(cli, counter, own_folders):
    (own_folders / "out").write_text("a file")
    done = cli("build-wasm", counter, "-o", "out", "--unvalidated")
    assert done.code == 2
    assert "the folder cannot be written" in done.err
