"""What an environment hands out, taken apart: nested dicts and tuples of arrays, tensors and plain values.

Tensors are known by what they can do, so that nothing here imports the library that they come from.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Difference:
    """The first place where two values part. `field` is a path; `row` the first index, None for what has no rows."""

    field: str
    row: int | None
    found: str
    expected: str


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor that can be taken to the host."""
    return hasattr(value, "detach") and hasattr(value, "cpu") and hasattr(value, "numpy")


def is_array(value: Any) -> bool:
    """Whether this is an array or a tensor."""
    return isinstance(value, np.ndarray) or is_tensor(value)


def on_host(value: Any) -> np.ndarray:
    """An array or tensor as an array, which may share its memory."""
    return value.detach().cpu().numpy() if is_tensor(value) else np.asarray(value)


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, leaf) of everything in dicts, tuples and lists."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(tree, (tuple, list)):
        for index, value in enumerate(tree):
            yield from leaves(value, f"{path}[{index}]")
    else:
        yield path, tree


def convert(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with every leaf changed."""
    if isinstance(tree, dict):
        return {key: convert(value, change) for key, value in tree.items()}
    if isinstance(tree, (tuple, list)):
        changed = [convert(value, change) for value in tree]
        return type(tree)(*changed) if hasattr(tree, "_fields") else type(tree)(changed)
    return change(tree)


def clone(tree: Any) -> Any:
    """A copy that shares no memory with `tree`; what cannot be copied is kept as it is."""

    def one(leaf: Any) -> Any:
        if is_tensor(leaf):
            return leaf.detach().clone()
        if isinstance(leaf, np.ndarray) and leaf.dtype == object:
            copied = np.full(leaf.shape, None, dtype=object)
            for index, item in np.ndenumerate(leaf):
                copied[index] = clone(item)
            return copied
        if isinstance(leaf, np.ndarray):
            return leaf.copy()
        try:
            return copy.deepcopy(leaf)
        except Exception:  # a lock, a socket: nothing of it is compared
            return leaf

    return convert(tree, one)


def row_of(tree: Any, row: int) -> Any:
    """One row of every array in `tree`, itself a view."""
    return convert(tree, lambda leaf: leaf[row])


def difference(found: Any, expected: Any, field: str = "", *, close: bool = False) -> Difference | None:
    """The first leaf in which two trees part, None where they have the same structure, types and bits.

    With `close`, floats may differ as far as another order of rounding explains (a relative 1e-4).
    """
    ours, theirs = list(leaves(found, field)), list(leaves(expected, field))
    if [path for path, _ in ours] != [path for path, _ in theirs]:
        paths = {path for path, _ in ours} ^ {path for path, _ in theirs}
        return Difference(sorted(paths)[0] if paths else field, None, _names(ours), _names(theirs))
    for (path, x), (_, y) in zip(ours, theirs, strict=True):
        parted = _leaf_difference(x, y, path, close)
        if parted is not None:
            return parted
    return None


def _names(found: list[tuple[str, Any]]) -> str:
    return ", ".join(path or "(value)" for path, _ in found[:8]) or "nothing"


def _leaf_difference(x: Any, y: Any, path: str, close: bool) -> Difference | None:
    if not (is_array(x) or is_array(y) or isinstance(x, np.generic) or isinstance(y, np.generic)):
        return None if _plainly_equal(x, y) else Difference(path, None, short(x), short(y))
    a, b = on_host(x), on_host(y)
    if a.shape != b.shape:
        return Difference(path, None, f"shape {a.shape}", f"shape {b.shape}")
    if a.dtype != b.dtype and not close:
        return Difference(path, None, f"dtype {a.dtype}", f"dtype {b.dtype}")
    if a.dtype == object or b.dtype == object:
        return _object_difference(a, b, path, close)
    same = _same(a, b, close)
    if bool(np.all(same)):
        return None
    index = tuple(int(i) for i in np.argwhere(~np.atleast_1d(same))[0])
    row = index[0] if a.ndim else None
    told = path + "".join(f"[{i}]" for i in index[1:]) if a.ndim else path
    return Difference(told, row, short(np.atleast_1d(a)[index]), short(np.atleast_1d(b)[index]))


def _same(a: np.ndarray, b: np.ndarray, close: bool) -> Any:
    if close and a.dtype.kind in "fiu" and b.dtype.kind in "fiu":
        return np.isclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-4, atol=1e-5, equal_nan=True)
    same = a == b
    return same | ((a != a) & (b != b)) if a.dtype.kind in "fc" else same


def _object_difference(a: np.ndarray, b: np.ndarray, path: str, close: bool) -> Difference | None:
    for index in np.ndindex(a.shape):
        parted = difference(a[index], b[index], path, close=close)
        if parted is not None:
            return Difference(parted.field, int(index[0]) if index else None, parted.found, parted.expected)
    return None


def _plainly_equal(x: Any, y: Any) -> bool:
    try:
        return x is y or bool(x == y) or (x != x and y != y)
    except Exception:  # values that refuse comparison say nothing
        return True


def short(value: Any, width: int = 100) -> str:
    """A value as one line of at most `width` characters."""
    if is_array(value):
        value = on_host(value)
        text = str(value.tolist()) if value.size <= 8 else f"{value.dtype}{list(value.shape)}"
    else:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."
