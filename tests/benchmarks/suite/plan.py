"""Which contenders meet at which environment and size. One table for each kind; a new one is one more row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from suite import gymnasiums, limits, machine, ours, workers
from suite.contender import Contender, Unavailable, measure

ENVIRONMENTS = ("toywalk", "forager", "cartpole")
SIZES_SHORT = (64, 8192)
SIZES_FULL = (1, 64, 1024, 8192, 65536)
# Rows that a contender's design is not meant for are left out: a thousand Python objects, one after the other.
SYNC_MOST = 1024

Say = Callable[[str], None]


@dataclass
class Plan:
    """What to measure: environments, sizes, forms and peers by name; rounds and seconds of each window."""

    environments: Sequence[str] = ENVIRONMENTS
    sizes: Sequence[int] = SIZES_SHORT
    forms: Sequence[str] = field(default_factory=ours.forms)
    peers: Sequence[str] = ()
    rounds: int = 5
    seconds: float = 0.2
    say: Say = lambda text: None
    show: Callable[[dict[str, Any]], None] = lambda group: None


def run(plan: Plan, result: dict[str, Any]) -> None:
    """Measure the plan and add to the lists `groups` and `missing` of the result, as the file keeps them."""
    groups, missing = result["groups"], result["missing"]
    helpers: dict[str, workers.Worker] = {}
    try:
        for name in plan.peers if "cartpole" in plan.environments else ():
            try:
                helpers[name] = workers.Worker(name)
            except Unavailable as reason:  # noqa: PERF203 -- what is missing is noted, and the next is tried
                missing.append({"name": workers.TITLES[name], "why": str(reason)})
        for environment in plan.environments:
            for num_envs in plan.sizes:
                plan.say(f"{environment}, N = {num_envs}: building")
                builders = _builders(plan, environment, num_envs, helpers)
                group = measure_group(plan, environment, num_envs, builders, missing)
                groups.append(group)
                plan.show(group)
    finally:
        for helper in helpers.values():
            helper.close()


def measure_group(
    plan: Plan,
    environment: str,
    num_envs: int,
    builders: dict[str, Callable[[], Contender]],
    missing: list[dict[str, Any]],
) -> dict[str, Any]:
    """Build the contenders, measure them in turns, let go of them. Who cannot be built is noted in `missing`."""
    contenders: list[Contender] = []
    where = f"{environment}, N = {num_envs}"
    for name, build in builders.items():
        plan.say(f"{where}: building {name}")
        try:
            contenders.append(build())
        except Exception as reason:  # a form that cannot be built is a finding, not an end
            why = str(reason) if isinstance(reason, Unavailable) else f"{type(reason).__name__}: {reason}"
            missing.append({"environment": environment, "num_envs": num_envs, "name": name, "why": why})
    before = machine.load()
    measure(
        contenders, rounds=plan.rounds, seconds=plan.seconds, say=lambda what: plan.say(f"{where}: {what}")
    )
    for contender in contenders:
        contender.close()
    return {
        "environment": environment,
        "num_envs": num_envs,
        "load": [before, machine.load()],
        "contenders": [contender.to_json() for contender in contenders],
    }


def _builders(
    plan: Plan, environment: str, num_envs: int, helpers: dict[str, workers.Worker]
) -> dict[str, Callable[[], Contender]]:
    builders: dict[str, Callable[[], Contender]] = {
        way.title: lambda way=way: ours.contender(way)(environment, num_envs) for way in ours.ways(plan.forms)
    }
    builders["C by hand"] = lambda: limits.contender(environment, num_envs)
    if environment != "cartpole":
        return builders
    builders["Gymnasium CartPoleVectorEnv"] = lambda: gymnasiums.cartpole_vector(num_envs)
    if num_envs <= SYNC_MOST:
        builders["Gymnasium SyncVectorEnv"] = lambda: gymnasiums.sync(num_envs)
    for name, helper in helpers.items():
        builders[workers.TITLES[name]] = lambda helper=helper: workers.contender(helper, num_envs)
    return builders
