"""Episodes written for Minari, read back by Minari."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

pytest.importorskip("minari")

import minari

import simulacrum
from simulacrum.adapters.minari import export_minari, played
from simulacrum.contract.package import load_package
from simulacrum.errors import GateError, UsageError

ROOT = Path(__file__).parents[2]
LIMIT = 7  # counter's time limit
ABOUT = {"algorithm_name": "test", "author": "nobody", "author_email": "@", "code_permalink": "-", "description": "-"}
Vector = Callable[..., Any]


@pytest.fixture(autouse=True)
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


@pytest.fixture
def counter_id(counter: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """counter's id, with a gate that is open: what the dataset holds is asked here, not who may write one."""
    from simulacrum.adapters import checks

    def ungated(env_id: str, num_envs: int, **kwargs: Any) -> Any:
        from simulacrum.engine.vector import SimulacrumVectorEnv

        return SimulacrumVectorEnv(counter, num_envs, **{key: kwargs[key] for key in kwargs if "vector" not in key})

    simulacrum.register_envs(counter.folder)
    monkeypatch.setattr(checks.gym, "make_vec", ungated)
    monkeypatch.setattr(simulacrum, "require_fresh_report", lambda package: package)
    monkeypatch.setattr(simulacrum, "provenance", lambda state: {"digest": "d", "env_id": state.env_id})
    yield "simulacrum/counter-v0"
    del gym.registry["simulacrum/counter-v0"]


# --- the buffers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_mode_that_cannot_be_served_is_refused_by_name(vector: Vector, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'"):
        next(played(vector(autoreset_mode=mode), None, [0]))


def test_an_episode_has_its_first_and_its_last_observation(vector: Vector) -> None:
    env = vector(3, params={"goal": [2, 3, 1000]})
    two, three, cut = played(env, None, [5, 6, 7])
    for buffer, length in ((two, 2), (three, 3), (cut, LIMIT)):
        assert len(buffer) == length
        assert buffer.observations[:, 0].tolist() == list(range(length + 1))
        assert len(set(buffer.observations[:, 1])) == 1  # one episode's mark
        assert buffer.infos["count"].tolist() == list(range(length + 1))
        assert buffer.rewards.tolist() == [1] * length
        assert buffer.terminations.tolist() == [False] * (length - 1) + [length < LIMIT]
        assert buffer.truncations.tolist() == [False] * (length - 1) + [length == LIMIT]
        assert (buffer.observations.dtype, buffer.rewards.dtype) == (np.float32, np.float32)
    assert [buffer.seed for buffer in (two, three, cut)] == [5, 6, 7]


def test_episodes_are_the_same_in_any_number_of_rows(vector: Vector) -> None:
    """Forager, by a policy that depends on what it sees."""
    package = simulacrum.load_package("forager")

    def policy(observation: torch.Tensor) -> torch.Tensor:
        return observation.sum(-1).to(torch.int64) % 4

    one, many = (list(played(vector(rows, package), policy, range(40, 47))) for rows in (1, 4))
    assert [buffer.seed for buffer in many] == list(range(40, 47))
    for mine, other in zip(one, many, strict=True):
        for name in ("observations", "actions", "rewards", "terminations", "truncations"):
            assert getattr(mine, name).tobytes() == getattr(other, name).tobytes()


# --- the dataset ----------------------------------------------------------------------------------------------------


def test_minari_reads_back_what_was_written(counter_id: str) -> None:
    export_minari(counter_id, "counter/random-v0", episodes=10, seed=100, num_envs=4, about=ABOUT)
    assert list(minari.list_local_datasets()) == ["counter/random-v0"]
    dataset = minari.load_dataset("counter/random-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (10, 10 * LIMIT)
    assert json.loads(dataset.storage.metadata["simulacrum"]) == {"digest": "d", "env_id": counter_id}
    marks = set()
    for number, episode in enumerate(dataset.iterate_episodes()):
        assert episode.observations[:, 0].tolist() == list(range(LIMIT + 1))
        assert episode.actions.shape == episode.rewards.shape == (LIMIT,)
        assert episode.terminations.tolist() == [False] * LIMIT
        assert episode.truncations.tolist() == [False] * (LIMIT - 1) + [True]
        assert episode.infos["count"].tolist() == list(range(LIMIT + 1))
        marks.add(float(episode.observations[0, 1]))
        metadata = next(iter(dataset.storage.get_episode_metadata([number])))
        assert metadata["seed"] == 100 + number
    assert len(marks) == 10


def test_the_readable_twin_plays_the_dataset_again(counter_id: str) -> None:
    more = {"params": {"goal": 5, "spread": 1}, "max_episode_steps": 4}
    dataset = export_minari(counter_id, "counter/short-v0", episodes=6, seed=3, num_envs=4, about=ABOUT, **more)
    env = dataset.recover_environment()
    ends = set()
    for number, episode in enumerate(dataset.iterate_episodes()):
        metadata = next(iter(dataset.storage.get_episode_metadata([number])))
        observation, _ = env.reset(seed=metadata["seed"])
        assert observation.tobytes() == episode.observations[0].tobytes()
        for step, action in enumerate(episode.actions):
            observation, reward, terminated, truncated, _ = env.step(int(action))
            assert observation.tobytes() == episode.observations[step + 1].tobytes()
            assert (reward, terminated, truncated) == (
                episode.rewards[step],
                episode.terminations[step],
                episode.truncations[step],
            )
        assert terminated or truncated
        ends.add((bool(terminated), bool(truncated)))
    assert len(ends) > 1  # rules and clock both ended some


def test_a_continuous_policy(vector: Vector) -> None:
    package = load_package(ROOT / "tests" / "training" / "data" / "aim")
    (buffer,) = played(vector(1, package), lambda observation: observation, [1])
    assert buffer.actions.tobytes() == buffer.observations[:-1].tobytes()
    assert buffer.rewards.tolist() == [0] * 5  # it hits each time


# --- the door -------------------------------------------------------------------------------------------------------


def test_what_cannot_be_written_is_refused(counter_id: str) -> None:
    export_minari(counter_id, "counter/some-v0", episodes=1, about=ABOUT)
    with pytest.raises(UsageError, match="minari delete counter/some-v0"):
        export_minari(counter_id, "counter/some-v0", episodes=1, about=ABOUT)
    with pytest.raises(UsageError, match="version at its end"):
        export_minari(counter_id, "counter/some", episodes=1, about=ABOUT)
    with pytest.raises(UsageError, match="no episodes"):
        export_minari(counter_id, "counter/none-v0", episodes=0, about=ABOUT)
    with pytest.raises(UsageError, match="export_minari decides autoreset_mode itself"):
        export_minari(counter_id, "counter/none-v0", autoreset_mode="disabled")
    assert list(minari.list_local_datasets()) == ["counter/some-v0"]


def test_export_minari_goes_through_the_gate(counter: Any) -> None:
    simulacrum.register_envs(counter.folder)
    try:
        with pytest.raises(GateError, match="counter"):
            export_minari("simulacrum/counter-v0", "counter/some-v0")
    finally:
        del gym.registry["simulacrum/counter-v0"]
    assert not minari.list_local_datasets()
