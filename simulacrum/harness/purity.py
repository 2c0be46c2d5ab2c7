"""Do the twins keep anything between two calls, or change what they are given? Both would make rows depend on history.

What is looked at: attributes of the twin objects and of their classes, globals of the package's modules, the random
states of Python, NumPy and torch, the tensors that a call is given, and tensors that an earlier call returned.
"""

from __future__ import annotations

import hashlib
import pickle
import random
import sys
import types
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from torch.utils import _pytree as pytree

from simulacrum.engine.actions import to_tensors
from simulacrum.engine.boundary import Core
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.frames import ReferenceSide, row_action
from simulacrum.twin.state import dump_state

ROWS, STEPS = 7, 6


def impurities(bench: Bench) -> list[str]:
    """Everything that a few steps of both twins leave behind or change; an empty list for pure twins."""
    env = bench.env(ROWS)
    reference = ReferenceSide.beside(env)
    twins = {"reference.py": reference.runners[0].env, "fast.py": env.core.env}
    kept = {file: _kept(bench, twin) for file, twin in twins.items()}
    luck = _luck()
    problems = _batched(bench, env.core)
    problems += _scalar(bench, reference)
    if _luck() != luck:
        problems.append("a twin draws from a global generator; take every draw from ctx.draw, by its slot")
    for file, twin in twins.items():
        after = _kept(bench, twin)
        changed = [name for name in after if after[name] != kept[file].get(name)]
        problems += [f"{file}: {name} changes while stepping; keep it in the state" for name in changed]
    return list(dict.fromkeys(problems))


def _batched(bench: Bench, core: Core) -> list[str]:
    problems: list[str] = []
    side = bench.env(ROWS)
    side.reset(seed=seeds_for(ROWS, bench.seed))
    state, params = side.state, side.params
    driver = drivers.standard(bench.schema, ROWS, bench.seed)
    returned: list[tuple[Any, str]] = []
    for step in range(STEPS):
        action = to_tensors(bench.schema.action, driver.actions({}, step), ROWS, side.device)
        given = (state, action, params)
        before = print_of(given)
        first = core.step(side.autoreset_mode, state, action, params)
        core.observe(state, params)
        core.invariants(state, params)
        if print_of(given) != before:
            return ["fast.py: the state, action or parameters that a method was given are changed; return new tensors"]
        if print_of(core.step(side.autoreset_mode, state, action, params)) != print_of(first):
            problems.append("fast.py: the same step taken twice gives other bits; keep nothing between")
        returned.append((first, print_of(first)))
        state = first[0]
    if any(print_of(value) != then for value, then in returned):
        problems.append("fast.py: a tensor that was returned is changed by a later step; return new tensors")
    return problems


def _scalar(bench: Bench, side: ReferenceSide) -> list[str]:
    problems: list[str] = []
    schema = bench.schema
    side.reset(list(seeds_for(ROWS, bench.seed)))
    driver = drivers.standard(schema, ROWS, bench.seed)
    for step in range(STEPS):
        actions = driver.actions({}, step)
        for row, runner in enumerate(side.runners):
            if runner.ended:
                continue
            action = row_action(schema, actions, row)
            spelled, before = repr(action), runner.state
            then, t, returns = repr(dump_state(schema, before)), runner.t, runner.returns
            first = runner.step(action)
            # By their text: a NaN equals no NaN.
            if repr(action) != spelled or repr(dump_state(schema, before)) != then:
                return ["reference.py: the state or the action that step() was given is changed; return a new one"]
            runner.state, runner.t, runner.returns, runner.ended = before, t, returns, False
            if repr(runner.step(action)) != repr(first):
                problems.append("reference.py: the same step taken twice gives another result; keep nothing between")
    return problems


def print_of(tree: Any) -> str:
    """A hash over the bits of all tensors of a tree."""
    digest = hashlib.sha256()
    for leaf in pytree.tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            digest.update(str((leaf.dtype, tuple(leaf.shape))).encode())
            digest.update(leaf.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _luck() -> bytes:
    """The state of every global generator a twin could reach for."""
    return pickle.dumps((random.getstate(), np.random.get_state(), torch.get_rng_state().numpy().tobytes()))


def _kept(bench: Bench, twin: object) -> dict[str, Any]:
    """What a twin could keep something in, by name: its attributes, its class's, and its package's globals."""
    found: dict[str, Any] = {f"self.{name}": freeze(value) for name, value in vars(twin).items()}
    prefix = bench.package.import_name
    for kind in type(twin).__mro__:
        if kind.__module__.startswith(prefix):
            found.update(_plain(kind.__name__, vars(kind)))
    for name, module in list(sys.modules.items()):
        if name == prefix or name.startswith(prefix + "."):
            found.update(_plain(name.rpartition(".")[2], vars(module)))
    return found


def _plain(owner: str, values: Mapping[str, Any]) -> dict[str, Any]:
    skipped = (type, types.ModuleType, types.FunctionType, property, staticmethod, classmethod)
    return {
        f"{owner}.{name}": freeze(value)
        for name, value in values.items()
        if not name.startswith("__") and not isinstance(value, skipped)
    }


def freeze(value: Any, depth: int = 6) -> Any:
    """A value that is equal later exactly if `value` has not changed: by content as far as it can be seen."""
    if isinstance(value, torch.Tensor):
        return ("tensor", str(value.dtype), tuple(value.shape), value.detach().cpu().contiguous().numpy().tobytes())
    if isinstance(value, np.ndarray):
        array = cast(Any, value)
        return ("array", str(array.dtype), array.shape, array.tobytes())
    if depth == 0 or callable(value):
        return id(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return ("mapping", tuple((repr(key), freeze(item, depth - 1)) for key, item in items))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, tuple(freeze(item, depth - 1) for item in cast("list[Any]", value)))
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return repr(value)
    if isinstance(value, (set, frozenset)):
        return ("set", tuple(sorted(repr(item) for item in cast("set[Any]", value))))
    if hasattr(value, "__dict__") and not type(value).__module__.startswith("simulacrum."):
        return (id(value), freeze(vars(value), depth - 1))
    return id(value)
