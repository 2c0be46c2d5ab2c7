"""Ways to build, run and compare environments in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.conformance.values import convert
from simulacrum.engine.vector import SimulacrumVectorEnv

from . import package

MODES = ("next_step", "same_step", "disabled")


def vector(name: str = "counter", num_envs: int = 4, **kwargs: Any) -> SimulacrumVectorEnv:
    """The batched engine over a package of the kit, without the gate: these tests are about what comes behind it."""
    return SimulacrumVectorEnv(package(name), num_envs, **kwargs)


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, leaf) of everything in dicts, tuples and lists."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}")
    elif isinstance(tree, (tuple, list)):
        for i, value in enumerate(tree):
            yield from leaves(value, f"{path}[{i}]")
    else:
        yield path, tree


def clone(tree: Any) -> Any:
    """A copy that shares nothing with `tree`."""

    def copy(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.clone()
        if isinstance(leaf, np.ndarray):
            return convert_objects(leaf, clone) if leaf.dtype == object else leaf.copy()
        return leaf

    return convert(tree, copy)


def convert_objects(array: np.ndarray, change: Callable[[Any], Any]) -> np.ndarray:
    changed = np.full(array.shape, None, dtype=object)
    for i, item in enumerate(array):
        changed[i] = change(item)
    return changed


def rows(tree: Any, index: Any) -> Any:
    """The rows `index` of every leaf."""
    return convert(tree, lambda leaf: leaf[index])


def timeless(info: dict[str, Any]) -> dict[str, Any]:
    """An info without wall times."""
    if "episode" not in info:
        return info
    return {**info, "episode": {key: value for key, value in info["episode"].items() if key != "t"}}


def assert_same(a: Any, b: Any, what: str = "") -> None:
    """Both trees have the same structure, types, dtypes, shapes and bits."""
    ours, theirs = list(leaves(a)), list(leaves(b))
    assert [path for path, _ in ours] == [path for path, _ in theirs], what
    for (path, x), (_, y) in zip(ours, theirs, strict=False):
        assert same_leaf(x, y), f"{what}{path}: {x!r} is not {y!r}"


def same_leaf(x: Any, y: Any) -> bool:
    if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
        return x.device == y.device and same_leaf(x.detach().cpu().numpy(), y.detach().cpu().numpy())
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        if x.dtype != y.dtype or x.shape != y.shape:
            return False
        if x.dtype == object:
            return all(_all_same(i, j) for i, j in zip(x, y, strict=False))
        return x.tobytes() == y.tobytes()
    return type(x) is type(y) and x == y


def _all_same(x: Any, y: Any) -> bool:
    try:
        assert_same(x, y)
    except AssertionError:
        return False
    return True


class Actor:
    """Random legal actions, the same ones for the same seed, row and step whatever N is."""

    def __init__(self, env: Any, seed: int = 0, row_ids: list[int] | None = None) -> None:
        self.space, self.num_envs, self.seed, self.step = env.single_action_space, env.num_envs, seed, 0
        self.row_ids = list(range(env.num_envs)) if row_ids is None else row_ids

    def one(self, row: int, step: int) -> Any:
        """What row `row` does in step `step`."""
        self.space.seed(self.seed * 1_000_003 + row * 1009 + step)
        return self.space.sample()

    def __call__(self) -> Any:
        single = [self.one(row, self.step) for row in self.row_ids]
        self.step += 1
        if isinstance(single[0], dict):
            return {key: torch.from_numpy(np.stack([each[key] for each in single])) for key in single[0]}
        return torch.from_numpy(np.stack(single))


def advance(env: SimulacrumVectorEnv, action: Any) -> tuple[Any, ...]:
    """One step, in every mode: in DISABLED mode rows that have ended are reset first. Infos come without wall time."""
    if env.autoreset_mode == AutoresetMode.DISABLED and bool(env.state.ended.any()):
        env.reset(options={"reset_mask": env.state.ended.clone()})
    observation, reward, terminated, truncated, info = env.step(action)
    return observation, reward, terminated, truncated, timeless(info)


def play(env: SimulacrumVectorEnv, steps: int, actor: Actor | None = None) -> list[tuple[Any, ...]]:
    """The outputs of `steps` steps, copied at once."""
    actor = Actor(env) if actor is None else actor
    return [clone(advance(env, actor())) for _ in range(steps)]


def poison(tree: Any) -> None:
    """Fill every tensor and array with garbage, in place."""
    for _, leaf in leaves(tree):
        if isinstance(leaf, torch.Tensor):
            leaf.copy_(~leaf if leaf.dtype == torch.bool else torch.full_like(leaf, 77))
        elif isinstance(leaf, np.ndarray) and leaf.dtype == object:
            for item in leaf:
                poison(item)
        elif isinstance(leaf, np.ndarray):
            leaf[...] = ~leaf if leaf.dtype == bool else 77
