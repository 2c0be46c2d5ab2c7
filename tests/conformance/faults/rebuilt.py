"""Environments that differ when they are made again from their spec: these faults need an id."""

from __future__ import annotations

from typing import Any

import numpy as np
from kit.track import Track


class Biased(Track):
    """Starts with another mark, by what it is given or by how often one was made: only a rebuilt one differs."""

    made = 0

    def __init__(self, num_envs: int = 1, *, bias: Any = 0, **kwargs: Any) -> None:
        super().__init__(num_envs, **kwargs)
        self.bias = bias

    def observe(self) -> Any:
        return super().observe() + np.float32([0, 0, self.bias])


def counted(num_envs: int = 1, **kwargs: Any) -> Biased:
    """Another environment each time."""
    Biased.made += 1
    return Biased(num_envs, bias=Biased.made, **kwargs)


def keyed(num_envs: int = 1, *, table: Any, **kwargs: Any) -> Biased:
    """Reads a table by number; JSON turns the numbers into text."""
    return Biased(num_envs, bias=table.get(1, 9), **kwargs)


class Lossy:
    """Survives copying, and loses its value in a pickle."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def __deepcopy__(self, memo: Any) -> Lossy:
        return self

    def __reduce__(self) -> Any:
        return Lossy, ()


def lossy(num_envs: int = 1, *, bias: Lossy, **kwargs: Any) -> Biased:
    """Biased by an object."""
    return Biased(num_envs, bias=bias.value, **kwargs)


class Specless(Track):
    """Keeps no spec."""

    @property
    def spec(self) -> None:
        return None

    @spec.setter
    def spec(self, value: Any) -> None:
        pass


# rule -> (entry point in this module, keywords of the registration): these faults need an id.
REGISTERED: dict[str, tuple[str, dict[str, Any]]] = {
    "spec.set": ("Specless", {}),
    "spec.rebuild": ("counted", {}),
    "spec.json": ("keyed", {"table": {1: 5}}),
    "spec.pickle": ("lossy", {"bias": Lossy(5)}),
}
