"""Gymnasium spaces of one instance, made from the schema alone."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from gymnasium import spaces

from simulacrum.contract.fields import Bound, Field, Group
from simulacrum.contract.schema import Schema


def single_observation_space(schema: Schema) -> spaces.Space[Any]:
    """The observation space of one instance; Box, Discrete, MultiDiscrete, MultiBinary, or a Dict of them."""
    return group_space(schema.observation)


def single_action_space(schema: Schema) -> spaces.Space[Any]:
    """The action space of one instance; Box, Discrete, MultiDiscrete, MultiBinary, or a Dict of them."""
    return group_space(schema.action)


def group_space(group: Group) -> spaces.Space[Any]:
    """The space of a group: its leaf's own, or a Dict with the keys in declared order."""
    if group.single:
        return field_space(group.leaf)
    return spaces.Dict([(key, field_space(field)) for key, field in group])


def field_space(field: Field) -> spaces.Space[Any]:
    """The space of one leaf of action or observation."""
    if field.space == "Discrete":
        low, high = cast(int, field.low), cast(int, field.high)
        return cast("spaces.Space[Any]", spaces.Discrete(high - low + 1, start=low))
    if field.space == "MultiDiscrete":
        return spaces.MultiDiscrete(np.array(field.nvec, dtype=np.int64), dtype=np.int64)
    if field.space == "MultiBinary":
        # Gymnasium holds MultiBinary(3) and MultiBinary([3]) for different; a plain length is the usual one.
        return spaces.MultiBinary(field.shape[0] if len(field.shape) == 1 else list(field.shape))
    dtype = np.dtype(field.dtype)
    return spaces.Box(
        low=_filled(field.low, field.shape, dtype, -np.inf),
        high=_filled(field.high, field.shape, dtype, np.inf),
        shape=field.shape,
        dtype=cast(Any, dtype.type),
    )


def _filled(
    bound: Bound, shape: tuple[int, ...], dtype: np.dtype[Any], absent: float
) -> np.ndarray[Any, Any]:
    filled: np.ndarray[Any, Any] = np.empty(shape, dtype)
    filled[...] = absent if bound is None else bound
    return filled
