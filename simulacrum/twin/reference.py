"""The readable twin: one instance, Python scalars, plain control flow, no torch.

    class ToyWalk(ReferenceEnv):
        def reset(self, ctx): ...                       # the state an episode starts from
        def step(self, state, action, ctx): ...         # what one action does
        def observe(self, state, ctx): ...              # what the agent sees

Authors write rules only. Episodes, time limits, auto-reset and statistics belong to the engine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from simulacrum.contract.schema import Schema
from simulacrum.twin.state import state_type


class Context(NamedTuple):
    """What a twin may know beside the state. In the batched twin each entry has a leading `[N]`.

    draw: the handle for random draws, by slot name.
    t: steps taken in this episode: 0 at reset and during the first step; in `observe`, `info`, `action_mask` and
        invariants the number of steps taken so far.
    params: the environment's parameters, by attribute.
    """

    draw: Any
    t: Any
    params: Any


class Transition(NamedTuple):
    """What one action did. `truncated` is for rules that cut an episode; the time limit is the engine's."""

    state: Any
    reward: Any
    terminated: Any
    truncated: Any = False


class ReferenceEnv:
    """Base of all reference twins. `self.State` builds a state; `self.schema` is the parsed schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.State = state_type(schema)

    def reset(self, ctx: Context) -> Any:
        """The first state of an episode. `ctx.draw` serves the slots declared for reset; `ctx.t` is 0."""
        raise NotImplementedError(f"{type(self).__name__}.reset")

    def step(self, state: Any, action: Any, ctx: Context) -> Transition:
        """The transition for one action. `ctx.draw` serves the slots declared for step."""
        raise NotImplementedError(f"{type(self).__name__}.step")

    def observe(self, state: Any, ctx: Context) -> Any:
        """What the agent sees of `state`: a scalar, a (nested) tuple, or a dict for a Dict space."""
        raise NotImplementedError(f"{type(self).__name__}.observe")

    def action_mask(self, state: Any, ctx: Context) -> Any:
        """A tuple of bools, True where an action is allowed. Called only when the schema declares `action_mask`."""
        raise NotImplementedError(f"{type(self).__name__}.action_mask")

    def info(self, state: Any, ctx: Context) -> dict[str, Any]:
        """Task metrics, with exactly the names the schema declares under `info`."""
        return {}
