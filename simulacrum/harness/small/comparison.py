"""Transitions gathered from the reference, and the batched twin held against them portion by portion."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import differences
from simulacrum.harness.frames import Frame, frame_fields, row_actions
from simulacrum.harness.running import explained
from simulacrum.harness.small.actions import legal_actions
from simulacrum.harness.small.choices import ChoosingDraw, Taken, every, spread
from simulacrum.harness.small.nodes import Nodes, Scalar
from simulacrum.harness.small.options import Options
from simulacrum.harness.small.record import Failed, failure
from simulacrum.harness.small.table import CHUNK, Chosen, Fast, Row, Table, chunks, told
from simulacrum.trace.divergence import Divergence

FIRST_PORTION = 256  # few, since most faults show at once, and telling transitions is what takes the time


class Comparison:
    """One package's places and the transitions between them, on both sides.

    Args:
        bench: the run it belongs to.
        package: the package as it is, or made small.
        small: the content of small.json that `package` was made with, None for the package as it is.
        params: the sets of parameters that places may have; the first is the defaults.
        thresholds: numbers that uniform draws may be held against.
        of_draws: by name of a slot, numbers that its draws are held against.
        most_actions: how many actions are tried from a place.
    """

    def __init__(
        self, bench: Bench, package: EnvPackage, *, small: Mapping[str, Any] | None = None,
        params: Sequence[Mapping[str, Any]] = ({},), thresholds: Iterable[float] = (),
        of_draws: Mapping[str, Iterable[float]] | None = None, most_actions: int = 64,
    ) -> None:  # fmt: skip
        self.bench, self.package, self.small, self.schema = bench, package, small, package.schema
        self.scalar = Scalar(package, params)
        self.limit = self.schema.max_episode_steps
        self.chosen, self.options = Chosen(), Options(thresholds, of_draws)
        self.book = None
        if bench.answers is not None:
            numbers = (*self.options.thresholds, *self.options.of_draws.items())
            self.book = bench.answers.of(package, *numbers, "actions", most_actions)
        self.nodes = Nodes(self.scalar, self.book)
        self.fast = Fast(package, self.limit, self.nodes, self.chosen, bench.device)
        self.actions = legal_actions(self.schema, most_actions)
        self.given = row_actions(self.schema, self.actions)
        self.fields = frame_fields(self.schema)
        self.sources: list[int] = []  # the places that were stepped from
        self.table: Table = []  # told by the reference, not compared yet
        self.compared = 0  # transitions and starts
        self.asked = 0  # questions to the reference
        self.portion = FIRST_PORTION  # gathered before the batched twin is asked; it grows up to `CHUNK`
        self.found: Divergence | None = None  # the record of the first difference
        self.problem: str | None = None  # what is wrong otherwise

    @property
    def sound(self) -> bool:
        """Whether nothing was found yet."""
        return self.found is None and self.problem is None

    def start(self, taken: Taken, state: Any, p: int = 0) -> int:
        """Add a start that the reference told; its place."""
        place = self.nodes.number(state, 0, p)
        self.table.append(Row(-1, -1, self.chosen.number(taken), place))
        return place

    def step(self, source: int, action: int, taken: Taken, outcome: tuple[Any, float, bool, bool]) -> Row:
        """Add a transition that the reference told."""
        after, reward, terminated, cut = outcome
        p, t, _ = self.nodes.places[source]
        truncated = cut or (self.limit is not None and t + 1 >= self.limit)
        end = self.nodes.number(after, t + 1, p)
        row = Row(source, action, self.chosen.number(taken), end, reward, terminated, truncated)
        self.table.append(row)
        return row

    def resets(self, p: int = 0, most: int | None = None) -> Iterator[tuple[Taken, Any]]:
        """(draws, state) of the starts with these parameters: all that there are, or `most` of them."""
        return self._told("reset", p, lambda draw: self.scalar.reset(draw, p), most)

    def steps(self, source: int, action: int, most: int | None = None) -> Iterator[tuple[Taken, Any]]:
        """(draws, outcome) of an action at a place: all that there are, or `most` of them."""
        (p, t, state), given, scalar = self.nodes.places[source], self.given[action], self.scalar

        def call(draw: ChoosingDraw) -> Any:
            return scalar.step(state, t, given, draw, p)

        return self._told("step", (action, self.nodes.key(state, t, p)), call, most)

    def _told(
        self, phase: str, question: Hashable, call: Callable[[ChoosingDraw], Any], most: int | None
    ) -> Iterator[tuple[Taken, Any]]:
        """What the reference answers to `call`, or answered in an earlier run."""
        layout, options = self.scalar.layout, self.options
        self.asked += 1
        number = self.asked

        def ask() -> Iterator[tuple[Taken, Any]]:
            if most is None:
                return every(layout, phase, options, call)
            return spread(layout, phase, options, call, most, number)

        return ask() if self.book is None else self.book.all((phase, most, question), ask)

    def compare(self, *, whole: bool = True) -> None:
        """Hold the batched twin against what was gathered; without `whole` only once there is a portion's worth."""
        if not self.sound or not self.table or (len(self.table) < self.portion and not whole):
            return
        table, self.table, self.portion = self.table, [], min(4 * self.portion, CHUNK)
        for rows in chunks(table):
            self.bench.say(f"{self.compared:,} single steps")
            reference = told(self.schema, rows, self.nodes)
            batched = self._stepped(rows)
            if batched is None:
                return
            self.compared += len(rows)
            found = differences(reference, batched, self.fields, used=self.bench.used)
            if found:
                self.found = failure(self, Failed(rows, reference, batched, found))
                return
            self.agreed(reference, batched)

    def agreed(self, reference: Frame, batched: Frame) -> None:
        """Called with each portion that agrees."""

    def _stepped(self, rows: Table) -> Frame | None:
        """The batched twin's frame; None, with `problem` said, where it raises for a row that the reference takes."""
        try:
            return self._step(rows)
        except Exception as error:
            if self._raises(rows[:1]) and self._raises(rows[-1:]):
                raise  # no matter where: the twin is not whole
            while len(rows) > 1:  # down to one row that raises
                half = rows[: len(rows) // 2]
                rows = half if self._raises(half) else rows[len(rows) // 2 :]
            it = rows[0]
            p, t, state = self.nodes.places[it.end if it.source < 0 else it.source]
            self.problem = (
                f"the batched twin raises where the reference does not: {explained(error)}\n"
                f"  state: {state}, t {t}, params {self.scalar.params[p]._asdict()}\n"
                f"  action: {None if it.action < 0 else self.given[it.action]}, draws: {self.chosen.all[it.chosen]}"
            )
            return None

    def _raises(self, rows: Table) -> bool:
        try:
            self._step(rows)
        except Exception:
            return True
        return False

    def _step(self, rows: Table) -> Frame:
        return self.fast.starts(rows) if rows[0].source < 0 else self.fast.steps(rows, self.actions)
