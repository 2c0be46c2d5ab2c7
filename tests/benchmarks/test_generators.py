"""The compared generators are the published ones: known answers, in torch and, with a compiler, in C."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("generators.py")


def test_every_generator_gives_its_known_answers() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    forms = "both forms" if importlib.util.find_spec("ziglang") else "torch"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"known answers: all 5 generators right in {forms}\n"


def test_a_wrong_constant_is_noticed(tmp_path: Path) -> None:
    for name in ("generators.py", "generators.c", "contenders.py"):
        text = SCRIPT.with_name(name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("0xCD9E8D57", "0xCD9E8D59"), encoding="utf-8")
    script = tmp_path / "generators.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Philox4x32-10 eager" in done.stderr
