"""The adapter in RLlib's own env runners, here and in the processes of a local Ray cluster."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import kit
import numpy as np
import pytest
import torch

pytest.importorskip("ray.rllib")

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.env_to_module import FlattenObservations
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

import simulacrum
from simulacrum.adapters.rllib import RLlibVectorEnv, check_rllib_env, configure_rllib
from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.attest.record import CheckResult, Configuration, Report
from simulacrum.attest.report import write_report
from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import GateError, UsageError

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*rllib-single-agent-env-v0:UserWarning"),
]
LIMIT = 7  # counter's time limit
COUNTER = "simulacrum/counter-v0"


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """RLlib with a seed turns torch's deterministic algorithms on, for the whole process and for good."""
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def registered(tmp_path: Path) -> Iterator[Callable[[str], EnvPackage]]:
    """Copies a package of the kit, writes it a report that lets its parameters through, and registers its folder."""
    before = dict(gym.registry)

    def register(name: str) -> EnvPackage:
        folder = tmp_path / name
        shutil.copytree(kit.FOLDER / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        package = load_package(folder)
        digest = compute_digest(package)
        ranges = {name: (param.field.low, param.field.high) for name, param in package.schema.params.items()}
        report = Report(
            package=package.name,
            env_id=package.env_id,
            full=True,
            started="2026-01-01T00:00:00Z",
            finished="2026-01-01T00:00:00Z",
            subjects=digest.subjects,
            environment=digest.environment,
            whole=digest.whole,
            checks={name: CheckResult("passed") for name in CHECK_NAMES},
            configurations=(Configuration(params=ranges),),
        )
        write_report(package, report)
        simulacrum.register_envs(folder)
        return package

    yield register
    gym.registry.clear()
    gym.registry.update(before)


@pytest.fixture
def counter(registered: Callable[[str], EnvPackage]) -> EnvPackage:
    return registered("counter")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two processes of Ray on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def runners() -> Iterator[Any]:
    """Builds RLlib's env runners of this process, and stops them."""
    made: list[SingleAgentEnvRunner] = []

    def build(config: Any) -> SingleAgentEnvRunner:
        made.append(SingleAgentEnvRunner(config=config))
        return made[-1]

    yield build
    for runner in made:
        runner.stop()


def assert_whole(episodes: list[Any], length: int = LIMIT, *, terminated: bool = False) -> None:
    """Each episode starts at 0, ends at its true last count, and is all of one episode (the mark stays)."""
    for episode in episodes:
        observations = np.stack(episode.get_observations())
        assert observations[:, 0].tolist() == list(range(length + 1))
        assert len(np.unique(observations[:, 1])) == 1
        assert len(episode) == length == episode.get_return()
        assert (episode.is_terminated, episode.is_truncated) == (terminated, not terminated)
        assert episode.get_infos()[-1]["count"] == length


# --- the door ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", [{"autoreset_mode": "same_step"}, {"output": "torch"}, {"vectorization_mode": "sync"}], ids=str
)
def test_it_decides_modes_itself(counter: EnvPackage, given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=f"configure_rllib decides {next(iter(given))} itself"):
        configure_rllib(PPOConfig(), COUNTER, 2, **given)


def test_a_keyword_that_the_environment_lacks_is_refused_at_once(counter: EnvPackage) -> None:
    with pytest.raises(UsageError, match="max_episode_steps"):
        configure_rllib(PPOConfig(), COUNTER, 2, max_episode_step=3)


def test_other_ids_and_other_configs_are_refused(counter: EnvPackage) -> None:
    with pytest.raises(UsageError, match=r"CartPole-v1"):
        configure_rllib(PPOConfig(), "CartPole-v1", 2)
    with pytest.raises(UsageError, match="dict"):
        configure_rllib({}, COUNTER, 2)
    old = PPOConfig().api_stack(enable_rl_module_and_learner=False, enable_env_runner_and_connector_v2=False)
    with pytest.raises(UsageError, match="old API stack"):
        configure_rllib(old, COUNTER, 2)


