"""`Float32`: float32 arithmetic that reads like arithmetic, in plain Python.

Each operation is done in float64 and rounded to float32 once. For + - * / that gives the correctly rounded
float32 result, because 53 bits are at least 2 * 24 + 2 (a classical result on double rounding), so a
`Float32` expression has the bits of the same expression on float32 tensors.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from simulacrum.portable.bits import FLOAT, bits32, round32, round32_integer

EXACT = 1 << 24  # integers up to here are float32s as they are

_new = float.__new__
_add, _sub, _mul, _div = float.__add__, float.__sub__, float.__mul__, float.__truediv__
# `round32` is written out in each operation: references spend much of their time here, and a third of that in calls.
_pack, _unpack = FLOAT.pack, FLOAT.unpack


class Float32(float):
    """A float that is always a float32 value.

    The other operand (int, float, NumPy scalar on the right) is rounded to float32 before the operation and
    before a comparison, as torch does with a Python scalar beside a float32 tensor: `Float32(0.1) == 0.1` is
    true. Overflow gives an infinity and division by zero an infinity or NaN, as torch does; nothing raises.
    `//`, `%` and `**` have no form with the same bits everywhere: they raise TypeError, and the message says
    what to write.

    `hash` is that of the float value, so a dict that mixes `Float32(0.1)` and `0.1` as keys holds both.
    """

    __slots__ = ()

    def __new__(cls, value: Any = 0.0) -> Float32:
        """Round `value` (int, float, str as for `float`) to the nearest float32."""
        if type(value) is int and -EXACT <= value <= EXACT:
            return _new(cls, value)
        if isinstance(value, int):
            return _new(cls, round32_integer(value))
        return _new(cls, round32(float(value)))

    def __add__(self, other: float, /) -> Float32:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        try:
            return _new(Float32, _unpack(_pack(_add(self, other)))[0])
        except OverflowError:
            return _new(Float32, round32(_add(self, other)))

    __radd__ = __add__

    def __sub__(self, other: float, /) -> Float32:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        try:
            return _new(Float32, _unpack(_pack(_sub(self, other)))[0])
        except OverflowError:
            return _new(Float32, round32(_sub(self, other)))

    def __rsub__(self, other: float, /) -> Float32:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        try:
            return _new(Float32, _unpack(_pack(_sub(other, self)))[0])
        except OverflowError:
            return _new(Float32, round32(_sub(other, self)))

    def __mul__(self, other: float, /) -> Float32:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        try:
            return _new(Float32, _unpack(_pack(_mul(self, other)))[0])
        except OverflowError:
            return _new(Float32, round32(_mul(self, other)))

    __rmul__ = __mul__

    def __truediv__(self, other: float, /) -> Float32:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        try:
            return _new(Float32, _unpack(_pack(_div(self, other)))[0])
        except (ZeroDivisionError, OverflowError):
            return _new(Float32, round32(_divide(self, other)))

    def __rtruediv__(self, other: float, /) -> Float32:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        try:
            return _new(Float32, _unpack(_pack(_div(other, self)))[0])
        except (ZeroDivisionError, OverflowError):
            return _new(Float32, round32(_divide(other, self)))

    def __neg__(self) -> Float32:
        return _new(Float32, float.__neg__(self))

    def __pos__(self) -> Float32:
        return self

    def __abs__(self) -> Float32:
        return _new(Float32, float.__abs__(self))

    def __lt__(self, other: float, /) -> bool:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        return float.__lt__(self, other)

    def __le__(self, other: float, /) -> bool:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        return float.__le__(self, other)

    def __gt__(self, other: float, /) -> bool:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        return float.__gt__(self, other)

    def __ge__(self, other: float, /) -> bool:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        return float.__ge__(self, other)

    def __eq__(self, other: object, /) -> bool:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        return float.__eq__(self, other)

    def __ne__(self, other: object, /) -> bool:
        if type(other) is not Float32 and (other := _operand(other)) is NotImplemented:
            return NotImplemented
        return float.__ne__(self, other)

    __hash__ = float.__hash__

    def __floordiv__(self, other: Any, /) -> NoReturn:
        raise _no_operator("//", "math.floor(a / b), torch.floor(a / b) in the batched twin, or use integers")

    def __mod__(self, other: Any, /) -> NoReturn:
        raise _no_operator("%", "portable.remainder(a, b), or use integers")

    def __pow__(self, other: Any, modulus: Any = None, /) -> NoReturn:
        raise _no_operator("**", "x * x, portable.sqrt(x) or portable.pow(x, y)")

    def __divmod__(self, other: Any, /) -> NoReturn:
        raise _no_operator("divmod", "math.floor(a / b) and portable.remainder(a, b), or use integers")

    def __rfloordiv__(self, other: Any, /) -> NoReturn:
        self.__floordiv__(other)

    def __rmod__(self, other: Any, /) -> NoReturn:
        self.__mod__(other)

    def __rpow__(self, other: Any, modulus: Any = None, /) -> NoReturn:
        self.__pow__(other)

    def __rdivmod__(self, other: Any, /) -> NoReturn:
        self.__divmod__(other)

    def __round__(self, ndigits: None = None, /) -> int:  # type: ignore[override]  # float's takes digits too
        """The nearest int, ties to even, as `torch.round`. With decimal digits it raises TypeError."""
        if ndigits is not None:
            raise _no_operator("round(x, digits)", "round(x * scale), an int, or f'{x:.3f}' to print")
        return float.__round__(self)

    @property
    def bits(self) -> int:
        """The float32 bit pattern, 0..2**32-1."""
        return bits32(self)

    def __repr__(self) -> str:
        return f"Float32({shortest32(self)})"

    def __str__(self) -> str:
        return shortest32(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Float32, (float(self),)

    def __copy__(self) -> Float32:
        return self

    def __deepcopy__(self, memo: Any) -> Float32:
        return self


def shortest32(value: float) -> str:
    """The shortest decimal text that reads back as the same float32: `0.1`, not `0.10000000149011612`."""
    exact = float(value)
    if not math.isfinite(exact):
        return repr(exact)
    for digits in range(1, 10):
        text = f"{exact:.{digits}g}"
        if round32(float(text)) == exact:
            return repr(float(text))
    return repr(exact)


def _operand(value: Any) -> Any:
    """The other side of an operation as a float32 value, or NotImplemented for what is not a real number."""
    if type(value) is int and -EXACT <= value <= EXACT:
        return float(value)
    if isinstance(value, int):
        return round32_integer(value)
    if isinstance(value, float):
        return round32(value)
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        item = value.item()
        return _operand(item) if isinstance(item, (int, float)) else NotImplemented
    return NotImplemented


def _divide(dividend: float, divisor: float) -> float:
    """IEEE division: where Python raises, the infinity or NaN that torch gives."""
    try:
        return float.__truediv__(dividend, divisor)
    except ZeroDivisionError:
        if dividend == 0.0 or dividend != dividend:
            return math.nan
        return math.copysign(math.inf, dividend) * math.copysign(1.0, divisor)


def _no_operator(operator: str, instead: str) -> TypeError:
    return TypeError(f"Float32 has no {operator}: its bits differ between torch's forms; write {instead}")
