"""`make bench`, tiny: contenders take turns, peers answer from their own processes, the file keeps all of it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from suite import contender, gymnasiums, ours, plan, tables, venvs, workers

SCRIPT = Path(__file__).with_name("bench.py")


def fake(name: str, log: list[str], seconds: float) -> contender.Contender:
    def run(calls: int) -> tuple[float, float]:
        log.append(name)
        return calls * seconds, calls * seconds

    return contender.Contender(name, "form", "1", "", 10, run)


def test_contenders_take_turns_and_every_round_begins_with_another() -> None:
    log: list[str] = []
    three = [fake(name, log, 0.001) for name in "abc"]
    contender.measure(three, rounds=4, seconds=0.1)
    assert "".join(log[-12:]) == "abcbcacababc"
    assert [len(each.windows) for each in three] == [4, 4, 4]
    assert three[0].windows[0].calls == 100
    assert three[0].rates() == pytest.approx([10_000.0] * 4)


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert contender.ratio([1.0, 4.0, 9.0], [1.0, 2.0, 1.0]) == 2.0


@pytest.mark.parametrize("num_envs", [1, 64])
def test_batches_of_actions_differ_and_share_one_array(num_envs: int) -> None:
    batches = contender.action_batches(4, num_envs)
    assert len(batches) == contender.BATCHES
    assert {tuple(batch.shape) for batch in batches} == {(num_envs,)}
    assert sorted({int(value) for batch in batches for value in batch}) == [0, 1, 2, 3]
    assert len({batch.untyped_storage().data_ptr() for batch in batches}) == 1
    assert {batch.data_ptr() % 64 for batch in batches} == {0}


def test_every_form_of_the_engine_is_a_contender() -> None:
    assert "eager" in ours.forms()
    assert [way.title for way in ours.WAYS if way.plain] == ours.forms()
    assert {way.title for way in ours.ways(["eager"])} == {"eager"}
    built = ours.contender("eager")("toywalk", 3)
    wall, cpu = built.run(2)
    assert (built.name, built.steps_per_call) == ("eager", 3)
    assert wall > 0 < cpu


def test_a_rollout_takes_many_steps_in_one_call() -> None:
    (way,) = (way for way in ours.WAYS if way.rollout)
    built = ours.contender(dataclasses.replace(way, form="eager"))("toywalk", 2**16)
    assert built.steps_per_call == 8 * 2**16
    assert built.run(1)[0] > 0


def test_gymnasium_is_a_contender() -> None:
    for build in (gymnasiums.cartpole_vector, gymnasiums.sync):
        built = build(2)
        assert built.run(3)[0] > 0
        assert built.version.startswith("gymnasium ")
        built.close()


def test_a_worker_steps_on_command_and_says_what_failed() -> None:
    worker = workers.Worker("stub")
    built = workers.contender(worker, 5)
    assert (built.name, built.version, built.steps_per_call) == ("stub", "stub 1", 5)
    assert built.run(1000)[0] > 0
    with pytest.raises(contender.Unavailable, match="stub: ValueError: thirteen is refused"):
        workers.contender(worker, 13)
    assert workers.contender(worker, 4).steps_per_call == 4
    worker.close()


def test_a_worker_that_ends_is_told_with_its_last_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "worker.py"
    broken.write_text("raise SystemExit('no such library')", encoding="utf-8")
    monkeypatch.setattr(workers, "WORKER", broken)
    worker = workers.Worker("stub")
    with pytest.raises(contender.Unavailable, match="ended with status 1: no such library"):
        worker.ask("build", num_envs=1)
    worker.close()


def test_a_peer_that_was_not_set_up_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(venvs, "FOLDER", tmp_path)
    with pytest.raises(contender.Unavailable, match="make bench PEERS=envpool"):
        workers.Worker("envpool")


def test_every_peer_has_pins_a_title_and_a_file() -> None:
    from suite.peers.worker import PEERS

    assert set(venvs.PINS) == set(PEERS) - {"stub"} == set(workers.TITLES) - {"stub"}
    for name in PEERS.values():
        assert workers.WORKER.with_name(f"{name}.py").is_file()
    assert all("==" in pin for pins in venvs.PINS.values() for pin in pins)


def test_an_unknown_peer_is_refused() -> None:
    with pytest.raises(SystemExit, match="unknown peer 'nobody'"):
        venvs.ensure(["nobody"])


def test_a_contender_that_cannot_be_built_is_noted_and_the_others_run() -> None:
    missing: list[dict[str, object]] = []

    def refuse() -> contender.Contender:
        raise contender.Unavailable("not here")

    def break_down() -> contender.Contender:
        raise RecursionError("too deep")

    log: list[str] = []
    tiny = plan.Plan(rounds=2, seconds=0.01)
    group = plan.measure_group(
        tiny, "toywalk", 8, {"a": lambda: fake("a", log, 0.001), "b": refuse, "c": break_down}, missing
    )
    assert [each["name"] for each in group["contenders"]] == ["a"]
    where = {"environment": "toywalk", "num_envs": 8}
    assert missing == [
        {**where, "name": "b", "why": "not here"},
        {**where, "name": "c", "why": "RecursionError: too deep"},
    ]


def test_the_script_measures_prints_and_keeps(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    command = [sys.executable, SCRIPT, "--environments", "toywalk", "cartpole", "--sizes", "8", "--forms", "eager"]
    command += ["--rounds", "2", "--seconds", "0.002", "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(out.read_text(encoding="utf-8"))
    assert f"kept in {out}" in done.stdout
    groups = {group["environment"]: group for group in result["groups"]}
    assert {"eager", "Gymnasium SyncVectorEnv"} <= {each["name"] for each in groups["cartpole"]["contenders"]}
    for group in groups.values():
        assert tables.plain(group) in done.stdout
        for each in group["contenders"]:
            assert len(each["windows"]) == 2
            assert tables.rates(each) == pytest.approx(
                [calls * 8 / cpu for calls, _, cpu in each["windows"]]
            )
    assert result["machine"]["packages"]["torch"]
    assert result["arguments"][:2] == ["--environments", "toywalk"]
