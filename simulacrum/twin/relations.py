"""Truths about an environment's rules that its author declares in `relations.py`, as data that the battery tries.

    RELATIONS = [
        Symmetry("mirror", state=lambda s: s.replace(x=0.0 - s.x), action=lambda a: 1 - a,
                 observation=lambda o: 0.0 - o, why="R3 to R8 are odd in all four numbers"),
        Dead(["berry_x", "berry_y"], where=lambda s: ~s.alive, why="R9 and R17 look at living berries alone"),
    ]

The functions are written once, on batched values: a state is the struct of tensors `[N, ...]` that `fast.py` gets, with
`replace`; an action, a draw and an observation are tensors `[N, ...]` (dicts of them for a Dict space). They are tried
on states that rollouts have visited, one step at a time and bit for bit (in a `Symmetry`, 0.0 and -0.0 are one).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Change = Callable[[Any], Any]


def same(value: Any) -> Any:
    """`value` as it is."""
    return value


@dataclass(frozen=True)
class Symmetry:
    """A change of the world that the rules do not notice: changing it and stepping is stepping and changing it.

    name: a short name, unique in the package. why: the rules that make it true.
    state, action, observation, info, reward, action_mask: the value in the changed world; what is left out stays as it
        is. `info` gets and gives a dict.
    draws: gets a dict of all values that the step (or reset) drew, by slot, `[N]` or `[N, K]`, and gives a dict with
        those that are others in the changed world.
    when: bool `[N]` of a state, the rows for which it holds; all of them where it is left out.
    reset: whether episodes begin alike as well, with the draws changed.
    """

    name: str
    state: Change = same
    action: Change = same
    draws: Callable[[dict[str, Any]], Mapping[str, Any]] = lambda drawn: {}
    observation: Change = same
    info: Change = same
    reward: Change = same
    action_mask: Change = same
    when: Change | None = None
    reset: bool = True
    why: str = ""


@dataclass(frozen=True)
class NoOp:
    """An action that does nothing: the state after it is the state before it, and the episode goes on.

    name, why: as in `Symmetry`. action: of one row, a number, nested tuple or dict.
    when: bool `[N]` of a state, the rows in which it does nothing. draws: values to put in, by slot, where it does
        nothing only with these. clocks: fields of the state that change all the same.
    reward: what it earns; left out, anything.
    """

    name: str
    action: Any
    when: Change | None = None
    draws: Mapping[str, Any] = field(default_factory=dict[str, Any])
    clocks: Sequence[str] = ()
    reward: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Dead:
    """Values that no rule looks at: whatever stands there, nothing else comes out.

    `fields` names fields of the state. `where` says of a state, as bool, where they are dead: `[N]` (the whole value)
    or `[N, *shape]` (those elements). It may not look at the dead values.
    """

    fields: Sequence[str]
    where: Change
    why: str = ""

    @property
    def name(self) -> str:
        """The fields, joined."""
        return ", ".join(self.fields)


@dataclass(frozen=True)
class Derived:
    """A value that follows from others, computed a second time and in another way than the twins do.

    field: "state.free", "info.distance", "observation", "observation.KEY" or "action_mask".
    value: `(state, ctx) -> tensor [N, ...]` of the field's dtype; `ctx.t` and `ctx.params` as in `observe`.
    """

    field: str
    value: Callable[[Any, Any], Any]
    why: str = ""

    @property
    def name(self) -> str:
        """The field."""
        return self.field


Relation = Symmetry | NoOp | Dead | Derived
