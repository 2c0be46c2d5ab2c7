"""The state, guessed: one field for each plain value in the attributes, with the Python that reads and writes it."""

from __future__ import annotations

import enum
import keyword
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulacrum.errors import PackageError
from simulacrum.scaffold.gym_runs import Moment, Runs
from simulacrum.scaffold.gym_shown import oddities
from simulacrum.scaffold.gym_source import Source
from simulacrum.scaffold.gym_spaces import box_leaf, nested
from simulacrum.scaffold.gym_values import Path, kind_of, leaves, spelled

SYMBOLS = 64  # as many different texts as may be numbered
_INT32 = 2**31 - 1


@dataclass(frozen=True)
class Guess:
    """One field of the state. `values` are its values at all moments, flat; `imports` are (module, name) it needs.

    `read` is Python on `env`, `write` Python on `state`; `why` tells where the bounds come from.
    """

    name: str
    path: Path
    dtype: str
    shape: tuple[int, ...]
    low: Any
    high: Any
    read: str
    write: str
    why: str
    values: Any
    imports: tuple[tuple[str, str], ...] = ()

    def leaf(self) -> dict[str, Any]:
        """The field's leaf of schema.json."""
        if self.dtype == "bool":
            inner = nested(self.shape, {"type": "boolean"})
            leaf = {**inner, "x-dtype": "bool", "x-shape": list(self.shape)}
        else:
            leaf = box_leaf(self.dtype, self.shape, self.low, self.high)
        odd = oddities(self.values) if self.dtype.startswith("float") else []
        words = f"GUESSED from {spelled(self.path)}; {self.why}"
        return {**leaf, **({"x-allow": odd} if odd else {}), "description": words}


class _Refused(Exception):
    """What an attribute holds cannot be a field."""


def guess_fields(source: Source, runs: Runs, unpacked: dict[str, list[str]]) -> list[Guess]:
    """The fields of the state. Raises PackageError with every attribute that holds what no field can."""
    found: list[Guess] = []
    refused: list[str] = []
    for attribute in runs.alive:
        try:
            found += _of_attribute(attribute, runs.moments, unpacked.get(attribute))
        except _Refused as why:  # noqa: PERF203 -- every attribute is told, not the first alone
            refused.append(f"{attribute}: {why}")
    if refused or not found:
        raise PackageError(
            f"the state of {source.id} cannot be read" if refused else f"{source.id} has no state that changes",
            expected="attributes that hold numbers, truths, texts, members of enums, None, or lists and arrays of them",
            found="; ".join(refused) or "no attribute that a step depends on and that changes",
            where=f"{source.kind.__module__}.{source.kind.__qualname__}",
            next_step="write the package by hand (simulacrum new NAME) and put such an attribute into fields of your "
            "own; docs/writing-an-environment.md shows how",
        )
    return found


def _of_attribute(attribute: str, moments: tuple[Moment, ...], names: list[str] | None) -> list[Guess]:
    taken: list[dict[Path, Any]] = []
    for moment in moments:
        held = vars(moment.held)
        if attribute not in held:
            raise _Refused("not there at every moment")
        taken.append(leaves(held[attribute], (("attr", attribute),)))
    usual = Counter(tuple(one) for one in taken).most_common(1)[0][0]
    root = (("attr", attribute),)
    if any(tuple(one) != usual for one in taken):
        return [_symbol(root, [vars(moment.held)[attribute] for moment in moments])]
    found: list[Guess] = []
    for path in usual:
        values = [one[path] for one in taken]
        later = [one[path] for one, moment in zip(taken, moments, strict=True) if moment.t] or values
        made = _of_leaf(path, values, later)
        plain = made.shape and len(made.shape) == 1 and names and len(names) == made.shape[0] and path == root
        found += _split(made, names, later[-1]) if plain and names and _good(names) else [made]
    return found


