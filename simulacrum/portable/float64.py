"""`Float64`: a Python float whose square is a product, for a program that was written with `x ** 2`.

`x ** 2` of a Python float, and of a NumPy scalar, is the C library's `pow`, which is a little less than correctly
rounded: with glibc 2.36 one square in 1,200 is not the product `x * x` rounded once. A reference that drives somebody
else's program hands it these in place of floats, and the last bit is everybody's again.
"""

from __future__ import annotations

from typing import Any, NoReturn

_new = float.__new__


class Float64(float):
    """A float that stays one of its kind under + - * / and %, rounded as ever, and whose `** 2` is `x * x`.

    The other operand may be an int, a float or a NumPy float scalar, which is widened first. Any other power raises
    TypeError. Comparisons, conversions and division by zero are those of a Python float.
    """

    __slots__ = ()

    def __add__(self, other: Any, /) -> Float64:
        return _made(float.__add__(self, _operand(other)))

    __radd__ = __add__

    def __sub__(self, other: Any, /) -> Float64:
        return _made(float.__sub__(self, _operand(other)))

    def __rsub__(self, other: Any, /) -> Float64:
        return _made(float.__rsub__(self, _operand(other)))

    def __mul__(self, other: Any, /) -> Float64:
        return _made(float.__mul__(self, _operand(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any, /) -> Float64:
        return _made(float.__truediv__(self, _operand(other)))

    def __rtruediv__(self, other: Any, /) -> Float64:
        return _made(float.__rtruediv__(self, _operand(other)))

    def __mod__(self, other: Any, /) -> Float64:
        return _made(float.__mod__(self, _operand(other)))

    def __neg__(self) -> Float64:
        return _made(float.__neg__(self))

    def __pos__(self) -> Float64:
        return self

    def __abs__(self) -> Float64:
        return _made(float.__abs__(self))

    def __pow__(self, power: Any, modulus: None = None, /) -> Float64:
        if power != 2 or modulus is not None:
            raise TypeError(f"Float64 has ** 2 alone, not ** {power}; write portable.pow(x, y)")
        return _made(float.__mul__(self, self))

    def __rpow__(self, base: Any, modulus: None = None, /) -> NoReturn:
        raise TypeError("Float64 is no power; write portable.pow(x, y)")

    def __repr__(self) -> str:
        return f"Float64({float.__repr__(self)})"


def _made(value: float) -> Float64:
    return _new(Float64, value)


def _operand(other: Any) -> float:
    if isinstance(other, (float, int)) or type(other).__module__ == "numpy":
        return float(other)
    raise TypeError(f"Float64 goes with an int, a float or a NumPy scalar, not {type(other).__name__}")
