"""Keys of a terminal, one at a time, by the names that browsers give them."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from simulacrum.errors import UsageError

ESCAPE = "Escape"
# What terminals send for keys without a character (ECMA-48, xterm, Linux console, VT220).
_SEQUENCES = {
    "[D": "ArrowLeft", "[C": "ArrowRight", "OD": "ArrowLeft", "OC": "ArrowRight",
    "[1;2D": "Shift+ArrowLeft", "[1;2C": "Shift+ArrowRight",
    "[H": "Home", "OH": "Home", "[1~": "Home", "[7~": "Home",
    "[F": "End", "OF": "End", "[4~": "End", "[8~": "End",
}  # fmt: skip


class Keys:
    """Reads keys from a file descriptor that gives characters as they are typed."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.waiting: list[str] = []

    def next(self, seconds: float | None) -> str | None:
        """The next key, or None if there is none within that time (None: wait for ever) or the input has ended.

        Raises:
            EOFError: nothing will come any more.
        """
        if not self.waiting:
            ready, _, _ = select.select([self.descriptor], [], [], seconds)
            if not ready:
                return None
            data = os.read(self.descriptor, 1024)
            if not data:
                raise EOFError
            self.waiting += names(data.decode("utf-8", "replace"))
        return self.waiting.pop(0) if self.waiting else None


def names(text: str) -> Iterator[str]:
    """The keys that a terminal's characters stand for; a sequence that is not known is left out."""
    at = 0
    while at < len(text):
        if text[at] != "\x1b":
            yield text[at]
            at += 1
            continue
        end = at + 1
        if end < len(text) and text[end] in "[O":
            end += 1
            while end < len(text) and not ("@" <= text[end] <= "~"):
                end += 1
            end += 1
        name = _SEQUENCES.get(text[at + 1 : end], ESCAPE if end == at + 1 else "")
        if name:
            yield name
        at = end


@contextmanager
def keyboard() -> Generator[Keys, None, None]:
    """The keys of the terminal that the process runs in; it is left as it was.

    Raises:
        UsageError: stdin is no terminal, or one of a kind that gives no single keys.
    """
    try:
        import termios
        import tty
    except ImportError:
        raise _no_keys("this system has no terminals that give single keys") from None
    try:
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
    except (OSError, ValueError, termios.error):
        raise _no_keys("stdin is no terminal") from None
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _no_keys(found: str) -> UsageError:
    return UsageError(
        "a player by keys needs a terminal",
        expected="a terminal on stdin and stdout",
        found=found,
        next_step="write a page with `simulacrum view NAME --out page.html`",
    )
