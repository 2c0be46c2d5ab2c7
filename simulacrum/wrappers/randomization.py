"""Parameters that are drawn anew for each episode of each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor

from simulacrum.contract.schema import Schema
from simulacrum.engine.params import rows_of
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import UsageError
from simulacrum.rng import Layout, Slot
from simulacrum.rng.batched import BatchedDraw, threefry2x32
from simulacrum.twin.batched import torch_dtype
from simulacrum.wrappers.base import TorchVectorWrapper

PARAMS_BLOCK = 0x50415241  # "PARA": beside the environment's own draws, which it does not move


@dataclass(frozen=True)
class Uniform:
    """Any value from `low` to `high`, both included, each equally likely."""

    low: float
    high: float


class Choice:
    """One of these values, each equally likely; a value that is named twice is twice as likely."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"Choice{self.values!r}"


class DomainRandomization(TorchVectorWrapper):
    """Draws parameters at the start of each episode of each row; the episode is played under them from its start on.

    What is drawn depends on the row's seed, the episode's number and the parameter's name, and on nothing else: not on
    the batch, the autoreset mode, the other parameters, or what was played. The environment's own draws stay as they
    are.

    `info["params"]` has the parameters by name, each `[N]`, of the episode that the observation belongs to; in
    SAME_STEP `info["final_info"]["params"]` has those of the episode that ended. On an accelerator each step in
    SAME_STEP waits for the device, to know which rows begin anew.

    Args:
        env: a SimulacrumVectorEnv with torch output, with no wrapper between.
        params: what to draw, by the parameter's name: `Uniform`, `Choice`, or a value that is to hold in every episode.
            Parameters that are not named keep the values that the env was made with.

    Raises:
        UsageError: not directly around such an env, an unknown parameter, a value outside the bounds that the
            environment was validated in, an empty range.
    """

    _saved = ("seeds", "episode")

    def __init__(self, env: Any, params: Mapping[str, Any]) -> None:
        if not isinstance(env, SimulacrumVectorEnv):
            raise UsageError(
                f"{type(self).__name__} begins episodes anew in the environment itself",
                expected="a SimulacrumVectorEnv, without a wrapper around it", found=type(env).__name__,
                next_step="put it around the environment first, and the other wrappers around it",
            )  # fmt: skip
        super().__init__(env)
        self.base: SimulacrumVectorEnv = env
        self.usual = env.params
        self.seeds: Tensor | None = None  # int32 [N, 2]
        self.episode: Tensor | None = None  # int32 [N], of the episode whose parameters hold
        self.layout = Layout([Slot(name, "reset", "uniform", "float64") for name in env.schema.params])
        self.randomize(params)

    def randomize(self, params: Mapping[str, Any]) -> None:
        """Draw these from the next episode of each row on, in place of what was drawn before; as in the constructor."""
        self.ranges = checked(self.base.schema, params)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As `VectorEnv.reset`; `info["params"]` has the parameters of all rows."""
        _, info = super().reset(seed=seed, options=options)
        state = self.base.state
        rows = self._rows
        self.seeds, self.episode = state.seed.clone(), state.episode.clone()
        self._take(rows, self.drawn(self.seeds, self.episode))
        observation, fresh = self.base.restart(rows)
        info = {name: fresh.get(name, value) for name, value in info.items()}
        return observation, {**info, "params": self._shown()}

    def restart(self, rows: Tensor, observation: Any) -> Any:
        self._rows = rows
        return observation

    def after(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any], resetting: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What a step gives, with the parameters of each row in the infos; rows whose episode ended get new ones."""
        assert self.ended is not None
        before, same_step = self._shown(), self.mode == AutoresetMode.SAME_STEP
        # In NEXT_STEP on an accelerator nothing waits to learn whether any episode ended.
        waits = same_step or self.ended.device.type == "cpu"
        if self.mode != AutoresetMode.DISABLED and not (waits and not bool(self.ended.any())):
            self._next_episode(self.ended)
            if same_step:  # there it has begun already, under the parameters of the last one
                observation, fresh = self.base.restart(self.ended)
                info = {**info, **fresh}
        if not same_step:
            return observation, reward, terminated, truncated, {**info, "params": before}
        final = {"final_info": {**info.get("final_info", {}), "params": before}, "_final_info": self.ended.clone()}
        return observation, reward, terminated, truncated, {**info, **final, "params": self._shown()}

    def rollout(self, actions: Any) -> NoReturn:
        """Refused: episodes begin within a rollout, where nobody can draw for them."""
        raise UsageError("rollout() draws no parameters", expected="step() in a loop", found="rollout()",
                         where=type(self).__name__)  # fmt: skip

    def drawn(self, seeds: Tensor, episode: Tensor) -> dict[str, Tensor]:
        """The parameters `[N]` by name of these episodes int32 `[N]` of rows with these seeds int32 `[N, 2]`."""
        key = torch.stack(threefry2x32(seeds[:, 0], seeds[:, 1], episode, PARAMS_BLOCK), dim=1)
        draw = BatchedDraw(self.layout, "reset", key, torch.zeros_like(episode))
        return {name: self._value(name, draw.uniform(name)) for name in self.ranges}

    def _value(self, name: str, u: Tensor) -> Tensor:
        """float64 `[N]` in [0, 1) to the parameter's value."""
        wanted, like = self.ranges[name], getattr(self.usual, name)
        if isinstance(wanted, Choice):
            values = torch.tensor(wanted.values, dtype=like.dtype, device=like.device)
            return values[(u * len(wanted.values)).to(torch.int64)]
        assert isinstance(wanted, Uniform)
        low, high = wanted.low, wanted.high
        if like.dtype.is_floating_point:
            return (low + u * (high - low)).clamp(low, high).to(like.dtype)
        return low + torch.floor(u * (high - low + 1)).to(like.dtype)

    def _next_episode(self, rows: Tensor) -> None:
        """The rows of the mask `[N]` go on with their next episode, and its parameters."""
        assert self.seeds is not None
        assert self.episode is not None
        self.episode = torch.where(rows, self.episode + 1, self.episode)
        self._take(rows, self.drawn(self.seeds, self.episode))

    def _take(self, rows: Tensor, drawn: Mapping[str, Tensor]) -> None:
        """Let the rows of the mask have what was drawn, and otherwise what the env was made with."""
        now, usual = self.base.params, self.usual
        columns = [
            torch.where(rows, drawn.get(name, getattr(usual, name)), getattr(now, name)) for name in now._fields
        ]
        self.base.params = type(now)(*columns)

    def _shown(self) -> dict[str, Tensor]:
        return {name: value.clone() for name, value in self.base.params._asdict().items()}


def checked(schema: Schema, params: Mapping[str, Any]) -> dict[str, Uniform | Choice]:
    """What is to be drawn, by name, its ends and values rounded to the parameters' types.

    Raises:
        UsageError: an unknown parameter, a value outside its bounds, an empty range.
    """
    found: dict[str, Uniform | Choice] = {}
    for name, wanted in params.items():
        values = wanted.values if isinstance(wanted, Choice) else (wanted,)
        if isinstance(wanted, Uniform):
            values = (wanted.low, wanted.high)
        typed = [row[name] for row in rows_of(schema, {name: list(values)}, len(values))]
        integers = not torch_dtype(schema.params[name].field.dtype).is_floating_point
        if isinstance(wanted, Uniform):
            if not typed or typed[0] > typed[1]:
                raise UsageError(f"the range of {name!r} is empty", expected="low <= high", found=repr(wanted),
                                 where="params=")  # fmt: skip
            low, high = (int(end) if integers else float(end) for end in typed)
            found[name] = Uniform(low, high)
        elif not typed:
            raise UsageError(f"nothing to choose from for {name!r}", expected="Choice(value, ...)", found=repr(wanted),
                             where="params=")  # fmt: skip
        else:
            found[name] = Choice(*typed)
    return found
