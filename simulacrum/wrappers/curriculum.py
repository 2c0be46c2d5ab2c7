"""Harder parameters for a policy that does well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor

from simulacrum.errors import UsageError
from simulacrum.wrappers.randomization import DomainRandomization, checked


def episode_return(info: Mapping[str, Any]) -> Tensor:
    """The return of the episodes that ended in this step, float64 `[N]`."""
    return info["episode"]["r"]


class Curriculum(DomainRandomization):
    """Parameters in stages: the batch goes on to the next stage when the last episodes of the present one went well.

    Within a stage, parameters are drawn as `DomainRandomization` does. Episodes that have begun are played to their end
    under their own parameters; only episodes that began in the present stage are judged. The last stage stays.

    `info["stage"]` has the stage, counted from 0, in which the episode of the observation began, int32 `[N]`. The
    stage is the whole batch's: with another number of rows it is reached at another step. On an accelerator, each step
    waits for the device to know which episodes ended.

    Args:
        env: a SimulacrumVectorEnv with torch output and `episode_statistics`, with no wrapper between.
        stages: for each stage what to draw, by name, as `DomainRandomization` takes it; at least one.
        target: go on where the last episodes reach this mean; one number, or one for each stage but the last.
        window: how many episodes those are.
        measure: what is asked for, of a step's info, a number or bool `[N]` looked at in the rows whose episode ended;
            the return unless told otherwise. In SAME_STEP an ended episode's own metrics are in `final_info`.

    Raises:
        UsageError: as `DomainRandomization`; no stages, a wrong number of targets, a window that is no positive int.
    """

    _saved = (*DomainRandomization._saved, "stage", "began", "recent")

    def __init__(
        self,
        env: Any,
        stages: Sequence[Mapping[str, Any]],
        *,
        target: float | Sequence[float],
        window: int = 200,
        measure: Callable[[dict[str, Any]], Tensor] = episode_return,
    ) -> None:
        if not stages:
            raise UsageError("a curriculum without stages", expected="one or more", found="none", where="stages=")
        super().__init__(env, stages[0])
        self.stages = [checked(self.base.schema, stage) for stage in stages]
        self.targets = list(target) if isinstance(target, Sequence) else [float(target)] * (len(stages) - 1)
        if len(self.targets) != len(stages) - 1:
            raise UsageError("a wrong number of targets", expected=f"one, or {len(stages) - 1}",
                             found=len(self.targets), where="target=")  # fmt: skip
        if isinstance(window, bool) or not isinstance(window, int) or window < 1:
            raise UsageError("window must be a positive integer", expected="1 or more", found=repr(window))
        self.window, self.measure = window, measure
        self.stage = 0
        self.began = torch.zeros(self.num_envs, dtype=torch.int32, device=env.device)
        self.recent: tuple[float, ...] = ()

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As `VectorEnv.reset`; the stage stays as it is."""
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "stage": self.began.clone()}

    def after(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any], resetting: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What a step gives, with the stage of each row in the infos; the stage goes on where it was passed."""
        before = self.began
        self._judge((terminated | truncated) & (before == self.stage), info)
        observation, reward, terminated, truncated, info = super().after(
            observation, reward, terminated, truncated, info, resetting
        )
        if self.mode != AutoresetMode.SAME_STEP:
            return observation, reward, terminated, truncated, {**info, "stage": before.clone()}
        final = {**info["final_info"], "stage": before.clone()}
        return observation, reward, terminated, truncated, {**info, "final_info": final, "stage": self.began.clone()}

    def load_state_dict(self, data: Mapping[str, Any]) -> None:
        """Restore what `state_dict` gave, the stage with it."""
        super().load_state_dict(data)
        self.ranges = self.stages[self.stage]

    def _judge(self, rows: Tensor, info: dict[str, Any]) -> None:
        """Count the episodes that ended in the rows of the mask, and go on where the last ones are good enough."""
        if self.stage == len(self.targets) or not bool(rows.any()):
            return
        self.recent = (*self.recent, *(float(one) for one in self.measure(info)[rows].tolist()))[-self.window :]
        if len(self.recent) == self.window and sum(self.recent) / self.window >= self.targets[self.stage]:
            self.stage, self.recent = self.stage + 1, ()
            self.ranges = self.stages[self.stage]

    def _take(self, rows: Tensor, drawn: Mapping[str, Tensor]) -> None:
        super()._take(rows, drawn)
        self.began = torch.where(rows, self.stage, self.began)
