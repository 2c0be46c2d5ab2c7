"""TorchRL's `EnvBase` over a `SimulacrumVectorEnv`, torch from end to end.

TorchRL resets the rows that ended itself, by a mask, and keeps the last observation of an episode under "next". So this
adapter serves DISABLED and nothing else. The tensors that a step returns go into the TensorDict as they are.
"""

# TorchRL is an extra, and not there where the types are checked; its classes are then unknown to the checker.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import Any, cast

import gymnasium as gym
import torch
from gymnasium import spaces
from tensordict import TensorDict
from torchrl.data import Binary, Bounded, Categorical, Composite, MultiCategorical, MultiOneHot, OneHot, Unbounded
from torchrl.envs import EnvBase

from simulacrum.adapters.checks import built, checked
from simulacrum.errors import UsageError

_OWN_KEYS = ("action", "action_mask", "reward", "done", "terminated", "truncated", "info", "next", "_reset")


def make_torchrl(
    env_id: str,
    num_envs: int = 1,
    *,
    categorical_action_encoding: bool = True,
    metrics: bool = False,
    **kwargs: Any,
) -> TorchRLEnv:
    """The environment `env_id` for TorchRL, built by `gymnasium.make_vec` and so behind the gate.

    Args:
        env_id: a Gymnasium id, such as "simulacrum/forager-v0".
        num_envs: rows N.
        categorical_action_encoding, metrics: as `TorchRLEnv` takes them.
        kwargs: more for the environment: `device`, `compile`, `params`, `max_episode_steps`, `render_mode`, `threads`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: an argument that this function decides itself (autoreset mode, output).
    """
    env = built("make_torchrl", env_id, num_envs, kwargs, mode="disabled")
    return TorchRLEnv(env, categorical_action_encoding=categorical_action_encoding, metrics=metrics)


