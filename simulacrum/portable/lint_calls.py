"""Judging one call of a torch function or tensor method against the list of operations."""

from __future__ import annotations

import ast

from simulacrum.portable.lint import Operation, Operations

_INTEGER_TYPES = {"int8", "int16", "int32", "int64", "uint8", "int", "long", "short"}
# Calls that hold no tensor data: about types, shapes and devices.
NEUTRAL = {
    "size",
    "dim",
    "numel",
    "is_floating_point",
    "device",
    "Size",
    "finfo",
    "iinfo",
    "promote_types",
    "broadcast_shapes",
    "result_type",
    "is_tensor",
}
UNKNOWN = Operation(
    "unknown",
    False,
    (),
    "not on the list of operations measured to have the same bits in every form",
    "an operation of the list (docs/portable-numbers.md)",
)


def judge(table: Operations, name: str, call: ast.Call, method: bool) -> tuple[str, str] | None:
    """(reason, instead) when the call is a finding, else None. `method`: the tensor stands before the dot."""
    if name in NEUTRAL:
        return None
    if any(keyword.arg == "out" for keyword in call.keywords):  # writes into a tensor that somebody else holds
        problem = table.named["in-place"]
        return problem.reason, problem.instead
    allowed, refused = table.allowed.get(name), table.refused.get(name)
    if allowed is None:
        problem = refused or (table.named["in-place"] if is_in_place(name) else UNKNOWN)
        return problem.reason, problem.instead
    for need in allowed.needs:
        problem = _unmet(table, name, need, call, method)
        if problem is not None:
            if refused is not None and need == "integer dtype":
                return refused.reason, refused.instead
            return problem
    return None


def is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and not name.startswith("_")


def _unmet(table: Operations, name: str, need: str, call: ast.Call, method: bool) -> tuple[str, str] | None:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    batch = table.named["reduce over the batch"]
    if need == "dim":
        axis = given.get("dim", given.get("axis"))
        position = 0 if method else 1
        if axis is None and len(call.args) > position:
            axis = call.args[position]
        return (batch.reason, batch.instead) if axis is None or _is_batch(axis) else None
    if need == "integer dtype":
        kind = given.get("dtype")
        if isinstance(kind, ast.Attribute) and kind.attr in _INTEGER_TYPES:
            return None
        return f"{name} of floats depends on order", f"{name}(..., dtype=torch.int32) for integers"
    if need == "three arguments":
        count = len(call.args) + len(call.keywords) + method
        shape = table.named["shape of data"]
        return None if count >= 3 else (shape.reason, shape.instead)
    if need.startswith("no keyword "):
        word = need.removeprefix("no keyword ")
        return (f"{name} with {word}= is not measured", f"{name} without {word}=") if word in given else None
    word = need.removeprefix("keyword ")
    value = given.get(word)
    # flip(-1) and roll(1, -1) say their dims as well as dims=-1 does.
    position = (1 if name == "roll" else 0) + (not method)
    if value is None and word == "dims" and len(call.args) > position:
        value = call.args[position]
    if value is None or (isinstance(value, ast.Constant) and value.value is False):
        return f"{name} without {word}= is left to torch's choice", f"{name}(..., {word}=...), stated"
    return (batch.reason, batch.instead) if word == "dims" and _is_batch(value) else None


def _is_batch(axis: ast.expr) -> bool:
    """Whether a literal axis is, or holds, 0; `None` means every axis."""
    if isinstance(axis, (ast.Tuple, ast.List)):
        return any(_is_batch(item) for item in axis.elts)
    return isinstance(axis, ast.Constant) and (axis.value is None or axis.value == 0)