def test_a_closed_gate_is_told_where_it_is_configured(counter: EnvPackage) -> None:
    (counter.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="counter"):
        configure_rllib(PPOConfig(), COUNTER, 2)


def test_the_config_holds_what_another_process_needs(counter: EnvPackage) -> None:
    config = configure_rllib(PPOConfig(), COUNTER, 5, params={"goal": 3})
    assert config.num_envs_per_env_runner == 5
    assert config.gym_env_vectorize_mode == "vector_entry_point"
    assert config.env_config == {"env_id": COUNTER, "folder": str(counter.folder), "params": {"goal": 3}}
    assert config.env is RLlibVectorEnv


def test_an_installed_environment_needs_no_folder() -> None:
    from simulacrum.adapters.rllib import _folder

    assert _folder("simulacrum/toywalk-v0") is None


def test_single_environments_are_refused(counter: EnvPackage, runners: Any) -> None:
    config = configure_rllib(PPOConfig(), COUNTER, 2).env_runners(gym_env_vectorize_mode="sync")
    with pytest.raises(UsageError, match="vector_entry_point"):
        runners(config)


# --- the check for configs that name an id themselves ------------------------------------------------------


def by_id(check: bool = True, **env_config: Any) -> Any:
    config = PPOConfig().environment(f"simulacrum:{COUNTER}", env_config=env_config)
    config.env_runners(num_envs_per_env_runner=3, gym_env_vectorize_mode="vector_entry_point")
    return config.callbacks(on_environment_created=check_rllib_env) if check else config


