"""The C expression of each operation of a scalar program. Each gives the bits that torch's CPU gives.

Integers wrap (`-fwrapv`, and casts back to the narrow type, since C computes narrow integers as int); what C leaves
undefined (a float beyond an integer's range, a shift by too much, a division by zero or of the lowest integer by -1)
has one meaning here, on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from simulacrum.lower.program import Scalar
from simulacrum.lower.types import C_NAMES, is_float, is_integer, literal

_UNSIGNED = {
    torch.int8: "uint8_t",
    torch.uint8: "uint8_t",
    torch.int16: "uint16_t",
    torch.int32: "uint32_t",
    torch.int64: "uint64_t",
}
_SUFFIX = {torch.float32: "f", torch.float64: ""}
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def expression(s: Scalar, args: Sequence[str]) -> str:
    """The C expression of `s`, its arguments being the names or literals `args`."""
    if s.op in ("variable", "read"):
        return args[0]
    if s.op == "select":
        return f"{args[0]} ? {args[1]} : {args[2]}"
    if s.op in _COMPARISONS:
        return f"{args[0]} {_COMPARISONS[s.op]} {args[1]}"
    if s.op == "not":
        return f"!{args[0]}"
    if s.op in OPERATIONS:
        return OPERATIONS[s.op](s, *args)
    return _wrapped(s, f"{args[0]} {_INFIX[s.op]} {args[1]}")


def _wrapped(s: Scalar, text: str) -> str:
    """`text` cut to the width of the type: C computes narrow integers as int."""
    return f"({C_NAMES[s.dtype]})({text})" if is_integer(s.dtype) else text


def cast(s: Scalar, x: str) -> str:
    """x as the type of `s`. A float out of range, or NaN, is the lowest int32 (for int64: int64), cut to the width."""
    old, new = s.args[0].dtype, s.dtype
    if new == torch.bool:
        return f"{x} != 0"
    if not is_float(old) or is_float(new):
        return f"({C_NAMES[new]}){x}"
    # C leaves a float beyond the integer's range undefined; what x86 does is what torch's CPU does.
    wide = torch.int64 if new == torch.int64 else torch.int32
    bound = literal(2.0 ** (63 if wide == torch.int64 else 31), old)
    inside = f"({x} >= -{bound} && {x} < {bound}) ? ({C_NAMES[wide]}){x} : {literal(torch.iinfo(wide).min, wide)}"
    return inside if wide == new else f"({C_NAMES[new]})({inside})"


def div_known(s: Scalar, x: str, y: str) -> str:
    high, low = (literal(part, s.dtype) for part in s.data)
    return f"DIVIDE_{_SUFFIX[s.dtype]}({x}, {y}, {high}, {low})"


def bits(s: Scalar, x: str) -> str:
    kind = {torch.float64: "f64", torch.int64: "i64", torch.float32: "f32", torch.int32: "i32"}
    return f"bits_{kind[s.args[0].dtype]}({x})"


def neg(s: Scalar, x: str) -> str:
    return f"-{x}" if is_float(s.dtype) else _wrapped(s, f"0 - ({_UNSIGNED[s.dtype]}){x}")


def invert(s: Scalar, x: str) -> str:
    return _wrapped(s, f"~{x}")


def size(s: Scalar, x: str) -> str:
    """The absolute value. The lowest integer has none and stays as it is."""
    if is_float(s.dtype):
        return f"__builtin_fabs{_SUFFIX[s.dtype]}({x})"
    return f"{x} < 0 ? {neg(s, x)} : {x}"


def sign(s: Scalar, x: str) -> str:
    return f"({C_NAMES[s.dtype]})(({x} > 0) - ({x} < 0))"


def call(s: Scalar, x: str) -> str:
    return f"__builtin_{s.op}{_SUFFIX[s.dtype]}({x})"


def larger(s: Scalar, x: str, y: str) -> str:
    return _extreme(s, x, y, ">")


def smaller(s: Scalar, x: str, y: str) -> str:
    return _extreme(s, x, y, "<")


def _extreme(s: Scalar, x: str, y: str, sign: str) -> str:
    """The larger or smaller; a NaN, the first one's, where either is NaN."""
    plain = f"{x} {sign} {y} ? {x} : {y}"
    return f"{x} != {x} ? {x} : ({plain})" if is_float(s.dtype) else plain


