"""A trajectory as a film file, through a package's `render.py`: what `simulacrum render --video` writes."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from simulacrum.errors import TraceError, UsageError
from simulacrum.trace.jsonio import cannot_write
from simulacrum.trace.playback import Image, Load, images
from simulacrum.trace.trajectory import Trajectory

SUFFIXES = (".mp4", ".webm", ".mov", ".mkv")


def write_video(
    render: Any, trajectory: Trajectory, path: str | Path, *, load: Load | None = None, fps: float = 8.0
) -> Path:
    """Write a film with one frame a moment, whole or not at all, and return its path.

    The suffix names the container: H.264 in .mp4, .mov and .mkv, VP9 in .webm, in yuv420p, which every player shows.
    It wants an even height and width, so an odd one gets its last row or column twice.

    Args:
        render: the package's render module, with `rgb(state)`: uint8 `[H, W, 3]`.
        trajectory: whose states are drawn.
        path: the file; one that stands there is replaced.
        load: makes the state that `rgb` reads out of a recorded one.
        fps: frames a second.

    Raises:
        UsageError: imageio-ffmpeg is not installed (extra `video`), a suffix of no film, a rate that is not positive,
            no `rgb`, or no frames. TraceError: an image that does not fit, or a file that cannot be written.
    """
    ffmpeg, path = _ffmpeg(), Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            "this is not the name of a film", expected="a name that ends in " + ", ".join(SUFFIXES), found=str(path)
        )
    if not fps > 0:
        raise UsageError("a frame rate that shows nothing", expected="fps > 0", found=fps)
    pictures = [_even(image) for _, image in images(render, trajectory, load=load)]
    if not pictures:
        raise UsageError("the trajectory has no frames", expected="at least one episode")
    partial = path.with_name(f".{path.stem}.{os.getpid()}-{uuid.uuid4().hex[:8]}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(ffmpeg, pictures, partial, fps)
        partial.replace(path)
    except OSError as error:  # ffmpeg's own end too
        raise cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
    return path


def _write(ffmpeg: Any, pictures: list[Image], path: Path, fps: float) -> None:
    height, width, _ = pictures[0].shape
    codec = "libvpx-vp9" if path.suffix.lower() == ".webm" else "libx264"
    writer = ffmpeg.write_frames(
        str(path), (width, height), fps=fps, codec=codec, quality=None, bitrate=None, macro_block_size=1,
        output_params=["-crf", "18", *(["-b:v", "0"] if codec == "libvpx-vp9" else [])],
    )  # fmt: skip
    writer.send(None)
    for picture in pictures:
        writer.send(picture.tobytes())
    writer.close()
    if not path.is_file() or not path.stat().st_size:
        raise TraceError("ffmpeg wrote nothing", where=path, next_step="try another suffix")


def _even(image: Image) -> Image:
    """The image with an even height and width."""
    height, width, _ = image.shape
    return np.ascontiguousarray(np.pad(image, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge"))


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise UsageError(
            "writing a film needs imageio-ffmpeg, which is not installed",
            expected="the extra `video`",
            next_step='pip install "simulacrum[video]"',
        ) from None
    return imageio_ffmpeg
