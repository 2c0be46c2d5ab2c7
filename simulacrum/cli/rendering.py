"""`simulacrum render`: an episode as text in the terminal, as a film, as a GIF, or as one PNG a step."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulacrum.cli import terminal
from simulacrum.cli.choices import Policy, Seed, complete_env
from simulacrum.cli.recording import play_episodes

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage
    from simulacrum.trace.trajectory import Trajectory


def render(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME|FILE", help="An environment, or a recording of one.", autocompletion=complete_env),
    ],
    seed: Seed = 0,
    policy: Policy = "random",
    pick: Annotated[
        str | None,
        typer.Option("--pick", metavar="HOW", help="Of a recording: worst, best, longest, shortest, random, all."),
    ] = None,
    gif: Annotated[Path | None, typer.Option("--gif", metavar="FILE", help="Write an animated GIF.")] = None,
    png: Annotated[Path | None, typer.Option("--png", metavar="DIR", help="Write one PNG a step.")] = None,
    video: Annotated[
        Path | None, typer.Option("--video", metavar="FILE", help="Write a film: .mp4, .webm, .mov or .mkv.")
    ] = None,
    fps: Annotated[float, typer.Option("--fps", min=0.1, max=100.0, help="Frames per second.")] = 8.0,
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            metavar="NAME",
            help="The environment, where the recording's own is not installed.",
            autocompletion=complete_env,
        ),
    ] = None,
) -> None:
    """Draw an episode, through the package's render.py.

    Of an environment, one episode is played by the reference twin (--seed, --policy). Of a recording, its states are
    drawn as they are; --pick chooses one episode, the first by default.
    """
    from simulacrum.trace import play, write_gif, write_png
    from simulacrum.twin.state import load_state

    terminal.one_thread()
    package, row = recorded(Path(name), env, pick, seed) if _is_file(name) else _played(name, policy, seed)
    module: Any = package.render()
    load = functools.partial(load_state, package.schema)
    console = terminal.out()
    if gif is not None:
        _check_gif(gif)
        terminal.facts(console, [("wrote", str(write_gif(module, row, gif, load=load, fps=fps)))])
    if video is not None:
        from simulacrum.view.video import write_video

        terminal.facts(console, [("wrote", str(write_video(module, row, video, load=load, fps=fps)))])
    if png is not None:
        _check_empty(png)
        paths = write_png(module, row, png, load=load)
        terminal.facts(console, [("wrote", f"{len(paths)} images: {paths[0]} to {paths[-1].name}")])
    if gif is None and png is None and video is None:
        play(module, row, load=load, fps=fps, console=console)


def _is_file(name: str) -> bool:
    from simulacrum.cli.sources import looks_like_file

    return looks_like_file(name)


def _played(name: str, policy: str, seed: int) -> tuple[EnvPackage, Trajectory]:
    from simulacrum.contract.package import load_package

    package = load_package(name)
    return package, play_episodes(package, policy, seed=seed)


def recorded(path: Path, env: str | None, pick: str | None, seed: int = 0) -> tuple[EnvPackage, Trajectory]:
    """The trajectory of a file that is to be shown: of its episodes the first, the one that `pick` names, or all.

    Raises:
        UsageError: no episode, or none that is as `pick` says. TraceError: the file cannot be read.
    """
    from simulacrum.cli.sources import read_recording
    from simulacrum.errors import UsageError
    from simulacrum.trace import cut_out, summarise
    from simulacrum.trace import pick as picked

    package, rows = read_recording(path, env)
    episodes = summarise(rows)
    if not episodes:
        raise UsageError("there is no episode in this recording", where=path)
    if pick == "all":
        return package, rows[0]
    chosen = episodes[:1] if pick is None else picked(episodes, pick, 1, seed=seed)
    if not chosen:
        raise UsageError(f"no episode of this recording is {pick}", where=path)
    return package, cut_out(rows[chosen[0].trajectory], chosen[0].episode)


def _check_gif(path: Path) -> None:
    from simulacrum.errors import UsageError

    if path.suffix.lower() != ".gif":
        raise UsageError("this is not the name of a GIF", expected="a name that ends in .gif", found=str(path))


def _check_empty(folder: Path) -> None:
    from simulacrum.errors import UsageError

    if folder.exists() and (not folder.is_dir() or os.listdir(folder)):
        raise UsageError(
            "the folder for the images is not empty; nothing was touched",
            expected="a new or an empty folder",
            where=folder,
            next_step="name another folder",
        )
