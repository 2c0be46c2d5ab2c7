"""training/rllib_ppo.py on a Ray cluster that is already up: two nodes, each with its own scheduler, on one machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

pytest.importorskip("ray.rllib")

import ray
from ray.cluster_utils import Cluster

from simulacrum.contract.package import EnvPackage

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*rllib-single-agent-env-v0:UserWarning"),
]


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """RLlib with a seed turns torch's deterministic algorithms on, for the whole process and for good."""
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def two_nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A node for the script and one env runner, and a node for the other; `RAY_ADDRESS` names the first."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node)
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_env_runners_on_both_nodes(
    script: Callable[[str], ModuleType],
    toywalk: EnvPackage,
    two_nodes: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rllib_ppo = script("rllib_ppo")
    nodes: set[str] = set()
    train = rllib_ppo.train

    def watched(args: Any, algorithm: Any, writer: Any, console: Any) -> Any:
        """Ask the env runners first where they live."""
        found = algorithm.env_runner_group.foreach_env_runner(
            lambda runner: (
                __import__("ray").get_runtime_context().get_node_id(),
                __import__("os").getpid(),
                type(runner.env.unwrapped).__name__,
            ),
            local_env_runner=False,
        )
        nodes.update(node for node, _, _ in found)
        assert os.getpid() not in {pid for _, pid, _ in found}
        assert {kind for _, _, kind in found} == {"SimulacrumVectorEnv"}
        return train(args, algorithm, writer, console)

    monkeypatch.setattr(rllib_ppo, "train", watched)
    small = {"num_envs": 8, "total_steps": 640, "batch": 320, "minibatch": 160, "width": 16, "eval_episodes": 3}
    results = rllib_ppo.main(rllib_ppo.Args(env_id=toywalk.env_id, runs=tmp_path, num_env_runners=2, **small))
    assert len(nodes) == 2
    assert results["curve"][-1][0] >= 640
