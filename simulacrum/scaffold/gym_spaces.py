"""Spaces of Gymnasium as leaves of a schema, with the Python that goes from one to the other."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from simulacrum.contract.fields import DTYPES, FLOAT_DTYPES
from simulacrum.errors import PackageError


@dataclass(frozen=True)
class Part:
    """One tensor of a space: its name in a Dict ("" alone), the way to it, and its leaf of schema.json.

    `low` and `high` are arrays of the leaf's shape, None where there is no bound.
    """

    name: str
    way: tuple[Any, ...]
    leaf: dict[str, Any]
    space: str
    dtype: str
    shape: tuple[int, ...]
    low: Any
    high: Any


@dataclass(frozen=True)
class Space:
    """A whole space: its parts, what had to be left out (name, why), and whether a tuple became one tensor."""

    parts: tuple[Part, ...]
    left_out: tuple[tuple[str, str], ...]
    joined: bool
    given: Any

    @property
    def single(self) -> bool:
        return self.parts[0].way == ()

    def schema(self, description: str) -> dict[str, Any]:
        """The entry of schema.json."""
        if self.single:
            return {**self.parts[0].leaf, "description": description}
        names = [part.name for part in self.parts]
        leaves = {part.name: part.leaf for part in self.parts}
        closed = {"required": names, "additionalProperties": False, "description": description}
        return {"type": "object", "x-space": "Dict", "properties": leaves, **closed}

    def plain(self, value: Any) -> Any:
        """A value of the space as the schema has it: arrays and numbers, in a dict for a Dict space."""
        if self.single:
            return tuple(int(one) for one in value) if self.joined else value
        return {part.name: _reached(value, part.way) for part in self.parts}

    def read(self, text: str) -> str:
        """Python that does the same as `plain` to the expression `text`."""
        if self.joined:
            return f"tuple(int(part) for part in {text})"
        if self.single:
            return _reading(self.parts[0], text)
        pairs = (f'"{part.name}": {_reading(part, text + _steps(part.way))}' for part in self.parts)
        return "{" + ", ".join(pairs) + "}"

    def write(self, text: str) -> str:
        """Python that makes the value that the environment wants from the twin's action `text`."""
        if self.joined:
            return text
        return _writing(self.given, text, self, ())


def read_space(space: Any, what: str, env_id: str) -> Space:
    """The schema of a space. Raises PackageError where no tensor can hold it."""
    if isinstance(space, spaces.Tuple) and space.spaces and all(map(_counts_from_zero, space.spaces)):
        nvec = [int(one.n) for one in space.spaces]  # type: ignore[attr-defined]  # all are Discrete
        part = _part("", (), spaces.MultiDiscrete(nvec))
        assert isinstance(part, Part)
        return Space((part,), (), True, space)
    parts: list[Part] = []
    left_out: list[tuple[str, str]] = []
    for name, way, inner in _flat(space, (), ""):
        part = _part(name, way, inner)
        if isinstance(part, Part):
            parts.append(part)
        else:
            left_out.append((name, part))
    if parts and not (left_out and what == "action"):
        return Space(tuple(parts), tuple(left_out), False, space)
    raise PackageError(
        f"the {what} space of {env_id} is nothing that a schema can hold",
        expected="Discrete, MultiDiscrete, MultiBinary, Box, or Dict and Tuple of them, of fixed shapes",
        found=", ".join(f"{name}: {why}" if name else why for name, why in left_out) or f"{space}, which is empty",
        where=f"{what}_space",
        next_step="register an id of the environment in a wrapper that gives numbers of a fixed shape "
        "(FlattenObservation, or an ObservationWrapper of your own), or write the package by hand: simulacrum new NAME",
    )


def _flat(space: Any, way: tuple[Any, ...], name: str) -> list[tuple[str, tuple[Any, ...], Any]]:
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        items = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        found: list[tuple[str, tuple[Any, ...], Any]] = []
        for key, inner in items:
            found += _flat(inner, (*way, key), f"{name}_{key}" if name else str(key))
        return found
    return [(_identifier(name), way, space)]


def _identifier(name: str) -> str:
    plain = re.sub(r"\W", "_", name).strip("_")
    return f"part_{plain}" if plain and (plain[0].isdigit() or keyword.iskeyword(plain)) else plain


def _counts_from_zero(space: Any) -> bool:
    return isinstance(space, spaces.Discrete) and int(space.start) == 0


