"""The draw addresses of a schema, and the handle for where nothing may be drawn. Shared by both engines; no torch."""

from __future__ import annotations

from typing import Any

from simulacrum.contract.schema import Schema
from simulacrum.errors import DrawError
from simulacrum.rng.layout import Layout, Slot


def draw_layout(schema: Schema) -> Layout:
    """The addresses of the schema's draws."""
    return Layout([Slot(d.name, d.phase, d.distribution, d.dtype, d.count) for d in schema.draws])


class _NoDraw:
    """Observations, infos and masks may not draw: they must not depend on how often they are asked for."""

    def __getattr__(self, name: str) -> Any:
        raise DrawError(
            f"draw.{name} was called outside reset and step",
            expected="draws in reset() and step() only",
            where="observe(), info(), action_mask() or an invariant",
            next_step="draw in step() and keep the value in the state",
        )


NO_DRAW = _NoDraw()
