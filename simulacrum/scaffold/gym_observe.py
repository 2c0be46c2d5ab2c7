"""How a twin comes by the observation of a state: by a method of the environment, from the fields, or carried along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulacrum.scaffold.gym_fields import Guess
from simulacrum.scaffold.gym_recorder import Recorder
from simulacrum.scaffold.gym_runs import Moment, Runs, observers
from simulacrum.scaffold.gym_shown import flat_parts, oddities
from simulacrum.scaffold.gym_spaces import Space
from simulacrum.scaffold.gym_values import clone, print_of

LOOKED_AT = 25


@dataclass(frozen=True)
class Observer:
    """`how` is "method", "fields" or "carried"; `python` the expression on `self`, `state`, `ctx`.

    `carried` are fields that hold the last observation, where nothing else gives it; `fast` is the expression of
    fast.py where it is plain, `first` a statement before `python`.
    """

    how: str
    python: str
    words: str
    carried: tuple[Guess, ...] = ()
    fast: str = ""
    first: str = ""


def find_observer(space: Space, runs: Runs, fields: list[Guess]) -> Observer:
    """The first of the three that gave the very observation at every moment that was looked at."""
    moments = [moment for moment in runs.moments if moment.held is not None][:: max(1, len(runs.moments) // LOOKED_AT)]
    for name in observers(moments[0].held):
        if all(_gives(name, moment, runs.changing, space) for moment in moments):
            given, words = f"self.put(state, ctx.t).{name}()", f"what `{name}()` gives"
            if space.single:
                return Observer("method", space.read(given), words)
            return Observer("method", space.read("seen"), words, first=f"seen = {given}")
    columns = _columns(space, runs, fields)
    if columns is not None:
        return _of_fields(space, columns)
    return _carried(space, runs)


def _gives(name: str, moment: Moment, changing: tuple[str, ...], space: Space) -> bool:
    env = clone(moment.held, changing)
    env.np_random = recorder = Recorder(1)
    before = {one: print_of(value) for one, value in vars(env).items() if one in changing}
    try:
        given = flat_parts(space, getattr(env, name)())
    except Exception:  # a method that is something else
        return False
    after = {one: print_of(value) for one, value in vars(env).items() if one in changing}
    return print_of(given) == print_of(flat_parts(space, moment.shown)) and before == after and not recorder.calls


def _columns(space: Space, runs: Runs, fields: list[Guess]) -> list[tuple[Guess, str]] | None:
    """For each number of the observation the field, and the Python of its element, that it always was."""
    shown = np.array([flat_parts(space, moment.shown) for moment in runs.moments], dtype=np.float64)
    dtypes = [part.dtype for part in space.parts for _ in range(int(np.prod(part.shape)))]
    elements: list[tuple[Guess, str, Any]] = []
    for field in fields:
        if field.read.startswith("[len("):
            continue
        size = int(np.prod(field.shape))
        table = np.array(field.values, dtype=np.float64).reshape(len(runs.moments), size)
        for index, at in enumerate(np.ndindex(*field.shape)):
            elements.append((field, f"state.{field.name}" + "".join(f"[{one}]" for one in at), table[:, index]))
    found: list[tuple[Guess, str]] = []
    for column, dtype in enumerate(dtypes):
        for field, text, values in elements:
            rounded = values.astype(np.float32).astype(np.float64) if dtype == "float32" else values
            if np.array_equal(rounded, shown[:, column]) and (field, text) not in found:
                found.append((field, text))
                break
        else:
            return None
    return found


def _of_fields(space: Space, columns: list[tuple[Guess, str]]) -> Observer:
    queue = [text for _, text in columns]
    texts: dict[str, str] = {}
    for part in space.parts:
        wrap = "Float32" if part.dtype == "float32" else "float" if part.dtype == "float64" else "int"
        size = int(np.prod(part.shape))
        taken, queue = queue[:size], queue[size:]
        items = [f"{wrap}({one})" for one in taken]
        if not part.shape:
            texts[part.name] = items[0]
        elif len(part.shape) == 1:
            texts[part.name] = "(" + ", ".join(items) + ("," if size == 1 else "") + ")"
        else:
            texts[part.name] = f"np.array([{', '.join(items)}], np.{part.dtype}).reshape({part.shape})"
    python = texts[""] if space.single else "{" + ", ".join(f'"{key}": {text}' for key, text in texts.items()) + "}"
    words = ", ".join(f"`{text.removeprefix('state.')}`" for _, text in columns)
    plain = space.single and all(not field.shape for field, _ in columns)
    fast = ""
    if plain and space.parts[0].shape:
        items = ", ".join(text for _, text in columns)
        fast = f"torch.stack([{items}], dim=-1).to(torch.{space.parts[0].dtype})"
    elif plain:
        fast = f"{columns[0][1]}.to(torch.{space.parts[0].dtype})"
    return Observer("fields", python, f"{words}, as they are", fast=fast)


def _carried(space: Space, runs: Runs) -> Observer:
    fields: list[Guess] = []
    for part in space.parts:
        name = f"seen_{part.name}" if part.name else "seen"
        plain = [space.plain(moment.shown) for moment in runs.moments]
        values = [np.asarray(one if space.single else one[part.name]) for one in plain]
        read = f"np.asarray({space.read('seen')})" if space.single else f"{space.read('seen')}[{part.name!r}]"
        flat = np.concatenate([value.ravel() for value in values]).tolist()
        bounds = (None, None) if part.dtype.startswith("float") else (int(part.low.min()), int(part.high.max()))
        read = f"np.asarray({read}).tolist()" if part.shape else read
        words = "the last observation, carried along"
        fields.append(Guess(name, (("attr", name),), part.dtype, part.shape, *bounds, read, "", words, flat))
    if space.single:
        python = "state.seen"
    else:
        python = "{" + ", ".join(f'"{part.name}": state.seen_{part.name}' for part in space.parts) + "}"
    return Observer("carried", python, "the observation that the step or reset gave", tuple(fields))


def reward_leaf(runs: Runs) -> tuple[dict[str, Any], str]:
    """The leaf of the reward, and its dtype: float32 where that holds every reward that was seen."""
    rewards = np.array([moment.reward for moment in runs.moments if moment.t])
    dtype = "float32" if np.array_equal(rewards, rewards.astype(np.float32)) else "float64"
    odd = [one for one in oddities(rewards) if one != "-0.0"]  # the reference adds 0.0
    low, high = float(rewards.min()), float(rewards.max())
    words = f"GUESSED; seen from {low:g} to {high:g}"
    leaf = {"type": "number", "x-dtype": dtype, "x-shape": [], "description": words}
    return {**leaf, **({"x-allow": odd} if odd else {})}, dtype
