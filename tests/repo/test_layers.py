"""The arrows between rooms, and that the contract which holds them can be broken."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def lint(folder):
    command = [sys.executable, "-c", LINT]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def copy_sources(root, target):
    shutil.copy(root / "pyproject.toml", target)
    shutil.copytree(root / "simulacrum", target / "simulacrum", ignore=shutil.ignore_patterns("__pycache__"))


def test_arrows_hold(root):
    pytest.importorskip("importlinter")
    done = lint(root)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("contract/fields.py", "import torch", "can be read without torch"),
        ("contract/fields.py", "import simulacrum.engine", "The arrows between rooms go one way"),
        ("attest/gate.py", "import simulacrum.twin.state", "attest knows reports"),
        ("engine/forms.py", "import simulacrum.adapters", "Nothing imports an adapter"),
        ("conformance/values.py", "import torch", "conformance judges strangers"),
        ("twin/state.py", "import matplotlib", "Training libraries stay in the adapters, plotting in plots"),
        ("mutate/keep.py", "import simulacrum.plots", "Training libraries stay in the adapters, plotting in plots"),
        ("cli/pictures.py", "import matplotlib", "plots draws plain data"),
        ("plots/style.py", "import torch", "can be read without torch"),
        ("plots/style.py", "import simulacrum.contract", "The arrows between rooms go one way"),
    ],
)
def test_planted_import_is_caught(root, tmp_path, file, line, contract):
    pytest.importorskip("importlinter")
    copy_sources(root, tmp_path)
    with (tmp_path / "simulacrum" / file).open("a", encoding="utf-8") as target:
        target.write(f"\n{line}\n")
    done = lint(tmp_path)
    assert done.returncode == 1
    broken = [text for text in done.stdout.splitlines() if "BROKEN" in text]
    assert any(contract in text for text in broken), done.stdout


def test_a_new_room_must_be_placed(root, tmp_path):
    pytest.importorskip("importlinter")
    copy_sources(root, tmp_path)
    (tmp_path / "simulacrum" / "attic.py").write_text("", encoding="utf-8")
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "attic" in done.stdout
