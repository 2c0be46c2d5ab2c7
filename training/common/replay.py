"""A replay buffer of tensors on the device where the environment lives."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Replay:
    """A ring of transitions: once it is full, the newest take the place of the oldest.

    A transition's parts have names; what they are and of which shape and dtype is settled by the first `add`.

        replay = Replay(100_000, rows=16)
        replay.add(observation=..., action=..., reward=...)   # tensors [16, ...]
        batch = replay.sample(256, generator)["reward"]       # [256]
    """

    def __init__(self, capacity: int, rows: int, device: str | torch.device = "cpu") -> None:
        """
        Args:
            capacity: transitions to keep; rounded down to whole steps of all rows.
            rows: how many transitions come at once.
            device: where they are kept.

        Raises:
            ValueError: no room for one step.
        """
        if capacity < rows:
            raise ValueError(f"a replay buffer holds at least one step of all {rows} rows, not {capacity} transitions")
        self.capacity, self.rows, self.device = capacity // rows * rows, rows, device
        self.parts: dict[str, Tensor] = {}
        self.place, self.size = 0, 0

    def __len__(self) -> int:
        return self.size

    def add(self, **parts: Tensor) -> None:
        """Keep a copy of one step of all rows; each part is a tensor [rows, ...]."""
        if not self.parts:
            self.parts = {name: self._room(part) for name, part in parts.items()}
        for name, kept in self.parts.items():
            kept[self.place : self.place + self.rows] = parts[name]
        self.place = (self.place + self.rows) % self.capacity
        self.size = min(self.size + self.rows, self.capacity)

    def sample(self, count: int, generator: torch.Generator) -> dict[str, Tensor]:
        """`count` transitions, each equally likely and any of them perhaps twice; by name, tensors [count, ...]."""
        if not self.size:
            raise ValueError("nothing to sample: the replay buffer is empty")
        chosen = torch.randint(self.size, (count,), generator=generator, device=self.device)
        return {name: kept[chosen] for name, kept in self.parts.items()}

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on as if never stopped. The tensors are copies of what is filled."""
        filled = {name: kept[: self.size].clone() for name, kept in self.parts.items()}
        return {"parts": filled, "place": self.place, "size": self.size, "capacity": self.capacity, "rows": self.rows}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """
        Raises:
            ValueError: the state is that of a buffer of another size.
        """
        if (state["capacity"], state["rows"]) != (self.capacity, self.rows):
            kept, here = (state["capacity"], state["rows"]), (self.capacity, self.rows)
            raise ValueError(f"the saved replay buffer has (capacity, rows) {kept}, this one {here}")
        self.place, self.size, self.parts = state["place"], state["size"], {}
        for name, filled in state["parts"].items():
            self.parts[name] = self._room(filled)
            self.parts[name][: self.size] = filled.to(self.device)

    def _room(self, part: Tensor) -> Tensor:
        # Zeros, not what memory happened to hold: what is never sampled should not differ between two runs either.
        return torch.zeros((self.capacity, *part.shape[1:]), dtype=part.dtype, device=self.device)
