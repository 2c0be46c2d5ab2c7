"""A core whose "row" is a whole group of rows, so that a fault which crosses rows can be lowered at all.

The native form is one loop over rows: what a row computes cannot look at another row, so a twin that leaks between rows
is refused by the lowering. Here the batch axis becomes an inner axis: `torch.vmap` puts an axis of groups before it,
and the loop runs over groups. Inside a group everything is the engine's own code and the twin's own code, with all the
axes they have in training. Nothing leaks from one group to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from simulacrum.engine.native import graphs
from simulacrum.engine.params import batch_params
from simulacrum.engine.rows import Clock, EngineState, StepOut
from simulacrum.lower.library import Function
from simulacrum.rng.batched import blocks_as_one_operator, split_seed, threefry2x32

GROUPS = 3  # in the example that is captured: no size of anything else, so that their number gets a symbol of its own


class GroupCore:
    """What `engine.native` asks of a core, for groups of `size` rows.

    Tensors are `[groups, size, ...]` where a core has `[N, ...]`. Parameters are one value a group, and so is the
    answer whether an action is illegal: it is told of a group where it is true of any of its rows.
    """

    def __init__(self, core: Any, size: int) -> None:
        _teach_vmap()
        self.core, self.size = core, size
        self.env, self.schema, self.layout = core.env, core.schema, core.layout
        self.max_episode_steps = core.max_episode_steps

    def fresh(self, seed: torch.Tensor, episode: torch.Tensor, params: Any) -> EngineState:
        """Rows `[groups, size]` at the start of `episode` of their `seed`."""
        return torch.vmap(lambda seed, episode, params: self.core.fresh(seed, episode, self._of_rows(params)))(
            seed, episode, params
        )

    def reset(self, es: EngineState, mask: torch.Tensor, seed: Any, episode: Any, params: Any) -> EngineState:
        """`es` with the rows of `mask` `[groups, size]` at the start of `episode` of `seed`."""
        return torch.vmap(lambda es, mask, s, e, params: self.core.reset(es, mask, s, e, self._of_rows(params)))(
            es, mask, seed, episode, params
        )

    def observe(self, es: EngineState, params: Any) -> tuple[Any, dict[str, torch.Tensor], None]:
        """Observation and info; environments with an action mask are not taken."""

        def one(es: EngineState, params: Any) -> Any:
            observation, info, mask = self.core.observe(es, self._of_rows(params))
            assert mask is None, "an action mask of groups is not written yet"
            return observation, info

        return (*torch.vmap(one)(es, params), None)

    def next_step(self, es: EngineState, action: Any, params: Any, clock: Clock) -> tuple[Any, StepOut, torch.Tensor]:
        """NEXT_STEP of every group."""
        return self._step(self.core.next_step, es, action, params, clock)

    def same_step(self, es: EngineState, action: Any, params: Any, clock: Clock) -> tuple[Any, StepOut, torch.Tensor]:
        """SAME_STEP of every group."""
        return self._step(self.core.same_step, es, action, params, clock)

    def _step(self, step: Callable[..., Any], es: EngineState, action: Any, params: Any, clock: Clock) -> Any:
        absent: list[str] = []

        def one(es: EngineState, action: Any, params: Any, limit: Any, autoreset: Any) -> Any:
            after, out, restart = step(es, action, self._of_rows(params), Clock(limit, autoreset))
            shown = {name: value for name, value in out._asdict().items() if value is not None}
            absent[:] = [name for name in out._fields if name not in shown]
            return after, {**shown, "illegal": shown["illegal"].any()}, restart

        after, shown, restart = torch.vmap(one, in_dims=(0, 0, 0, None, None))(es, action, params, *clock)
        return after, StepOut(**shown, **dict.fromkeys(absent)), restart

    def _of_rows(self, params: Any) -> Any:
        """A group's parameters, without dimensions, for each of its rows."""
        return type(params)(*(value.expand(self.size) for value in params))


def functions(group: GroupCore) -> list[Function]:
    """The functions of `engine.native.graphs.functions`, on groups.

    They are not split into what happens in every step and what happens where an episode begins: a group is one row of
    the loop, and rows of one group begin their episodes at different times.
    """
    shape = (GROUPS, group.size)
    params = batch_params(group.schema, None, GROUPS, torch.device("cpu"))
    seeds = split_seed(range(GROUPS * group.size)).reshape(*shape, 2)
    rows = (group.fresh(seeds, torch.zeros(shape, dtype=torch.int32), params), torch.zeros(shape, dtype=torch.float64))
    action, ones = graphs._example(group.core)[1:]
    steps = {"rows": rows, "action": action.new_zeros((*shape, *action.shape[1:])), "params": params, **ones}
    starts = {"rows": rows, graphs.MASK: torch.zeros(shape, dtype=torch.bool), "params": params, "now": ones["now"]}
    made = [graphs._function("reset", _without_vmap(graphs._reset(group), starts), starts)]
    for name, advance in (("next_step", group.next_step), ("same_step", group.same_step)):
        made.append(graphs._function(name, _without_vmap(graphs._step(advance), steps), steps))
    return [replace(function, restart=None) for function in made]


def _without_vmap(function: Callable[..., Any], given: dict[str, Any]) -> Callable[..., Any]:
    """The same function as the tensor operations that `torch.vmap` made of it, which `torch.export` leaves unopened."""
    with blocks_as_one_operator():
        return make_fx(function, tracing_mode="symbolic")(*given.values())


def _teach_vmap() -> None:
    """Tell `torch.vmap` that the random generator goes element by element."""
    if getattr(_teach_vmap, "done", False):
        return

    def rule(info: Any, dims: tuple[int | None, ...], *words: torch.Tensor) -> Any:
        rank = max(word.dim() - (dim is not None) for word, dim in zip(words, dims, strict=True))

        def aligned(word: torch.Tensor, dim: int | None) -> torch.Tensor:
            if dim is None:
                return word
            front = word.movedim(dim, 0)
            return front.reshape(front.shape[0], *[1] * (rank + 1 - word.dim()), *front.shape[1:])

        return threefry2x32(*map(aligned, words, dims)), (0, 0)

    torch.library.register_vmap("simulacrum::threefry2x32", rule)
    _teach_vmap.done = True  # type: ignore[attr-defined]
