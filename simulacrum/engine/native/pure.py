"""The native step as a pure function of an `EngineState`, like those of the other forms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.engine.actions import sanitize
from simulacrum.engine.native.batch import NativeBatch
from simulacrum.engine.rows import EngineState, StepOut


def pure_step(core: Any, mode: AutoresetMode, es: EngineState, action: Any, params: Any) -> tuple[EngineState, StepOut]:
    """One step of the rows `es`, which are not changed. Rows with an illegal action are held still, as everywhere."""
    num_envs = es.t.shape[0]
    batch = NativeBatch(core.native(), core.schema, num_envs, mode, core.max_episode_steps, params, threads=1)
    batch.load(es)
    illegal = sanitize(core.schema.action, action)[1] & ~es.ended
    given = list(action.values()) if isinstance(action, dict) else [action]
    tensors = dict(zip(batch.shown(), batch.step_unchecked([one.contiguous() for one in given]), strict=True))
    return batch.state(), _step_out(tensors, core.schema.info.fields, mode, illegal)


def _step_out(
    tensors: dict[str, torch.Tensor], fields: Iterable[str], mode: AutoresetMode, illegal: torch.Tensor
) -> StepOut:
    same = mode == AutoresetMode.SAME_STEP
    info = {key: tensors[f"out.info.{key}"] for key in fields}
    return StepOut(
        observation=_group(tensors, "out.observation"),
        reward=tensors["out.reward"],
        terminated=tensors["out.terminated"],
        truncated=tensors["out.truncated"],
        info=info,
        action_mask=tensors.get("out.info.action_mask"),
        ended=tensors["out.info._episode"],
        episode_return=tensors["out.info.episode.r"],
        episode_length=tensors["out.info.episode.l"],
        final_observation=_group(tensors, "out.info.final_obs") if same else None,
        final_info=_group(tensors, "out.info.final_info") if same else None,
        reset_rows=tensors["out.info.autoreset"] if mode == AutoresetMode.NEXT_STEP else None,
        illegal=illegal,
    )


def _group(tensors: dict[str, torch.Tensor], prefix: str) -> Any:
    """The tensor of that name, or the dict of those that begin with it."""
    if prefix in tensors:
        return tensors[prefix]
    start = f"{prefix}."
    return {name[len(start) :]: tensor for name, tensor in tensors.items() if name.startswith(start)}
