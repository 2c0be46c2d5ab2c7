"""Operations on the scalars at one place: arithmetic, comparison, logic, bits, rounding, conversion."""

from __future__ import annotations

import torch

from simulacrum.lower.exact import reciprocal_pair
from simulacrum.lower.program import Builder, Scalar
from simulacrum.lower.rules.call import Call, rule
from simulacrum.lower.tensors import Tensor
from simulacrum.lower.types import is_float, is_integer

_SHORT = {
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "__and__": "and",
    "__or__": "or",
    "__xor__": "xor",
}


# --- arithmetic ------------------------------------------------------------------------------------------------------


@rule("add", "sub", "rsub", "subtract")
def add_or_subtract(c: Call) -> Tensor:
    """x + y, x - y, with `alpha` a factor of the second operand; `or` of bools, `alpha` saying whether of both.

    Refused: floats with `alpha`, a difference with bools, and an `alpha` that the result's type has not.
    """
    left, right = c["self"], c["other"]
    if c.name == "rsub":
        left, right = right, left
    dtype, alpha = c.dtype, c.get("alpha", 1)
    op = "add" if c.name == "add" else "sub"
    if op == "sub" and any(isinstance(one, bool) or getattr(one, "dtype", None) == torch.bool for one in (left, right)):
        raise c.refuse("a difference with bools", "x ^ y of bools, or x - y.to(x.dtype)")
    if not _is_factor(alpha, dtype):
        raise c.refuse(f"alpha={alpha} for {dtype}", "a factor of the type of the result")
    alpha = c.held(alpha, dtype)
    if alpha == 1 and dtype != torch.bool:
        return c.elementwise(lambda x, y: c.b.op(op, dtype, x, y), dtype, left, right)
    if is_float(dtype):
        raise c.refuse("a float sum with alpha= fuses multiply and add in one form only", "write a + alpha * b")
    factor = c.b.const(alpha, dtype)  # of the second operand; rsub's is its first, by now the second too
    plus, times = ("or", "and") if dtype == torch.bool else (op, "mul")
    return c.elementwise(lambda x, y: c.b.op(plus, dtype, x, c.b.op(times, dtype, y, factor)), dtype, left, right)


def _is_factor(alpha: bool | float, dtype: torch.dtype) -> bool:
    """Whether torch takes `alpha` for a sum of `dtype`: a truth for bools alone, a broken number for floats alone."""
    if isinstance(alpha, bool):
        return dtype == torch.bool
    return is_float(dtype) or isinstance(alpha, int)


@rule("mul", "multiply", "__and__", "__or__", "__xor__", "bitwise_and", "bitwise_or", "bitwise_xor")
def two_alike(c: Call) -> Tensor:
    """x * y and the bitwise operations, one operator of C each; a product of bools is `and`."""
    dtype = c.dtype
    op = _SHORT.get(c.name, "mul")
    if dtype == torch.bool and op == "mul":
        op = "and"
    return c.elementwise(lambda x, y: c.b.op(op, dtype, x, y), dtype, c["self"], c["other"])


@rule("div", "divide", "true_divide", "floor_divide")
def divide(c: Call) -> Tensor:
    """x / y, rounded as `rounding_mode` says; whole numbers without one are divided as floats.

    Of integers, zero as a divisor is a fault of the row. Refused: floor division of floats, and a constant zero.
    """
    mode = "floor" if c.name == "floor_divide" else c.get("rounding_mode")
    dtype = c.dtype
    if mode is None:
        return c.elementwise(lambda x, y: _quotient(c.b, x, y), dtype, c["self"], c["other"])
    if is_float(dtype):
        if mode == "trunc":
            return c.elementwise(
                lambda x, y: c.b.op("trunc", dtype, c.b.op("div", dtype, x, y)), dtype, c["self"], c["other"]
            )
        raise c.refuse("floor division of floats", "write torch.floor(x / y)")
    return c.elementwise(lambda x, y: _whole(c, f"div_{mode}", x, y), dtype, c["self"], c["other"])


