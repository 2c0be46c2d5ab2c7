"""Parameters of a batch: one value for all rows, or one per row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from simulacrum.contract.schema import Schema
from simulacrum.errors import StateError, UsageError
from simulacrum.twin.batched import torch_dtype
from simulacrum.twin.state import params_type, params_values


def rows_of(schema: Schema, given: Mapping[str, Any] | None, num_envs: int) -> list[dict[str, Any]]:
    """The parameters of each row as typed scalars. One value is one value for all; an array has one a row.

    Raises:
        UsageError: unknown name, wrong length, value outside its bounds.
    """
    given = dict(given or {})
    columns = {name: _column(name, value, num_envs) for name, value in given.items()}
    if not columns:
        return [params_values(schema, None)] * num_envs
    try:
        if all(len(set(map(str, column))) == 1 for column in columns.values()):
            return [params_values(schema, {name: column[0] for name, column in columns.items()})] * num_envs
        return [params_values(schema, {name: column[i] for name, column in columns.items()}) for i in range(num_envs)]
    except StateError as error:
        raise UsageError(error.message, expected=error.expected, found=error.found, where="params=") from None


def _column(name: str, value: Any, num_envs: int) -> list[Any]:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().tolist()
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        if len(value) != num_envs:
            raise UsageError(
                f"parameter {name!r} has the wrong number of values",
                expected=f"one, or one a row ({num_envs})",
                found=len(value),
                where="params=",
            )
        return list(value)
    return [value] * num_envs


def batch_params(schema: Schema, given: Mapping[str, Any] | None, num_envs: int, device: torch.device) -> Any:
    """The Params struct of tensors `[N]`."""
    rows = rows_of(schema, given, num_envs)
    columns = [
        torch.tensor([row[name] for row in rows], dtype=torch_dtype(param.field.dtype), device=device)
        for name, param in schema.params.items()
    ]
    return params_type(schema)(*columns)


def row_params(params: Any, row: int) -> dict[str, Any]:
    """One row of a Params struct as plain Python values."""
    return {name: value[row].item() for name, value in zip(params._fields, params, strict=True)}