def _of_leaf(path: Path, values: list[Any], later: list[Any]) -> Guess:
    kinds = {kind_of(value) for value in values}
    if kinds <= {"int", "float", "bool"} and ("bool" not in kinds or kinds == {"bool"}):
        return _scalar(path, values, later, "float" if "float" in kinds else kinds.pop())
    if kinds <= {"row", "array"}:
        return _array(path, values, later)
    if kinds <= {"symbol", "int", "bool"}:
        return _symbol(path, values)
    strange = next(value for value in values if kind_of(value) == "unknown")
    raise _Refused(f"{spelled(path)} is a {type(strange).__module__}.{type(strange).__qualname__}")


def _scalar(path: Path, values: list[Any], later: list[Any], kind: str) -> Guess:
    text, name = f"env.{spelled(path)}", _name(path)
    wrap = _element(later)
    if kind == "bool":
        truths = [bool(value) for value in values]
        return Guess(name, path, "bool", (), None, None, f"bool({text})", f"state.{name}", "true and false", truths)
    write = f"{wrap}(state.{name})" if wrap else f"state.{name}"
    if kind == "float":
        dtype = "float32" if all(type(value) is np.float32 for value in values) else "float64"
        plain = [float(value) for value in values]
        return Guess(name, path, dtype, (), None, None, f"float({text})", write, "no bounds", plain)
    low, high, dtype, why = _limits([int(value) for value in values])
    return Guess(name, path, dtype, (), low, high, f"int({text})", write, why, [int(value) for value in values])


def _array(path: Path, values: list[Any], later: list[Any]) -> Guess:
    arrays = [np.asarray(value) for value in values]
    text, name = f"env.{spelled(path)}", _name(path)
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        return _padded(path, values, arrays)
    shape = shapes.pop()
    if 0 in shape:
        raise _Refused(f"{spelled(path)} is always empty")
    found: Any = np.result_type(*arrays)
    flat = np.concatenate([array.ravel() for array in arrays]).tolist()
    write = _container(later[-1], f"state.{name}", values[0])
    whole = text if all(isinstance(value, np.ndarray) for value in values) else f"np.asarray({text})"
    read = f"{whole}.tolist()"
    if found.kind == "b":
        return Guess(name, path, "bool", shape, None, None, read, write, "true and false", flat)
    if found.kind == "f":
        dtype = "float32" if found == np.float32 else "float64"
        if dtype == "float64" and found != np.float64:
            raise _Refused(f"{spelled(path)} is an array of {found}")
        read = f"np.asarray({text}, np.float64).tolist()" if any(array.dtype != found for array in arrays) else read
        return Guess(name, path, dtype, shape, None, None, read, write, "no bounds", flat)
    low, high, dtype, why = _limits(flat)
    return Guess(name, path, dtype, shape, low, high, read, write, why, flat)


def _padded(path: Path, values: list[Any], arrays: list[Any]) -> Guess:
    """A list whose length changes: its length in front, then its items, then zeros up to a fixed length."""
    longest = max(len(array) for array in arrays)
    kinds = {array.dtype.kind for array in arrays if len(array)}
    if kinds != {"i"} or any(array.ndim != 1 for array in arrays) or {type(value) for value in values} != {list}:
        raise _Refused(f"{spelled(path)} changes its shape")
    room, name = 2 * longest, _name(path)
    items = [int(item) for array in arrays for item in array.tolist()]
    low, high, dtype, why = _limits([0, room, *items])
    read = f"[len(env.{spelled(path)}), *env.{spelled(path)}, *[0] * ({room} - len(env.{spelled(path)}))]"
    write = f"list(state.{name}[1 : 1 + state.{name}[0]])"
    why = f"its length, its items, zeros; seen up to {longest} items; {why}"
    return Guess(name, path, dtype, (room + 1,), low, high, read, write, why, items)


