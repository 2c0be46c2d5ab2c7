"""`simulacrum validate --level`: what an author runs while writing one rule."""

from __future__ import annotations

import json
import time

from simulacrum.attest.report import partial_place
from simulacrum.contract.package import load_package


def test_level_1_is_eager_short_and_leaves_no_report(cli, counter):
    began = time.process_time()
    done = cli("validate", counter, "--level", "1", "--json")
    taken = time.process_time() - began
    lines = [json.loads(line) for line in done.out.splitlines()]
    started, *checks, finished = (line for line in lines if line["event"] != "progress")
    assert done.code == 0, done.out
    assert (started["level"], started["full"], started["forms"]) == (1, False, ["eager"])
    assert [one["name"] for one in checks] == ["spec_contract", "differential", "invariant_sweep"]
    assert set(checks[1]["parts"]) == {"small_model", "boundary_states"}
    assert finished["report"] is None
    assert taken < 10
    assert not (counter / "validation_report.json").exists()
    assert not partial_place(load_package(counter)).exists()


def test_a_wrong_rule_fails_at_level_1_and_the_next_step_stays_there(cli, counter, edit):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 1 + (state.count > 4).to(torch.int32)")
    done = cli("validate", counter, "--level", "1")
    assert done.code == 1
    assert "DIVERGENCE in differential" in done.out
    assert "state.count (int32)" in done.out


def test_a_passed_level_leads_to_the_next(cli, counter):
    done = cli("validate", counter, "--level", "1", "-k", "spec_contract")
    assert done.code == 0
    assert f"simulacrum validate {counter} --level 2" in done.out.replace("\n", " ")


def test_nothing_of_so_low_a_level_is_wrong_usage(cli, counter):
    done = cli("validate", counter, "--level", "1", "-k", "replay")
    assert done.code == 2
    assert "nothing of replay is of level 1" in done.err
