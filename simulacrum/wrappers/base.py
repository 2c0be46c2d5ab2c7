"""What all torch wrappers share: the check that tensors come, row masks, attributes handed through, saved state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from gymnasium.vector import AutoresetMode, VectorWrapper

from simulacrum.engine.modes import check_options
from simulacrum.errors import StateError, UsageError

if TYPE_CHECKING:
    _Base = VectorWrapper[Any, Any, Any, Any, Any]
else:
    _Base = VectorWrapper  # generic only in newer versions of Gymnasium


class TorchVectorWrapper(_Base):
    """Base of the torch wrappers.

    Names that the wrapper does not have are looked up in the env below (Gymnasium's vector wrappers do not do that),
    so `env.device`, `env.fork`, `env.call(...)` work through any number of them.

    Args:
        env: a VectorEnv that gives torch tensors and states its autoreset mode in its metadata.

    Raises:
        UsageError: the env gives NumPy arrays, or states no mode.
    """

    _saved: tuple[str, ...] = ()  # names of the attributes that state_dict keeps

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        if getattr(env, "output", "torch") != "torch":
            raise UsageError(
                f"{type(self).__name__} works on torch tensors", expected="an env with output='torch'",
                found="output='numpy'", next_step=f"use gymnasium.wrappers.vector.{type(self).__name__} there",
            )
        mode = env.metadata.get("autoreset_mode")
        if not isinstance(mode, AutoresetMode):
            raise UsageError("the env does not state its autoreset mode", expected="metadata['autoreset_mode']",
                             found=repr(mode), where=repr(env))
        self.mode = mode
        # Rows whose episode ended in the last step: in NEXT_STEP the next step only resets them.
        self.ended: torch.Tensor | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, then `restart(rows, observation)` with the rows that begin anew."""
        observation, info = self.env.reset(seed=seed, options=options)
        device = _any_tensor(observation).device
        mask = check_options(options, self.num_envs)
        rows = torch.ones(self.num_envs, dtype=torch.bool) if mask is None else mask
        rows = rows.to(device)
        none = torch.zeros_like(rows)
        self.ended = none if self.ended is None else self.ended & ~rows
        return self.restart(rows, observation), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step, then `after` with the rows that were reset in this step (NEXT_STEP) left out of statistics."""
        observation, reward, terminated, truncated, info = self.env.step(actions)
        ended = terminated | truncated
        resetting = torch.zeros_like(ended)
        if self.mode == AutoresetMode.NEXT_STEP and self.ended is not None:
            resetting = self.ended
        self.ended = ended
        return self.after(observation, reward, terminated, truncated, info, resetting)

    def restart(self, rows: torch.Tensor, observation: Any) -> Any:
        """Begin anew in the rows of the mask `[N]`; returns the observation to show."""
        return observation

    def after(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any], resetting: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What a step shows. `resetting` bool `[N]`: rows that this step only reset."""
        return observation, reward, terminated, truncated, info

    def state_dict(self) -> dict[str, Any]:
        """The env's state and this wrapper's, for an exact resume."""
        own = {name: _copied(getattr(self, name)) for name in (*self._saved, "ended")}
        inner: Any = self.env
        return {"env": inner.state_dict(), "wrapper": type(self).__name__, "own": own}

    def load_state_dict(self, data: Mapping[str, Any]) -> None:
        """Restore what `state_dict` gave. `StateError` when it is of another wrapper."""
        if not isinstance(data, Mapping) or data.get("wrapper") != type(self).__name__:
            found = data.get("wrapper") if isinstance(data, Mapping) else type(data).__name__
            raise StateError("the state_dict is of another wrapper", expected=type(self).__name__, found=found,
                             where="load_state_dict", next_step="wrap the env as it was wrapped when it was saved")
        inner: Any = self.env
        inner.load_state_dict(data["env"])
        for name in (*self._saved, "ended"):
            setattr(self, name, _copied(data["own"][name]))


def row_mask(rows: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The mask `[N]` shaped to broadcast against `like` `[N, ...]`."""
    return rows.reshape(-1, *([1] * (like.dim() - 1)))


def _any_tensor(tree: Any) -> torch.Tensor:
    while isinstance(tree, dict):
        tree = next(iter(tree.values()))
    if not isinstance(tree, torch.Tensor):
        raise UsageError("the env gives no tensors", expected="torch tensors", found=type(tree).__name__)
    return tree


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value