@pytest.mark.parametrize("mode", ["same_step", "disabled"])
def test_the_check_refuses_a_mode_that_rllib_misreads(counter: EnvPackage, runners: Any, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'"):
        runners(by_id(autoreset_mode=mode, output="numpy"))


def test_the_check_refuses_tensors(counter: EnvPackage, runners: Any) -> None:
    with pytest.raises(UsageError, match="output='torch'"):
        runners(by_id())


def test_the_check_lets_the_right_mode_and_strangers_through(counter: EnvPackage, runners: Any) -> None:
    assert_whole(runners(by_id(output="numpy")).sample(num_episodes=6, random_actions=True))
    stranger = by_id().environment("CartPole-v1", env_config={}).env_runners(gym_env_vectorize_mode="sync")
    assert runners(stranger).sample(num_episodes=1, random_actions=True)


def test_without_the_check_rllib_takes_the_next_episode_for_the_last_observation(
    counter: EnvPackage, runners: Any
) -> None:
    """Why the mode is refused: should RLlib come to serve SAME_STEP, this fails and the refusal can go."""
    (episode, *_) = runners(by_id(check=False, autoreset_mode="same_step", output="numpy")).sample(
        num_episodes=1, random_actions=True
    )
    assert [float(observation[0]) for observation in episode.get_observations()] == [*range(LIMIT), 0]


# --- episodes ---------------------------------------------------------------------------------------------


def test_episodes_are_whole_and_end_on_their_true_last_observation(counter: EnvPackage, runners: Any) -> None:
    runner = runners(configure_rllib(PPOConfig(), COUNTER, 3))
    episodes = runner.sample(num_episodes=9, random_actions=True)
    assert len(episodes) == 9
    assert_whole(episodes)
    assert len({float(episode.get_observations(0)[1]) for episode in episodes}) == 9


def test_rows_that_end_apart(counter: EnvPackage, runners: Any) -> None:
    runner = runners(configure_rllib(PPOConfig(), COUNTER, 2, params={"goal": [2, 3]}))
    episodes = runner.sample(num_episodes=10, random_actions=True)
    assert {len(episode) for episode in episodes} == {2, 3}
    for length in (2, 3):
        assert_whole([one for one in episodes if len(one) == length], length, terminated=True)


def test_pieces_of_episodes_join(counter: EnvPackage, runners: Any) -> None:
    """By number of steps, as PPO samples: an episode is cut, and goes on where it was in the next sample."""
    runner = runners(configure_rllib(PPOConfig(), COUNTER, 2))
    pieces = [piece for _ in range(8) for piece in runner.sample(num_timesteps=10, random_actions=True)]
    assert sum(len(piece) for piece in pieces) == 80
    whole: dict[str, list[float]] = {}
    for piece in pieces:
        counts = np.stack(piece.get_observations())[:, 0].tolist()
        before = whole.setdefault(piece.id_, [])
        assert not before or before[-1] == counts[0]
        whole[piece.id_] = [*before[:-1], *counts]
    finished = [whole[piece.id_] for piece in pieces if piece.is_done]
    assert len(finished) >= 10
    assert all(counts == list(range(LIMIT + 1)) for counts in finished)


def test_seeds_of_runners_share_no_row(counter: EnvPackage, runners: Any) -> None:
    config = configure_rllib(PPOConfig().debugging(seed=3), COUNTER, 4)
    first, again = (runners(config) for _ in range(2))
    other = SingleAgentEnvRunner(config=config, worker_index=1, num_workers=2)
    marks = []
    for runner in (first, again, other):
        runner.sample(num_timesteps=1, random_actions=True)
        marks.append(runner.env.unwrapped.np_random_seed)
    other.stop()
    assert marks[0] == marks[1] == tuple(3 * 2**20 + row for row in range(4))
    assert not set(marks[0]) & set(marks[2])


@pytest.mark.parametrize("name", ["glider", "dials", "rivals"])
def test_a_module_of_rllib_acts_in_other_spaces(
    registered: Callable[[str], EnvPackage], runners: Any, name: str
) -> None:
    """Box actions and Dict observations; MultiDiscrete both; MultiDiscrete actions and integer observations."""
    config = configure_rllib(PPOConfig(), registered(name).env_id, 3)
    config.env_runners(env_to_module_connector=lambda env, spaces=None, device=None: FlattenObservations())
    runner = runners(config)
    episodes = runner.sample(num_timesteps=60)  # the environment refuses an illegal action by an error
    assert 60 <= sum(len(episode) for episode in episodes) < 63
    flat = gym.spaces.utils.flatdim(runner.env.single_observation_space)
    assert all(episode.get_observations(0).shape == (flat,) for episode in episodes)


# --- other processes ----------------------------------------------------------------------------------------


def remote(num_envs: int = 3) -> Any:
    config = configure_rllib(PPOConfig().debugging(seed=1), COUNTER, num_envs)
    return config.env_runners(num_env_runners=2).learners(num_learners=0)


@pytest.mark.slow
def test_two_env_runners_in_other_processes(counter: EnvPackage, cluster: None) -> None:
    algorithm = remote().build_algo()
    try:
        found = algorithm.env_runner_group.foreach_env_runner(
            lambda runner: (
                __import__("os").getpid(),
                runner.sample(num_episodes=6, random_actions=True),
                runner.env.unwrapped.np_random_seed,
            ),
            local_env_runner=False,
        )
    finally:
        algorithm.stop()
    assert len({os.getpid(), *(pid for pid, _, _ in found)}) == 3
    for _, episodes, _ in found:
        assert len(episodes) == 6
        assert_whole(episodes)
    assert len({seed for _, _, seeds in found for seed in seeds}) == 6


@pytest.mark.slow
def test_the_gate_holds_in_the_processes_of_env_runners(counter: EnvPackage, cluster: None) -> None:
    config = remote().fault_tolerance(restart_failed_env_runners=False)
    (counter.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="counter-v0 is not validated as it stands") as told:
        config.build_algo()
    assert f"simulacrum.validate {counter.folder}" in str(told.value)  # how to mend it
