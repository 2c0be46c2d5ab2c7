"""Visited states with an action each, taken one step at a time: what the relations between single steps start from.

A step here is the twin's own, without the engine around it: no time limit, no reset, and draws of the caller's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from simulacrum.contract.fields import Group
from simulacrum.contract.schema import Schema
from simulacrum.engine.actions import to_tensors
from simulacrum.engine.boundary import NO_DRAW, EngineState
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.compare import bits
from simulacrum.harness.frames import Array
from simulacrum.rng.batched import BatchedDraw
from simulacrum.twin.batched import BatchedEnv, Context

Shown = dict[str, Tensor]  # what a moment shows, by the names that frames use
ROWS, STEPS, QUICK_ROWS, QUICK_STEPS = 193, 100, 33, 40
KEPT, QUICK_KEPT = 4096, 512  # moments


@dataclass
class Moments:
    """M moments: `state` before a step that no row of it has ended, `action` and `params` of the step, `seeds`.

    All tensors have a leading `[M]`; `seeds` are the rows' as plain integers.
    """

    env: SimulacrumVectorEnv
    state: EngineState
    action: Any
    params: Any
    seeds: list[int]

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def twin(self) -> BatchedEnv:
        """The batched twin."""
        return self.env.core.env

    @property
    def schema(self) -> Schema:
        """The package's schema."""
        return self.env.schema

    def only(self, rows: Tensor) -> Moments:
        """The moments named by a bool mask `[M]` or by their numbers."""
        places = rows.nonzero().flatten() if rows.dtype == torch.bool else rows
        state, action, params = gathered((self.state, self.action, self.params), places)
        return Moments(self.env, state, action, params, [self.seeds[i] for i in places.tolist()])

    def instead(self, *, state: Any = None, action: Any = None) -> Moments:
        """The same moments in other states of the environment, or with another action."""
        before = self.state if state is None else self.state._replace(env=state)
        return replace(self, state=before, action=self.action if action is None else action)

    def draw(self, phase: str, *, key: Tensor | None = None, override: Mapping[str, Any] | None = None) -> BatchedDraw:
        """The draws of these moments, or those of another key, with values put in for some slots."""
        state = self.state
        t = state.t if phase == "step" else torch.zeros_like(state.t)
        return BatchedDraw(self.env.core.layout, phase, state.key if key is None else key, t, override=override)

    def step(self, draw: Any) -> tuple[Any, Shown]:
        """(state after the step, what it shows)."""
        t = self.state.t
        taken = self.twin.step(self.state.env, self.action, Context(draw, t, self.params))
        cut = False if taken.truncated is None else taken.truncated
        shown = {
            "reward": taken.reward,
            "terminated": _flags(taken.terminated, self.state.ended),
            "truncated": _flags(cut, self.state.ended),
            **self.seen(taken.state, t + 1),
        }
        return taken.state, shown

    def begin(self, draw: Any) -> tuple[Any, Shown]:
        """(first state, what it shows) of an episode that begins with these draws."""
        t = torch.zeros_like(self.state.t)
        state = self.twin.reset(Context(draw, t, self.params))
        return state, self.seen(state, t)

    def go(self, phase: str, draw: Any) -> tuple[Any, Shown]:
        """`step` or `begin`, by the phase of the draws."""
        return self.step(draw) if phase == "step" else self.begin(draw)

    def seen(self, state: Any, t: Tensor) -> Shown:
        """State, observation, info and action mask."""
        ctx, schema = self.context(t), self.schema
        shown: Shown = {f"state.{name}": value for name, value in zip(state._fields, state, strict=True)}
        shown.update(named("observation", schema.observation, self.twin.observe(state, ctx)))
        if schema.info.fields:
            shown.update({f"info.{name}": value for name, value in self.twin.info(state, ctx).items()})
        if schema.action_mask is not None:
            shown["action_mask"] = self.twin.action_mask(state, ctx)
        return shown

    def context(self, t: Tensor) -> Context:
        """What an observation may know."""
        return Context(NO_DRAW, t, self.params)


