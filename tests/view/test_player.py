"""The player in the terminal: what keys do, what is seen, and that the real one runs in a real terminal."""

from __future__ import annotations

import io
import os
import pty
import select
import sys
import time

import pytest
from rich.console import Console

from simulacrum.errors import UsageError
from simulacrum.view.keys import Keys, names
from simulacrum.view.player import Player, watch


def seen(player: Player) -> str:
    console = Console(file=io.StringIO(), width=100, height=30, force_terminal=False, color_system=None)
    console.print(player.screen(100, 30))
    return console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO from above


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("a", ["a"]),
        ("\x1b", ["Escape"]),
        ("\x1b[C\x1b[D", ["ArrowRight", "ArrowLeft"]),
        ("\x1b[1;2C\x1bOH\x1b[4~", ["Shift+ArrowRight", "Home", "End"]),
        ("\x1b[20~d", ["d"]),  # a key that is not known
        (" ?q", [" ", "?", "q"]),
    ],
)
def test_keys_have_the_names_of_browsers(typed, told):
    assert list(names(typed)) == told


def test_keys_come_from_a_descriptor():
    read, write = os.pipe()
    keys = Keys(read)
    assert keys.next(0.0) is None
    os.write(write, b"\x1b[Cd")
    assert [keys.next(1.0), keys.next(1.0), keys.next(0.0)] == ["ArrowRight", "d", None]
    os.close(write)
    with pytest.raises(EOFError):
        keys.next(1.0)
    os.close(read)


def test_it_begins_at_the_difference_and_keys_go_through_time(text_film):
    player = Player(text_film)
    last = len(text_film.moments) - 1
    assert player.at == text_film.here == 8
    for key, place in [
        ("ArrowRight", 9), ("ArrowLeft", 8), ("Home", 0), ("ArrowLeft", 0), ("Shift+ArrowRight", 10), ("End", last),
        ("ArrowRight", last), ("d", 8), ("n", 13), ("p", 0), ("x", 0),
    ]:  # fmt: skip
        assert player.press(key)
        assert player.at == place, key
    assert not player.press("q")


def test_it_plays_to_the_end_and_stops(text_film):
    player = Player(text_film)
    player.press("End")
    player.press(" ")
    assert (player.at, player.playing) == (0, True)
    for _ in range(len(text_film.moments)):
        player.tick()
    assert (player.at, player.playing) == (len(text_film.moments) - 1, False)
    player.press("Home")
    player.press(" ")
    player.press("ArrowRight")
    assert not player.playing


def test_the_screen_shows_both_twins_and_what_differs(text_film, faulty):
    player = Player(text_film)
    text = seen(player)
    ours, theirs = (next(s for s in side.steps if s.t == 7).state["position"] for side in faulty[1:])
    assert f"state.position  {ours} ≠ {theirs}" in text
    assert f"position {ours:+d}" in text  # the drawing of render.py
    assert f"position {theirs:+d}" in text
    assert "◆ first difference  paused" in text
    assert "R5" in text
    assert "slip" in text
    assert max(map(len, text.splitlines())) <= 100
    assert len(text.splitlines()) <= 30
    player.press("Home")
    assert "equal  paused" in seen(player)


def test_without_a_terminal_it_says_what_else_there_is(text_film):
    with pytest.raises(UsageError, match="needs a terminal") as told:
        watch(text_film, Console(file=io.StringIO()))
    assert "--out" in str(told.value.next_step)


@pytest.mark.slow
def test_a_person_plays_it_in_a_terminal(tmp_path):
    pid, terminal = pty.fork()
    if pid == 0:  # what runs in the new terminal
        os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="34", SIMULACRUM_STATE_DIR=str(tmp_path))
        words = ["view", "toywalk", "--seed", "3", "--policy", "dither", "--max-steps", "5", "--terminal"]
        os.execv(sys.executable, [sys.executable, "-m", "simulacrum", *words])
    typed = [
        ("episode 0  start", b"\x1b[C"),
        ("step t=0", b"\x1b[F"),
        ("step t=4", b" "),
        ("playing, 8 a second", b"q"),
    ]
    screen, at = "", 0
    deadline = time.monotonic() + 150
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not data:
                break
            screen += data.decode("utf-8", "replace")
        if at < len(typed) and typed[at][0] in screen:
            os.write(terminal, typed[at][1])
            screen, at = "", at + 1
    _, status = os.waitpid(pid, 0)
    assert at == len(typed), f"waited for {typed[at][0]!r}, saw {screen[-2000:]!r}"
    assert os.waitstatus_to_exitcode(status) == 0
