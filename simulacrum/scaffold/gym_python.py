"""Pieces of Python for a reference that drives a class: its construction, its imports, its state put in, its bounds."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulacrum.errors import PackageError
from simulacrum.scaffold.gym_fields import Guess
from simulacrum.scaffold.gym_libm import PORTABLE, Libm
from simulacrum.scaffold.gym_runs import Runs
from simulacrum.scaffold.gym_source import Source
from simulacrum.scaffold.gym_values import Path, spelled

FAR = {"float32": "1e30", "float64": "1e300"}


@dataclass(frozen=True)
class Bounds:
    """An invariant of the guessed bounds: its rule, its words, and the code of both twins."""

    rule: str
    words: str
    rule_words: str
    reference: str
    fast: str


def constructed(source: Source, name: str) -> str:
    """The class, called `name`, with its registration's arguments. Raises PackageError where these are no literals."""
    pairs: list[str] = []
    for key, value in source.kwargs.items():
        try:
            same = ast.literal_eval(repr(value)) == value
        except (ValueError, SyntaxError):
            same = False
        if not same:
            raise PackageError(
                f"{source.id} is registered with an argument that cannot be written down",
                expected="numbers, texts, truths, None, and lists, tuples or dicts of them",
                found=f"{key}={value!r}",
                where=f"gymnasium.spec({source.id!r}).kwargs",
                next_step="register an id of your own whose class takes plain arguments",
            )
        pairs.append(f"{key}={value!r}".replace("'", '"') if isinstance(value, str) else f"{key}={value!r}")
    try:
        source.kind(**source.kwargs)
    except Exception as error:
        raise PackageError(
            f"the class of {source.id} is not made by its registration's arguments alone",
            expected=f"{source.kind.__name__}({', '.join(pairs)})",
            found=f"{type(error).__name__}: {error}",
            where=str(source.spec.entry_point),
            next_step="register the class itself under an id of your own, and give that one",
        ) from error
    return f"{name}({', '.join(pairs)})"


def rebound(libm: Libm) -> str:
    """The keyword arguments of `rebind`, "" where nothing is to be replaced."""
    parts: list[str] = []
    for name, functions in sorted(libm.modules.items()):
        numpy = name != "math"
        inner = ", ".join(f"{one}={_wrapped(PORTABLE[one], numpy)}" for one in functions)
        parts.append(f"{name}=overlay({'np' if numpy else 'math'}, {inner})")
    parts += [f"{name}={_wrapped(one, name in libm.arrays)}" for name, one in sorted(libm.plain.items())]
    return ", ".join(parts)


def _wrapped(name: str, numpy: bool) -> str:
    """NumPy's functions take arrays, and answer in their type; those of `math` answer with a float whatever comes."""
    return f"partial({'_each' if numpy else '_double'}, {name})"


def writes_of(fields: Sequence[Guess], runs: Runs) -> list[str]:
    """The statements that put a state into an environment."""
    lines: list[str] = []
    sample = runs.moments[-1].held
    for attribute in dict.fromkeys(field.path[0][1] for field in fields):
        own = {field.path: field.write for field in fields if field.path[0][1] == attribute}
        if any(step == "attr" for path in own for step, _ in path[1:]):
            lines += [f"env.{spelled(path)} = {write}" for path, write in own.items()]
        else:
            lines.append(f"env.{attribute} = {_built(getattr(sample, attribute), (('attr', attribute),), own)}")
    return [*lines, *([f"env.{runs.clock} = t"] if runs.clock else [])]


def _built(value: Any, path: Path, writes: dict[Path, str]) -> str:
    """A container like `value`, with the fields where its leaves are."""
    if path in writes:
        return writes[path]
    if isinstance(value, dict):
        pairs = (f"{key!r}: {_built(one, (*path, ('key', key)), writes)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    items = [_built(one, (*path, ("item", index)), writes) for index, one in enumerate(value)]
    if isinstance(value, np.ndarray):
        return f"np.array([{', '.join(items)}], np.{value.dtype.name})"
    if isinstance(value, tuple):
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return f"[{', '.join(items)}]"


def invariant_of(fields: Sequence[Guess], rule: str) -> Bounds:
    """Bounds of the fields that have any; that no number grows without end, where no field has."""
    bounded = [field for field in fields if field.low is not None and field.high is not None]
    if bounded:
        names = ", ".join(f"`{field.name}` from {field.low} to {field.high}" for field in bounded)
        words, told = "the state is within its bounds", f"GUESSED: {names}."
    else:
        bounded = [field for field in fields if field.dtype.startswith("float")]
        words = "no number of the state grows without end"
        told = f"GUESSED: {words}."
    here, there = list[str](), list[str]()
    for field in bounded:
        far = FAR.get(field.dtype, "")
        low, high = (f"-{far}", far) if field.low is None else (field.low, field.high)
        clause = f"{low} <= {'one' if field.shape else f'state.{field.name}'} <= {high}"
        rows = [f"state.{field.name}", *(f"row{level}" for level in range(len(field.shape) - 1)), "one"]
        loops = "".join(f" for {inner} in {outer}" for outer, inner in itertools.pairwise(rows))
        here.append(f"all({clause}{loops})" if field.shape else clause)
        within = f"(state.{field.name} >= {low}) & (state.{field.name} <= {high})"
        there.append(f"({within}).flatten(1).all(dim=-1)" if field.shape else within)
    return Bounds(rule, words, told, _joined(here or ["True"], "and"), _joined(there, "&"))


def _joined(clauses: list[str], word: str) -> str:
    line = f" {word} ".join(clauses)
    return line if len(line) < 90 else "(\n            " + f"\n            {word} ".join(clauses) + "\n        )"


def imports_of(facts: dict[str, Any], source: Source, libm: Libm, fields: Sequence[Guess]) -> list[list[str]]:
    """The import lines of reference.py in their three groups, each as it is sorted by habit."""
    text = " ".join(
        [facts["libm"], facts["construct"], facts["action"], facts["observe"], *facts["writes"]]
        + [field["read"] for field in facts["fields"]]
        + [f"{answer.signature} {' '.join(answer.body)}" for answer in facts["answers"]]
        + (["np."] if facts["each"] or facts["shapes"] else [])
    )
    partly = ["from functools import partial"] if facts["libm"] else []
    standard = [*(["import copy"] if facts["copied"] else []), *(["import math"] if "overlay(math" in text else [])]
    kind = source.kind.__name__
    shown = kind if facts["kind"] == kind else f"{kind} as {facts['kind']}"
    taken: dict[str, set[str]] = {source.kind.__module__: {shown}}
    for module, name in (pair for field in fields for pair in field.imports):
        taken.setdefault(module, set()).add(name)
    outside = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(taken.items())]
    portable = [*(["Float32"] if "Float32" in text + facts["reward"] else []), *libm.names]
    own = [
        *([f"from simulacrum.portable.scalar import {', '.join(portable)}"] if portable else []),
        "from simulacrum.twin.invariant import invariant",
        *(["from simulacrum.twin.outside import overlay, rebind"] if "overlay(" in text else []),
        *(["from simulacrum.twin.outside import rebind"] if facts["libm"] and "overlay(" not in text else []),
        "from simulacrum.twin.reference import Context, ReferenceEnv, Transition",
    ]
    return [
        [*standard, *partly, "from typing import Any"],
        [*(["import numpy as np"] if "np." in text or "(np" in text else []), *outside],
        own,
    ]
