"""The text that the docs show of a run: sentences and tables made of its figures, none of them written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suite import cost, roofline, tables

Group = dict[str, Any]
TABLED_ROWS = (1024, 16384, 262144, 1048576)  # of the sizes in the growth table


def whole(result: dict[str, Any]) -> str:
    """Everything between the markers of docs/benchmarks.md."""
    parts = [made_with(result)]
    if result["groups"]:
        parts.append("## Side by side")
        parts += [side_by_side(name, groups) for name, groups in tables.by_environment(result).items()]
        parts += ["![Steps per CPU-second against the number of rows](assets/bench-speed.png)", settings(result)]
    growth = result.get("growth")
    if growth:
        parts += ["## Growth", growth_text(growth, roofline.caches(result["machine"]))]
    if result["missing"]:
        lines = sorted({f"- {each['name']}: {each['why']}" for each in result["missing"]})
        parts.append("Not measured in this run:\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def made_with(result: dict[str, Any]) -> str:
    """The machine and the versions, and what else ran."""
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    loads = [load[0] for group in _groups(result) for load in group["load"] if load]
    busy = f" Load of the machine meanwhile: {min(loads):.1f} to {max(loads):.1f} processes." if loads else ""
    caches = ", ".join(f"{level} {size}" for level, size in machine["caches"].items())
    return (
        f"Measured on {result['made'][:10]} with `python tests/benchmarks/bench.py {' '.join(result['arguments'])}`: "
        f"{machine['cpu']}, {machine['cores']} cores, {machine['cpu_capability']}, caches {caches}, "
        f"Python {machine['python']}, {versions}, one thread; {result['rounds']} rounds of windows of "
        f"{result['window_seconds']:g} CPU-seconds.{busy}{_growth_run(result)} "
        "[All windows, raw](assets/benchmarks.json)."
    )


def _growth_run(result: dict[str, Any]) -> str:
    """A sentence about growth that was measured in a run of its own."""
    run = result.get("growth_run")
    if run is None:
        return ""
    return (
        f" Growth is of another run, `python tests/benchmarks/bench.py {' '.join(run['arguments'])}` on "
        f"{run['made'][:10]}: {run['rounds']} rounds of windows of {run['window_seconds']:g} CPU-seconds."
    )


def _groups(result: dict[str, Any]) -> list[Group]:
    growth = result.get("growth") or {}
    return [*result["groups"], *(group for part in ("rows", "berries", "grids") for group in growth.get(part, []))]


def side_by_side(name: str, groups: Sequence[Group]) -> str:
    """Rates and ratios of one environment."""
    said = "Steps per CPU-second, the median of the windows (the best one):"
    parts = [f"### {name}", said, tables.rate_table(groups)]
    base = tables.base_of(each["name"] for group in groups for each in group["contenders"])
    if base:
        parts += [
            f"How many times as fast as each the form `{base}` is, by CPU-second (median of the rounds):",
            tables.ratio_table(groups, base),
        ]
    return "\n\n".join(parts)


def settings(result: dict[str, Any]) -> str:
    """What was chosen for each contender, and its version."""
    found: dict[str, dict[str, Any]] = {}
    for group in result["groups"]:
        found |= {each["name"]: each for each in group["contenders"]}
    rows = [[name, each["settings"], each["version"]] for name, each in found.items()]
    return tables.markdown(["contender", "settings", "version"], rows).replace("|--:", "|---")


def growth_text(growth: dict[str, Any], caches: dict[str, int]) -> str:
    """The growth curves, a table of costs, and why they bend."""
    by_environment = tables.by_environment({"groups": growth["rows"]})
    parts = [
        "CPU time of one step of one row, by the number of rows. Grey lines: what a step has to move fills a cache.",
        "![CPU time of a step of one row against the number of rows](assets/bench-rows.png)",
        bytes_table(growth["costs"]),
        *(_bends(name, groups, growth["costs"][name]["moved"], caches) for name, groups in by_environment.items()),
        "### Share of the machine's limit",
        "The limit is a copy of as many bytes as a step moves, measured in turns with the forms. Share of its rate:",
        share_table(by_environment, growth["costs"]),
        "![Share of the copy rate against the number of rows](assets/bench-roofline.png)",
    ]
    if growth["berries"]:
        parts += [
            "### forager with more berries and larger grids",
            "CPU nanoseconds of a step of one row:",
            variant_table(growth["berries"], "berries"),
            variant_table(growth["grids"], "size", "cells along a side"),
            "![CPU time of a forager step against berries and grid](assets/bench-forager.png)",
        ]
    return "\n\n".join(part for part in parts if part)


def bytes_table(costs: dict[str, Any]) -> str:
    """Bytes of a row in each form."""
    head = ["bytes of a row", "state", "parameters", "outputs", "moved by a step", "numbers computed"]
    rows = []
    for name, each in costs.items():
        for form, row in each["forms"].items():
            figures = [f"{row[part]:,.0f}" for part in ("state", "params", "outputs", "moved")]
            rows.append([f"{name}, {form}", *figures, f"{each['numbers_per_row']:,.0f}"])
    return tables.markdown(head, rows)


def _bends(name: str, groups: list[Group], moved: float, caches: dict[str, int]) -> str:
    """A sentence on where the fastest form slows down, with what the copy says about the reason."""
    form = tables.base_of(each["name"] for group in groups for each in group["contenders"])
    found = roofline.bend(groups, form) if form else None
    if found is None:
        return f"{name}, {form}: no bend; a row costs no more at the largest N than at the best one."
    best, last = found
    fits = {level: f"{level} holds {size / moved:,.0f} rows" for level, size in caches.items()}
    rates = [roofline.copy_rate(group, moved) / 1e9 for group in found]
    slower = rates[0] / rates[1]
    why = (
        f"the bare copy slows as well, from {rates[0]:.1f} to {rates[1]:.1f} GB/s: memory, not arithmetic"
        if slower > 1.2
        else f"the bare copy does not ({rates[0]:.1f} and {rates[1]:.1f} GB/s), so it is not the copying alone"
    )
    return (
        f"{name}, {form}: cheapest at N = {best['num_envs']:,}, dearer by N = {last['num_envs']:,}, where {why} "
        f"({'; '.join(fits.values())})."
    )


def share_table(by_environment: dict[str, list[Group]], costs: dict[str, Any]) -> str:
    """Share of the copy's rate by contender, and the copy's own rate."""
    sizes = [size for size in TABLED_ROWS if any(g["num_envs"] == size for gs in by_environment.values() for g in gs)]
    rows: list[list[str]] = []
    for name, groups in by_environment.items():
        chosen = {group["num_envs"]: group for group in groups if group["num_envs"] in sizes}
        shares = {size: roofline.shares(group) for size, group in chosen.items()}
        for contender in dict.fromkeys(each for found in shares.values() for each in found):
            if contender == cost.COPY_TITLE:
                cells = [f"{roofline.copy_rate(chosen[size], costs[name]['moved']) / 1e9:.1f} GB/s" for size in sizes]
            else:
                cells = [f"{shares[size][contender]:.2g}" if contender in shares[size] else "-" for size in sizes]
            rows.append([f"{name}, {contender}", *cells])
    return tables.markdown(["", *(f"N = {size:,}" for size in sizes)], rows)


def variant_table(groups: Sequence[Group], key: str, title: str | None = None) -> str:
    """Nanoseconds of a step of one row by contender, a column for each variant."""
    rows = tables.cells(groups, lambda _, each: tables.figure(1e9 / each["steps_per_second"]["cpu"]["median"]))
    return tables.markdown([title or key, *(f"{group[key]:,}" for group in groups)], rows)
