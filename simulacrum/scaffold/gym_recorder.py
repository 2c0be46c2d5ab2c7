"""NumPy's generator with a notebook: every call that an environment makes, and the single values that answered it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# The methods that a reference can answer from draws, by the distribution of simulacrum's that answers them.
ANSWERED = {
    "random": "uniform",
    "uniform": "uniform",
    "integers": "integers",
    "normal": "normal",
    "standard_normal": "normal",
    "choice": "integers",
    "shuffle": "permutation",
    "permutation": "permutation",
}


@dataclass(frozen=True)
class Call:
    """One call: the method, how it was called, and the values it came to, as draws would give them.

    `form` tells apart what a stand-in must treat in another way ("int", "weights", "subset", "endpoint", ...);
    `values` are the plain numbers in NumPy's order (for a permutation one tuple); `size` is what was given as size or
    comes of arguments that are arrays; `span` is the largest number of integers to choose from; `given` is how a twin
    would ask for the value, as Python, where the arguments are plain numbers.
    """

    method: str
    distribution: str
    form: str
    values: tuple[Any, ...]
    sized: bool = False
    span: int = 0
    dtype: str = "float64"
    given: str = ""


class Recorder(np.random.Generator):
    """A generator that answers as NumPy's own with that seed would, but for orders, and notes its calls in `calls`."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.own = np.random.Generator(self.bit_generator)  # some of NumPy's methods call others of self
        self.calls: list[Call] = []
        self.unknown: list[str] = []

    def _note(self, method: str, value: Any, form: str = "", *, distribution: str = "", **more: Any) -> Any:
        array: Any = np.asarray(value)
        values = tuple(array.ravel().tolist())
        self.calls.append(Call(method, distribution or ANSWERED[method], form, values, sized=bool(array.shape), **more))
        return value

    # NumPy's stubs overload each method by dtype; here one signature takes them all.
    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._note("random", self.own.random(size, dtype, out), dtype=np.dtype(dtype).name)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._note("uniform", self.own.uniform(low, high, size), given=_plain(low, high))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._note("normal", self.own.normal(loc, scale, size), given=_plain(loc, scale))

    # As above.
    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._note("standard_normal", self.own.standard_normal(size, dtype, out), dtype=np.dtype(dtype).name)

    # As above.
    def integers(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        """As NumPy's, noted with its range."""
        value = self.own.integers(low, high, size, dtype, endpoint)
        bottom, top = (0, low) if high is None else (low, high)
        span = int(np.max(np.asarray(top) - np.asarray(bottom))) + bool(endpoint)
        form = ("from zero" if high is None else "") + (" endpoint" if endpoint else "")
        given = _plain(top) if high is None else _plain(top, bottom).replace(", ", ", low=")
        return self._note("integers", value, form.strip(), span=span, given="" if endpoint else given)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """As NumPy's, noted as the index or the order that it draws."""
        count = int(a) if np.ndim(a) == 0 else len(a)
        pool: Any = np.arange(count) if np.ndim(a) == 0 else np.asarray(a)
        if axis != 0 or (not replace and p is not None):
            self.unknown.append("choice with axis or with p and without replacement")
            return self.own.choice(a, size, replace, p, axis, shuffle)
        if not replace:
            order: Any = self.own.permutation(count)
            self.calls.append(Call("choice", "permutation", "subset", (tuple(order.tolist()),), span=count))
            return pool[order[: int(np.prod(size or 1))]].reshape((*np.shape(np.empty(size or ())), *pool.shape[1:]))
        index = self.own.choice(count, size, True, p)
        weighed = "weights" if p is not None else ""
        self._note(
            "choice", index, weighed, distribution="choice" if weighed else "integers", span=count,
            given=_plain(count) if not weighed else repr(np.asarray(p, float).tolist()),
        )  # fmt: skip
        return pool[index]

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """As NumPy's, noted as an order."""
        order: Any = self.own.permutation(int(x) if np.ndim(x) == 0 else len(x))
        form = "int" if np.ndim(x) == 0 else ""
        self.calls.append(Call("permutation", "permutation", form, (tuple(order.tolist()),), span=len(order)))
        return order if form else np.asarray(x)[order]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """As NumPy's, noted as an order."""
        order: Any = self.own.permutation(len(x))
        self.calls.append(Call("shuffle", "permutation", "", (tuple(order.tolist()),), span=len(order)))
        x[:] = [x[int(i)] for i in order] if isinstance(x, list) else np.asarray(x)[order]


def _plain(*arguments: Any) -> str:
    """Arguments as Python, "" where one is an array."""
    if any(np.ndim(one) for one in arguments):
        return ""
    return ", ".join(repr(one.item() if isinstance(one, np.generic) else one) for one in arguments)


def _unanswered(name: str) -> Any:
    def method(self: Recorder, *args: Any, **kwargs: Any) -> Any:
        self.unknown.append(name)
        return getattr(self.own, name)(*args, **kwargs)

    method.__name__ = name
    return method


for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in (*ANSWERED, "bit_generator", "spawn"):
        setattr(Recorder, _name, _unanswered(_name))
