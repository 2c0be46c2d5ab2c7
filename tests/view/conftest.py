"""Films for tests: toywalk as it is, and with a fault that shows at t=7 of every episode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.cli.players import repeat
from simulacrum.cli.recording import play_episodes
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.trace import Trajectory, checked
from simulacrum.view import Film, film_of, twins

FAULT = (
    "(state.position + move).clamp(LEFT_END, GOAL)",
    "(state.position + move + (ctx.t == 7)).clamp(LEFT_END, GOAL)",
)
TOLERANCE = '"x-ulp": 4, "x-tolerance-reason": "a test"'
Played = tuple[EnvPackage, Trajectory, Trajectory]


def played(package: EnvPackage) -> Played:
    """Two episodes of dithering, cut after 12 steps, of the reference and of the eager batched twin."""
    reference = play_episodes(package, "dither", seed=3, episodes=2, most=12)
    return package, reference, checked(repeat(package, reference, "eager"), package.schema)


def filmed(played: Played, **more: Any) -> Film:
    story, found = twins(*played)
    return film_of(story, played[0], found=found, facts=[("seed", "3")], **more)


@pytest.fixture(scope="session")
def sound() -> Played:
    return played(package("toywalk"))


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder: Path = tmp_path_factory.mktemp("faulty")
    return played(load_package(copy_env("toywalk", folder, [Edit("fast.py", *FAULT)])))


@pytest.fixture(scope="session")
def sound_film(sound: Played) -> Film:
    return filmed(sound)


@pytest.fixture(scope="session")
def faulty_film(faulty: Played) -> Film:
    return filmed(faulty)


@pytest.fixture(scope="session")
def text_film(faulty: Played) -> Film:
    return filmed(faulty, text=True)


@pytest.fixture(scope="session")
def frames_of() -> Callable[[Path], tuple[np.ndarray, float]]:
    """Return a function that reads a film: its frames uint8 `[T, H, W, 3]`, and how many a second."""

    def read(path: Path) -> tuple[np.ndarray, float]:
        capture = cv2.VideoCapture(str(path))
        rate, frames = capture.get(cv2.CAP_PROP_FPS), []
        there, frame = capture.read()
        while there:
            frames.append(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))
            there, frame = capture.read()
        capture.release()
        return np.stack(frames), rate

    return read


@pytest.fixture(scope="session")
def tolerant(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Played]:
    """Return `tolerant(ulp, *more)`: toywalk with a tolerance of 4 ulp in its observation, whose second number is `ulp`
    off in the batched twin after the step t=2. more: further edits.
    """

    def play(ulp: int, *more: Edit) -> Played:
        moved = f"(elapsed.view(torch.int32) + {ulp} * (ctx.t == 3).to(torch.int32)).view(torch.float32)"
        edits = [
            Edit("schema.json", '"x-low": [-1, 0]', f'"x-low": [-1, 0], {TOLERANCE}'),
            Edit("fast.py", "torch.stack([where, elapsed]", f"torch.stack([where, {moved}]"),
            *more,
        ]
        return played(load_package(copy_env("toywalk", tmp_path_factory.mktemp("tolerant"), edits)))

    return play
