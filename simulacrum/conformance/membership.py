"""Whether a batch of observations fits its space, dtype included, for arrays and tensors alike.

`Space.contains` casts what it is given and knows no tensors, so that it cannot be asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from simulacrum.conformance.values import is_array, on_host, short


@dataclass(frozen=True)
class Misfit:
    """What is wrong with a value, where, and how it should be."""

    what: str
    field: str
    found: str
    expected: str
    row: int | None = None


def misfit(space: spaces.Space[Any], value: Any, path: str) -> Misfit | None:
    """The first leaf of another structure, shape or dtype than the space has."""
    for where, leaf, one in _pairs(space, value, path):
        if isinstance(one, Misfit):
            return one
        if not isinstance(leaf, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
            if not leaf.contains(one):
                return Misfit("not contained in its space", where, short(one), short(str(leaf)))
            continue
        if not is_array(one):
            return Misfit("no array", where, type(one).__name__, f"an array of {leaf.dtype}")
        array = on_host(one)
        if array.shape != leaf.shape:
            return Misfit("another shape than the space", where, str(array.shape), str(leaf.shape))
        if array.dtype != leaf.dtype:
            return Misfit("another dtype than the space", where, str(array.dtype), str(leaf.dtype))
    return None


def outside(space: spaces.Space[Any], value: Any, path: str) -> Misfit | None:
    """The first value beyond the bounds of its space. What has another form is `misfit`'s to find."""
    for where, leaf, one in _pairs(space, value, path):
        if isinstance(one, Misfit) or not is_array(one):
            continue
        array, bounds = on_host(one), _bounds(leaf)
        if bounds is None or array.shape != leaf.shape:
            continue
        low, high = bounds
        wrong = ~((array >= low) & (array <= high))
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(np.atleast_1d(wrong))[0])
            told = where + "".join(f"[{i}]" for i in index[1:])
            ends = [short(np.broadcast_to(end, array.shape)[index]) for end in (low, high)]
            return Misfit("outside its space", told, short(array[index]), f"{ends[0]} to {ends[1]}", index[0])
    return None


def _bounds(space: spaces.Space[Any]) -> tuple[Any, Any] | None:
    if isinstance(space, spaces.Box):
        return space.low, space.high
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        size: Any = space.n if isinstance(space, spaces.Discrete) else space.nvec
        return space.start, space.start + size - 1
    return (0, 1) if isinstance(space, spaces.MultiBinary) else None


def _pairs(space: spaces.Space[Any], value: Any, path: str) -> Iterator[tuple[str, spaces.Space[Any], Any]]:
    """(path, space without children, value) of each leaf of the space; a `Misfit` where the structure parts."""
    if isinstance(space, spaces.Dict):
        if not isinstance(value, dict) or set(value) != set(space):
            told = sorted(map(str, value)) if isinstance(value, dict) else type(value).__name__
            yield path, space, Misfit("another structure than the space", path, str(told), str(sorted(space)))
            return
        for key in space:
            yield from _pairs(space[key], value[key], f"{path}.{key}")
    elif isinstance(space, spaces.Tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(space):
            yield path, space, Misfit("another structure than the space", path, short(value), f"{len(space)} entries")
            return
        for index, one in enumerate(space):
            yield from _pairs(one, value[index], f"{path}[{index}]")
    else:
        yield path, space, value
