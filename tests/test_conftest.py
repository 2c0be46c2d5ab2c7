"""That tests which share what is dear to make run in one process, and others do not wait for each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
TEXT = """
import os, pytest, time
@pytest.mark.parametrize("n", range(4))
def test_it(n):
    time.sleep(0.2)
    with open({out!r}, "a") as file:
        print({name!r}, os.environ["PYTEST_XDIST_WORKER"], file=file)
"""


def test_files_stay_together_but_for_those_apart(tmp_path: Path) -> None:
    out, tests = tmp_path / "said", tmp_path / "tests"
    names = ("rng/test_one.py", "rng/test_other.py", "repo/test_docs.py")
    for name in names:
        (tests / name).parent.mkdir(parents=True, exist_ok=True)
        (tests / name).write_text(TEXT.format(out=str(out), name=name), "utf-8")
    (tests / "conftest.py").write_text((TESTS / "conftest.py").read_text("utf-8"), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider",
               f"--rootdir={tmp_path}", "tests"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = out.read_text("utf-8").split("\n")[:-1]
    workers = {name: {line.split()[1] for line in lines if line.startswith(name)} for name in names}
    assert len(lines) == 12
    assert [len(workers[name]) for name in names] == [1, 1, 2]
