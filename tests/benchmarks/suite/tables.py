"""Tables of a run: plain text for the terminal, Markdown for the docs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from suite.contender import ratio

Group = dict[str, Any]
# Who the others are compared with: the first of these that was measured.
BASES = ("native", "inductor", "eager")


def rates(contender: dict[str, Any], by: str = "cpu") -> list[float]:
    """Steps a second of each window of a contender in a file, by "cpu" or "wall"."""
    place = 1 if by == "wall" else 2
    steps = contender["steps_per_call"]
    return [window[0] * steps / max(window[place], 1e-9) for window in contender["windows"]]


def base_of(names: Iterable[str]) -> str | None:
    """The contender to compare with, or None."""
    found = set(names)
    return next((name for name in BASES if name in found), None)


def plain(group: Group) -> str:
    """One group for the terminal."""
    contenders = group["contenders"]
    base = base_of(contender["name"] for contender in contenders)
    against = next((rates(contender) for contender in contenders if contender["name"] == base), None)
    lines = [
        f"{group['environment']}, N = {group['num_envs']:,}",
        f"  {'':30} {'steps/CPU-s':>12} {'best':>9} {'by clock':>9}" + (f" {f'{base} is x':>12}" if base else ""),
    ]
    for contender in contenders:
        cpu, wall = (contender["steps_per_second"][by] for by in ("cpu", "wall"))
        cells = f"{short(cpu['median']):>12} {short(cpu['best']):>9} {short(wall['median']):>9}"
        more = "" if against is None else f" {figure(ratio(against, rates(contender))):>12}"
        lines.append(f"  {contender['name']:30} {cells}{more}")
    return "\n".join(lines)


def short(value: float) -> str:
    """A rate in three digits: 812, 74.3 k, 1.25 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def figure(value: float) -> str:
    """A ratio in two or three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def by_environment(result: dict[str, Any]) -> dict[str, list[Group]]:
    """The groups of a run by environment, sizes ascending."""
    found: dict[str, list[Group]] = {}
    for group in sorted(result["groups"], key=lambda group: group["num_envs"]):
        found.setdefault(group["environment"], []).append(group)
    return found


def cells(groups: Sequence[Group], make: Any) -> list[list[str]]:
    """A row for each contender, a cell for each group: what `make(group, contender)` gives, or a dash."""
    names = list(dict.fromkeys(contender["name"] for group in groups for contender in group["contenders"]))
    rows: list[list[str]] = []
    for name in names:
        row = [name]
        for group in groups:
            contender = next((each for each in group["contenders"] if each["name"] == name), None)
            row.append("-" if contender is None else make(group, contender))
        rows.append(row)
    return rows


def rate_table(groups: Sequence[Group], by: str = "cpu") -> str:
    """Median steps a second; beside it the best window."""

    def cell(_: Group, contender: dict[str, Any]) -> str:
        found = contender["steps_per_second"][by]
        return f"{short(found['median'])} ({short(found['best'])})"

    return markdown(["", *(f"N = {group['num_envs']:,}" for group in groups)], cells(groups, cell))


def ratio_table(groups: Sequence[Group], base: str) -> str:
    """How many times as fast as each contender the base is: medians of the ratios within each round."""

    def cell(group: Group, contender: dict[str, Any]) -> str:
        against = next((rates(each) for each in group["contenders"] if each["name"] == base), None)
        return "-" if against is None else figure(ratio(against, rates(contender)))

    rows = [row for row in cells(groups, cell) if row[0] != base]
    return markdown([f"{base} by", *(f"N = {group['num_envs']:,}" for group in groups)], rows)
