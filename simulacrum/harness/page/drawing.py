"""A state drawn by the package's `render.py`, for a page: a picture, else text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.page.png import data_uri, png
from simulacrum.twin.state import load_state

MOST_SIDE = 640  # pixels: a larger image is drawn with every 2nd, 3rd, ... pixel


@dataclass(frozen=True)
class Drawing:
    """One state. src: an image as a data address; text: a drawing of characters; note: why there is neither."""

    src: str | None = None
    text: str | None = None
    note: str | None = None
    width: int = 0
    height: int = 0


class Artist:
    """Draws states of one package, each once."""

    def __init__(self, package: EnvPackage) -> None:
        self.schema, self.module, self.note = package.schema, None, None
        self.known: dict[str, Drawing] = {}
        try:
            self.module = package.render()
        except Exception as error:  # a page must not fail because its pictures do
            self.note = f"render.py: {error}"

    def draw(self, state: Mapping[str, Any] | None) -> Drawing | None:
        """The drawing of a recorded state; None where there is no state or nothing that draws."""
        if state is None or (self.module is None and self.note is None):
            return None
        key = repr(state)
        if key not in self.known:
            self.known[key] = self._drawn(state)
        return self.known[key]

    def _drawn(self, state: Mapping[str, Any]) -> Drawing:
        if self.note is not None:
            return Drawing(note=self.note)
        try:
            return self._by_module(load_state(self.schema, state))
        except Exception as error:  # a state that broke the rules may well break what draws it
            return Drawing(note=f"cannot be drawn: {type(error).__name__}: {error}".splitlines()[0])

    def _by_module(self, state: Any) -> Drawing:
        module: Any = self.module
        if callable(getattr(module, "svg", None)):
            return Drawing(src=data_uri(str(module.svg(state)).encode("utf-8"), "image/svg+xml"))
        if callable(getattr(module, "rgb", None)):
            image: Any = np.asarray(module.rgb(state))
            every = 1 + (max(image.shape[:2]) - 1) // MOST_SIDE
            image = np.ascontiguousarray(image[::every, ::every], dtype=np.uint8)
            return Drawing(src=data_uri(png(image), "image/png"), width=image.shape[1], height=image.shape[0])
        if callable(getattr(module, "text", None)):
            return Drawing(text=str(module.text(state)))
        return Drawing(note="render.py has neither rgb nor text")
