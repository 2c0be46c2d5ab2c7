"""Single steps from states at the ends of things, for a package as it is: no driver has to get there first.

Visited states have one field (or two) pushed to its ends, one inside them, or to both sides of a number that the rules
know; the clock is pushed to both sides of the time limit, parameters to their ends. What the reference's invariants do
not accept is no state of the environment, and is left out.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simulacrum.contract.fields import Field
from simulacrum.contract.schema import Schema
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.harness.bench import Bench
from simulacrum.harness.frames import row_actions, take
from simulacrum.harness.legal import Legal
from simulacrum.harness.running import explained
from simulacrum.harness.small.actions import legal_actions
from simulacrum.harness.small.comparison import Comparison
from simulacrum.harness.small.nodes import Scalar
from simulacrum.harness.small.options import Options
from simulacrum.harness.small.pushes import Values, beside, clock_values, pushed, visited
from simulacrum.harness.small.thresholds import thresholds_of, thresholds_of_draws
from simulacrum.twin.state import dump_state, load_state

BASES = 12  # visited states that are pushed about
ACTIONS = 16  # of one state
INSIDE = 0.37  # of the way from the lowest value of a parameter to the highest: no sum of a few halves
SEQUENCES = 6  # of draws, from one state with one action
BESIDE = 2_000  # states in which two integers were put beside two others
REFUSED = 200  # states that the reference cannot show, in which the batched twin is looked at
STARTS = 64  # sequences of draws at a reset, for each set of parameters

Place = tuple[int, int, Any]  # number of the parameters, t, JSON state


class Boundary(Comparison):
    """The steps from pushed states; `singles` or `pairs`, then look at `found`, `problem` and `evidence`."""

    def __init__(self, bench: Bench, most: int) -> None:
        package, params, numbers = bench.package, param_sets(bench.schema), thresholds_of(bench.package)
        self.bases = visited(bench, BASES)
        of_draws = _of_draws(bench, params, numbers, self.bases)
        super().__init__(bench, package, params=params, thresholds=numbers, of_draws=of_draws, most_actions=ACTIONS)
        self.most = most  # transitions
        self.legal = Legal(self.schema)
        self.counts: Counter[str] = Counter()
        self.values = Values(package, [state for _, state in self.bases])

    def evidence(self) -> dict[str, Any]:
        """What was tried, for the report."""
        return {"transitions": self.compared, "states": len(self.sources), "params": len(self.scalar.params),
                "draws_held_against": self.options.of_draws,
                **{name: self.counts[name] for name in ("broke_invariants", "outside_the_schema", "reference_refused")}}

    def singles(self) -> None:
        """One field, or the clock, or the parameters."""
        self._starts()
        one = [[push] for push in self.values.pushes()]
        clock = clock_values(self.limit)
        self._run(itertools.chain(
            ((0, t, state) for t, state in self.bases),
            ((0, t, state) for t in clock for _, state in self.bases),
            _shuffled((p, t, state) for p in range(1, len(self.scalar.params)) for t, state in self.bases),
            _shuffled((0, t, pushed(state, push)) for push in one for t, state in self.bases),
            _shuffled((p, t, pushed(state, push)) for p in range(1, len(self.scalar.params)) for push in one
                      for t, state in self.bases[:2]),
        ))  # fmt: skip

    def pairs(self) -> None:
        """Two fields together, or a field and the clock."""
        pushes = list(self.values.pushes(ends=True))
        clock = clock_values(self.limit)
        two = [[a, b] for a, b in itertools.combinations(pushes, 2) if a.element != b.element]
        generator = random.Random(self.bench.seed)
        generator.shuffle(two)
        self._run(_alternating(
            ((0, t, pushed(state, pair)) for pair in two for t, state in generator.sample(self.bases, 1)),
            ((0, t, pushed(state, [push])) for t in clock for push in pushes for _, state in self.bases[:3]),
            ((0, t, pushed(state, beside(self.schema, state, generator) or []))
             for t, state in generator.choices(self.bases, k=BESIDE)),
        ))  # fmt: skip

    def _starts(self) -> None:
        for p in range(len(self.scalar.params)):
            for taken, state in self.resets(p, STARTS):
                self.start(taken, state, p)
        self.compare()

    def _run(self, places: Iterable[Place]) -> None:
        tried: set[int] = set()
        for p, t, state in places:
            if self.compared + len(self.table) >= self.most or not self.sound:
                break
            place = self._accepted(p, t, state)
            if place is None or place in tried:
                continue
            tried.add(place)
            self.sources.append(place)
            self._from(place)
            self.compare(whole=False)
        self.compare()

    def _accepted(self, p: int, t: int, state: Mapping[str, Any]) -> int | None:
        """The place, where the invariants accept it and all that it shows is allowed."""
        loaded: Any = None
        try:
            state = load_state(self.schema, state)
            if not self.scalar.holds(state, t, p):
                self.counts["broke_invariants"] += 1
                return None
            loaded = state
            return self.nodes.number(loaded, t, p)
        except Exception as error:  # a state that never was may lead the reference anywhere
            self.counts["outside_the_schema"] += 1
            if loaded is not None and self.counts["outside_the_schema"] <= REFUSED:
                self._refused(loaded, t, p, error)
            return None

    def _refused(self, state: Any, t: int, p: int, error: Exception) -> None:
        """The reference could not show an accepted state. Where the batched twin can, they differ."""
        try:
            shown = self.fast.showing(state, t, p)
        except Exception:
            return
        if not self.legal.breaches(shown, None):
            self.problem = (
                f"the reference raises where the batched twin shows what the schema allows: {explained(error)}\n"
                f"  state: {state}, t {t}, params {self.scalar.params[p]._asdict()}"
            )

    def _from(self, place: int) -> None:
        for action in range(len(self.given)):
            asked = self.steps(place, action, SEQUENCES)
            try:
                for taken, outcome in asked:
                    self.step(place, action, taken, outcome)
            except Exception:
                self.counts["reference_refused"] += 1
                if self.counts["reference_refused"] <= REFUSED:
                    self._refused_step(place, action)

    def _refused_step(self, place: int, action: int) -> None:
        """The reference could not take a step. Where the batched twin can, with draws as they come, they differ."""
        p, t, state = self.nodes.places[place]
        params = self.scalar.params[p]._asdict()
        runner = ReferenceRunner(self.package, params=params, max_episode_steps=self.limit)
        runner.load(dump_state(self.schema, state), t=t, seed=0, episode=0)  # the key of the first row of `drawn`
        try:
            runner.step(self.given[action])
        except Exception as error:
            told = f"{explained(error)}\n  state: {state}, t {t}, params {params}\n  action: {self.given[action]}"
        else:
            return  # with the draws that were put in alone
        try:
            shown, _ = self.fast.drawn([place], take(self.actions, [action]))
        except Exception:
            return
        if not self.legal.breaches(shown, np.ones(1, dtype=np.bool_)):
            self.problem = f"the reference raises where the batched twin steps to what the schema allows: {told}"


def _of_draws(
    bench: Bench, params: Sequence[Mapping[str, Any]], numbers: Sequence[float], bases: Sequence[tuple[int, Any]]
) -> dict[str, tuple[float, ...]]:
    """What the reference holds uniform draws against in steps from visited states."""

    def ask() -> dict[str, tuple[float, ...]]:
        given = row_actions(bench.schema, legal_actions(bench.schema, ACTIONS))
        return thresholds_of_draws(Scalar(bench.package, params), Options(numbers), bases, given)

    if bench.answers is None:
        return ask()
    return bench.answers.of(bench.package, "thresholds of draws").one(bench.seed, ask)


def param_sets(schema: Schema) -> list[dict[str, Any]]:
    """The defaults, each parameter at each of its ends, all at their lowest, highest, and inside; none twice."""
    ends: dict[str, tuple[Any, Any]] = {}
    inside: dict[str, Any] = {}
    for name, param in schema.params.items():
        low, high = param.field.low, param.field.high
        if param.field.is_bool:
            low, high = False, True
        if low is not None and high is not None:
            ends[name] = (low, high)
            inside[name] = _between(param.field, low, high)
    sets: list[dict[str, Any]] = [{}]
    sets += [{name: end} for name, both in ends.items() for end in both]
    sets += [*({name: both[side] for name, both in ends.items()} for side in (0, 1)), inside]
    defaults = {name: param.default for name, param in schema.params.items()}
    whole = [{**defaults, **one} for one in sets]
    return [one for number, one in enumerate(sets) if whole[number] not in whole[:number]]


def _between(field: Field, low: Any, high: Any) -> Any:
    """A value inside the range of a parameter, or several; of a truth value True, so that what it switches on shows."""
    if isinstance(low, tuple):
        return [_between(field, *ends) for ends in zip(low, high, strict=True)]
    between = low + (high - low) * INSIDE
    return True if field.is_bool else int(between) if field.is_integer else between


def _shuffled(places: Iterable[Place]) -> Iterator[Place]:
    """In an order that is the same each time, so that what a budget leaves out is spread over all kinds."""
    made: Sequence[Place] = list(places)
    yield from random.Random(20_240).sample(made, len(made))


def _alternating(*sources: Iterable[Place]) -> Iterator[Place]:
    """One of each in turn, for as long as there are any."""
    for together in itertools.zip_longest(*sources):
        yield from (one for one in together if one is not None)
