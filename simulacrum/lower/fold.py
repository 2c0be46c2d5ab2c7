"""What is known before the program runs: choices with a known condition, integers of known numbers.

Of floats only single roundings of plain numbers are computed here; the rest is left to the C compiler.
"""

from __future__ import annotations

import math
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
_FLOAT = {"add", "sub", "mul", "div", "neg"}  # one rounding each: float64 arithmetic, rounded again, is float32's
_LEAVES = 8


def fold(b: Builder, op: str, dtype: torch.dtype, args: tuple[Scalar, ...], data: Any) -> Scalar | None:
    """The scalar that `op(args)` is known to be, or None."""
    if op == "cast" and args[0].dtype == dtype:
        return args[0]
    if op == "select":
        return _select(*args)
    if op in ("at_least", "at_most") and args[1].constant and args[1].data != args[1].data:
        return args[1]  # a bound that is NaN
    if op == "not" and args[0].constant:
        return b.const(not args[0].data, torch.bool)
    if op in _FLOAT and is_float(dtype):
        return _of_choices(b, op, dtype, args)
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


def _of_choices(b: Builder, op: str, dtype: torch.dtype, args: tuple[Scalar, ...]) -> Scalar | None:
    """Arithmetic on a choice between constants (`where(kind == 1, 0.1, 0.3) / 0.3`) as a choice between results."""
    trees = [arg for arg in args if not arg.constant]
    if len(trees) > 1 or (trees and _leaves(trees[0]) > _LEAVES):
        return None

    def at(leaf: Scalar) -> Scalar | None:
        if leaf.op == "select":
            yes, no = at(leaf.args[1]), at(leaf.args[2])
            return None if yes is None or no is None else b.op("select", dtype, leaf.args[0], yes, no)
        values = [arg.data if arg.constant else leaf.data for arg in args]
        result = _float(op, *values)
        return None if result is None else b.const(result, dtype)

    return at(trees[0] if trees else args[0])


def _leaves(scalar: Scalar) -> int:
    """How many constants a choice is between; more than `_LEAVES` where it is between anything else."""
    if scalar.constant:
        return 1
    return sum(map(_leaves, scalar.args[1:])) if scalar.op == "select" else _LEAVES + 1


def _float(op: str, *values: float) -> float | None:
    """The result of two plain numbers; None for what is left to the machine: infinities, NaN, division by zero."""
    if not all(map(math.isfinite, values)) or (op == "div" and values[1] == 0):
        return None
    try:
        result = _OPERATORS[op](*values)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


_OPERATORS: dict[str, Callable[..., float]] = {**_PLAIN, "div": operator.truediv}


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
