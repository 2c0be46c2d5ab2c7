"""The episodes that ended in a step, one by one and on the host, for libraries that read infos row by row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch

from simulacrum.engine.output import row_of, to_numpy


class Ended(NamedTuple):
    """How the episode of one row ended. Arrays have memory of their own."""

    row: int
    observation: Any  # the last of the episode, as the space of one row has it
    truncated: bool
    terminated: bool
    metrics: dict[str, Any]  # the environment's own, for the last state
    episode: dict[str, Any]  # "r", "l", "t": return, length, wall time in seconds; empty without statistics

    @property
    def cut_off(self) -> bool:
        """Truncated and not terminated, which is when its last observation is still worth something."""
        return self.truncated and not self.terminated


def ended_rows(terminated: torch.Tensor, truncated: torch.Tensor, info: dict[str, Any]) -> Iterable[Ended]:
    """What ended in a step of a SAME_STEP environment with torch output. Only rows that ended travel to the host."""
    rows = (terminated | truncated).nonzero().flatten()
    if not len(rows):
        return
    last, metrics = _picked(info["final_obs"], rows), _picked(info["final_info"], rows)
    episode = _picked(info.get("episode", {}), rows)
    flags = _picked({"truncated": truncated, "terminated": terminated}, rows)
    for place, row in enumerate(rows.tolist()):
        yield Ended(
            row,
            row_of(last, place),
            bool(flags["truncated"][place]),
            bool(flags["terminated"][place]),
            row_of(metrics, place),
            {name: value[place].item() for name, value in episode.items()},
        )


def _picked(value: Any, rows: torch.Tensor) -> Any:
    if isinstance(value, dict):
        return {key: _picked(item, rows) for key, item in value.items()}
    return to_numpy(value[rows])
