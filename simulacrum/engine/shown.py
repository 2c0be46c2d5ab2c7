"""What an env gives back: Gymnasium's five values, as tensors, or as the NumPy arrays that its own code expects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from simulacrum.engine.output import masked, rows_to_objects, to_numpy
from simulacrum.engine.rows import StepOut


class Shown(NamedTuple):
    """The values of one step. In `info`, tensors `[N, ...]`; what ends an episode comes with its `_key` mask."""

    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]


def shown_by(out: StepOut, episode: dict[str, torch.Tensor] | None) -> Shown:
    """The values of a pure step, `episode` being the statistics of the episodes that ended in it."""
    info: dict[str, Any] = dict(out.info)
    if out.action_mask is not None:
        info["action_mask"] = out.action_mask
    if out.reset_rows is not None:
        info["autoreset"] = out.reset_rows
    if out.final_observation is not None:
        info["final_obs"], info["_final_obs"] = out.final_observation, out.ended
        info["final_info"], info["_final_info"] = out.final_info, out.ended.clone()
    if episode is not None:
        info["episode"], info["_episode"] = episode, out.ended.clone()
    return Shown(out.observation, out.reward, out.terminated, out.truncated, info)


def on_host(shown: Shown) -> Shown:
    """The values as NumPy arrays, with Gymnasium's conventions: what ends an episode is there when one ended."""
    info: dict[str, Any] = dict(shown.info)
    final, episode = info.pop("final_obs", None), info.pop("episode", None)
    final_info = info.pop("final_info", None)
    masks = [info.pop(key, None) for key in ("_final_obs", "_final_info", "_episode")]
    info = to_numpy(info)
    done = to_numpy(next((mask for mask in masks if mask is not None), None))
    if done is not None and done.any():
        if final is not None:
            info["final_obs"], info["_final_obs"] = rows_to_objects(to_numpy(final), done), done.copy()
            info["final_info"], info["_final_info"] = masked(to_numpy(final_info), done), done.copy()
        if episode is not None:
            info["episode"], info["_episode"] = to_numpy(episode), done.copy()
    observation, reward, terminated, truncated = map(to_numpy, shown[:4])
    return Shown(observation, reward, terminated, truncated, info)


class Assembly:
    """Puts a flat tuple of tensors, named as the native form names them, into the five values.

    Args:
        names: "out.observation", "out.info.episode.r", ... in the order of the tensors.
        leave_out: keys of the info to drop.
    """

    def __init__(self, names: Sequence[str], leave_out: Sequence[str] = ()) -> None:
        paths = [tuple(name.split(".")[1:]) for name in names]
        self.observation = self._part(paths, "observation")
        self.first = [paths.index((key,)) if (key,) in paths else None for key in ("reward", "terminated", "truncated")]
        self.places: dict[str, int | list[tuple[str, int]]] = {}  # of an info, in the order of the names
        for number, path in enumerate(paths):
            if path[0] != "info" or path[1] in leave_out:
                continue
            if path[1] == "_final_info" and "final_info" not in leave_out:
                self.places.setdefault("final_info", [])  # an info without fields has no tensors
            if len(path) == 2:
                self.places[path[1]] = number
            else:
                parts = self.places.setdefault(path[1], [])
                assert isinstance(parts, list), "a key is a tensor or a dict of them"
                parts.append((path[2], number))
        self.nested = [key for key, where in self.places.items() if isinstance(where, list)]

    def _part(self, paths: Sequence[tuple[str, ...]], key: str) -> int | list[tuple[str, int]]:
        if (key,) in paths:
            return paths.index((key,))
        return [(path[1], number) for number, path in enumerate(paths) if path[0] == key]

    def start(self, tensors: Sequence[torch.Tensor]) -> tuple[Any, dict[str, Any]]:
        """(observation, info)."""
        where = self.observation
        info: dict[str, Any] = {
            key: tensors[place] if isinstance(place, int) else {part: tensors[number] for part, number in place}
            for key, place in self.places.items()
        }
        if isinstance(where, int):
            return tensors[where], info
        return {key: tensors[number] for key, number in where}, info

    def again(self, shown: Shown) -> Shown:
        """The same tensors with dicts of their own: callers and wrappers add keys to an info."""
        info = shown.info.copy()
        for key in self.nested:
            info[key] = info[key].copy()
        observation = shown.observation
        if type(observation) is dict:
            observation = observation.copy()
        return Shown(observation, shown.reward, shown.terminated, shown.truncated, info)

    def step(self, tensors: Sequence[torch.Tensor]) -> Shown:
        """The five values."""
        observation, info = self.start(tensors)
        reward, terminated, truncated = self.first
        # What a step gives holds all three; only that of a reset may lack them.
        return Shown(observation, tensors[reward], tensors[terminated], tensors[truncated], info)  # type: ignore[index]
