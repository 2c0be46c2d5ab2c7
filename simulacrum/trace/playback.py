"""A trajectory as pictures, through a package's render module (`text(state)` and `rgb(state)`).

Nothing is simulated: the states drawn are the recorded ones. A render module reads a state by attributes;
`load` makes such a state out of the recorded one (the twins' own struct, say). Without it a plain view is
used, in which shaped fields are nested tuples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from simulacrum.errors import TraceError, UsageError
from simulacrum.trace.jsonio import cannot_write, whole_file
from simulacrum.trace.trajectory import Trajectory

Image = npt.NDArray[np.uint8]
Load = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Frame:
    """One moment. t: steps taken in the episode so far (0: its start). total: rewards of the episode so
    far. action, reward: those that led here, None at a start. ending: "", "terminated", "truncated" or
    "terminated and truncated"."""

    episode: int
    t: int
    state: Mapping[str, Any]
    action: Any
    reward: float | None
    total: float
    ending: str

    @property
    def caption(self) -> str:
        """One line: `episode 0  t 3  action 1  reward 0.5  return 1.5  terminated`."""
        parts = [f"episode {self.episode}", f"t {self.t}"]
        if self.reward is not None:
            parts += [f"action {self.action}", f"reward {self.reward:g}"]
        parts.append(f"return {self.total:g}")
        return "  ".join([*parts, self.ending] if self.ending else parts)


def frames(trajectory: Trajectory) -> Iterator[Frame]:
    """All moments in order of time: each episode's start and its steps."""
    for start, steps in trajectory.episodes():
        total = 0.0
        yield Frame(start.episode, start.t, start.state, None, None, total, "")
        for step in steps:
            total += step.reward
            flags = [name for name in ("terminated", "truncated") if getattr(step, name)]
            yield Frame(
                step.episode, step.t + 1, step.state, step.action, step.reward, total, " and ".join(flags)
            )


def plain_view(state: Mapping[str, Any]) -> Any:
    """A recorded state as an object with attributes; lists become tuples."""
    return SimpleNamespace(**{name: _tuples(value) for name, value in state.items()})


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tuples(item) for item in cast("list[Any]", value))
    return value


def _drawing(render: Any, name: str) -> Callable[[Any], Any]:
    function = getattr(render, name, None)
    if not callable(function):
        raise UsageError(
            f"the package cannot draw its states as {name}",
            expected=f"a function {name}(state) in render.py",
            found="no render.py" if render is None else f"no {name} in it",
        )
    return function


def texts(render: Any, trajectory: Trajectory, *, load: Load | None = None) -> Iterator[tuple[Frame, str]]:
    """Each moment with its text drawing. Raises UsageError when the render module has no `text`."""
    draw = _drawing(render, "text")
    for frame in frames(trajectory):
        yield frame, str(draw((load or plain_view)(frame.state)))


def play(
    render: Any,
    trajectory: Trajectory,
    *,
    load: Load | None = None,
    fps: float = 8.0,
    console: Console | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Show the trajectory as text and return the number of frames shown.

    In a terminal one drawing replaces the other, `fps` per second; elsewhere (a file, a pipe) they are
    printed one after the other without waiting. Raises UsageError for a rate that is not positive or a
    package without `text`."""
    if not fps > 0:
        raise UsageError("a frame rate that shows nothing", expected="fps > 0", found=fps)
    console = console or Console()
    pictures = texts(render, trajectory, load=load)
    count = 0
    if not console.is_terminal:
        for frame, drawing in pictures:
            count += 1
            console.print(f"{frame.caption}\n{drawing}\n", markup=False, highlight=False, soft_wrap=True)
        return count
    with Live(console=console, auto_refresh=False) as live:
        for frame, drawing in pictures:
            count += 1
            live.update(Group(Text(frame.caption, style="bold"), Text.from_ansi(drawing)), refresh=True)
            sleep(1.0 / fps)
    return count


def images(render: Any, trajectory: Trajectory, *, load: Load | None = None) -> Iterator[tuple[Frame, Image]]:
    """Each moment with its image, uint8 [H, W, 3], all of one size.

    Raises UsageError when the render module has no `rgb`, TraceError when it returns anything else.
    """
    draw = _drawing(render, "rgb")
    shape: tuple[int, ...] | None = None
    for frame in frames(trajectory):
        image: Any = np.asarray(draw((load or plain_view)(frame.state)))
        sound = image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
        if not sound or (shape is not None and image.shape != shape):
            wanted = "uint8 [H, W, 3]" if shape is None else f"uint8 {list(shape)}, as the frames before"
            raise TraceError(
                "rgb(state) returned something that is not the next image",
                expected=wanted,
                found=f"{image.dtype} {list(image.shape)}",
                where=f"render.py, {frame.caption}",
            )
        shape = image.shape
        yield frame, image


def write_png(
    render: Any, trajectory: Trajectory, folder: str | Path, *, load: Load | None = None
) -> list[Path]:
    """Write `00000.png`, `00001.png`, ... into the folder (made if missing) and return their paths.

    Raises UsageError without Pillow (extra `video`), TraceError when a file cannot be written.
    """
    pillow = _pillow()
    paths: list[Path] = []
    for number, (_, image) in enumerate(images(render, trajectory, load=load)):
        path = Path(folder) / f"{number:05d}.png"
        with whole_file(path) as file:
            pillow.fromarray(image).save(file, format="PNG")
        paths.append(path)
    return paths


def write_gif(
    render: Any, trajectory: Trajectory, path: str | Path, *, load: Load | None = None, fps: float = 8.0
) -> Path:
    """Write an animated GIF that repeats for ever, and return its path.

    GIF counts time in hundredths of a second, so rates above 50 play slower in most viewers. Raises
    UsageError without Pillow (extra `video`), for a rate that is not positive and for a trajectory without
    frames; TraceError when the file cannot be written."""
    pillow = _pillow()
    if not fps > 0:
        raise UsageError("a frame rate that shows nothing", expected="fps > 0", found=fps)
    pictures = [pillow.fromarray(image) for _, image in images(render, trajectory, load=load)]
    if not pictures:
        raise UsageError("the trajectory has no frames", expected="at least one episode")
    path = Path(path)
    try:
        with whole_file(path) as file:
            pictures[0].save(
                file,
                format="GIF",
                save_all=True,
                append_images=pictures[1:],
                duration=max(20, round(1000 / fps)),
                loop=0,
            )
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def _pillow() -> Any:
    try:
        from PIL import Image as pillow
    except ImportError:
        raise UsageError(
            "writing images needs Pillow, which is not installed",
            expected="the extra `video`",
            next_step='pip install "simulacrum[video]"',
        ) from None
    return pillow
