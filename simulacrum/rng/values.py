"""From words to values, one at a time, in plain Python numbers. `tensors.py` is the same page for tensors.

Words are ints 0..2**32-1. A draw of one word is given (w,), one of two words (w0, w1).
`real` is the rounding of the slot's dtype: round32 for float32, nothing for float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulacrum.portable.scalar import cos, log, round32, sqrt
from simulacrum.rng.arguments import Bounds, Span

Words = tuple[int, ...]
Rounding = Callable[[float], float]

TWO_PI = 6.283185307179586


def rounding(dtype: str) -> Rounding:
    """The function that rounds a float64 result to `dtype`."""
    return round32 if dtype == "float32" else float


def unit(words: Words) -> float:
    """Uniform in [0, 1): 24 bits of one word, or 53 of two (27 of the first, 26 of the second). Exact."""
    if len(words) == 1:
        return (words[0] >> 8) * 2.0**-24
    return ((words[0] >> 5) * 67108864.0 + (words[1] >> 6)) * 2.0**-53


def uniform(words: Words, bounds: Bounds, real: Rounding) -> float:
    """low + u * width, two roundings; low in place of a value that rounding lifted to high."""
    value = real(bounds.low + real(unit(words) * bounds.width))
    return value if value < bounds.high else bounds.low


def integers(words: Words, span: Span) -> int:
    """low + (word * size >> 32); with two words low + (word64 * size >> 64), the first on top."""
    number = 0
    for word in words:
        number = number << 32 | word
    return span.low + (number * span.size >> 32 * len(words))


def bernoulli(words: Words, p: float) -> bool:
    """True where u < p."""
    return unit(words) < p


def normal(words: Words, mean: float, std: float, real: Rounding) -> float:
    """mean + std * z; z by Box and Muller in float64, rounded once, then one product and one sum."""
    radius = sqrt(-2.0 * log((words[0] + 0.5) * 2.0**-32))
    z = real(radius * cos(words[1] * (TWO_PI * 2.0**-32)))
    return real(mean + real(std * z))


def choice(words: Words, sums: Sequence[float], real: Rounding) -> int:
    """How many of the partial sums, the total left out, are at or below u * total."""
    target = real(unit(words) * sums[-1])
    return sum(edge <= target for edge in sums[:-1])


def permutation(words: Words) -> tuple[int, ...]:
    """Place of each item when items are sorted by (word, item)."""
    order = sorted(range(len(words)), key=words.__getitem__)  # stable: equal words stay in item order
    places = [0] * len(words)
    for place, item in enumerate(order):
        places[item] = place
    return tuple(places)
