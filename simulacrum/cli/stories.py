"""What there is to be looked at: both twins playing, a recording beside its repetition, or a failure."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage
    from simulacrum.trace.trajectory import Trajectory
    from simulacrum.view import Film

REFERENCE = "reference"
GOES_ON = 20  # moments after a failure, in which each side goes on by itself


@dataclass(frozen=True)
class Play:
    """How an environment is played: who acts, from which seed, how far, and which form of the batched twin follows."""

    policy: str = "random"
    seed: int = 0
    episodes: int = 1
    steps: int | None = None
    form: str = "eager"
    params: dict[str, Any] | None = None


@contextmanager
def film(
    name: str, play: Play, env: str | None, pick: str | None, *, text: bool = False
) -> Generator[Film, None, None]:
    """The film of an environment, a recording or a failure; while it is open, its package can still be asked.

    `text` draws states for a terminal.

    Raises:
        UsageError, UnknownEnvError, TraceError: the name or the file is not what it is taken for.
    """
    from simulacrum.cli.sources import DIVERGENCE, header_of, looks_like_file

    if not looks_like_file(name):
        yield _played(name, play, text)
    elif header_of(Path(name)).get("format") == DIVERGENCE:
        yield from _failure(Path(name), env, text)
    else:
        yield _recorded(Path(name), env, pick, play.form, text)


def _played(name: str, play: Play, text: bool) -> Film:
    from simulacrum.cli.recording import play_episodes
    from simulacrum.contract.package import load_package

    package = load_package(name)
    row = play_episodes(
        package, play.policy, seed=play.seed, episodes=play.episodes, params=play.params, most=play.steps
    )
    facts = [("policy", play.policy)] + [(name, f"{value:g}") for name, value in row.params.items()]
    return _beside(package, row, play.form, facts, text)


def _recorded(path: Path, env: str | None, pick: str | None, form: str, text: bool) -> Film:
    from simulacrum.cli.rendering import recorded

    package, row = recorded(path, env, pick)
    return _beside(package, row, form, [("recorded in", path.name)], text)


def _beside(package: EnvPackage, row: Trajectory, form: str, facts: list[tuple[str, str]], text: bool) -> Film:
    """A trajectory beside what the other twin makes of its seed and its actions."""
    from simulacrum.view import film_of, twins

    other, note = _again(package, row, _built(form) if row.form == REFERENCE else REFERENCE)
    sides = (row, other) if row.form == REFERENCE else (other, row)
    story, found = twins(package, *sides, note=note)
    return film_of(story, package, found=found, facts=[("seed", str(row.seed)), *facts], text=text)


def _built(form: str) -> str:
    """The form as it can be built here. Raises UsageError for one that there is not."""
    import torch

    from simulacrum.engine.forms import resolve_form

    return resolve_form(form, torch.device("cpu"))


def _again(package: EnvPackage, row: Trajectory, form: str) -> tuple[Trajectory, str]:
    """The repetition as far as it comes, and what stopped it."""
    from simulacrum.cli.players import gathered, repeated
    from simulacrum.trace import checked

    stopped: list[str] = []

    def moments() -> Iterator[Any]:
        try:
            yield from repeated(package, row, form)
        except Exception as error:  # a twin that is being written may raise anything; what came until then is shown
            where = "reference.py" if form == REFERENCE else "fast.py"
            stopped.append(f"{where} raised {type(error).__name__}: {str(error).partition(chr(10))[0]}")

    made = gathered(row, form, moments())
    return checked(made, package.schema), "".join(stopped)


def _failure(path: Path, env: str | None, text: bool) -> Iterator[Film]:
    from simulacrum.cli.sources import package_for
    from simulacrum.errors import UsageError
    from simulacrum.harness.page.afterwards import afterwards
    from simulacrum.harness.page.story import story_of
    from simulacrum.harness.page.timeline import GOING_ON
    from simulacrum.harness.small.config import small_package
    from simulacrum.trace import read_divergence
    from simulacrum.view import film_of

    record = read_divergence(path)
    small = record.configuration.small
    with small_package(package_for(path, record.env_id, env), None if small is None else dict(small)) as package:
        story = story_of(record, package, path)
        if story is None:
            raise UsageError(
                "there are no trajectories of this failure, and its step could not be played again", where=path,
                next_step=f"simulacrum explain {path}",
            )  # fmt: skip
        pairs = story.pairs()
        place = next((number for number, pair in enumerate(pairs) if pair.here), len(pairs) - 1)
        more = afterwards(story, package, pairs[-1], max(place + 1 + GOES_ON - len(pairs), 0))
        told = [("failure", record.id), ("check", record.check), *([("then", GOING_ON)] if more else [])]
        # Between forms or batches of one twin the check has tolerated nothing.
        exact = record.shrunk is not None and record.shrunk.case.against != REFERENCE
        yield film_of(story, package, found=record, facts=told, more=more, text=text, exact=exact)
