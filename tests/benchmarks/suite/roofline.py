"""How near a step comes to the rate at which the machine can move its bytes, and where a curve bends.

The limit is measured, not looked up: a copy of as many bytes as a step has to move, half read and half written, in
turns with the forms in the same run. A form that reaches share 1 moves its bytes as fast as a copy does.
"""

from __future__ import annotations

from typing import Any

from suite import cost, tables
from suite.contender import ratio

FROM_ROWS = 1024  # below, a call's own cost is all there is
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}

Group = dict[str, Any]


def shares(group: Group) -> dict[str, float]:
    """Share of the copy's rate that each contender reaches, the copy itself 1: medians of the rounds' ratios."""
    found = {each["name"]: tables.rates(each) for each in group["contenders"]}
    return {name: ratio(rates, found[cost.COPY_TITLE]) for name, rates in found.items()}


def caches(machine: dict[str, Any]) -> dict[str, int]:
    """Sizes of the data caches in bytes, by level."""
    return {level: int(size[:-1]) * _UNITS[size[-1]] for level, size in machine["caches"].items()}


def copy_rate(group: Group, moved: float) -> float:
    """Bytes a second that the copy of the group moved."""
    copy = next(each for each in group["contenders"] if each["name"] == cost.COPY_TITLE)
    return copy["steps_per_second"]["cpu"]["median"] * moved


def bend(groups: list[Group], name: str) -> tuple[Group, Group] | None:
    """Where this contender is quickest, and the largest N if a step of a row costs a third more there; else None."""
    rate = {
        group["num_envs"]: each["steps_per_second"]["cpu"]["median"]
        for group in groups
        for each in group["contenders"]
        if each["name"] == name
    }
    best, last = max(rate, key=rate.__getitem__), max(rate)
    by_rows = {group["num_envs"]: group for group in groups}
    return (by_rows[best], by_rows[last]) if rate[last] < 0.75 * rate[best] else None
