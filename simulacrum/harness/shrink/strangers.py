"""Companions for a row whose own are not known: states that the reference comes by, and what it does there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import SimulacrumError
from simulacrum.harness import drivers
from simulacrum.harness.frames import row_action
from simulacrum.harness.shrink.source import spelled_action
from simulacrum.trace.case import Case, Line
from simulacrum.trace.values import spell_group
from simulacrum.twin.state import dump_state

EPISODES, LONGEST = 8, 120  # walks, and steps of each at most


def among_strangers(package: EnvPackage, case: Case) -> Iterator[Case]:
    """The one-row case with strangers around it: the row among them, first, and last."""
    others = _strangers(package, case.line)
    for place in dict.fromkeys((len(others) // 2, 0, len(others))):
        rows = [*range(place), *range(place + 1, len(others) + 1)]
        lines = [replace(line, row=row) for line, row in zip(others, rows, strict=True)]
        if lines:
            yield replace(case, num_envs=len(rows) + 1, lines=(replace(case.line, row=place), *lines))


def _strangers(package: EnvPackage, like: Line) -> list[Line]:
    """The beginning, middle and end of a few random episodes; for a reset, other seeds."""
    steps = len(like.actions)
    if like.start is None:
        return [replace(like, seed=seed) for seed in range(2 * EPISODES)]
    found: list[Line] = []
    for seed in range(EPISODES):
        walked = _walk(package, seed, like)
        chosen = [walked[i] for i in sorted({0, len(walked) // 2, len(walked) - 1}) if walked]
        found += [replace(line, params=like.params, actions=line.actions * steps) for line in chosen]
    return found


def _walk(package: EnvPackage, seed: int, like: Line) -> list[Line]:
    """A random episode: each state before a step, with the step's action."""
    schema, made = package.schema, list[Line]()
    runner = ReferenceRunner(package, params=like.params, max_episode_steps=schema.max_episode_steps)
    driver = drivers.Random(schema, 1, seed)
    with contextlib.suppress(SimulacrumError):
        runner.reset(seed)
        while not runner.ended and len(made) < LONGEST:
            batch = driver.actions({}, runner.t)
            state = spell_group(schema.state, dump_state(schema, runner.state))
            made.append(Line(0, seed, state, 0, runner.t, actions=(spelled_action(schema, batch, 0),)))
            runner.step(row_action(schema, batch, 0))
    return made
