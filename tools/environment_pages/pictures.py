"""Drawings of an episode by the package's own render.py: a still and a film, kept until the package changes."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from simulacrum.contract.digest import package_files
from simulacrum.contract.package import EnvPackage
from simulacrum.registry import make_single

FRAMES = 60  # of a film, at most
STEPS = 240  # that it shows, at most
LASTS = 6000  # milliseconds of the whole film, where a frame then is neither too short nor too long
SHORTEST, LONGEST = 70, 260  # milliseconds of a frame
WIDTH = 300  # pixels that a drawing has at least; smaller ones are enlarged by whole pixels
CACHE = Path(__file__).resolve().parents[2] / "build" / "environments"


@dataclass(frozen=True)
class Pictures:
    """A still (PNG) and a film (animated WebP) of one episode, and in words what they show."""

    still: bytes
    film: bytes
    width: int
    height: int
    caption: str


def pictures(package: EnvPackage, cache: Path | None = CACHE) -> Pictures | None:
    """Pictures of the scripted policy with the highest return; None where there is no probe or no drawing.

    The reference plays, so what it drives must be installed.
    """
    probes, render = package.probes(), package.render()
    if probes is None or render is None or not probes.PROBES:
        return None
    kept = cache / f"{package.name}-{_digest(package)}" if cache is not None else None
    if kept is not None and (kept / "about.json").is_file():
        about = json.loads((kept / "about.json").read_text(encoding="utf-8"))
        return Pictures((kept / "still.png").read_bytes(), (kept / "film.webp").read_bytes(), **about)
    best = max(probes.PROBES, key=lambda probe: probe.low + probe.high)
    states = list(_episode(package, best.act))
    stride = max(1, -(-len(states) // FRAMES))
    frames = [_image(render.rgb(state)) for state in [*states[:-1:stride], states[-1]]]
    every = "every step" if stride == 1 else f"one step in {stride}"
    made = Pictures(
        _png(frames[len(frames) * 2 // 5]), _webp(frames), *frames[0].size,
        caption=f"The scripted policy `{best.name}`, drawn by `render.py`: {every}.",
    )  # fmt: skip
    if kept is not None:
        _keep(made, kept)
    return made


def _episode(package: EnvPackage, act: Any) -> Iterator[Any]:
    """The states of the first episode of seed 0, `STEPS` steps of it at most."""
    env = make_single(package)
    env.reset(seed=0)
    yield env.runner.state
    for _ in range(min(STEPS, package.schema.max_episode_steps or STEPS)):
        _, _, terminated, truncated, _ = env.step(act(env.runner.observe(), env.runner.state, env.runner.t))
        yield env.runner.state
        if terminated or truncated:
            break
    env.close()


def _image(pixels: np.ndarray) -> Image.Image:
    grown = max(1, -(-WIDTH // pixels.shape[1]))
    return Image.fromarray(pixels.repeat(grown, 0).repeat(grown, 1))


def _png(frame: Image.Image) -> bytes:
    kept = io.BytesIO()
    frame.save(kept, "PNG", optimize=True)
    return kept.getvalue()


def _webp(frames: list[Image.Image]) -> bytes:
    each = min(max(LASTS // len(frames), SHORTEST), LONGEST)
    lasts = [each] * (len(frames) - 1) + [1200]  # the end is to be seen
    kept = io.BytesIO()
    frames[0].save(
        kept, "WEBP", save_all=True, append_images=frames[1:], duration=lasts, loop=0, quality=80, method=3
    )
    return kept.getvalue()


def _digest(package: EnvPackage) -> str:
    whole = hashlib.sha256(Path(__file__).read_bytes())
    for name, path in sorted(package_files(package.folder).items()):
        whole.update(name.encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def _keep(made: Pictures, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "still.png").write_bytes(made.still)
    (folder / "film.webp").write_bytes(made.film)
    about = {"width": made.width, "height": made.height, "caption": made.caption}
    (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