def _part(name: str, way: tuple[Any, ...], space: Any) -> Part | str:
    """The leaf of one tensor, or why there is none."""
    if isinstance(space, spaces.Discrete):
        low, high = int(space.start), int(space.start) + int(space.n) - 1
        leaf = {"type": "integer", "minimum": low, "maximum": high, "x-dtype": "int64", "x-shape": []}
        return _made(name, way, leaf, "Discrete", "int64", (), low, high)
    if isinstance(space, spaces.MultiDiscrete):
        nvec = np.asarray(space.nvec)
        if np.any(space.start):
            return "MultiDiscrete that does not count from 0"
        leaf = {**nested(nvec.shape, {"type": "integer"}), "x-dtype": "int64", "x-shape": list(nvec.shape)}
        return _made(name, way, {**leaf, "x-nvec": nvec.tolist()}, "MultiDiscrete", "int64", nvec.shape, 0, nvec - 1)
    if isinstance(space, spaces.MultiBinary):
        leaf = {**nested(space.shape, {"type": "integer"}), "x-dtype": "int8", "x-shape": list(space.shape)}
        return _made(name, way, leaf, "MultiBinary", "int8", space.shape, 0, 1)
    if not isinstance(space, spaces.Box):
        return f"{type(space).__name__} ({re.sub(r' at 0x[0-9a-f]+', '', str(space))})"
    dtype = np.dtype(space.dtype).name
    if dtype not in DTYPES or dtype == "bool":
        return f"a Box of {dtype}"
    leaf = box_leaf(dtype, space.shape, space.low, space.high)
    return _made(name, way, leaf, "Box", dtype, space.shape, space.low, space.high)


def _made(
    name: str, way: tuple[Any, ...], leaf: dict[str, Any], space: str, dtype: str, shape: Any, low: Any, high: Any
) -> Part:
    bounds = (np.broadcast_to(np.asarray(one), shape) for one in (low, high))
    return Part(name, way, {**leaf, "x-space": space}, space, dtype, tuple(shape), *bounds)


def nested(shape: Any, inner: dict[str, Any]) -> dict[str, Any]:
    """`inner` inside one array of JSON Schema for each dimension."""
    for length in reversed(tuple(shape)):
        inner = {"type": "array", "items": inner, "minItems": length, "maxItems": length}
    return inner


def box_leaf(dtype: str, shape: Any, low: Any, high: Any) -> dict[str, Any]:
    """A leaf of numbers; bounds that all elements share stand once, infinite ones not at all."""
    inner: dict[str, Any] = {"type": "number" if dtype in FLOAT_DTYPES else "integer"}
    outer: dict[str, Any] = {"x-dtype": dtype, "x-shape": list(shape)}
    for plain, each, bound in (("minimum", "x-low", low), ("maximum", "x-high", high)):
        values = [number(dtype, one) for one in np.asarray(bound).ravel().tolist()] if bound is not None else [None]
        if len(set(values)) == 1:
            inner.update({} if values[0] is None else {plain: values[0]})
        else:
            outer[each] = np.array(values, dtype=object).reshape(shape).tolist()
    return {**nested(shape, inner), **outer}


def number(dtype: str, value: Any) -> Any:
    """A bound in its shortest spelling, None for infinity."""
    if dtype not in FLOAT_DTYPES:
        return int(value)
    if not np.isfinite(value):
        return None
    short = float(str(np.float32(value))) if dtype == "float32" else float(value)
    return int(short) if short == int(short) and abs(short) < 1e9 else short


def _reached(value: Any, way: tuple[Any, ...]) -> Any:
    for key in way:
        value = value[key]
    return value


def _steps(way: tuple[Any, ...]) -> str:
    return "".join(f'["{key}"]' if isinstance(key, str) else f"[{key!r}]" for key in way)


def _reading(part: Part, text: str) -> str:
    if part.space == "Discrete":
        return f"int({text})"
    return text if part.space != "Box" else f"np.asarray({text}, np.{part.dtype})"


def _writing(space: Any, text: str, whole: Space, way: tuple[Any, ...]) -> str:
    if isinstance(space, spaces.Dict):
        pairs = (f'"{key}": {_writing(one, text, whole, (*way, key))}' for key, one in space.spaces.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(space, spaces.Tuple):
        return "(" + "".join(f"{_writing(one, text, whole, (*way, i))}, " for i, one in enumerate(space.spaces)) + ")"
    part = next(one for one in whole.parts if one.way == way)
    given = f'{text}["{part.name}"]' if way else text
    return given if part.space == "Discrete" else f"np.array({given}, np.{part.dtype})"
