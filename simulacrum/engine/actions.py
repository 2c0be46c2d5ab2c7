"""Actions at the door: shape and dtype are checked on the host, values inside the graph.

`to_tensor` accepts what people hand over (tensors, NumPy arrays, lists; any integer width for integer spaces, any
float width for Box spaces of floats) and returns the schema's dtype without ever sharing memory with the caller.
`sanitize` finds values outside the space and replaces them, so that no rule ever sees one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from simulacrum.contract.fields import Field, Group
from simulacrum.errors import ActionError
from simulacrum.twin.batched import torch_dtype


def to_tensors(group: Group, action: Any, num_envs: int, device: torch.device) -> Any:
    """The batch of actions as tensors `[N, *shape]` of the schema's dtypes on `device`.

    Raises:
        ActionError: wrong structure, shape, dtype or device. Nothing has been stepped.
    """
    if group.single:
        return _to_tensor(group.leaf, action, num_envs, device)
    if not isinstance(action, Mapping) or set(action) != set(group.fields):
        found = sorted(str(k) for k in action) if isinstance(action, Mapping) else type(action).__name__
        raise ActionError(
            "the action is not a mapping with the declared keys",
            expected=sorted(group.fields),
            found=found,
            where="action",
        )
    return {name: _to_tensor(field, action[name], num_envs, device) for name, field in group.fields.items()}


def _to_tensor(field: Field, action: Any, num_envs: int, device: torch.device) -> torch.Tensor:
    if not isinstance(action, torch.Tensor):
        action = _from_host(field, action)
    elif action.device.type != device.type and action.device.type != "cpu":
        raise ActionError(
            "the action lives on another device",
            expected=str(device),
            found=str(action.device),
            where=field.path,
            next_step=f"pass action.to({str(device)!r})",
        )
    shape = (num_envs, *field.shape)
    if tuple(action.shape) != shape:
        raise ActionError(
            "the batch of actions has the wrong shape",
            expected=list(shape),
            found=list(action.shape),
            where=field.path,
        )
    wanted = torch_dtype(field.dtype)
    if action.dtype != wanted:
        _check_kind(field, action.dtype)
        if action.dtype == torch.uint64:
            action = _signed(field, action)
        if wanted.is_floating_point or _widens(action.dtype, wanted):
            action = action.to(device=device, dtype=wanted)  # exact, or one rounding to float32
        else:
            action = _narrow(field, action, wanted, device)
    # Contiguous and ordinary: a compiled step is built for such tensors, and would be built again for others.
    action = action.detach().to(device).contiguous()
    return action.clone() if action.is_inference() else action


def _from_host(field: Field, action: Any) -> torch.Tensor:
    try:
        array = np.asarray(action)
    except (ValueError, TypeError):
        raise ActionError(
            "the action is not an array of numbers", found=type(action).__name__, where=field.path
        ) from None
    if array.dtype.kind not in "biuf":
        raise ActionError(
            "the action is not an array of numbers", expected=field.dtype, found=str(array.dtype), where=field.path
        )
    if array.dtype.itemsize > 8:
        raise ActionError(
            "the action has the wrong dtype", expected=field.dtype, found=str(array.dtype), where=field.path
        )
    # A C-contiguous copy in this machine's byte order: negative strides and foreign byte orders cannot become
    # tensors, and read-only arrays must not be shared.
    return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=True))


def _check_kind(field: Field, dtype: torch.dtype) -> None:
    is_float = field.dtype.startswith("float")
    if dtype.is_floating_point != is_float or dtype == torch.bool or dtype.is_complex:
        raise ActionError(
            "the action has the wrong dtype",
            expected=f"{field.dtype} (or another {'float' if is_float else 'integer'} type)",
            found=str(dtype),
            where=field.path,
        )


def _signed(field: Field, action: torch.Tensor) -> torch.Tensor:
    """uint64 as int64, in which torch can calculate. What does not fit lies outside every space."""
    signed = action.view(torch.int64)  # values from 2**63 on become negative
    _refuse_rows(field, signed < 0, action)
    return signed


def _refuse_rows(field: Field, outside: torch.Tensor, action: torch.Tensor) -> None:
    if bool(outside.any()):
        rows = outside.reshape(outside.shape[0], -1).any(dim=1).nonzero().flatten().tolist()
        raise outside_error(Group("action", {"": field}, True), rows, action[rows[0]].tolist())


def _widens(given: torch.dtype, wanted: torch.dtype) -> bool:
    a, b = torch.iinfo(given), torch.iinfo(wanted)
    return b.min <= a.min and a.max <= b.max


def _narrow(field: Field, action: torch.Tensor, wanted: torch.dtype, device: torch.device) -> torch.Tensor:
    """Cast to a narrower integer, refusing what would wrap: 256 must not become 0. (Looks at values: it waits.)"""
    limits = torch.iinfo(wanted)
    signed = action.to(torch.int64)  # torch cannot compare the wider unsigned types
    _refuse_rows(field, (signed < limits.min) | (signed > limits.max), action)
    return signed.to(device=device, dtype=wanted)


def outside_error(group: Group, rows: list[int], example: Any) -> ActionError:
    """The error for actions outside the space, naming the rows; nothing was stepped."""
    spaces = ", ".join(
        f"{name or 'action'}: {f.space} {f.nvec if f.nvec is not None else f'[{f.low}, {f.high}]'}"
        for name, f in group.fields.items()
    )
    shown = ", ".join(map(str, rows[:8])) + (f", ... ({len(rows)} rows)" if len(rows) > 8 else "")
    return ActionError(
        f"action outside the action space in row {shown}",
        expected=spaces,
        found=f"{example} in row {rows[0]}",
        where="step(actions)",
        next_step="no row was stepped; correct the actions and step again",
    )


def sanitize(group: Group, action: Any) -> tuple[Any, torch.Tensor]:
    """(actions with every illegal value replaced by a legal one, bool `[N]` naming the rows that had one). Pure."""
    if group.single:
        return _sanitize(group.leaf, action)
    clean: dict[str, torch.Tensor] = {}
    outside: torch.Tensor | None = None
    for name, field in group.fields.items():
        clean[name], bad = _sanitize(field, action[name])
        outside = bad if outside is None else outside | bad
    assert outside is not None, "a Dict action space has at least one entry"
    return clean, outside


def _sanitize(field: Field, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    low, high = _limits(field, action)
    legal = torch.ones_like(action, dtype=torch.bool)
    if low is not None:
        legal = action >= low
    if high is not None:
        legal = legal & (action <= high)
    if action.dtype.is_floating_point:
        legal = legal & torch.isfinite(action)
    inside = low if low is not None else high
    neutral = torch.zeros_like(action) if inside is None else torch.zeros_like(action) + inside
    clean = torch.where(legal, action, neutral)
    outside = ~legal
    return clean, outside.reshape(outside.shape[0], -1).any(dim=1) if outside.dim() > 1 else outside


def _limits(field: Field, action: torch.Tensor) -> tuple[Any, Any]:
    """The bounds as Python numbers, or as tensors of the action's dtype where elements differ (MultiDiscrete too)."""
    low, high = (
        _bound(bound, action.dtype, action.device) if isinstance(bound, tuple) else bound
        for bound in (field.low, field.high)
    )
    return low, high


_BOUNDS: dict[tuple[Any, torch.dtype, torch.device], torch.Tensor] = {}


def _bound(bound: Any, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The bound as a tensor, made once: each transfer to an accelerator would wait for it."""
    kept = _BOUNDS.get((bound, dtype, device))
    if kept is None:
        kept = torch.tensor(bound, dtype=dtype, device=device)
        # A stand-in, made while a graph is captured, or one made for inference alone, serves nobody later.
        if type(kept) is torch.Tensor and not torch.compiler.is_compiling() and not kept.is_inference():
            _BOUNDS[bound, dtype, device] = kept
    return kept
