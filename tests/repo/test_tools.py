"""The tools that people and CI call beside the tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import library_env


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


def test_each_library_that_make_tests_has_an_extra_and_tests(root):
    listed = re.search(r"^LIBS \?= (.+)$", (root / "Makefile").read_text(encoding="utf-8"), re.M)
    assert listed is not None
    for name in listed.group(1).split():
        stem = name.replace("-", "_")
        assert library_env.requirements(name), name
        places = (f"adapters/test_{stem}*.py", f"training/test_{stem}*.py", f"envs/test_*_{stem}.py")
        assert any([*root.glob(f"tests/{place}")] for place in places), name


def test_requirements_of_an_extra_leave_out_what_all_need():
    assert all(text.startswith("ray[") for text in library_env.requirements("rllib"))


def test_a_library_without_an_extra_is_refused(root):
    command = [sys.executable, str(root / "tools" / "library_env.py"), "no-such-library"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "pyproject.toml has no extra called no-such-library" in done.stderr
    assert not (root / ".venv-libs" / "no-such-library").exists()


def test_pufferlib_is_built_without_its_games_and_without_cuda(tmp_path):
    """By a sitecustomize that the build's environment brings in; a program called nvcc is not found there."""
    build = library_env.BUILDS["pufferlib"]
    assert any(text.startswith("pufferlib") for text in library_env.requirements("pufferlib"))
    (tmp_path / "nvcc").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "nvcc").chmod(0o755)
    ask = "import os, shutil as s; print(c_extension_paths, s.which('nvcc'), s.which('sh'), os.environ['NO_OCEAN'])"
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    environment = {**os.environ, **build.environment, "PATH": path}
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    names, nvcc, shell, games = done.stdout.split()
    assert (names, nvcc, games) == ("[]", "None", "1")
    assert shell.endswith("sh")


@pytest.mark.long
def test_an_environment_lies_over_the_one_that_made_it(root, tmp_path, monkeypatch):
    """Its own packages come first, torch is the one beneath, and it is made once."""
    monkeypatch.setattr(library_env, "PLACE", tmp_path)
    monkeypatch.setattr(library_env, "ROOT", tmp_path)
    monkeypatch.setattr(library_env, "requirements", lambda name: ["six==1.16.0"])
    python = library_env.make("small")
    ask = "import six, torch, simulacrum; print(six.__file__); print(torch.__file__)"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    own, beneath = done.stdout.splitlines()
    assert own.startswith(str(tmp_path / "small"))
    assert beneath == torch.__file__
    stamp = (tmp_path / "small" / "ready").stat().st_mtime_ns
    assert library_env.make("small") == python
    assert (tmp_path / "small" / "ready").stat().st_mtime_ns == stamp
