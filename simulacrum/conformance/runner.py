"""Runs the rules on one environment, each within its time, whatever the environment does."""

from __future__ import annotations

import contextlib
import io
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from simulacrum.conformance.catalog import RULES, chosen
from simulacrum.conformance.rule import Broken, NotJudged, Result, Rule
from simulacrum.conformance.subject import Subject

LIBRARY = Path(contextlib.__file__).parent
SECONDS = 60.0  # that one rule may take


class _TooLate(BaseException):
    """Raised by the clock inside a rule; no `except Exception` of the environment's catches it."""


def check(
    subject: Subject, names: Sequence[str] | None = None, *, seconds: float = SECONDS
) -> Iterator[Result]:
    """Judge the environment rule by rule.

    Args:
        subject: the environment.
        names: rules or groups (`aliasing`); all by default.
        seconds: how long one rule may take. Kept by a signal, so in the main thread of a Unix process only, and not
            inside a call that never comes back to Python: `supervise.run` puts a process around it.

    Raises:
        UsageError: an unknown name.
    """
    for name in chosen(names):
        yield judge(subject, RULES[name], seconds)


def judge(subject: Subject, rule: Rule, seconds: float = SECONDS) -> Result:
    """How one rule ends. An exception of the environment fails the rule and is told with its place."""
    began = time.perf_counter()
    place: dict[str, object] = {}
    try:
        with _quiet(), _limit(seconds):
            status, message = "passed", rule.check(subject)
    except Broken as broken:
        status, message, place = "failed", broken.message, broken.place
    except NotJudged as reason:
        status, message = "skipped", str(reason)
    except _TooLate:
        status, message = "failed", f"it did not end within {seconds:g} s"
    except Exception as error:
        status, message = "failed", f"{type(error).__name__}: {_first_line(error)} ({_place(error)})"
    seconds_taken = time.perf_counter() - began
    return Result(rule.name, rule.severity, status, message, seconds=seconds_taken, **place)  # type: ignore[arg-type]  # by name


def _first_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:197] + "..."


def _place(error: Exception) -> str:
    """The innermost line of the environment's own files that the error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if not _is_ours(Path(frame.filename))]
    last = (outside or frames)[-1]
    return f"{'/'.join(Path(last.filename).parts[-3:])}:{last.lineno}"


def _is_ours(file: Path) -> bool:
    """Whether a file is of this room or of Python's own library."""
    library = file.is_relative_to(LIBRARY) and "site-packages" not in file.parts
    return library or file.is_relative_to(Path(__file__).parent)


@contextlib.contextmanager
def _quiet() -> Generator[None, None, None]:
    """Warnings and prints of the environment are nobody's result."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _limit(seconds: float) -> Generator[None, None, None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(number: int, frame: object) -> None:
        raise _TooLate

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
