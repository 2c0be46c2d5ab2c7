"""The words that the large statistical run tests are the words of the draws."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("statistics_large.py")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_c_program_gives_the_words_of_the_room_in_every_order() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "same words in all 12 orders" in done.stdout


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_another_generator_is_noticed(tmp_path: Path) -> None:
    for name in ("statistics_large.py", "orders.c"):
        text = SCRIPT.with_name(name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("rounds = 13;", "rounds = 12;"), encoding="utf-8")
    script = tmp_path / "statistics_large.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "orders.c differs from the Python form: rows, words from 0" in done.stderr
