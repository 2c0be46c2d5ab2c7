"""Episode statistics of what is seen at this place in a stack of wrappers."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import torch

from simulacrum.wrappers.base import TorchVectorWrapper


class RecordEpisodeStatistics(TorchVectorWrapper):
    """Adds `info[stats_key]` = {"r", "l", "t"} and its mask, always, as tensors: return, length and seconds of the
    episodes that ended in this step, zeros in the other rows. And keeps the last `buffer_length` of them.

    The env below gives the same under "episode" by itself; this wrapper counts the rewards as they are *here*, after
    whatever other wrappers did to them, and replaces that entry.

    `return_queue`, `length_queue` and `time_queue` are filled when they are read (`collect`), which waits for the
    device once; stepping does not.

    Args:
        env: a torch VectorEnv.
        buffer_length: how many finished episodes the queues hold.
        stats_key: the info key.
    """

    _saved = ("returns", "lengths")

    def __init__(self, env: Any, buffer_length: int = 100, stats_key: str = "episode") -> None:
        super().__init__(env)
        device = torch.device(getattr(env, "device", "cpu"))
        self.stats_key = stats_key
        self.returns = torch.zeros(self.num_envs, dtype=torch.float64, device=device)
        self.lengths = torch.zeros(self.num_envs, dtype=torch.int32, device=device)
        self.began = torch.full((self.num_envs,), time.perf_counter(), dtype=torch.float64, device=device)
        self._episode_count = 0
        self._queues = tuple(deque[float](maxlen=buffer_length) for _ in range(3))
        self._pending: list[tuple[torch.Tensor, dict[str, torch.Tensor]]] = []

    def restart(self, rows: torch.Tensor, observation: Any) -> Any:
        self._zero(rows)
        return observation

    def after(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any], resetting: Any
    ) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What a step gives; where an episode ended, the infos have its return, length and time."""
        self._zero(resetting)
        active = ~resetting
        self.returns = torch.where(active, self.returns + reward, self.returns)
        self.lengths = self.lengths + active.to(torch.int32)
        ended = terminated | truncated
        seconds = time.perf_counter() - self.began
        episode = {
            "r": torch.where(ended, self.returns, torch.zeros_like(self.returns)),
            "l": torch.where(ended, self.lengths, torch.zeros_like(self.lengths)),
            "t": torch.where(ended, seconds, torch.zeros_like(seconds)),
        }
        self._pending.append((ended, episode))
        if len(self._pending) >= 256:  # bounds the memory of a loop that never reads the queues
            self.collect()
        self._zero(ended)
        shown = {key: value.clone() for key, value in episode.items()}
        info = {**info, self.stats_key: shown, f"_{self.stats_key}": ended.clone()}
        return observation, reward, terminated, truncated, info

    def _zero(self, rows: torch.Tensor) -> None:
        now = torch.full_like(self.began, time.perf_counter())
        self.returns = torch.where(rows, torch.zeros_like(self.returns), self.returns)
        self.lengths = torch.where(rows, torch.zeros_like(self.lengths), self.lengths)
        self.began = torch.where(rows, now, self.began)

    def collect(self) -> None:
        """Move finished episodes into the queues, in the order of steps, then of rows."""
        pending, self._pending = self._pending, []
        for ended, episode in pending:
            rows = ended.nonzero().flatten()
            self._episode_count += len(rows)
            for queue, key in zip(self._queues, ("r", "l", "t"), strict=True):
                queue.extend(episode[key][rows].tolist())

    @property
    def episode_count(self) -> int:
        """How many episodes have finished."""
        self.collect()
        return self._episode_count

    @property
    def return_queue(self) -> deque[float]:
        """Returns of the last finished episodes."""
        self.collect()
        return self._queues[0]

    @property
    def length_queue(self) -> deque[float]:
        """Lengths of the last finished episodes."""
        self.collect()
        return self._queues[1]

    @property
    def time_queue(self) -> deque[float]:
        """Seconds that the last finished episodes took."""
        self.collect()
        return self._queues[2]
