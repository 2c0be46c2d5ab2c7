"""A story as plain data that a page, a folder and a terminal show: moments, fields, drawings, rules, draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.source import read_source
from simulacrum.harness.explain.line_watcher import Watcher
from simulacrum.harness.explain.watched import Watched, reference_watcher, watch_reference
from simulacrum.harness.page.drawing import Artist, Drawing
from simulacrum.harness.page.listing import brief
from simulacrum.harness.page.story import Pair, Story
from simulacrum.trace.divergence import Divergence, DrawPair, pair_draws
from simulacrum.trace.trajectory import Step
from simulacrum.twin.state import load_state
from simulacrum.view.series import Series, all_series

MOST_RAN = 120  # lines of one moment that are told; a loop over many things says nothing new after so many


@dataclass(frozen=True)
class Instant:
    """One moment. t: None at an episode's start, else the steps that the episode had taken before.

    sides: "both", or the one that has this moment. drawings: places in the film's `drawings`. ran: lines of
    reference.py in order, each with the names that it gave a value. left_out: how many more ran.
    """

    episode: int
    t: int | None
    sides: str
    drawings: tuple[int | None, int | None]
    rules: tuple[str, ...] = ()
    draws: tuple[DrawPair, ...] = ()
    ran: tuple[tuple[int, tuple[tuple[str, str], ...]], ...] = ()
    left_out: int = 0
    raised: str | None = None


@dataclass(frozen=True)
class Film:
    """Everything that is shown. here: the moment of the first difference, None where the twins agree.

    lines: the text of the lines of reference.py that ran, by number. facts: label and value, one pair a line.
    """

    env_id: str
    sides: tuple[str, str]
    moments: tuple[Instant, ...]
    series: tuple[Series, ...]
    drawings: tuple[Drawing, ...]
    lines: dict[int, str]
    rules: dict[str, tuple[str, str]]  # id -> heading, text
    slots: dict[str, str]  # slot -> what is drawn
    here: int | None = None
    found: Divergence | None = None
    note: str = ""
    facts: tuple[tuple[str, str], ...] = field(default=())

    @property
    def compared(self) -> int:
        """How many values of the reference have one of the batched side beside them."""
        both = [number for number, moment in enumerate(self.moments) if moment.sides == "both"]
        return sum(
            len(series.known[place])
            for series in self.series
            for number in both
            if (place := series.at[number]) is not None
        )

    @property
    def tolerated(self) -> int:
        """How many values differ within the tolerance that their field declares."""
        return sum(one.tolerated for series in self.series for apart in series.apart.values() for one in apart)


def film_of(
    story: Story,
    package: EnvPackage,
    *,
    found: Divergence | None = None,
    facts: Sequence[tuple[str, str]] = (),
    more: Sequence[Pair] = (),
    text: bool = False,
    exact: bool = False,
) -> Film:
    """A story with its drawings, and every step of the reference run again for the lines and rules that ran.

    Args:
        story: both trajectories.
        package: whose render.py draws, and whose reference runs.
        found: the first difference.
        facts: what else is worth saying, label and value.
        more: moments after the story's own.
        text: draw states as text, for a terminal.
        exact: tolerate nothing, whatever the schema declares: both sides are of one twin.
    """
    pairs = [*story.pairs(), *more]
    album = _Album(TextArtist(package) if text else Artist(package))
    watcher = reference_watcher(package)
    moments = tuple(_instant(pair, album, package, watcher) for pair in pairs)
    source = read_source(package.folder / "reference.py").text.split("\n")
    last = len(pairs) - 1  # a side may have stopped before it came to the difference
    ran = sorted({line for moment in moments for line, _ in moment.ran})
    spec = package.spec.rules
    return Film(
        env_id=package.env_id,
        sides=story.sides,
        moments=moments,
        series=tuple(all_series(pairs, package.schema, exact=exact)),
        drawings=tuple(album.drawings),
        lines={line: source[line - 1].strip() for line in ran},
        rules={name: (rule.heading, rule.text) for name, rule in spec.items()},
        slots={one.name: _told(one) for one in package.schema.draws},
        here=next((number for number, pair in enumerate(pairs) if pair.here), last if found else None),
        found=found,
        note=story.note,
        facts=tuple(facts),
    )


def _told(draw: Any) -> str:
    count = "" if draw.count is None else f"{draw.count} of "
    return f"{count}{draw.distribution} {draw.dtype}, {draw.rule}"


def _instant(pair: Pair, album: _Album, package: EnvPackage, watcher: Watcher) -> Instant:
    moment, ran = pair.any, Watched() if pair.at is None else watch_reference(package, pair.at, watcher)
    sides = "both" if pair.reference and pair.batched else "reference" if pair.reference else "batched"
    left, right = ({} if side is None else side.draws for side in (pair.reference, pair.batched))
    told = tuple((line.line, tuple((name, brief(value)) for name, value in line.values.items())) for line in ran.lines)
    return Instant(
        episode=moment.episode,
        t=moment.t if isinstance(moment, Step) else None,
        sides=sides,
        drawings=(album.place(pair.reference), album.place(pair.batched)),
        rules=ran.rules,
        draws=pair_draws(left or ran.words, right),
        ran=told[:MOST_RAN],
        left_out=max(len(told) - MOST_RAN, 0),
        raised=ran.raised,
    )


class TextArtist:
    """Draws states of one package as text."""

    def __init__(self, package: EnvPackage) -> None:
        self.schema = package.schema
        self.text: Any = getattr(package.render(), "text", None)

    def draw(self, state: Mapping[str, Any] | None) -> Drawing | None:
        """The drawing of a recorded state; None where there is no state or nothing that draws."""
        if state is None or self.text is None:
            return None
        try:
            return Drawing(text=str(self.text(load_state(self.schema, state))))
        except Exception as error:  # a state that broke the rules may well break what draws it
            return Drawing(note=f"cannot be drawn: {type(error).__name__}: {error}".splitlines()[0])


class _Album:
    """The drawings of a film, each kept once."""

    def __init__(self, artist: Artist | TextArtist) -> None:
        self.artist = artist
        self.drawings: list[Drawing] = []
        self.places: dict[Drawing, int] = {}

    def place(self, moment: Any) -> int | None:
        """Where the drawing of a moment stands; None where there is nothing to draw."""
        drawing = self.artist.draw(None if moment is None else moment.state)
        if drawing is None:
            return None
        if drawing not in self.places:
            self.places[drawing] = len(self.drawings)
            self.drawings.append(drawing)
        return self.places[drawing]
