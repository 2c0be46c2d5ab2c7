"""training/collect_minari.py at a small size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("minari")

import minari

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

pytestmark = pytest.mark.filterwarnings("ignore:`(author|author_email|code_permalink)` is set to None:UserWarning")


@pytest.fixture
def collect(script: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return script("collect_minari")


def test_random_episodes_name_their_environment(collect: ModuleType, toywalk: EnvPackage) -> None:
    told = collect.main(collect.Args(env_id="simulacrum/toywalk-v0", episodes=20, num_envs=8))
    dataset = minari.load_dataset("toywalk/random-v0")
    assert (told["dataset"], told["episodes"], told["steps"]) == ("toywalk/random-v0", 20, dataset.total_steps)
    noted = json.loads(dataset.storage.metadata["simulacrum"])
    assert noted["env_id"] == "simulacrum/toywalk-v0"
    assert noted["digest"] == told["digest"]
    for episode in dataset.iterate_episodes():
        assert len(episode.observations) == len(episode.rewards) + 1
        assert not episode.terminations[:-1].any()
        assert episode.terminations[-1] or episode.truncations[-1]
        assert (episode.rewards[-1] == 10) == episode.terminations[-1]  # toywalk's goal


def test_an_agent_of_ppo_plays(
    collect: ModuleType, script: Callable[[str], ModuleType], toywalk: EnvPackage, tmp_path: Path
) -> None:
    ppo = script("ppo")
    small = {"num_envs": 32, "num_steps": 32, "minibatch": 256, "width": 16, "eval_episodes": 3, "eval_seeds": 2}
    more = {"total_steps": 30 * 1024, "learning_rate": 1e-2, "compile_policy": False}
    args = ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path, **small, **more)
    run = Path(ppo.main(args)["folder"])
    common = {"env_id": "simulacrum/toywalk-v0", "episodes": 30, "num_envs": 16, "run": run}
    best = collect.main(collect.Args(**common))
    mixed = collect.main(collect.Args(dataset="toywalk/mixed-v0", explore=0.6, **common))
    assert best["dataset"] == "toywalk/ppo-v0"
    assert best["return"] > 2  # 5 is about what always walking right gives
    assert mixed["return"] < best["return"]
    with pytest.raises(SystemExit, match=r"not a folder of a run of ppo\.py"):
        collect.main(collect.Args(**{**common, "run": tmp_path}))


def test_a_closed_gate_stops_it(collect: ModuleType, toywalk: EnvPackage) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        collect.main(collect.Args(env_id="simulacrum/toywalk-v0"))
    assert not minari.list_local_datasets()
