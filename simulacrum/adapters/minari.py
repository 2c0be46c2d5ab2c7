"""Episodes of a `SimulacrumVectorEnv` as a dataset of Minari, for learning offline.

Every episode is the first one of its own seed. So the seed and the actions in the dataset are all that it takes to play
an episode again, in the readable twin too, and short episodes are not preferred to long ones.
"""

# Minari is an extra, and not there where the types are checked: the checker takes this file for it.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym
import minari
import torch
from minari.data_collector import EpisodeBuffer

import simulacrum
from simulacrum.adapters.checks import built, checked
from simulacrum.engine.output import to_numpy
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import UsageError

Policy = Callable[[Any], Any]  # observations [N, ...] as tensors (a dict for Dict spaces) to actions [N, ...]


def export_minari(
    env_id: str,
    dataset_id: str,
    policy: Policy | None = None,
    *,
    episodes: int = 100,
    seed: int = 0,
    num_envs: int = 256,
    about: dict[str, Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Play episodes on the batch and write them as the dataset `dataset_id` on this machine's disk.

    The dataset names the validated environment: its metadata have "simulacrum", JSON with the digest of the report that
    opened the gate and the hashes behind it. `recover_environment()` gives the readable twin.

    Args:
        env_id: a Gymnasium id, such as "simulacrum/forager-v0".
        dataset_id: Minari's name for it, "forager/greedy-v0".
        policy: observations `[N, ...]` to actions `[N, ...]`; None acts at random in the action space.
        episodes: how many; episode i is the first of seed `seed + i`.
        num_envs: rows to play in at a time.
        about: more for `minari.create_dataset_from_buffers`: `algorithm_name`, `author`, `description`, ...
        kwargs: more for the environment: `device`, `compile`, `params`, `max_episode_steps`.

    Returns:
        the `minari.MinariDataset`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: no episodes, an argument that this function decides itself, or a dataset of that name that is there.
    """
    _check_name(dataset_id)
    rows = max(1, min(num_envs, episodes))
    env = built("export_minari", env_id, rows, kwargs, mode="same_step")
    state = simulacrum.require_fresh_report(env.package)
    reference = {key: kwargs[key] for key in ("params", "max_episode_steps") if key in kwargs}
    spec = gym.make(env_id, **reference).spec
    try:
        buffers = list(played(env, policy, range(seed, seed + episodes)))
    finally:
        env.close()
    # Images as they are: by default Minari stores them as JPEG, with other bytes than the environment gave.
    more: dict[str, Any] = {"eval_env": spec, "jpeg_encoding": False, **(about or {})}
    dataset = minari.create_dataset_from_buffers(dataset_id, buffers, env=spec, **more)
    dataset.storage.update_metadata({"simulacrum": json.dumps(simulacrum.provenance(state))})
    return dataset


def played(
    env: gym.vector.VectorEnv[Any, Any, Any], policy: Policy | None, seeds: Sequence[int]
) -> Iterator[EpisodeBuffer]:
    """The first episode of each seed, N at a time, as Minari's buffers.

    A buffer of an episode of T steps has T + 1 observations and infos (the environment's own metrics), T actions,
    rewards float32, terminations and truncations, and its seed.

    Args:
        env: the vector environment, in SAME_STEP mode and with torch output, and not wrapped.
        policy: as `export_minari` takes it.
        seeds: one for each episode.
    """
    checked(env, "played", maker="export_minari", mode="same_step", why="episodes are read in the step that ends them")
    if not seeds:
        raise UsageError("no episodes to play", expected="at least one", where="export_minari(episodes=)")
    assert isinstance(env, SimulacrumVectorEnv)
    env.action_space.seed(int(seeds[0]))
    for start in range(0, len(seeds), env.num_envs):
        some = list(seeds[start : start + env.num_envs])
        # Rows without an episode to play get seeds as well; what they do is not looked at.
        filled = some + [max(some) + 1 + extra for extra in range(env.num_envs - len(some))]
        yield from _first_episodes(env, policy, filled)[: len(some)]


def _first_episodes(env: SimulacrumVectorEnv, policy: Policy | None, seeds: list[int]) -> list[EpisodeBuffer]:
    observation, info = env.reset(seed=seeds)
    names = [name for name in info if name != "action_mask"]
    # What each step saw [T + 1, N, ...] and what it did [T, N, ...]. A row whose episode is over goes on, unlooked at.
    saw: list[Any] = [{"observation": observation, "info": {name: info[name] for name in names}}]
    did: list[Any] = []
    lengths = torch.zeros(env.num_envs, dtype=torch.int64, device=env.device)
    while not bool(lengths.all()):
        action = env.action_space.sample() if policy is None else policy(observation)
        given = _each(lambda part: torch.as_tensor(part).clone(), action)  # a policy may use its memory again
        observation, reward, terminated, truncated, info = env.step(action)
        reward = reward.to(torch.float32)
        did.append({"action": given, "reward": reward, "terminated": terminated, "truncated": truncated})
        new = (terminated | truncated) & (lengths == 0)
        lengths = torch.where(new, len(did), lengths)
        # The last of an episode, in the rows that ended; there the step shows the first of the next one.
        last = {"observation": info["final_obs"], "info": info["final_info"]}
        shown = {"observation": observation, "info": {name: info[name] for name in names}}
        saw.append(_where(new, last, shown))
    saw_all, did_all = (to_numpy(_each(lambda *steps: torch.stack(steps), *steps)) for steps in (saw, did))
    return [_buffer(saw_all, did_all, row, length, seeds[row]) for row, length in enumerate(lengths.tolist())]


def _buffer(saw: Any, did: Any, row: int, length: int, seed: int) -> EpisodeBuffer:
    seen = _each(lambda part: part[: length + 1, row].copy(), saw)
    done = _each(lambda part: part[:length, row].copy(), did)
    return EpisodeBuffer(
        seed=seed,
        observations=seen["observation"],
        actions=done["action"],
        rewards=done["reward"],
        terminations=done["terminated"],
        truncations=done["truncated"],
        infos=seen["info"],
    )


def _where(rows: torch.Tensor, these: Any, others: Any) -> Any:
    def chosen(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return torch.where(rows.reshape(-1, *[1] * (one.dim() - 1)), one, other)

    return _each(chosen, these, others)


def _each(function: Callable[..., Any], *trees: Any) -> Any:
    """The function of what stands at the same place in all trees, dicts being kept."""
    if isinstance(trees[0], dict):
        return {key: _each(function, *(tree[key] for tree in trees)) for key in trees[0]}
    return function(*trees)


def _check_name(dataset_id: str) -> None:
    if not re.fullmatch(r"[-\w/]+-v\d+", dataset_id):
        raise UsageError(
            "not a name of a dataset",
            expected="a name with a version at its end, such as 'forager/greedy-v0'",
            found=dataset_id,
            where="export_minari(env_id, dataset_id)",
        )
    if dataset_id in minari.list_local_datasets():
        raise UsageError(
            "there is a dataset of this name, and Minari does not write over it",
            expected="a new name or version",
            found=dataset_id,
            where="export_minari(env_id, dataset_id)",
            next_step=f"minari delete {dataset_id}",
        )
