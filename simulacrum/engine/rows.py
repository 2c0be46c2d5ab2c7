"""What the engine knows of a batch: the rows' state, what a step shows, the clock it is told. Structs, no rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch


class EngineState(NamedTuple):
    """All that a batch of rows is, as tensors with a leading `[N]`. Restoring it restores every future bit."""

    env: Any  # the environment's own State struct
    seed: torch.Tensor  # int32 [N, 2]: the 64-bit row seed, low word first
    episode: torch.Tensor  # int32 [N]: 0 after a seeded reset, +1 with each later one
    key: torch.Tensor  # int32 [N, 2]: the draw key of (seed, episode)
    t: torch.Tensor  # int32 [N]: steps taken in this episode
    returns: torch.Tensor  # float64 [N]: sum of this episode's rewards so far, in step order
    ended: torch.Tensor  # bool [N]: the last step ended the episode and the row has not been reset since


class StepOut(NamedTuple):
    """What one step shows. `final_*` and `reset_rows` are None in the modes that have none."""

    observation: Any  # [N, ...] or a dict of them
    reward: torch.Tensor  # float32 [N] (the schema's dtype)
    terminated: torch.Tensor  # bool [N]
    truncated: torch.Tensor  # bool [N]
    info: dict[str, torch.Tensor]  # the environment's metrics for the state that `observation` shows
    action_mask: torch.Tensor | None  # bool [N, actions]
    ended: torch.Tensor  # bool [N]: terminated or truncated
    episode_return: torch.Tensor  # float64 [N]: the finished episode's return where `ended`, else 0
    episode_length: torch.Tensor  # int32 [N]: its length where `ended`, else 0
    final_observation: Any  # SAME_STEP: the observation before the reset, for all rows
    final_info: dict[str, torch.Tensor] | None
    reset_rows: torch.Tensor | None  # NEXT_STEP: rows that were reset in this step, their action ignored
    illegal: torch.Tensor  # bool [N]: the action was outside the space; the row was held still


class Clock(NamedTuple):
    """What the engine is told beside the rows. Tensors without dimensions in a compiled step, plain in an eager one."""

    limit: Any  # int32 []: the time limit in steps; int or None
    autoreset: Any  # bool []: rows that ended in the last step restart in this one; bool


NO_LIMIT = 2**31 - 1  # steps, where a compiled step needs a number


def where_rows(mask: torch.Tensor, yes: torch.Tensor, no: torch.Tensor) -> torch.Tensor:
    """`yes` in the rows of `mask` [N], `no` elsewhere; trailing dimensions are kept."""
    return torch.where(mask.reshape(-1, *([1] * (yes.dim() - 1))), yes, no)


def merge(mask: torch.Tensor, yes: Any, no: Any) -> Any:
    """`where_rows` over a struct of tensors, field by field."""
    if isinstance(yes, torch.Tensor):
        return where_rows(mask, yes, no)
    return type(yes)(*(merge(mask, a, b) for a, b in zip(yes, no, strict=True)))