def at_least(s: Scalar, x: str, y: str) -> str:
    plain = f"{x} < {y} ? {y} : {x}"
    return f"{y} != {y} ? {y} : ({plain})" if is_float(s.dtype) and not s.args[1].constant else plain


def at_most(s: Scalar, x: str, y: str) -> str:
    plain = f"{x} > {y} ? {y} : {x}"
    return f"{y} != {y} ? {y} : ({plain})" if is_float(s.dtype) and not s.args[1].constant else plain


def shl(s: Scalar, x: str, y: str) -> str:
    """x shifted to the left by y, wrapped; 0 where y is negative or not below the width."""
    bits = torch.iinfo(s.dtype).bits
    text = _wrapped(s, f"({_UNSIGNED[s.dtype]}){x} << {y}")
    return _shift_in_range(s, text, y, "0", bits)


def rotl(s: Scalar, x: str, y: str) -> str:
    """A rotation to the left by a constant."""
    bits, unsigned, turn = torch.iinfo(s.dtype).bits, _UNSIGNED[s.dtype], s.args[1].data
    return _wrapped(s, f"({unsigned}){x} << {turn} | ({unsigned}){x} >> {bits - turn}")


def shr(s: Scalar, x: str, y: str) -> str:
    bits = torch.iinfo(s.dtype).bits
    return _shift_in_range(s, _wrapped(s, f"{x} >> {y}"), y, f"({x} < 0 ? -1 : 0)", bits)


def _shift_in_range(s: Scalar, text: str, y: str, beyond: str, bits: int) -> str:
    amount = s.args[1]
    if amount.constant:
        return text if 0 <= amount.data < bits else beyond
    safe = text.replace(f" {y})", f" ({y} & {bits - 1}))")
    return f"({y} < 0 || {y} >= {bits}) ? {beyond} : {safe}"


def div_trunc(s: Scalar, x: str, y: str) -> str:
    return _whole(s, x, y)[0]


def rem_trunc(s: Scalar, x: str, y: str) -> str:
    return _whole(s, x, y)[1]


def div_floor(s: Scalar, x: str, y: str) -> str:
    quotient, rest = _whole(s, x, y)
    return _wrapped(s, f"({quotient}) - (({rest}) != 0 && (({rest}) < 0) != ({y} < 0))")


def rem_floor(s: Scalar, x: str, y: str) -> str:
    _, rest = _whole(s, x, y)
    return _wrapped(s, f"({rest}) + ((({rest}) != 0 && (({rest}) < 0) != ({y} < 0)) ? {y} : 0)")


def _whole(s: Scalar, x: str, y: str) -> tuple[str, str]:
    """Quotient and rest towards zero, for any divisor: 0 counts as 1, and -1 cannot overflow."""
    divisor = s.args[1]
    if divisor.constant and divisor.data not in (0, -1):
        return _wrapped(s, f"{x} / {y}"), _wrapped(s, f"{x} % {y}")
    if s.dtype == torch.uint8:
        safe = f"({y} == 0 ? 1 : {y})"
        return _wrapped(s, f"{x} / {safe}"), _wrapped(s, f"{x} % {safe}")
    safe = f"({y} == 0 || {y} == -1 ? 1 : {y})"
    quotient = f"{y} == -1 ? {neg(s, x)} : {_wrapped(s, f'{x} / {safe}')}"
    return f"({quotient})", _wrapped(s, f"{x} % {safe}")


OPERATIONS: dict[str, Callable[..., str]] = {
    "cast": cast,
    "bits": bits,
    "neg": neg,
    "invert": invert,
    "abs": size,
    "sign": sign,
    "sqrt": call,
    "floor": call,
    "ceil": call,
    "trunc": call,
    "rint": call,
    "max": larger,
    "min": smaller,
    "at_least": at_least,
    "at_most": at_most,
    "shl": shl,
    "shr": shr,
    "rotl": rotl,
    "div_known": div_known,
    "div_trunc": div_trunc,
    "rem_trunc": rem_trunc,
    "div_floor": div_floor,
    "rem_floor": rem_floor,
}
