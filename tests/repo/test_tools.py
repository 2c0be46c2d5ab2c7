"""The tools that people and CI call beside the tests."""

from __future__ import annotations

import subprocess
import sys


def test_sizes_lists_files_and_functions(root):
    command = [sys.executable, str(root / "tools" / "sizes.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = len((root / "tools" / "sizes.py").read_text(encoding="utf-8").splitlines())
    assert f"{lines:6} tools/sizes.py\n" in done.stdout
    assert "longest functions" in done.stdout


def test_make_without_a_target_lists_the_commands(root):
    done = subprocess.run(["make"], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for target in ("demo", "test", "lint", "types", "layers", "docs", "bench"):
        assert f"make {target} " in done.stdout


def test_old_python_is_refused_with_a_way_on(root, tmp_path):
    python = tmp_path / "python-old"
    python.write_text('#!/bin/sh\n[ "$1" = -V ] && echo Python 3.8.1\nexit 1\n', encoding="utf-8")
    python.chmod(0o755)
    command = ["make", "setup", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "needs Python 3.10 or newer" in done.stdout
    assert "make PYTHON=" in done.stdout
    assert not (tmp_path / "venv").exists()
