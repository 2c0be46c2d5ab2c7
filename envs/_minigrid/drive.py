"""Driving minigrid's environments from a state: our draws answer its generator, and it looks only when asked to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

Place = tuple[int, int]


# How many observations a reference keeps. Each is a function of the state alone, and takes minigrid longer than all the
# rest of a step; agents come by the same places again.
KEPT_VIEWS = 50_000


@lru_cache
def _cell(*numbers: int) -> tuple[int, ...]:
    """One tuple for all cells that look the same."""
    return numbers


class Answers:
    """The one method of NumPy's generator that these environments ask for, answered by our draws in their order.

    draw: the draws of a reset or step. slots: their names, each with its index where it has one, in the order asked.
    """

    def __init__(self, draw: Any, slots: Sequence[tuple[str, int | None]]) -> None:
        self._draw, self._slots = draw, iter(slots)
        self._known: list[int] = []

    def integers(self, low: int, high: int) -> int:
        if self._known:
            value = self._known.pop(0)
            assert low <= value < high, "minigrid asks for another number than the place's"
            return value
        slot, index = next(self._slots)
        return self._draw.integers(slot, high, low=low, index=index)

    def choose(self, places: Sequence[Place]) -> None:
        """Draw one of the places, each equally likely, and answer with its x and y next."""
        slot, index = next(self._slots)
        self._known = list(places[self._draw.integers(slot, len(places), index=index)])

    @property
    def all_given(self) -> bool:
        return not self._known


class Driven:
    """Goes before an environment of minigrid in the bases of a class."""

    grid: Any
    agent_pos: Any
    np_random: Any

    def place_obj(
        self, obj: Any, top: Any = None, size: Any = None, reject_fn: Any = None, max_tries: float = math.inf
    ) -> Any:
        """minigrid's, whose first try is a place drawn from all that it would accept.

        It tries places of a rectangle, each equally likely, until one is free, so each free one is equally likely.
        Raises RecursionError, as it does after `max_tries`, where nothing is free and there is a limit to its tries.
        """
        free = list(self._free(top or (0, 0), size or (self.grid.width, self.grid.height), reject_fn))
        if not free and max_tries < math.inf:
            raise RecursionError("rejection sampling failed in place_obj")
        self.np_random.choose(free)
        pos = super().place_obj(obj, top, size, reject_fn, max_tries)  # type: ignore[misc]  # the other base has it
        assert self.np_random.all_given
        return pos

    def _free(self, top: Place, size: Place, reject_fn: Callable[[Any, Place], bool] | None) -> Iterator[Place]:
        """The places that minigrid accepts, row by row."""
        for y in range(max(top[1], 0), min(max(top[1], 0) + size[1], self.grid.height)):
            for x in range(max(top[0], 0), min(max(top[0], 0) + size[0], self.grid.width)):
                taken = self.grid.get(x, y) is not None or (x, y) == tuple(self.agent_pos)
                if not taken and not (reject_fn and reject_fn(self, (x, y))):
                    yield x, y

    def gen_obs(self) -> Any:
        """Nothing: the observation at the end of minigrid's own `reset` and `step`, which the twin asks for itself."""

    def look(self) -> dict[str, Any]:
        """minigrid's observation, the image as nested tuples; the mission, which is always the same, left out."""
        seen = super().gen_obs()  # type: ignore[misc]  # the other base has it
        image = tuple(tuple(_cell(*cell) for cell in column) for column in seen["image"].tolist())
        return {"image": image, "direction": int(seen["direction"])}
