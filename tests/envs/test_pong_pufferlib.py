"""pong's twins beside PufferLib's Pong: its own C, compiled as it was published, and its own class around it.

PufferLib is built without its games (tools/library_env.py), but the package that is installed has their sources. Its
Pong is compiled here with a raylib.h in which every function that draws does nothing. Serves come from the C library's
`rand`, of which there is one in a process: seeded as PufferLib seeds it, it tells all serves in advance.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

if importlib.util.find_spec("pufferlib") is None:
    pytest.skip("could not import 'pufferlib'", allow_module_level=True)

import simulacrum.adapters.pufferlib  # noqa: F401  # keeps the library from leaving a link behind
from simulacrum.contract.package import load_package
from simulacrum.lower.compiler import find_compiler
from simulacrum.rng import batched
from simulacrum.rng.layout import Layout, Slot
from simulacrum.twin.batched import Context, dump_state
from simulacrum.twin.reference import Context as Scalar
from simulacrum.twin.state import params_type, params_values

import pufferlib  # isort: skip

SOURCES = Path(str(pufferlib.__file__)).parent / "ocean" / "pong"
if not (SOURCES / "binding.c").is_file():
    pytest.skip("pufferlib was installed without the sources of its games", allow_module_level=True)

# What pong.h names of raylib.
RAYLIB = """
#include <stddef.h>
typedef struct { unsigned char r, g, b, a; } Color;
typedef struct { float x, y; } Vector2;
typedef struct { float x, y, width, height; } Rectangle;
typedef struct { unsigned id; } Texture2D;
#define WHITE ((Color){255, 255, 255, 255})
enum { KEY_ESCAPE, KEY_UP, KEY_DOWN, KEY_W, KEY_S, KEY_LEFT_SHIFT };
static inline void InitWindow(int w, int h, const char *title) {}
static inline void CloseWindow(void) {}
static inline int IsWindowReady(void) { return 0; }
static inline void SetTargetFPS(int fps) {}
static inline Texture2D LoadTexture(const char *name) { return (Texture2D){0}; }
static inline int IsKeyDown(int key) { return 0; }
static inline void BeginDrawing(void) {}
static inline void EndDrawing(void) {}
static inline void ClearBackground(Color c) {}
static inline void DrawRectangle(int x, int y, int w, int h, Color c) {}
static inline void DrawTexturePro(Texture2D t, Rectangle a, Rectangle b, Vector2 o, float turn, Color c) {}
static inline const char *TextFormat(const char *text, ...) { return text; }
static inline int MeasureText(const char *text, int size) { return 0; }
static inline void DrawText(const char *text, int x, int y, int size, Color c) {}
"""
LIBC = ctypes.CDLL(None)
Game = Callable[..., Any]


@pytest.fixture(scope="module")
def make_game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Game]:
    """PufferLib's class, around its C."""
    folder = tmp_path_factory.mktemp("pong")
    (folder / "raylib.h").write_text(RAYLIB)
    compiler = find_compiler()
    assert compiler is not None
    library = folder / "binding.so"
    paths = [str(folder), sysconfig.get_path("include"), np.get_include()]
    # -w: PufferLib's own warnings are not ours. -O2 is what its setup.py has.
    flags = ["-O2", "-w", "-shared", "-fPIC", *(f"-I{path}" for path in paths)]
    built = subprocess.run(
        [*compiler.command, *flags, "binding.c", "-o", str(library)], cwd=SOURCES, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    name = "pufferlib.ocean.pong.binding"
    loader = importlib.machinery.ExtensionFileLoader(name, str(library))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    import pufferlib.ocean.pong as room

    room.binding = module  # type: ignore[attr-defined]  # as an import of it would leave it
    sys.modules[name] = module
    from pufferlib.ocean.pong.pong import Pong

    yield Pong
    del sys.modules[name]


class Serves:
    """What `rand() % 2` will be after PufferLib's reset with a seed: first each row's own, then one stream for all."""

    def __init__(self, rows: int, seed: int, count: int) -> None:
        self.first: list[int] = []
        for row in range(rows):
            LIBC.srand(row + seed * rows)
            self.first.append(LIBC.rand() % 2)
        self.stream = iter([LIBC.rand() % 2 for _ in range(count)])


class Ours:
    """The batched twin on rows that begin anew as soon as they have ended, as PufferLib's do."""

    def __init__(self, rows: int, first: list[int], **params: int) -> None:
        package = load_package("pong")
        self.schema, self.fast, self.rows = package.schema, package.fast(), rows
        kind, values = params_type(self.schema), params_values(self.schema, params)
        columns = {name: torch.full((rows,), value) for name, value in values.items()}
        self.params = kind(**{k: v if v.dtype == torch.bool else v.to(torch.int16) for k, v in columns.items()})
        self.layout = Layout(Slot(d.name, d.phase, d.distribution, d.dtype, d.count) for d in self.schema.draws)
        self.keys = batched.episode_key(batched.split_seed(list(range(rows))), torch.zeros(rows, dtype=torch.int32))
        self.state = self.fast.reset(self._context("reset", serve=first))

    def _context(self, phase: Any, **override: list[int]) -> Context:
        t = torch.zeros(self.rows, dtype=torch.int32)
        return Context(batched.BatchedDraw(self.layout, phase, self.keys, t, override=override), t, self.params)

    def step(self, actions: torch.Tensor, serves: Iterator[int]) -> tuple[Any, Any, Any]:
        """(observations, rewards, ends). Rows with a point take the next serves, in their order."""
        blind = self.fast.step(self.state, actions, self._context("step", next_serve=[0] * self.rows))
        bits = [next(serves) if abs(reward) == 1.0 else 0 for reward in blind.reward.tolist()]
        made = self.fast.step(self.state, actions, self._context("step", next_serve=bits))
        start = self.fast.reset(self._context("reset", serve=bits))
        ended = made.terminated
        self.state = type(start)(
            *(
                torch.where(ended.reshape(-1, *[1] * (new.dim() - 1)), new, old)
                for new, old in zip(start, made.state, strict=True)
            )
        )
        return self.seen(), made.reward.numpy(), ended.numpy()

    def seen(self) -> Any:
        return self.fast.observe(self.state, self._context("step")).numpy()


def follow(state: Any, actions: torch.Tensor, every: int) -> torch.Tensor:
    """Rows that play well, in part: what is random becomes a move towards the ball in rows not divisible by `every`."""
    middle = state.right_y + 35 - (state.ball_y + 16)
    towards = torch.where(middle < -8, 1, torch.where(middle > 8, 2, 0))
    rows = torch.arange(len(actions))
    return torch.where((rows % every == 0) | ((actions == 0) & (rows % 2 == 0)), actions, towards)


def same(theirs: Any, ours: Any) -> bool:
    return bool((np.asarray(theirs, np.float32).view(np.int32) == ours.view(np.int32)).all())


@pytest.mark.parametrize(("frame_skip", "max_score", "steps"), [(1, 1, 250), (4, 3, 250), (5, 2, 120), (8, 21, 400)])
def test_whole_games_are_the_same_bits(make_game: Game, frame_skip: int, max_score: int, steps: int) -> None:
    rows, seed = 256, 5
    serves = Serves(rows, seed, 100_000)
    game = make_game(num_envs=rows, frameskip=frame_skip, max_score=max_score, seed=seed, log_interval=10**9)
    theirs, _ = game.reset(seed=seed)
    ours = Ours(rows, serves.first, frame_skip=frame_skip, max_score=max_score)
    assert same(theirs, ours.seen())
    generator = torch.Generator().manual_seed(frame_skip)
    ends, points, bounces, kinds = 0, 0, 0, set[float]()
    for step in range(steps):
        actions = follow(ours.state, torch.randint(0, 3, (rows,), generator=generator), every=3)
        theirs, their_rewards, their_ends, cut, _ = game.step(actions.numpy())
        we_see, our_rewards, our_ends = ours.step(actions, serves.stream)
        assert same(theirs, we_see), step
        assert same(their_rewards, our_rewards), step
        assert np.array_equal(np.asarray(their_ends, bool), our_ends), step
        assert not np.asarray(cut).any()
        ends += int(our_ends.sum())
        points += int((np.abs(our_rewards) == 1.0).sum())
        bounces += int((our_rewards == np.float32(0.1)).sum())
        kinds |= set(our_rewards.tolist())
    game.close()
    print(f"frame_skip {frame_skip}: {rows * steps} steps, {ends} games, {points} points, {bounces} returns")
    assert ends > 50
    assert bounces > 200
    # Lost, returned, nothing; and won, where there are frames enough to make the ball fast.
    assert len(kinds) == (4 if frame_skip * steps > 500 else 3)


def test_the_reference_plays_pufferlibs_games(make_game: Game) -> None:
    seed, games = 11, 3
    serves = Serves(1, seed, 1000)
    game = make_game(num_envs=1, frameskip=8, max_score=21, seed=seed, log_interval=10**9)
    theirs, _ = game.reset(seed=seed)
    package = load_package("pong")
    env, params = package.reference(), params_type(package.schema)(**params_values(package.schema, {}))

    class Forced:
        def __init__(self, bits: Iterator[int]) -> None:
            self.bits = bits

        def integers(self, slot: str, high: int) -> int:
            return next(self.bits)

    state = env.reset(Scalar(Forced(iter(serves.first)), 0, params))
    generator, step = np.random.default_rng(0), 0
    while games:
        ctx = Scalar(Forced(serves.stream), step, params)
        action = int(generator.integers(3))
        if state.ball_x > 200 and generator.random() < 0.8:
            action = 1 if state.right_y + 19 < state.ball_y else 2
        theirs, reward, ended, _, _ = game.step(np.array([action]))
        # At the end of a game PufferLib serves the next one with the draw that would have begun another round.
        state, our_reward, over, _ = env.step(state, action, ctx)
        if over:
            state = env.reset(Scalar(Forced(iter([(state.ball_vy + 1) % 2])), 0, params))
            games -= 1
        assert same(theirs[0], np.array([float(x) for x in env.observe(state, ctx)], np.float32)), step
        assert (np.float32(reward[0]), bool(ended[0])) == (np.float32(float(our_reward)), over), step
        step += 1
    game.close()


def test_what_pufferlib_shows_leaves_its_own_space(make_game: Game) -> None:
    """A ball that the opponent has returned is 2 pixels outside, and one at a wall up to 13: R9 and R10."""
    game = make_game(num_envs=64, frameskip=1, seed=1, log_interval=10**9)
    game.reset(seed=1)
    ours = Ours(64, Serves(64, 1, 0).first, frame_skip=1)
    lowest = np.ones(8, np.float32)
    actions = torch.ones(64, dtype=torch.int64)
    for step in range(500):
        # Up and down by turns makes the ball fast.
        actions = torch.full((64,), 1 + (step // 20) % 2) if step % 3 else torch.randint(0, 3, (64,))
        theirs, *_ = game.step(follow(ours.state, actions, 10**6).numpy())
        lowest = np.minimum(lowest, theirs.min(axis=0))
    assert not game.single_observation_space.contains(lowest)
    assert lowest[2] == np.float32(-2 / 500)
    game.close()


def test_the_length_that_pufferlib_logs_is_that_of_the_last_round(make_game: Game) -> None:
    """Its clock is set to 0 by every point, so that at the end of a game it has counted one round."""
    game = make_game(num_envs=1, frameskip=4, max_score=21, seed=3, log_interval=1)
    game.reset(seed=3)
    steps = 0
    while True:
        steps += 1
        _, _, ended, _, log = game.step(np.zeros(1))
        if ended[0]:
            break
    assert steps > 200
    assert log[0]["episode_length"] < steps / 10
    game.close()


def test_dump_is_whole_numbers() -> None:
    state = dump_state(load_package("pong").schema, Ours(2, [0, 1]).state, 1)
    assert all(isinstance(value, int) for value in [*state["shown"], state["ball_vy"]])