def named(name: str, group: Group, value: Any) -> Shown:
    """A group's tensors by the names that frames use."""
    return {name: value} if group.single else {f"{name}.{key}": value[key] for key in group.fields}


def gathered(tree: Any, places: Tensor) -> Any:
    """These rows of every tensor of a tree."""
    return pytree.tree_map(lambda leaf: leaf[places] if isinstance(leaf, Tensor) else leaf, tree)


def joined(*trees: Any) -> Any:
    """Trees of one form as one, row after row."""
    return pytree.tree_map(lambda *leaves: torch.cat(leaves) if isinstance(leaves[0], Tensor) else leaves[0], *trees)


def moments(bench: Bench, *, ended: bool = False) -> Moments:
    """Moments of a rollout with the package's own limit and parameters per row, picked at random; states of the first
    step and of the last ones are among them. `ended`: also rows that have ended and wait."""
    rows, steps, kept = (QUICK_ROWS, QUICK_STEPS, QUICK_KEPT) if bench.quick else (ROWS, STEPS, KEPT)
    seeds, params = seeds_for(rows, bench.seed + 31), bench.row_params(rows, bench.seed + 31)
    env = bench.env(rows, params=params)
    driver = drivers.standard(bench.schema, rows, bench.seed + 31)
    env.reset(seed=seeds)
    state, visited = env.state, list[tuple[EngineState, Any]]()
    for step in range(steps):
        action = to_tensors(bench.schema.action, driver.actions({}, step), rows, env.device)
        visited.append((state, action))
        state, _ = env.core.step(env.autoreset_mode, state, action, env.params)
    states, actions = joined(*(one for one, _ in visited)), joined(*(action for _, action in visited))
    generator = np.random.default_rng(bench.seed + 31)
    waiting: Array = states.ended.cpu().numpy()
    usable = np.flatnonzero(waiting | True if ended else ~waiting)
    first = usable[usable < rows]  # the first step of each row's first episode
    others = generator.permutation(usable[usable >= rows])[: max(kept - len(first), 0)]
    places = torch.from_numpy(np.sort(np.concatenate([first, others]))).to(env.device)
    row = places % rows
    state, action = gathered((states, actions), places)
    return Moments(env, state, action, gathered(env.params, row), [seeds[i] for i in row.tolist()])


def _flags(value: Any, like: Tensor) -> Tensor:
    return torch.full_like(like, value) if isinstance(value, bool) else value


def arrays(shown: Mapping[str, Tensor]) -> dict[str, Array]:
    """The same as NumPy arrays."""
    return {name: value.detach().cpu().numpy() for name, value in shown.items()}


def changed(one: Shown, other: Shown) -> dict[str, Array]:
    """Of each name, the elements whose bits differ, bool `[M, ...]`."""
    pairs = zip(arrays(one).items(), arrays(other).values(), strict=True)
    return {name: bits(a) != bits(b) for (name, a), b in pairs}


def tried(attempt: Callable[[], Any]) -> tuple[Any, str]:
    """(result, "") or, where a value outside every bound is refused by an operation, (None, what it said)."""
    try:
        return attempt(), ""
    except (IndexError, RuntimeError, ValueError, OverflowError) as error:
        return None, f"{type(error).__name__}: {str(error).splitlines()[0]}"


def constants(value: Any, like: Any, group: Group, count: int) -> Any:
    """One row's action for `count` rows, as tensors of the form of `like`."""
    if not group.single:
        return {name: _constant(value[name], like[name], field.shape, count) for name, field in group.fields.items()}
    return _constant(value, like, group.leaf.shape, count)


def _constant(value: Any, like: Tensor, shape: tuple[int, ...], count: int) -> Tensor:
    return torch.as_tensor(value, dtype=like.dtype, device=like.device).expand(count, *shape).contiguous()