def _symbol(path: Path, values: list[Any]) -> Guess:
    """Texts, None and members of enums, by their place among those that were seen."""
    text, name = f"env.{spelled(path)}", _name(path)
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and issubclass(kind := next(iter(kinds)), enum.Enum):
        members = list(kind)
        numbers = [members.index(value) for value in values]
        read, write = f"list({kind.__name__}).index({text})", f"list({kind.__name__})[state.{name}]"
        why = f"the place of a member of {kind.__name__}"
        return Guess(
            name, path, "int32", (), 0, len(members) - 1, read, write, why, numbers, ((kind.__module__, kind.__name__),)
        )
    if any(kind_of(value) not in ("symbol", "int", "bool") or isinstance(value, enum.Enum) for value in values):
        raise _Refused(f"{spelled(path)} holds now a {' and now a '.join(sorted(kind.__name__ for kind in kinds))}")
    seen = sorted(set(values), key=lambda value: (value is not None, str(type(value)), value or 0))
    if len(seen) > SYMBOLS:
        raise _Refused(f"{spelled(path)} holds more than {SYMBOLS} different texts")
    table = f"({', '.join(map(repr, seen))},)"
    why = f"the place among {table}, those that were seen"
    return Guess(
        name, path, "int32", (), 0, len(seen) - 1, f"{table}.index({text})", f"{table}[state.{name}]", why,
        [seen.index(value) for value in values],
    )  # fmt: skip


def _split(whole: Guess, names: list[str], last: Any) -> list[Guess]:
    """One field for each element that the environment's own code gives a name."""
    rows = np.array(whole.values).reshape(-1, len(names))
    made: list[Guess] = []
    for index, name in enumerate(names):
        values = rows[:, index].tolist()
        low, high, dtype, why = (None, None, whole.dtype, "no bounds")
        if whole.dtype.startswith("int"):
            low, high, dtype, why = _limits(values)
        kind = "bool" if whole.dtype == "bool" else "float" if whole.dtype.startswith("float") else "int"
        wrap = _element([last[index]]) if not isinstance(last, np.ndarray) else ""
        made.append(
            Guess(
                name, (*whole.path, ("item", index)), dtype, (), low, high,
                f"{kind}(env.{spelled(whole.path)}[{index}])", f"{wrap}(state.{name})" if wrap else f"state.{name}",
                why, values,
            )
        )  # fmt: skip
    return made


def _limits(values: list[int]) -> tuple[int, int, str, str]:
    """Bounds a little wider than what was seen where that looks like a part of more."""
    low, high = min(values), max(values)
    why = f"seen from {low} to {high}"
    if len(set(values)) > 8:
        high = 2 ** (2 * max(high, 1)).bit_length() - 1
        low = 0 if low >= 0 else -(2 ** (-2 * low).bit_length())
    low = min(low, 0)
    return low, high, "int32" if low >= -_INT32 and high <= _INT32 else "int64", why


def _element(values: list[Any]) -> str:
    """What wraps a plain number so that it is what the environment usually keeps there."""
    usual = Counter(type(value) for value in values).most_common(1)[0][0]
    return f"np.{usual.__name__}" if issubclass(usual, np.generic) else ""


def _container(value: Any, text: str, first: Any) -> str:
    """A state's nested tuple as what the environment keeps after a step, and, where that is another dtype, at first."""
    if isinstance(value, np.ndarray):
        dtype = f"np.{value.dtype.name}"
        if isinstance(first, np.ndarray) and first.dtype != value.dtype:
            dtype = f"np.{first.dtype.name} if t == 0 else {dtype}"
        return f"np.array({text}, {dtype})"
    if isinstance(value, tuple):
        return text
    deep = bool(len(value)) and isinstance(value[0], (list, tuple))
    return f"[{type(value[0]).__name__}(row) for row in {text}]" if deep else f"list({text})"


def _name(path: Path) -> str:
    name = "_".join(str(part).strip("_") for _, part in path)
    return f"{name}_" if keyword.iskeyword(name) or name in ("replace", "index", "count") else name


def _good(names: list[str]) -> bool:
    return all(name.isidentifier() and not name.startswith("_") and name != "replace" for name in names)
