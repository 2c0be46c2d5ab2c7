"""`simulacrum view`: both twins through time, as a page, a folder, or in the terminal."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulacrum.cli import terminal
from simulacrum.cli.choices import Policy, Seed, complete_env, complete_form

if TYPE_CHECKING:
    from simulacrum.view import Film

MOST_STEPS = 300  # of an episode: each is drawn and traced, and a page has to hold them all


def view(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="An environment, a recording, or the record of a failure.",
            autocompletion=complete_env,
        ),
    ],
    seed: Seed = 0,
    policy: Policy = "random",
    episodes: Annotated[int, typer.Option("--episodes", min=1, help="How many episodes are played.")] = 1,
    max_steps: Annotated[int, typer.Option("--max-steps", min=1, help="Leave an episode then.")] = MOST_STEPS,
    form: Annotated[
        str, typer.Option("--form", help="The batched twin's form: eager, native, ...", autocompletion=complete_form)
    ] = "eager",
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="A parameter's value (repeatable).")
    ] = None,
    pick: Annotated[
        str | None,
        typer.Option("--pick", metavar="HOW", help="Of a recording: worst, best, longest, shortest, random, all."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE|DIR", help="Write it there: FILE.html, or a folder. Opens nothing."),
    ] = None,
    in_terminal: Annotated[bool, typer.Option("--terminal", help="Play it in this terminal, by keys.")] = False,
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            metavar="NAME",
            help="The environment, where the file's own is not installed.",
            autocompletion=complete_env,
        ),
    ] = None,
) -> None:
    """Look at both twins side by side through time: states drawn, fields as charts, draws, rules, the first difference.

    Of an environment, the reference plays (--seed, --policy) and the batched twin follows with the same actions. A
    recording is shown beside what the other twin makes of its actions, a failure as it was met. The page is one file
    that needs no network; it opens in the browser, or goes where --out says.
    """
    from simulacrum.cli.recording import params_of
    from simulacrum.cli.stories import Play, film

    terminal.one_thread()
    play = Play(policy, seed, episodes, max_steps, form, params_of(param))
    with film(name, play, env, pick, text=in_terminal) as found:
        if in_terminal:
            from simulacrum.view.player import watch

            watch(found, terminal.out())
        elif out is not None:
            write(found, out)
        else:
            _open(found, Path(name).stem)


def write(found: Film, out: Path) -> None:
    """Write a film as a page or, where `out` does not end in .html, as a folder, and say so."""
    from simulacrum.view import write_folder, write_page

    path = write_page(found, out) if out.suffix.lower() in (".html", ".htm") else write_folder(found, out)
    _tell(found, path)


def _open(found: Film, name: str) -> None:
    """Write the page where pages of this user are kept, and show it."""
    from simulacrum.attest.places import state_folder
    from simulacrum.view import write_page

    path = state_folder() / "view" / f"{name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    _tell(found, write_page(found, path))
    if not webbrowser.open(path.resolve().as_uri()):
        terminal.warn("no browser could be started; open the file by hand")


def _tell(found: Film, path: Path) -> None:
    terminal.facts(terminal.out(), [("shows", summary(found)), ("wrote", terminal.short_path(path))])


def summary(found: Film) -> str:
    """What is seen, in one line."""
    if found.here is None:
        agree = f"agree in both twins, {found.tolerated:,} of them within a declared tolerance"
        said = agree if found.tolerated else "equal in both twins"
        return f"{len(found.moments)} moments, {found.compared:,} values {said}"
    moment = found.moments[found.here]
    where = f"episode {moment.episode}, " + ("start" if moment.t is None else f"step t={moment.t}")
    what = f": {found.found.difference.path}" if found.found else ""
    return f"{len(found.moments)} moments, the first difference in {where}{what}"
