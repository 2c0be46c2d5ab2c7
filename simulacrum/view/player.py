"""A film in the terminal: both twins as text side by side, fields as sparklines, the same keys as on the page."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from simulacrum.errors import UsageError
from simulacrum.view.film import Film
from simulacrum.view.keys import Keys, keyboard
from simulacrum.view.series import Series

LEFT, RIGHT, APART, QUIET = "bright_blue", "yellow", "bold magenta", "dim"
SPEEDS = (1, 4, 8, 16, 32)  # moments a second
BARS = "▁▂▃▄▅▆▇█"
HELP = "space plays  ← → step  shift ten  home end  d difference  n p episode  + - speed  q leaves"


class Player:
    """Where one is in a film, and what the keys do to it."""

    def __init__(self, film: Film) -> None:
        self.film = film
        self.at = film.here or 0
        self.playing = False
        self.speed = 2

    def press(self, key: str) -> bool:
        """Do what a key says; False where it says to leave."""
        last = len(self.film.moments) - 1
        steps = {"ArrowLeft": -1, "ArrowRight": 1, "Shift+ArrowLeft": -10, "Shift+ArrowRight": 10}
        if key in ("q", "Escape", "\x04"):
            return False
        if key == " ":
            self.playing = not self.playing
            if self.playing and self.at == last:
                self.at = 0
            return True
        if key in "+-":
            self.speed = min(max(self.speed + (1 if key == "+" else -1), 0), len(SPEEDS) - 1)
            return True
        self.playing = self.playing and key not in (*steps, "Home", "End", "d")
        places = {"Home": 0, "End": last, "d": self.at if self.film.here is None else self.film.here}
        places |= {"n": self._episode(1), "p": self._episode(-1)}
        self.at = min(max(places.get(key, self.at + steps.get(key, 0)), 0), last)
        return True

    def tick(self) -> None:
        """The next moment; playing stops at the last."""
        self.at = min(self.at + 1, len(self.film.moments) - 1)
        self.playing = self.playing and self.at < len(self.film.moments) - 1

    def _episode(self, direction: int) -> int:
        """The start of the next episode or of the one before; the film's end where there is none."""
        at, moments = self.at + direction, self.film.moments
        while 0 < at < len(moments) - 1 and moments[at].t is not None:
            at += direction
        return at

    def screen(self, width: int, height: int) -> RenderableType:
        """Everything that is seen at this moment, no wider and no higher than the terminal."""
        film, moment = self.film, self.film.moments[self.at]
        where = f"episode {moment.episode}  " + ("start" if moment.t is None else f"step t={moment.t}")
        head = Text.assemble((film.env_id, "bold"), "  ", _verdict(film))
        drawn = [self._drawing(side) for side in (0, 1)]
        rows = max(height - 9 - max(text.plain.count("\n") + 1 for text in drawn), 3)
        panels = [
            Panel(text, title=name, border_style=APART if self._differs() else colour, expand=False)
            for text, name, colour in zip(drawn, film.sides, (LEFT, RIGHT), strict=True)
        ]
        ran = Text.assemble(("rules ", QUIET), " ".join(moment.rules) or "none", ("   draws ", QUIET), self._draws())
        ran.no_wrap, ran.overflow = True, "ellipsis"
        return Group(
            head,
            Columns(panels, padding=(0, 1)),
            Text.assemble((where, "bold"), "  ", f"{self.at + 1}/{len(film.moments)}", "  ", self._state()),
            self._bar(width - 1),
            self._fields(rows, width),
            ran,
            Text(HELP, style=QUIET, no_wrap=True, overflow="ellipsis"),
        )

    def _drawing(self, side: int) -> Text:
        place = self.film.moments[self.at].drawings[side]
        drawing = None if place is None else self.film.drawings[place]
        if drawing is None:
            return Text("nothing to draw", style=QUIET)
        return Text.from_ansi(drawing.text) if drawing.text else Text(drawing.note or "no text", style=QUIET)

    def _differs(self) -> bool:
        return any(series.differs(self.at) for series in self.film.series)

    def _near(self) -> bool:
        return any(self.at in series.apart for series in self.film.series)

    def _state(self) -> Text:
        pace = f"playing, {SPEEDS[self.speed]} a second" if self.playing else "paused"
        if self.at == self.film.here:
            return Text.assemble(("◆ first difference", APART), f"  {pace}")
        if self.film.moments[self.at].sides != "both":
            return Text.assemble((f"{self.film.moments[self.at].sides} alone", APART), f"  {pace}")
        near = ("≈ within tolerance", "green") if self._near() else ("equal", "green")
        return Text.assemble(("≠ differs", APART) if self._differs() else near, f"  {pace}")

    def _draws(self) -> str:
        drawn = [
            draw.slot for draw in self.film.moments[self.at].draws if draw.verdict not in ("unused", "only batched")
        ]
        return ", ".join(drawn) or "none"

    def _bar(self, width: int) -> Text:
        """The whole time as a line: where one is, and where the twins part."""
        last = max(len(self.film.moments) - 1, 1)
        cells = ["─"] * max(width, 2)
        here = None if self.film.here is None else round(self.film.here / last * (len(cells) - 1))
        if here is not None:
            cells[here] = "◆"
        now = round(self.at / last * (len(cells) - 1))
        cells[now] = "◆" if now == here else "●"
        text = Text("".join(cells), style=QUIET)
        if here is not None:
            text.stylize(APART, here, here + 1)
        text.stylize(f"not dim {'bold magenta' if now == here else 'bold'}", now, now + 1)
        return text

    def _fields(self, rows: int, width: int) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False, expand=False)
        table.add_column("field", no_wrap=True)
        table.add_column("time", no_wrap=True)
        table.add_column("now", no_wrap=True, overflow="ellipsis")
        chosen = sorted(self.film.series, key=lambda one: (not one.parts, not one.apart, len(one.known) < 2))
        for series in chosen[:rows]:
            name = ".".join(filter(None, (series.group, series.name)))
            table.add_row(
                Text(name, style=APART if series.parts else ""), self._spark(series, width // 3), self._now(series)
            )
        return table

    def _spark(self, series: Series, width: int) -> Text:
        """A scalar around this moment as bars of eight heights; this moment reversed, where it differs coloured."""
        first = min(max(self.at - width // 2, 0), max(len(self.film.moments) - width, 0))
        values = [None if place is None else _number(series.known[place][0]) for place in series.at]
        known = [value for value in values if value is not None]
        low, high = (min(known), max(known)) if known else (0.0, 0.0)
        text = Text()
        for place in range(first, min(first + width, len(values))):
            value = values[place]
            share = 0.0 if value is None or high == low else (value - low) / (high - low)
            mark = " " if value is None or series.shape else BARS[round(share * (len(BARS) - 1))]
            text.append("·" if series.shape else mark, APART if series.differs(place) else QUIET)
            if place == self.at:
                text.stylize("not dim reverse", len(text) - 1)
        return text

    def _now(self, series: Series) -> Text:
        apart, place = series.apart.get(self.at), series.at[self.at]
        if apart:
            one = min(apart, key=lambda found: found.tolerated)
            item = f"[{one.item}] " if series.shape else ""
            more = f"  and {len(apart) - 1} more" if len(apart) > 1 else ""
            sign = (" ≠ ", APART) if series.differs(self.at) else (" ≈ ", "green")
            return Text.assemble(item, (one.reference, LEFT), sign, (one.batched, RIGHT), (more, QUIET))
        if place is None:
            return Text("-", style=QUIET)
        values = series.known[place]
        return Text(", ".join(values[:8]) + (", ..." if len(values) > 8 else ""))


def _verdict(film: Film) -> Text:
    if film.here is None:
        near = f", {film.tolerated:,} of them within a declared tolerance" if film.tolerated else " to the bit"
        return Text(f"both twins agree: {film.compared:,} values{near}", style="green")
    where = film.moments[film.here]
    what = film.found.difference if film.found else None
    told = "" if what is None else f": {what.path}  {what.reference.decimal} ≠ {what.batched.decimal}"
    return Text(f"◆ first difference at t={'start' if where.t is None else where.t}{told}", style=APART)


def _number(text: str) -> float | None:
    """The number of a decimal text; None for NaN and for what is infinite."""
    value = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}.get(text)
    value = float(text) if value is None else value
    return value if abs(value) < float("inf") else None


def watch(film: Film, console: Console, keys: Keys | None = None) -> None:
    """Show a film in the terminal until somebody leaves.

    Raises:
        UsageError: there is no terminal.
    """
    if not console.is_terminal:
        raise UsageError(
            "a player by keys needs a terminal",
            expected="a terminal on stdin and stdout",
            found="stdout is a file or a pipe",
            next_step="write a page with `simulacrum view NAME --out page.html`",
        )
    if keys is not None:
        _loop(Player(film), console, keys)
        return
    with keyboard() as typed:
        _loop(Player(film), console, typed)


def _loop(player: Player, console: Console, keys: Keys, clock: Callable[[], float] = time.monotonic) -> None:
    with Live(console=console, screen=True, auto_refresh=False, transient=True) as live:
        for _ in _moments(player, keys, clock):
            live.update(player.screen(console.width, console.height), refresh=True)


def _moments(player: Player, keys: Keys, clock: Callable[[], float]) -> Iterator[None]:
    """Gives way whenever there is something new to show; ends when somebody leaves."""
    yield
    due = clock()
    while True:
        wait = max(due - clock(), 0.0) if player.playing else 1.0
        try:
            key = keys.next(wait)
        except EOFError:
            return
        if key is not None:
            if not player.press(key):
                return
            due = clock() + 1 / SPEEDS[player.speed]
        elif player.playing:
            player.tick()
            due = max(due + 1 / SPEEDS[player.speed], clock())
        yield
