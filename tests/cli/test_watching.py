"""`simulacrum watch`: a rule is broken, seen, mended, and seen to be green again."""

from __future__ import annotations

import io
import os
import queue
import signal
import subprocess
import sys
import threading
import time

import pytest
from rich.console import Console

from simulacrum.cli.watch_loop import _Screen
from simulacrum.cli.watch_run import Files

RIGHT, WRONG = "count = state.count + 1", "count = state.count + 2"


class Watched:
    """A running `simulacrum watch`, and the lines that it has printed."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simulacrum", "watch", *map(str, words)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
        )  # fmt: skip
        self.lines = queue.Queue()
        self.seen = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def until(self, text, seconds=90):
        """Wait for a line with this text; the lines up to it."""
        end, found = time.monotonic() + seconds, []
        while time.monotonic() < end:
            try:
                found.append(self.lines.get(timeout=0.5))
            except queue.Empty:
                continue
            if text in found[-1]:
                return "".join(found)
        raise AssertionError(f"no {text!r} within {seconds} s:\n{''.join(found)}")


@pytest.fixture
def watched():
    started = []

    def start(*words):
        started.append(Watched(*words))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()
        one.process.stdout.close()


@pytest.mark.long
def test_break_and_mend_a_rule(counter, edit, watched):
    run = watched(counter, "--level", "1")
    assert "level 1  rules                  passed" in run.until("all green up to level 1")
    edit(counter / "fast.py", RIGHT, WRONG)
    told = run.until("run it again")
    assert "changed: fast.py" in told
    assert "FAILED" in told
    assert "state.count (int32)" in told
    edit(counter / "fast.py", WRONG, "count = = 1")
    assert "is not Python" in run.until("is not Python")
    edit(counter / "fast.py", "count = = 1", RIGHT)
    assert "FAILED" not in run.until("all green up to level 1").partition("changed")[2]
    os.kill(run.process.pid, signal.SIGINT)
    assert run.process.wait(20) == 0
    assert "Traceback" not in run.until("stopped")
    assert not (counter / "validation_report.json").exists()


def test_unknown_name_is_wrong_usage(cli):
    done = cli("watch", "toywlk")
    assert done.code == 2
    assert "did you mean 'toywalk'?" in done.err


def test_files_are_compared_by_content(counter):
    files = Files(counter)
    assert files.changed() == []
    path = counter / "fast.py"
    text = path.read_text(encoding="utf-8")
    os.utime(path, (1, 1))
    assert files.changed() == []
    path.write_text(text + "\n", encoding="utf-8")
    (counter / "notes.md").write_text("new", encoding="utf-8")
    (counter / "validation_report.json").write_text("{}", encoding="utf-8")
    (counter / "failures").mkdir()
    assert files.changed() == ["fast.py", "notes.md"]
    (counter / "notes.md").unlink()
    assert files.changed() == ["notes.md"]


def test_terminal_shows_one_page(counter):
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    screen = _Screen(counter, console, 2)
    screen.begin(["fast.py"])
    screen.started(1)
    failed = {"event": "check", "name": "spec_contract", "status": "failed", "message": "2 problems\n  one\n  two"}
    screen.event(1, {**failed, "divergence": None})
    screen.event(1, {"event": "finished", "passed": False, "seconds": 1.0, "failed": ["spec_contract"],
                     "inconclusive": []})  # fmt: skip
    screen.ended(1)
    page = console.file.getvalue().rpartition("\x1b[2J")[2]
    assert "changed: fast.py" in page
    assert "level 1  rules                  FAILED     1.0 s  spec_contract" in page
    assert "level 2  interactions of rules  waiting" in page
    assert "spec_contract: 2 problems" in page
    assert not screen.passed(1)


def test_error_in_place_of_a_result_is_broken(counter):
    screen = _Screen(counter, Console(file=io.StringIO(), width=80), 1)
    screen.begin([])
    screen.started(1)
    screen.event(1, {"event": "error", "message": "no schema", "where": "schema.json", "next": None})
    screen.ended(1)
    assert screen.levels[1].status == "broken"
    assert "where: schema.json" in screen.console.file.getvalue()
