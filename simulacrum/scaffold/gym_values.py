"""Values that an environment keeps in its attributes: compared by content, copied, taken apart into plain leaves."""

from __future__ import annotations

import copy
import enum
import types
from typing import Any, cast

import numpy as np

# What every environment has, and what belongs to the generator; none of it is state.
NEVER = {"_np_random", "_np_random_seed", "spec", "metadata", "action_space", "observation_space", "render_mode"}
_PLAIN = (bool, int, float, complex, str, bytes, type(None))

Path = tuple[tuple[str, Any], ...]


def clone(env: Any, changing: Any = ()) -> Any:
    """An environment with the same attributes, of which those in `changing` are copied in depth."""
    made: Any = object.__new__(cast("type[Any]", type(env)))
    vars(made).update(vars(env))
    for name in changing:
        if name in vars(env):
            setattr(made, name, copy.deepcopy(getattr(env, name)))
    return made


def attributes(env: Any) -> dict[str, Any]:
    """The attributes that could be state."""
    return {name: value for name, value in vars(env).items() if name not in NEVER}


def print_of(value: Any, depth: int = 8) -> Any:
    """Something hashable that is equal for two values exactly if their contents are, as far as they can be seen."""
    if isinstance(value, _PLAIN):
        return type(value).__name__, repr(value)
    if isinstance(value, (np.ndarray, np.generic)):
        array: Any = value
        return type(value).__name__, str(array.dtype), array.shape, array.tobytes()
    if isinstance(value, enum.Enum):
        return type(value).__qualname__, value.name
    if isinstance(value, np.random.Generator):
        return "generator", repr(value.bit_generator.state)
    if depth == 0 or isinstance(value, (type, types.ModuleType)) or callable(value):
        return "code", getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, dict):
        return "dict", tuple((repr(key), print_of(item, depth - 1)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(print_of(item, depth - 1) for item in cast("list[Any]", value))
    if isinstance(value, (set, frozenset)):
        return "set", tuple(sorted(repr(item) for item in cast("set[Any]", value)))
    inner = getattr(value, "__dict__", None)
    if inner is not None:
        return type(value).__qualname__, tuple((name, print_of(item, depth - 1)) for name, item in inner.items())
    return "opaque", type(value).__qualname__


def is_opaque(value: Any) -> bool:
    """Whether Python cannot see into the value: what a C library keeps is no part of its print."""
    return print_of(value)[0] == "opaque"


def leaves(value: Any, path: Path = ()) -> dict[Path, Any]:
    """The plain values in a value by the way to each: numbers, texts, members of enums, None, and whole arrays.

    Lists and tuples of numbers of one kind are whole, as are arrays; every other container is entered. A value
    that is none of these stands for itself, and `kind_of` refuses it.
    """
    if isinstance(value, dict) and value and all(isinstance(key, (str, int)) for key in value):
        return _merged((leaves(item, (*path, ("key", key))) for key, item in value.items()))
    if isinstance(value, (list, tuple)) and not _is_row(value):
        items = cast("list[Any]", value)
        if not items:
            return {path: value}
        return _merged(leaves(item, (*path, ("item", index))) for index, item in enumerate(items))
    plain = isinstance(value, (*_PLAIN, np.ndarray, np.generic, enum.Enum, list, tuple, np.random.Generator))
    inner = getattr(value, "__dict__", None)
    if not plain and inner and not callable(value):
        return _merged(leaves(item, (*path, ("attr", name))) for name, item in inner.items())
    return {path: value}


def kind_of(value: Any) -> str:
    """ "bool", "int", "float", "array", "row" (a list or tuple of numbers), "symbol" or "unknown"."""
    if isinstance(value, enum.Enum):
        return "symbol"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    if isinstance(value, np.ndarray):
        return "array" if cast(Any, value).dtype.kind in "biuf" else "unknown"
    if isinstance(value, (list, tuple)):
        return "row" if _is_row(value) else "unknown"
    return "symbol" if value is None or isinstance(value, str) else "unknown"


def spelled(path: Path) -> str:
    """The way to a leaf as Python: (("attr", "car"), ("item", 0)) is "car[0]"."""
    text = ""
    for step, name in path:
        text += f".{name}" if step == "attr" else f"[{name!r}]"
    return text.removeprefix(".")


def _merged(parts: Any) -> dict[Path, Any]:
    found: dict[Path, Any] = {}
    for part in parts:
        found.update(part)
    return found


def _is_row(value: Any) -> bool:
    """A list or tuple of numbers of one kind, or a rectangular one of such."""
    if not len(value):
        return True
    kinds = {kind_of(item) for item in value}
    if kinds == {"row"}:
        try:
            return np.asarray(value).dtype.kind in "biuf"
        except ValueError:
            return False
    return kinds in ({"bool"}, {"int"}, {"float"}, {"int", "float"})
