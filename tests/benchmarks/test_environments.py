"""`make bench-environments`, tiny: each environment meets its original, and the page's file holds what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import environments
import gymnasium as gym
import pytest
import torch
from suite import contender, originals, workers

from simulacrum.contract.package import load_package


@pytest.mark.parametrize(
    ("name", "theirs"), [("cartpole", "CartPole-v1"), ("pendulum", "Pendulum-v1"), ("toywalk", None), ("forager", None)]
)
def test_an_environment_names_its_original_by_its_id(name: str, theirs: str | None) -> None:
    assert originals.gymnasium_id(load_package(name)) == theirs


def test_originals_with_other_names_exist() -> None:
    pytest.importorskip("minigrid")
    for theirs in originals.NAMES.values():
        assert theirs in gym.registry


def test_an_original_that_registers_by_a_call_is_found_again_and_again() -> None:
    pytest.importorskip("minatar")
    breakout = load_package("minatar_breakout")
    assert [originals.gymnasium_id(breakout) for _ in range(2)] == ["MinAtar/Breakout-v1"] * 2  # a warning is an error


def test_gymnax_has_names_of_its_own_for_minatar() -> None:
    assert originals.gymnax_id("MinAtar/Breakout-v1") == "Breakout-MinAtar"
    assert originals.gymnax_id("CartPole-v1") == "CartPole-v1"


def test_actions_are_drawn_for_the_space() -> None:
    choices = contender.batches_of(gym.spaces.Discrete(3, start=2), 5)
    assert {int(value) for batch in choices for value in batch} == {2, 3, 4}
    (low, high), box = (-2.0, 6.0), gym.spaces.Box(-2.0, 6.0, (2,))
    numbers = torch.stack(contender.batches_of(box, 5))
    assert numbers.shape == (contender.BATCHES, 5, 2)
    assert numbers.dtype == torch.float32
    assert low <= float(numbers.min()) < 0.0
    assert 4.0 < float(numbers.max()) <= high
    with pytest.raises(contender.Unavailable, match="MultiBinary"):
        contender.batches_of(gym.spaces.MultiBinary(3), 5)


def test_what_was_measured_is_kept_for_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["pendulum", "toywalk", "--sizes", "2", "128", "--forms", "eager", "--rounds", "2", "--seconds", "0.002"]
    assert environments.main([*given, "--out", str(tmp_path)]) == 0
    assert "pendulum, N = 128" in capsys.readouterr().out
    kept = json.loads((tmp_path / "pendulum-throughput.json").read_text())
    rows = {row["name"]: row for row in kept["rows"]}
    assert list(rows) == ["eager", "Gymnasium SyncVectorEnv"]
    assert rows["Gymnasium SyncVectorEnv"]["rates"].keys() == {"2"}  # with more rows it costs the same
    assert rows["eager"]["rates"].keys() == {"2", "128"}
    assert all(rate > 0 for row in rows.values() for rate in row["rates"].values())
    alone = json.loads((tmp_path / "toywalk-throughput.json").read_text())
    assert [row["name"] for row in alone["rows"]] == ["eager"]


def test_ratios_are_those_of_the_native_form() -> None:
    def group(name: str, cpu: float) -> dict[str, object]:
        about = {"name": name, "kind": "peer", "version": "1", "settings": "", "steps_per_call": 10}
        return {**about, "windows": [[100, 1.0, cpu]] * 3, "steps_per_second": {"cpu": {"median": 1000 / cpu}}}

    both = {"num_envs": 10, "load": [[3.5, 1.0, 1.0], []], "contenders": [group("native", 0.5), group("Other", 20.0)]}
    made = environments.body(load_package("toywalk"), [both])
    assert made["load"] == 3.5
    native, other = made["rows"]
    assert (native["rates"], native["native_is"]) == ({"10": 2000.0}, {})
    assert (other["rates"], other["native_is"]) == ({"10": 50.0}, {"10": 40.0})


def test_a_peer_is_asked_for_the_environment_by_name() -> None:
    asked: list[dict[str, object]] = []

    class Asked:
        name = "stub"

        def ask(self, do: str, **more: object) -> dict[str, object]:
            asked.append({"do": do, **more})
            return {"version": "1", "settings": "", "steps_per_call": 3}

    workers.contender(Asked(), 3, environment="Acrobot-v1")  # type: ignore[arg-type]  # all that it asks of a Worker
    assert asked == [{"do": "build", "num_envs": 3, "environment": "Acrobot-v1"}]


def test_an_unknown_environment_is_refused() -> None:
    with pytest.raises(SystemExit, match="no environment chess"):
        environments.packages(["chess"])
