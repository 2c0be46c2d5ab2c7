"""A process that hangs or dies is replaced, and the others go on."""

from __future__ import annotations

import os

import pytest
from mutate.kit import GOAL, canary, planted_by_hand

from simulacrum.mutate import pool as pools
from simulacrum.mutate.judge import Settings
from simulacrum.mutate.pool import Lost, Pool

HANGS = "import time\ntime.sleep(1000)\n"
DIES = "import os\nos._exit(3)\n"


@pytest.fixture
def settings(tmp_path):
    return Settings(canary(), tmp_path)


def beginning(package, text, name):
    first = "from typing import Any"
    return planted_by_hand(package, first, f"{text}{first}", name=name)


def test_mutants_that_hang_or_kill_their_process_do_not_stop_the_rest(settings, monkeypatch):
    monkeypatch.setattr(pools, "START", 30.0)
    good = planted_by_hand(settings.package, GOAL, "        end = place > GOAL", name="good")
    hangs, dies = beginning(settings.package, HANGS, "hangs"), beginning(settings.package, DIES, "dies")
    began = []
    with Pool(settings, 1, 1.0, lambda mutant: began.append(mutant.id)) as pool:
        found = {mutant.id: answer for mutant, answer in pool.answers("trace", [dies, good, hangs])}
        processes = [worker.process for worker in pool.workers.values()]
    assert isinstance(found["dies"], Lost)
    assert not found["dies"].timeout
    assert found["hangs"].timeout
    assert found["good"].graph
    assert began == ["dies", "good", "hangs"]
    assert pool.started == 2  # the one that died was replaced; the one that hung had nobody waiting behind it
    assert all(process.poll() is not None for process in processes)


def test_some_are_given_more_time(settings, monkeypatch):
    monkeypatch.setattr(pools, "START", 0.0)  # importing torch alone takes longer than the rest has
    slow = planted_by_hand(settings.package, GOAL, "        end = place > GOAL", name="slow")
    with Pool(settings, 1, 0.1) as pool:
        assert next(answer for _, answer in pool.answers("trace", [slow])).timeout
    with Pool(settings, 1, 0.1, at_least={"slow": 60.0}) as pool:
        assert next(answer for _, answer in pool.answers("trace", [slow])).graph


def test_leaving_ends_the_processes_in_mid_work(settings):
    hangs = beginning(settings.package, HANGS, "hangs")
    with Pool(settings, 1, 600.0) as pool:
        pool._employ("trace", pools.deque([hangs]))
        (worker,) = pool.workers.values()
    with pytest.raises(ProcessLookupError):
        os.kill(worker.process.pid, 0)