def _quotient(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """x / y; of an integer taken as a float by a constant, without dividing where that is proven equal."""
    whole = x.op == "cast" and not is_float(x.args[0].dtype)
    pair = reciprocal_pair(y.data, 8 * y.dtype.itemsize) if whole and y.constant else None
    return b.op("div", x.dtype, x, y) if pair is None else b.op("div_known", x.dtype, x, y, data=pair)


@rule("remainder", "fmod")
def remainder(c: Call) -> Tensor:
    """Of integers, with the sign of the divisor (`remainder`) or of the dividend (`fmod`). Refused: floats."""
    dtype = c.dtype
    if is_float(dtype):
        raise c.refuse("the remainder of floats", "write remainder(x, y) of simulacrum.portable.tensor")
    op = "rem_floor" if c.name == "remainder" else "rem_trunc"
    return c.elementwise(lambda x, y: _whole(c, op, x, y), dtype, c["self"], c["other"])


def _whole(c: Call, op: str, x: Scalar, y: Scalar) -> Scalar:
    """A division of integers. A divisor of zero is a fault of the row, as it is an error in torch."""
    if not y.constant:
        c.b.fault(c.b.op("eq", torch.bool, y, c.b.const(0, y.dtype)))
    elif y.data == 0:
        raise c.refuse("a division by zero")
    return c.b.op(op, x.dtype, x, y)


@rule("reciprocal")
def reciprocal(c: Call) -> Tensor:
    return c.elementwise(lambda x: c.b.op("div", c.dtype, c.b.const(1, c.dtype), x), c.dtype, c["self"])


@rule("square")
def square(c: Call) -> Tensor:
    return c.elementwise(lambda x: c.b.op("mul", c.dtype, x, x), c.dtype, c["self"])


@rule("pow")
def power(c: Call) -> Tensor:
    """x * x, or (x * x) * x. Refused: every other exponent, and exponents that are tensors."""
    exponent = c["exponent"]
    if isinstance(exponent, Tensor) or exponent not in (2, 3):
        raise c.refuse(f"a power of {exponent}", "x * x for a small whole power, or simulacrum.portable.tensor.pow")
    b, dtype = c.b, c.dtype

    def element(x: Scalar) -> Scalar:
        twice = b.op("mul", dtype, x, x)
        return twice if exponent == 2 else b.op("mul", dtype, twice, x)

    return c.elementwise(element, dtype, c["self"])


@rule("neg", "abs", "sqrt", "sign", "sgn", "negative", "absolute")
def one_alike(c: Call) -> Tensor:
    """One operand, one operation; `abs` of uint8 is the operand itself. Refused: `abs` of bools."""
    op = {"negative": "neg", "absolute": "abs", "sgn": "sign"}.get(c.name, c.name)
    if c.dtype == torch.bool and op == "abs":
        raise c.refuse("the absolute value of bools", "the bools themselves")
    if c.dtype == torch.uint8 and op == "abs":
        return c["self"]
    return c.elementwise(lambda x: c.b.op(op, c.dtype, x), c.dtype, c["self"])


@rule("floor", "ceil", "trunc", "fix", "round")
def rounding(c: Call) -> Tensor:
    """Of floats, `round` to even where two are as near; of integers, the operand. Refused: `decimals`."""
    if c.get("decimals"):
        raise c.refuse("rounding to decimals", "scale, round, and scale back")
    if not is_float(c.dtype):
        return c["self"]
    op = {"fix": "trunc", "round": "rint"}.get(c.name, c.name)
    return c.elementwise(lambda x: c.b.op(op, c.dtype, x), c.dtype, c["self"])


# --- order -----------------------------------------------------------------------------------------------------------


def larger(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """The larger of two; a NaN where either is one, y where they are equal."""
    return b.op("max", x.dtype, x, y)


def smaller(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """The smaller of two; a NaN where either is one, y where they are equal."""
    return b.op("min", x.dtype, x, y)


@rule("maximum", "minimum")
def extreme_of_two(c: Call) -> Tensor:
    """The larger or smaller of each pair, as `larger` and `smaller` have it for NaN and equal values."""
    pick = larger if c.name == "maximum" else smaller
    return c.elementwise(lambda x, y: pick(c.b, x, y), c.dtype, c["self"], c["other"])


@rule("max", "min")
def extreme_overloads(c: Call) -> Tensor | list[Tensor]:
    """Of two tensors as `maximum` and `minimum`; along a dimension, as `extreme_and_place`."""
    if "other" in c.given:
        pick = larger if c.name == "max" else smaller
        return c.elementwise(lambda x, y: pick(c.b, x, y), c.dtype, c["self"], c["other"])
    from simulacrum.lower.rules.items import extreme_and_place

    return extreme_and_place(c)


@rule("clamp", "clip", "clamp_min", "clamp_max", "relu")
def clamp(c: Call) -> Tensor:
    """At least `min`, then at most `max`: where they cross, `max` wins. NaN stays; `relu` is at least 0."""
    dtype, low, high = c.dtype, c.get("min"), c.get("max")
    if c.name == "relu":
        low = 0
    low, high = (bound if bound is None else c.held(bound, dtype) for bound in (low, high))
    result = c.operand(c["self"], dtype)
    if low is not None:
        result = c.elementwise(lambda x, y: c.b.op("at_least", dtype, x, y), dtype, result, low)
    if high is not None:
        result = c.elementwise(lambda x, y: c.b.op("at_most", dtype, x, y), dtype, result, high)
    return result


_COMPARISONS = {"not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}


@rule("eq", "ne", "lt", "le", "gt", "ge", *_COMPARISONS)
def compare(c: Call) -> Tensor:
    """A bool for each pair, compared in the dtype that torch promotes both to."""
    op, dtype = _COMPARISONS.get(c.name, c.name), c.common(c["self"], c["other"])
    return c.elementwise(lambda x, y: c.b.op(op, torch.bool, x, y), dtype, c["self"], c["other"])


# --- logic and bits --------------------------------------------------------------------------------------------------


def truth(b: Builder, x: Scalar) -> Scalar:
    """x != 0."""
    return b.op("cast", torch.bool, x)


@rule("logical_and", "logical_or", "logical_xor")
def logical(c: Call) -> Tensor:
    """`and`, `or`, `xor` of what is not 0, as bools."""
    op = c.name.removeprefix("logical_")
    return c.elementwise(lambda x, y: c.b.op(op, torch.bool, x, y), torch.bool, c["self"], c["other"])


@rule("logical_not", "bitwise_not", "invert")
def invert(c: Call) -> Tensor:
    """`not` for bools and for `logical_not`, which takes any dtype; else every bit turned."""
    if c.name == "logical_not" or c.dtype == torch.bool:
        return c.elementwise(lambda x: c.b.op("not", torch.bool, x), torch.bool, c["self"])
    return c.elementwise(lambda x: c.b.op("invert", c.dtype, x), c.dtype, c["self"])


@rule("__lshift__", "bitwise_left_shift", "__rshift__", "bitwise_right_shift")
def shift(c: Call) -> Tensor:
    """By an amount outside 0..width - 1 all bits leave: 0, or -1 of a negative x to the right. Refused: floats."""
    if not is_integer(c.dtype):
        raise c.refuse("a shift of floats", "multiply by a power of two")
    op = "shl" if c.name in ("__lshift__", "bitwise_left_shift") else "shr"
    return c.elementwise(lambda x, y: c.b.op(op, c.dtype, x, y), c.dtype, c["self"], c["other"])


@rule("isnan")
def is_nan(c: Call) -> Tensor:
    """x != x; false of what is no float."""
    dtype = c["self"].dtype
    if not is_float(dtype):
        return c.new(lambda _: c.b.const(False, torch.bool))
    return c.elementwise(lambda x: c.b.op("ne", torch.bool, x, x), dtype, c["self"])


@rule("isfinite", "isinf")
def is_finite(c: Call) -> Tensor:
    """|x| < inf, for `isinf` |x| == inf; true, or false, of what is no float."""
    dtype = c["self"].dtype
    if not is_float(dtype):
        return c.new(lambda _: c.b.const(c.name == "isfinite", torch.bool))
    op, bound = ("lt" if c.name == "isfinite" else "eq"), c.b.const(float("inf"), dtype)
    return c.elementwise(lambda x: c.b.op(op, torch.bool, c.b.op("abs", dtype, x), bound), dtype, c["self"])


# --- conversion ------------------------------------------------------------------------------------------------------


@rule("to", "_to_copy", "type_as", "float", "double", "int", "long", "bool")
def convert(c: Call) -> Tensor:
    return c.operand(c["self"], c.dtype)


@rule("view_as_dtype")
def reinterpret(c: Call) -> Tensor:
    """`x.view(dtype)` of another type of the same width: the same bits."""
    x: Tensor = c["self"]
    if x.dtype.itemsize != c.dtype.itemsize or (c.dtype == torch.bool and x.dtype != torch.bool):
        raise c.refuse(f"{x.dtype} seen as {c.dtype}", "view a type of the same width, or convert with .to()")
    if is_float(x.dtype) == is_float(c.dtype):
        return c.operand(x, c.dtype)
    return c.new(lambda place: c.b.op("bits", c.dtype, x.at(place)))
