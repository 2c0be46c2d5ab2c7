"""The second process beside the battery: the same outcomes, the native form, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import CompileError
from simulacrum.harness import schedule
from simulacrum.harness.battery import run_battery
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.beside import Helper
from simulacrum.harness.running import run_check

Said = list[tuple[str, str, int, int]]


@pytest.fixture(autouse=True)
def _own_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., EnvPackage]:
    def make(name: str, *edits: tuple[str, str, str]) -> EnvPackage:
        return load_package(copy_env(name, tmp_path / "copy", [Edit(*edit) for edit in edits]))

    return make


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    # A process that nobody has waited for is still in the table.
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def untimed(outcome: Outcome) -> Outcome:
    """An outcome without the seconds that its sub-checks took."""
    return replace(outcome, parts={name: replace(part, seconds=0.0) for name, part in outcome.parts.items()})


def test_it_finds_what_this_process_finds(tmp_path: Path) -> None:
    said: Said = []
    bench = Bench(package("counter"), forms=("eager",), failures=tmp_path, progress=lambda *one: said.append(one))
    alone = Bench(package("counter"), forms=("eager",), failures=tmp_path)
    here = run_check(alone, "auto_reset")[0]
    with Helper.start(bench, ["auto_reset"], build=False) as helper:
        there = helper.wait("auto_reset")
        assert helper.has("auto_reset")
        assert helper.wait("no such check") is None
    assert there is not None
    assert untimed(there[0]) == untimed(here)
    assert bench.covered == alone.covered
    assert bench.used == alone.used
    assert said
    assert {name for name, *_ in said} == {"auto_reset"}


@pytest.mark.long
def test_the_native_form_it_builds_is_the_one_that_is_judged(tmp_path: Path) -> None:
    said: Said = []
    bench = Bench(package("counter"), failures=tmp_path, progress=lambda *one: said.append(one))
    with Helper.start(bench, [], build=True) as helper:
        helper.native()
        folder = Path(helper.kept.name)
    assert bench.native.path.parent == folder
    assert bench.native.path.exists()  # the library outlives the process that made it
    assert bench.build_seconds is not None
    assert said[-1][1].startswith("built in ")


def test_a_divergence_comes_back_whole(copied: Callable[..., EnvPackage], tmp_path: Path) -> None:
    judged = copied("toywalk", ("fast.py", "elapsed = ctx.t.clamp(", "elapsed = ctx.t.amax().expand_as(ctx.t).clamp("))
    bench = Bench(judged, forms=("eager",), failures=tmp_path / "failures")
    with Helper.start(bench, ["batch_independence"], build=False) as helper:
        found = helper.wait("batch_independence")
    assert found is not None
    assert found[0].status == "failed"
    assert found[0].divergence is not None
    assert any((tmp_path / "failures").iterdir())


@pytest.mark.long
def test_what_cannot_be_lowered_is_said(copied: Callable[..., EnvPackage], tmp_path: Path) -> None:
    judged = copied("toywalk", ("fast.py", "elapsed = ctx.t.clamp(", "elapsed = ctx.t.flip(0).clamp("))
    bench = Bench(judged, forms=("eager", "native"), failures=tmp_path)
    with Helper.start(bench, [], build=True) as helper, pytest.raises(CompileError, match="flip"):
        helper.native()


def test_a_helper_that_is_killed_leaves_the_work_to_its_caller(tmp_path: Path) -> None:
    bench = Bench(package("counter"), forms=("eager", "native"), failures=tmp_path)
    with Helper.start(bench, ["replay"], build=True) as helper:
        helper.process.send_signal(signal.SIGKILL)
        assert helper.wait("replay") is None
        helper.native()  # says nothing: whoever asks the bench gets one built here
    assert bench.native is not None


def test_the_process_ends_with_the_block(tmp_path: Path) -> None:
    bench = Bench(package("counter"), forms=("eager",), failures=tmp_path)
    with pytest.raises(KeyError), Helper.start(bench, ["replay"], build=False) as helper:
        raise KeyError
    assert gone(helper.process.pid)
    assert not Path(helper.kept.name).exists()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks a process up in /proc")
def test_the_process_ends_when_its_caller_is_killed() -> None:
    code = (
        "import sys, time\n"
        "from simulacrum.contract.package import load_package\n"
        "from simulacrum.harness.bench import Bench\n"
        "from simulacrum.harness.beside import Helper\n"
        "helper = Helper.start(Bench(load_package('toywalk')), ['replay'], build=True)\n"
        "print(helper.process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    helper = int(caller.stdout.readline())
    caller.kill()
    caller.communicate()
    assert wait_until(lambda: gone(helper))


@pytest.mark.long
@pytest.mark.nightly
def test_a_full_run_is_the_same_without_a_second_process(
    copied: Callable[..., EnvPackage], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = copied("counter")
    monkeypatch.setattr(schedule, "cores", lambda: 2)
    two = run_battery(judged, forms=("eager",), failures=tmp_path)
    monkeypatch.setattr(schedule, "cores", lambda: 1)
    one = run_battery(judged, forms=("eager",), failures=tmp_path)
    assert list(one.outcomes) == list(two.outcomes)
    for name in schedule.ASIDE:
        assert untimed(one.outcomes[name]) == untimed(two.outcomes[name])
    assert one.report is not None
    assert two.report is not None
    assert one.report.coverage == two.report.coverage