class TorchRLEnv(EnvBase):
    """A `SimulacrumVectorEnv` as a TorchRL environment of batch size `[N]`.

    Keys: "action"; "observation", or one key for each entry of a Dict space; "reward" `[N, 1]`; "done", "terminated"
    and "truncated", bool `[N, 1]`. Where the schema declares an action mask, "action_mask" is an observation, which
    `torchrl.envs.ActionMask` reads. A Dict action is a TensorDict under "action".

    Everything handed out is fresh memory of the step, on `device`; nothing is copied. `state_dict` keeps all that the
    future depends on, draws included, and `load_state_dict` restores it to the bit.

    Args:
        env: the vector environment, in DISABLED mode and with torch output, and not wrapped. It belongs to the adapter
            from now on, which closes it.
        categorical_action_encoding: integers for Discrete and MultiDiscrete actions, counted from 0 wherever the
            space begins; False for one-hot vectors.
        metrics: show the environment's task metrics as well, under ("info", name).

    Raises:
        UsageError: another mode, NumPy output, a double buffer, or something else than a `SimulacrumVectorEnv`.
    """

    def __init__(
        self,
        env: gym.vector.VectorEnv[Any, Any, Any],
        *,
        categorical_action_encoding: bool = True,
        metrics: bool = False,
    ) -> None:
        why = "TorchRL resets the rows that ended itself"
        vector = checked(env, "TorchRLEnv", maker="make_torchrl", mode="disabled", why=why)
        if vector.double_buffer:
            raise UsageError(
                "TorchRL keeps what every step of a rollout returned",
                expected="double_buffer=False",
                found="double_buffer=True",
                where="TorchRLEnv(env)",
                next_step="leave double_buffer out",
            )
        super().__init__(device=vector.device, batch_size=(vector.num_envs,))
        self.env = vector
        self.categorical_action_encoding = bool(categorical_action_encoding)
        self.metrics = bool(metrics)
        self._seed: int | None = None
        self._flags = (self._no_flags(), self._no_flags())  # terminated, truncated of the last step, for partial resets
        self._make_specs()
        self.is_closed = False

    # --- specs ----------------------------------------------------------------------------------------------

    def _make_specs(self) -> None:
        rows, device = self.batch_size, self.device
        observation = self.env.single_observation_space
        entries = dict(observation.spaces) if isinstance(observation, spaces.Dict) else {"observation": observation}
        taken = sorted(set(entries) & set(_OWN_KEYS))
        if taken:
            raise UsageError(
                "TorchRL has another use for a key of the observation",
                expected=f"none of {', '.join(_OWN_KEYS)}",
                found=", ".join(taken),
                where=repr(self.env),
                next_step="rename it in the schema",
            )
        specs = {key: _spec(space, rows, device, categorical=True) for key, space in entries.items()}
        mask = self.env.schema.action_mask
        if mask is not None:
            specs["action_mask"] = Binary(shape=(*rows, *mask.shape), dtype=torch.bool, device=device)
        if self.metrics:
            metrics = {
                name: Unbounded(shape=(*rows, *field.shape), dtype=getattr(torch, field.dtype), device=device)
                for name, field in self.env.schema.info
            }
            specs["info"] = Composite(metrics, shape=rows, device=device)
        self.observation_spec = Composite(specs, shape=rows, device=device)
        action = _spec(self.env.single_action_space, rows, device, categorical=self.categorical_action_encoding)
        self.action_spec = Composite({"action": action}, shape=rows, device=device)
        reward = getattr(torch, self.env.schema.reward.dtype)
        self.reward_spec = Unbounded(shape=(*rows, 1), dtype=reward, device=device)
        flags = {
            name: Categorical(2, shape=(*rows, 1), dtype=torch.bool, device=device)
            for name in ("done", "terminated", "truncated")
        }
        self.done_spec = Composite(flags, shape=rows, device=device)

    # --- what EnvBase asks for ------------------------------------------------------------------------------

    def _set_seed(self, seed: int | None) -> None:
        """The next reset of all rows starts row i at episode 0 of `seed + i`; None leaves the rows going on."""
        self._seed = seed

    def _reset(self, tensordict: Any = None, *, seed: int | None = None) -> TensorDict:
        """Start new episodes: in the rows of "_reset", where the TensorDict has it, else in all of them."""
        mask = None if tensordict is None else tensordict.get("_reset", None)
        options = None
        if mask is not None and not bool(mask.all()):
            options = {"reset_mask": mask.reshape(self.env.num_envs)}
        elif seed is None:
            seed, self._seed = self._seed, None
        observation, info = self.env.reset(seed=seed, options=options)
        ended = self.env.state.ended
        self._flags = (self._flags[0] & ended, self._flags[1] & ended)
        return self._shown(observation, info, *(flag.clone() for flag in self._flags))

    def _step(self, tensordict: Any) -> TensorDict:
        """Step every row with "action"; a row that ended must have been reset, as TorchRL does."""
        action = _from_library(
            self.env.single_action_space, tensordict.get("action"), categorical=self.categorical_action_encoding
        )
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._flags = (terminated.clone(), truncated.clone())
        shown = self._shown(observation, info, terminated, truncated)
        shown.set("reward", reward.unsqueeze(-1))
        return shown

    def _shown(
        self, observation: Any, info: dict[str, Any], terminated: torch.Tensor, truncated: torch.Tensor
    ) -> TensorDict:
        space = self.env.single_observation_space
        seen = _to_library(space, observation)
        entries: dict[str, Any] = seen if isinstance(space, spaces.Dict) else {"observation": seen}
        entries = {
            **entries,
            "terminated": terminated.unsqueeze(-1),
            "truncated": truncated.unsqueeze(-1),
            "done": (terminated | truncated).unsqueeze(-1),
        }
        if self.env.schema.action_mask is not None:
            entries["action_mask"] = info["action_mask"]
        if self.metrics:
            metrics = {name: info[name] for name, _ in self.env.schema.info}
            entries["info"] = TensorDict(metrics, batch_size=self.batch_size, device=self.device)
        return TensorDict(entries, batch_size=self.batch_size, device=self.device)

    def _no_flags(self) -> torch.Tensor:
        return torch.zeros(self.batch_size, dtype=torch.bool, device=self.device)

    # --- the rest of an environment ---------------------------------------------------------------------------

    def render(self, **kwargs: Any) -> Any:
        """uint8 frames `[N, H, W, 3]` for `PixelRenderTransform`; needs `render_mode="rgb_array"`."""
        frames = self.env.render()
        if frames is None or self.env.render_mode != "rgb_array":
            raise UsageError(
                "the environment draws no images",
                expected="render_mode='rgb_array'",
                found=f"render_mode={self.env.render_mode!r}",
                where="render()",
                next_step="make_torchrl(..., render_mode='rgb_array')",
            )
        return torch.stack([torch.as_tensor(frame) for frame in frames])

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close the environment; a second call does nothing."""
        self.env.close()
        super().close(raise_if_closed=raise_if_closed)

    def to(self, device: Any) -> TorchRLEnv:
        """The environment itself where it is on `device` already. Rows cannot be moved: `UsageError`."""
        wanted = torch.device(device)
        if wanted.type != self.device.type or wanted.index not in (None, self.device.index):
            raise UsageError(
                "an environment stays on the device that it was made on",
                expected=f"device={str(self.device)!r}",
                found=f"device={str(wanted)!r}",
                where="to(device)",
                next_step=f"make_torchrl(..., device={str(wanted)!r}), or torchrl.envs.DeviceCastTransform",
            )
        return self

    def get_extra_state(self) -> dict[str, Any]:
        """What `state_dict` keeps: the rows, the flags of the last step, a seed that waits for its reset."""
        return {"env": self.env.state_dict(), "flags": [flag.clone() for flag in self._flags], "seed": self._seed}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """What `load_state_dict` restores. `StateError` names what does not fit."""
        self.env.load_state_dict(state["env"])
        terminated, truncated = (flag.clone().to(self.device) for flag in state["flags"])
        self._flags, self._seed = (terminated, truncated), state["seed"]


def _spec(space: Any, rows: Any, device: Any, *, categorical: bool) -> Any:
    """The TorchRL spec of `N` instances of a Gymnasium space."""
    if isinstance(space, spaces.Dict):
        inner = {key: _spec(one, rows, device, categorical=categorical) for key, one in space.spaces.items()}
        return Composite(inner, shape=rows, device=device)
    if isinstance(space, spaces.Discrete):
        count = int(space.n)
        if categorical:
            return Categorical(count, shape=rows, dtype=torch.int64, device=device)
        return OneHot(count, shape=(*rows, count), dtype=torch.bool, device=device)
    if isinstance(space, spaces.MultiDiscrete):
        counts = [int(count) for count in space.nvec]
        if categorical:
            return MultiCategorical(counts, shape=(*rows, len(counts)), dtype=torch.int64, device=device)
        return MultiOneHot(counts, shape=(*rows, sum(counts)), dtype=torch.bool, device=device)
    shape, dtype = (*rows, *cast("tuple[int, ...]", space.shape)), getattr(torch, str(space.dtype))
    if isinstance(space, spaces.MultiBinary):
        return Binary(shape=shape, dtype=dtype, device=device)
    if not (space.bounded_below | space.bounded_above).any():
        return Unbounded(shape=shape, dtype=dtype, device=device)
    low, high = (torch.as_tensor(bound, device=device).expand(shape) for bound in (space.low, space.high))
    return Bounded(low, high, shape=shape, dtype=dtype, device=device)


def _to_library(space: Any, value: Any) -> Any:
    """Values of `space` as TorchRL counts them: from 0 in a Discrete space that begins elsewhere."""
    if isinstance(space, spaces.Dict):
        return {key: _to_library(one, value[key]) for key, one in space.spaces.items()}
    if isinstance(space, spaces.Discrete) and int(space.start):
        return value - int(space.start)
    return value


def _from_library(space: Any, value: Any, *, categorical: bool) -> Any:
    """TorchRL's actions as values of `space`: the inverse of `_to_library`, and of one-hot encoding."""
    if isinstance(space, spaces.Dict):
        return {key: _from_library(one, value[key], categorical=categorical) for key, one in space.spaces.items()}
    if isinstance(space, spaces.Discrete):
        value = value if categorical else value.to(torch.uint8).argmax(-1)
        return value + int(space.start) if int(space.start) else value
    if isinstance(space, spaces.MultiDiscrete) and not categorical:
        parts = value.to(torch.uint8).split([int(count) for count in space.nvec], -1)
        return torch.stack([part.argmax(-1) for part in parts], -1)
    return value
