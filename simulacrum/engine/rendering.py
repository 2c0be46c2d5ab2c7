"""Frames of a batch, and Gymnasium's by-name access to its rows."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from simulacrum.engine.params import row_params
from simulacrum.engine.snapshot import dump_env_states, with_params
from simulacrum.errors import UsageError
from simulacrum.twin.state import load_state

if TYPE_CHECKING:
    from simulacrum.engine.vector import SimulacrumVectorEnv


def frames(env: SimulacrumVectorEnv) -> tuple[Any, ...] | None:
    """One frame a row, drawn by the package's render.py from the state alone."""
    if env.render_mode is None:
        return None
    module: Any = env.package.render()
    draw = module.rgb if env.render_mode == "rgb_array" else module.text
    return tuple(draw(load_state(env.schema, state)) for state in dump_env_states(env))


def call(env: SimulacrumVectorEnv, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """A tuple of N: rows of a parameter; rows of a method's tuple of N; else the same attribute N times."""
    if name in env.params._fields:
        return tuple(row_params(env.params, row)[name] for row in range(env.num_envs))
    if name.startswith("_") or not hasattr(env, name):
        raise AttributeError(f"{env!r} has no attribute {name!r}")
    value = getattr(env, name)
    if callable(value):
        value = value(*args, **kwargs)
    if isinstance(value, tuple) and len(value) == env.num_envs and name in ("render", "np_random_seed"):
        return value
    return (value,) * env.num_envs


def set_attr(env: SimulacrumVectorEnv, name: str, values: Any) -> None:
    """Set a parameter per row, or one attribute for the whole env."""
    if isinstance(values, (list, tuple)) and len(values) != env.num_envs:
        raise UsageError(
            "wrong number of values",
            expected=f"one, or a list of {env.num_envs}",
            found=len(values),
            where=f"set_attr({name!r})",
        )
    if name in env.params._fields:
        with_params(env, {name: list(values) if isinstance(values, (list, tuple)) else values})
        return
    if isinstance(values, (list, tuple)):
        if any(value is not values[0] and value != values[0] for value in values):
            raise UsageError(
                f"{name!r} is one attribute of the whole batch",
                expected=f"equal values, or a parameter: {sorted(env.params._fields)}",
                found=repr(values)[:80],
                where="set_attr",
            )
        values = values[0]
    if name.startswith("_") or not hasattr(env, name):
        near = difflib.get_close_matches(name, [*env.params._fields, *vars(env)], n=1)
        raise AttributeError(
            f"{env!r} has no attribute or parameter {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    setattr(env, name, values)
