"""Delta debugging: a list made shorter while something stays true of it (Zeller and Hildebrandt 2002, `ddmin`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Item = TypeVar("Item")


def fewest(items: list[Item], holds: Callable[[list[Item]], bool]) -> list[Item]:
    """A sublist, in order, for which `holds` is true and from which no single item can be left out.

    `holds` is true of `items` (it is not asked again). Where it stops being asked for lack of a budget it answers
    false, and what was reached so far is returned.
    """
    parts = 2
    while len(items) >= 2:
        size = -(-len(items) // parts)
        chunks = [items[i : i + size] for i in range(0, len(items), size)]
        smaller = next((one for one in chunks if len(one) < len(items) and holds(one)), None)
        if smaller is not None:
            items, parts = smaller, 2
            continue
        rests = [[x for j, one in enumerate(chunks) if j != i for x in one] for i in range(len(chunks))]
        smaller = next((rest for rest in rests if rest and len(chunks) > 2 and holds(rest)), None)
        if smaller is not None:
            items, parts = smaller, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(items))
    return items if len(items) != 1 or not holds([]) else []
