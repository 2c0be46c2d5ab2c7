"""What is lowered: reset, and a step of either kind, as pure functions of tensors with a name for each.

A name says where a tensor lies. `state.*`, `seed`, `episode`, `key`, `t`, `returns`, `ended`, `began` are the arena,
read and written in place. `action`, `params.*` and `reset_mask` come row by row from outside, `limit`,
`autoreset` and `now` are one number for all rows. What begins with `out.` is what a caller receives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from simulacrum.engine.capture import capture
from simulacrum.engine.native.draws import blocks_as_one_operator
from simulacrum.engine.rows import Clock, EngineState
from simulacrum.engine.shown import shown_by
from simulacrum.lower.library import Function
from simulacrum.lower.program import Port
from simulacrum.rng.batched import split_seed

RESTART, ILLEGAL, MASK, BEGAN = "restart", "illegal", "reset_mask", "began"
ONE = ("limit", "autoreset", "now")  # in the order of the graph's inputs


def functions(core: Any) -> list[Function]:
    """Reset, the NEXT_STEP and DISABLED step, and the SAME_STEP step of a core, captured.

    Raises:
        CompileError: a function cannot be one graph.
    """
    start, action, ones = _example(core)
    state, began, params = start
    mask = torch.zeros_like(state.ended)
    return [
        _function("reset", _reset(core), {"rows": (state, began), MASK: mask, "params": params, "now": ones["now"]}),
        *(
            _function(name, _step(advance), {"rows": (state, began), "action": action, "params": params, **ones})
            for name, advance in (("next_step", core.next_step), ("same_step", core.same_step))
        ),
    ]


# --- the three functions, each giving ((state, began), {name: tensor}) --------------------------------------------


def _reset(core: Any) -> Callable[..., Any]:
    def reset(rows: Any, mask: Any, params: Any, now: Any) -> Any:
        state, began = rows
        after = core.reset(state, mask, state.seed, state.episode, params)
        observation, info, action_mask = core.observe(after, params)
        shown = {**_named("out.observation", observation), **_named("out.info", info)}
        if action_mask is not None:
            shown["out.info.action_mask"] = action_mask
        return (after, torch.where(mask, now, began)), shown

    return reset


def _step(advance: Callable[..., Any]) -> Callable[..., Any]:
    """A step by `Core.next_step` or `Core.same_step`, with the names of what the eager form shows."""

    def step(rows: Any, action: Any, params: Any, limit: Any, autoreset: Any, now: Any) -> Any:
        state, began = rows
        after, out, restart = advance(state, action, params, Clock(limit, autoreset))
        seconds = torch.where(out.ended, now - began, torch.zeros_like(began))
        shown = shown_by(out, {"r": out.episode_return, "l": out.episode_length, "t": seconds})
        named = {**_named("out", shown), RESTART: restart, ILLEGAL: out.illegal}
        return (after, torch.where(restart, now, began)), named

    return step


# --- capture ------------------------------------------------------------------------------------------------------


def _example(core: Any) -> tuple[tuple[EngineState, torch.Tensor, Any], Any, dict[str, torch.Tensor]]:
    """Two rows of everything, for the capture; more than one, so that N stays a symbol."""
    from simulacrum.engine.params import batch_params
    from simulacrum.twin.batched import torch_dtype

    host = torch.device("cpu")
    params = batch_params(core.schema, None, 2, host)
    state = core.fresh(split_seed([1, 2], host), torch.zeros(2, dtype=torch.int32), params)
    group = core.schema.action
    actions = {name: torch.zeros((2, *f.shape), dtype=torch_dtype(f.dtype)) for name, f in group.fields.items()}
    ones = {
        "limit": torch.tensor(1, dtype=torch.int32),
        "autoreset": torch.tensor(True),
        "now": torch.tensor(0.0, dtype=torch.float64),
    }
    began = torch.zeros(2, dtype=torch.float64)
    return (state, began, params), (actions[""] if group.single else actions), ones


def _function(name: str, function: Callable[..., Any], given: Mapping[str, Any]) -> Function:
    """`function(*given.values())` captured, a port for each of its tensors."""
    noted: list[dict[str, Any]] = []

    def noting(*values: Any) -> Any:
        result = function(*values)
        noted.append(_names_of_result(result))
        return result

    with blocks_as_one_operator():
        graph = capture(noting, tuple(given.values()))
    inputs = [_port(path, tensor) for path, tensor in _names_of_given(given).items()]
    held = {port.name: port for port in inputs}
    outputs = [held.get(path) or _port(path, tensor) for path, tensor in noted[-1].items()]
    by_name = {port.name: port for port in (*inputs, *outputs)}
    assert len(inputs) == len(graph.example)
    return Function(
        name,
        graph.program,
        inputs,
        outputs,
        restart=by_name[MASK if name == "reset" else RESTART],
        refuse=by_name.get(ILLEGAL),
    )


def _names_of_given(given: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    names: dict[str, torch.Tensor] = {}
    for key, value in given.items():
        if key == "rows":
            names.update(_names_of_rows(value))
        else:
            names.update(_named(key, value))
    return names


def _names_of_rows(rows: Any) -> dict[str, torch.Tensor]:
    state, began = rows
    names = _named("state", state.env)
    names.update({field: getattr(state, field) for field in state._fields if field != "env"})
    return {**names, BEGAN: began}


def _names_of_result(result: Any) -> dict[str, Any]:
    rows, shown = result
    # In the order in which a tree is flattened: a dict by its keys, as they were put in.
    flat = {**_names_of_rows(rows), **shown}
    assert len(flat) == len(pytree.tree_leaves(result))
    return flat


def _named(prefix: str, value: Any) -> dict[str, torch.Tensor]:
    """The tensors of a struct or a dict by their paths; one tensor by the prefix itself."""
    if isinstance(value, torch.Tensor):
        return {prefix: value}
    items = value.items() if isinstance(value, Mapping) else zip(value._fields, value, strict=True)
    named: dict[str, torch.Tensor] = {}
    for key, item in items:
        named.update(_named(f"{prefix}.{key}", item))
    return named


def _port(name: str, tensor: torch.Tensor) -> Port:
    if name in ONE:
        return Port(name, tensor.dtype, (), "one")
    by_row = name.startswith(("out.", "action", "params.")) or name in (MASK, RESTART, ILLEGAL)
    return Port(name, tensor.dtype, tuple(tensor.shape[1:]), "rows" if by_row else "blocks")
