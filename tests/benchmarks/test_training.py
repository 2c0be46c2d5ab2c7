"""tests/benchmarks/training.py: a trainer trains when told to, ratios are of the same round, clones may be missing."""

from __future__ import annotations

from pathlib import Path

import pytest

import simulacrum
import training
from simulacrum.errors import GateError

TINY = {"rows": 2, "steps": 16, "minibatches": 2, "epochs": 1, "window": 1}


def test_a_trainer_trains_a_window_when_told_to() -> None:
    trainer = training.Trainer("sb3", {**TINY, "window": 3})
    try:
        assert trainer.about["version"].startswith("stable-baselines3")
        first, second = trainer.window(), trainer.window()
    finally:
        trainer.close()
    assert first["steps"] == second["steps"] == 3 * 2 * 16
    assert second["cpu"] > 0
    assert trainer.process.returncode == 0


@pytest.mark.slow
def test_ours_says_where_its_time_went() -> None:
    try:
        simulacrum.require_fresh_report("cartpole")
    except GateError as error:
        pytest.skip(f"the gate of cartpole is closed: {error.args[0]}")
    trainer = training.Trainer("ours", {**TINY, "width": 8})
    try:
        window = trainer.window()
    finally:
        trainer.close()
    assert window["steps"] == 32
    assert set(window["parts"]) == {"environment", "inference", "learning"}
    assert 0 < sum(window["parts"].values()) < window["cpu"]


def test_a_peer_without_a_clone_is_left_out_with_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    results = training.compare(["PureJaxRL, 2048 rows", "CleanRL, 64 rows"], {"purejaxrl": None, "cleanrl": None}, 1)
    assert results["trainers"] == results["ratios"] == {}
    told = capsys.readouterr().out
    assert "--purejaxrl DIR" in told
    assert "--cleanrl DIR" in told


def test_ratios_are_of_the_same_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is ten times slower in one round slows both, and no ratio sees it."""

    class Told:
        def __init__(self, peer: str, settings: dict[str, object]) -> None:
            self.about, self.fast, self.count = {"version": peer, "ready": 1.0}, peer == "ours", 0

        def window(self) -> dict[str, float]:
            self.count += 1
            slow = 10 if self.count == 2 else 1
            return {"steps": 1000, "cpu": slow * (1 if self.fast else 4), "wall": 100.0}

        def close(self) -> None:
            pass

    monkeypatch.setattr(training, "Trainer", Told)
    monkeypatch.setattr(training.venvs, "TRAINERS", {})
    names = ["ppo.py, 64 rows", "CleanRL, 64 rows"]
    results = training.compare(names, {"cleanrl": "here"}, 3)
    assert results["ratios"] == {"ppo.py, 64 rows / CleanRL, 64 rows": 4.0}
    lines = training.table(results).splitlines()
    assert "| ppo.py, 64 rows | 64 x 128, 4 x 4 | 1,000 | 10 |" in lines
    assert lines[-1] == "| ppo.py, 64 rows / CleanRL, 64 rows | 4.00 |"


def test_the_shares_are_drawn(tmp_path: Path) -> None:
    shares = {"64": {"environment": 0.02, "inference": 0.1, "learning": 0.8, "the rest": 0.08}}
    training.draw(shares, tmp_path / "shares.png")
    assert (tmp_path / "shares.png").read_bytes().startswith(b"\x89PNG")
