"""How cost grows: with the number of rows, with forager's berries and grid; bytes of a row; share of the copy rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from simulacrum.contract.package import EnvPackage, load_package
from suite import cost, limits, ours, variants
from suite.contender import Contender, Unavailable
from suite.plan import Plan, measure_group

ROWS = tuple(2**power for power in range(0, 21, 2))
BERRIES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
GRIDS = (4, 8, 16, 64, 256, 1024)
VARIANT_ROWS = 8192
# Inductor takes minutes for each variant; so does the native form where a rule is written out for more berries.
MOST_BERRIES = {"inductor": 0, "native": 64}
VARIANTS = Path(__file__).parents[3] / "build" / "bench" / "variants"

Missing = list[dict[str, Any]]
Builders = dict[str, Callable[[], Contender]]


def run(
    plan: Plan,
    result: dict[str, Any],
    *,
    rows: Sequence[int] = ROWS,
    berries: Sequence[int] = BERRIES,
    grids: Sequence[int] = GRIDS,
    variant_rows: int = VARIANT_ROWS,
) -> None:
    """Measure all growth of the plan's environments and forms, and put it under `growth` of the result as it comes."""
    missing = result["missing"]
    costs = {name: _costs(plan, name, missing) for name in plan.environments}
    growth: dict[str, Any] = {"costs": costs, "rows": [], "berries": [], "grids": []}
    result["growth"] = growth
    for name in plan.environments:
        for num_envs in rows:
            builders = _builders(plan.forms, name, name, num_envs, costs[name]["moved"])
            growth["rows"].append(measure_group(plan, name, num_envs, builders, missing))
            plan.show(growth["rows"][-1])
    if "forager" in plan.environments:
        for count in berries:
            growth["berries"].append(_variant(plan, count, variants.SIZE, variant_rows, missing))
        for size in grids:
            growth["grids"].append(_variant(plan, variants.BERRIES, size, variant_rows, missing))


def _costs(plan: Plan, name: str, missing: Missing) -> dict[str, Any]:
    """Bytes of a row in each form, operations, and the bytes that a step has to move (those of the first form)."""
    plan.say(f"{name}: bytes and operations of a row")
    forms: dict[str, Any] = {}
    for form in plan.forms:
        try:
            forms[form] = cost.of_row(name, form)
        except Unavailable as reason:  # noqa: PERF203 -- what is missing is noted, and the next is tried
            missing.append({"environment": name, "name": form, "why": str(reason)})
    least = min((each["moved"] for each in forms.values()), default=0.0)
    return {"forms": forms, "moved": least, **cost.operations(name)}


def _builders(
    forms: Sequence[str], package: EnvPackage | str, environment: str, num_envs: int, moved: float
) -> Builders:
    builders: Builders = {name: lambda name=name: ours.contender(name)(package, num_envs) for name in forms}
    builders["C by hand"] = lambda: limits.contender(environment, num_envs)
    builders[cost.COPY_TITLE] = lambda: cost.copy(moved, num_envs)
    return builders


def _variant(plan: Plan, berries: int, size: int, num_envs: int, missing: Missing) -> dict[str, Any]:
    forms = [form for form in plan.forms if berries <= MOST_BERRIES.get(form, berries)]
    package = load_package(variants.make(VARIANTS / f"{berries}-berries-{size}-cells", berries, size))
    moved = cost.of_row(package, "eager")["moved"]
    builders = _builders(forms, package, "forager", num_envs, moved)
    defines = {"BERRIES": berries, "SIZE": size}
    builders["C by hand"] = lambda: limits.contender("forager", num_envs, defines)
    group = measure_group(plan, "forager", num_envs, builders, missing)
    plan.show({**group, "environment": f"forager with {berries} berries, {size} cells a side"})
    return {**group, "berries": berries, "size": size, "bytes_moved": moved}
