"""Both twins through time around a divergence: a column for each moment, a row for each field, cells that compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.harness.explain.watched import watch_reference
from simulacrum.harness.page.afterwards import afterwards
from simulacrum.harness.page.cells import Cell, Row, compared
from simulacrum.harness.page.drawing import Artist, Drawing
from simulacrum.harness.page.story import Moment, Pair, Story, story_of
from simulacrum.trace.divergence import Divergence, DrawPair, pair_draws
from simulacrum.trace.trajectory import Step

BEFORE = 8  # moments before the divergence
AFTER = 4  # and after it
GOING_ON = "After the difference each side goes on by itself from its own state, with the same action again."


@dataclass(frozen=True)
class Column:
    """One moment: a reset or a step. here: whether it is the divergence."""

    title: str
    here: bool
    reference: Drawing | None
    batched: Drawing | None
    rules: tuple[str, ...] = ()
    draws: tuple[DrawPair, ...] = ()
    raised: str | None = None

    @property
    def drawn_alike(self) -> bool:
        return self.reference == self.batched or self.batched is None


@dataclass(frozen=True)
class Timeline:
    """columns: moments in order of time. rows: fields in the schema's order. note: what is missing, and why.

    sides: what each side ran as.
    """

    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    note: str = ""
    slots: tuple[str, ...] = ()
    sides: tuple[str, str] = ("reference.py", "fast.py")

    @property
    def here(self) -> int:
        """The divergence's column."""
        return next((i for i, column in enumerate(self.columns) if column.here), max(len(self.columns) - 1, 0))


def timeline(record: Divergence, package: EnvPackage, path: Path | None) -> Timeline:
    """The moments around a divergence: as recorded, or its smallest case played again."""
    story = story_of(record, package, path)
    if story is None:
        return Timeline(note="There are no trajectories of this failure, and its step could not be played again.")
    pairs = story.pairs()
    place = next((number for number, pair in enumerate(pairs) if pair.here), len(pairs) - 1)
    known = pairs[max(place - BEFORE, 0) : place + AFTER + 1]
    more = afterwards(story, package, known[-1], max(place + AFTER + 1 - len(pairs), 0))
    pairs = [*known, *more]
    artist = Artist(package)
    columns = tuple(_column(pair, record, story, artist, package) for pair in pairs)
    slots = dict.fromkeys(draw.slot for column in columns for draw in column.draws)
    note = " ".join(filter(None, (story.note, GOING_ON if more else "")))
    return Timeline(columns, tuple(_rows(pairs, package.schema)), note, tuple(slots), story.sides)


def _column(pair: Pair, record: Divergence, story: Story, artist: Artist, package: EnvPackage) -> Column:
    moment, ran = pair.any, None if pair.at is None else watch_reference(package, pair.at)
    start = "state put in" if ran is None else "start"
    title = f"episode {moment.episode}, " + (f"step t={moment.t}" if isinstance(moment, Step) else start)
    left, right = (None if side is None else artist.draw(side.state) for side in (pair.reference, pair.batched))
    known = pair.here and story.recorded and record.draws
    draws = record.draws if known else pair_draws(ran.words if ran else {}, {})
    rules, raised = (ran.rules, ran.raised) if ran else ((), None)
    return Column(title, pair.here, left, right, rules, draws, raised)


def _rows(pairs: Sequence[Pair], schema: Schema) -> Iterator[Row]:
    flag = Field(path="flag", name="flag", dtype="bool", shape=())
    yield from _group_rows(pairs, "action", schema.action)
    yield from _group_rows(pairs, "state", schema.state)
    yield _row(pairs, "", "reward", schema.reward, lambda moment: getattr(moment, "reward", None))
    for name in ("terminated", "truncated"):
        yield _row(pairs, "", name, flag, _getter(name))
    yield from _group_rows(pairs, "observation", schema.observation)
    if schema.info.fields:
        yield from _group_rows(pairs, "info", schema.info)
    if schema.action_mask is not None:
        yield _row(pairs, "", "action_mask", schema.action_mask, _getter("action_mask"))


def _group_rows(pairs: Sequence[Pair], group: str, fields: Group) -> Iterator[Row]:
    for key, leaf in fields.fields.items():
        if fields.single:
            yield _row(pairs, "", group, leaf, _getter(group))
        else:
            yield _row(pairs, group, key, leaf, _getter(group, key))


def _getter(name: str, key: str | None = None) -> Callable[[Moment], Any]:
    def get(moment: Moment) -> Any:
        value = getattr(moment, name, None)
        return value if key is None or value is None else value[key]

    return get


def _row(pairs: Sequence[Pair], group: str, name: str, leaf: Field, get: Callable[[Moment], Any]) -> Row:
    cells: list[Cell | None] = []
    for pair in pairs:
        values = [None if side is None else get(side) for side in (pair.reference, pair.batched)]
        cells.append(None if values == [None, None] else compared(leaf, *values))
    return Row(group, name, tuple(cells))
