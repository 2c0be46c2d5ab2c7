"""What is known before the program runs: choices with a known condition, integers of known numbers.

Floats are left to the C compiler, which computes constants as the machine would.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from simulacrum.lower.types import is_float

if TYPE_CHECKING:
    from simulacrum.lower.program import Builder, Scalar

_PLAIN: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "neg": operator.neg,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "cast": lambda value: value,
}


def fold(b: Builder, op: str, dtype: torch.dtype, args: tuple[Scalar, ...], data: Any) -> Scalar | None:
    """The scalar that `op(args)` is known to be, or None."""
    if op == "cast" and args[0].dtype == dtype:
        return args[0]
    if op == "select":
        return _select(*args)
    if op == "not" and args[0].constant:
        return b.const(not args[0].data, torch.bool)
    if op in _PLAIN and all(arg.constant and not is_float(arg.dtype) for arg in args):
        value = _PLAIN[op](*(arg.data for arg in args))
        return b.const(value, dtype)
    if op == "cast" and args[0].constant:
        # From a float only where every form agrees; an integer as a float is rounded once, by `coerce`.
        number = args[0].data
        if is_float(dtype) or (number == number and abs(number) < 2**31 and dtype in (torch.int32, torch.int64)):
            return b.const(number, dtype)
    if op in ("and", "or") and dtype == torch.bool:
        return _logic(op, *args)
    return None


def _select(condition: Scalar, yes: Scalar, no: Scalar) -> Scalar | None:
    if condition.constant:
        return yes if condition.data else no
    if yes is no:
        return yes
    if yes.dtype == torch.bool and yes.constant and no.constant and yes.data:
        return condition  # True where it holds, False elsewhere
    return None


def _logic(op: str, left: Scalar, right: Scalar) -> Scalar | None:
    for one, other in ((left, right), (right, left)):
        if one.constant:
            decided = one.data if op == "or" else not one.data
            return one if decided else other
    return left if left is right else None
