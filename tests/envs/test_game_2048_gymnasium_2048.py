"""game_2048's twins beside the package gymnasium-2048 as it was published, with its own random numbers.

Its distribution asks for Gymnasium 1.3, so it is installed without what it asks for, by
`make test-libraries LIBS=gymnasium-2048` in an environment of its own, or by `pip install --no-deps
gymnasium-2048==0.1.2`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from simulacrum.contract.package import load_package
from simulacrum.rng import batched
from simulacrum.rng.scalar import ScalarDraw, episode_key
from simulacrum.twin.batched import dump_state
from simulacrum.twin.reference import Context
from simulacrum.twin.state import load_state, params_type, params_values

from .conftest import layout_of

pytest.importorskip("gymnasium_2048", reason="pip install --no-deps gymnasium-2048==0.1.2")
from gymnasium_2048.envs import TwentyFortyEightEnv

UP, RIGHT, DOWN, LEFT = range(4)
ROWS = 20
SHARES = 720720
NOTHING = {"start_place": [0, 0], "start_four": [False, False], "place": 0, "four": False}
Drawn = dict[str, Any]  # draws by slot


class Recorder:
    """A generator that keeps what it gave, as the draws of ours that mean the same."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._within = np.random.default_rng(seed)  # any draw of a cell's share will do
        self._places: list[int] = []
        self._fours: list[bool] = []

    def choice(self, count: int) -> int:
        chosen = int(self._random.choice(count))
        share = SHARES // count
        self._places.append(chosen * share + int(self._within.integers(share)))
        return chosen

    def random(self) -> float:
        value = self._random.random()
        self._fours.append(value <= 0.1)
        return value

    def taken(self) -> Drawn:
        """The draws since this was last asked for; at a reset there are two of each."""
        places, fours, self._places, self._fours = self._places, self._fours, [], []
        if len(places) == 2:
            return {"start_place": places, "start_four": fours}
        return {"place": places[0], "four": fours[0]} if places else {}


class Beside:
    """In each row the package's program and the reference, and the batched twin on all rows; boards of three sizes."""

    def __init__(self, seed: int = 0) -> None:
        package = load_package("game_2048")
        self.fast, self.reference = package.fast(), package.reference()
        self.schema, self.layout = package.schema, layout_of(package.schema)
        self.params = params_type(self.schema)
        self.sizes = [(4, 3, 4, 2, 4)[row % 5] for row in range(ROWS)]
        self.programs: list[Any] = [TwentyFortyEightEnv(size=size) for size in self.sizes]
        for row, program in enumerate(self.programs):
            program._np_random = Recorder(seed + row)
        self.t = torch.zeros(ROWS, dtype=torch.int32)
        self.state = self.started(range(ROWS))
        self.episodes = self.highest = self.ends = 0
        self.compare(self.state)

    def started(self, rows: Sequence[int]) -> Any:
        for row in rows:
            self.programs[row].reset()
        drawn = [self.programs[row].np_random.taken() for row in rows]
        return self.fast.reset(self.context("reset", drawn, rows))

    def context(self, phase: Any, drawn: list[Drawn], rows: Sequence[int]) -> Context:
        """The batched twin's context, in which each row draws what its program drew."""
        count = torch.zeros(len(rows), dtype=torch.int32)
        keys = batched.episode_key(batched.split_seed([0] * len(rows)), count)
        slots = [slot for slot in NOTHING if slot.startswith("start") == (phase == "reset")]
        override = {slot: [{**NOTHING, **row}[slot] for row in drawn] for slot in slots}
        sizes = torch.tensor([self.sizes[row] for row in rows], dtype=torch.int32)
        params = self.params(size=sizes, four_chance=torch.full((len(rows),), 0.1))
        return Context(batched.BatchedDraw(self.layout, phase, keys, count, override=override), count, params)

    def play(self, steps: int, act: Callable[[Any, int], int]) -> None:
        """Steps in all rows, compared one by one; a row whose game ended begins another."""
        for step in range(steps):
            actions = [act(program, step) for program in self.programs]
            before = [dump_state(self.schema, self.state, row) for row in range(ROWS)]
            shown = [program.step(action) for program, action in zip(self.programs, actions, strict=True)]
            drawn = [program.np_random.taken() for program in self.programs]
            made = self.fast.step(self.state, torch.tensor(actions), self.context("step", drawn, range(ROWS)))
            self.t = self.t + 1
            assert made.reward.tolist() == [float(reward) for _, reward, _, _, _ in shown]
            assert made.terminated.tolist() == [end for _, _, end, _, _ in shown]
            self.compare(made.state)
            for row in range(ROWS):
                self.one(before[row], actions[row], drawn[row], shown[row], row)
            self.state = self.renewed(made.state, made.terminated)

    def compare(self, state: Any) -> None:
        """The batched twin's state and what it shows, beside each program's."""
        ctx = Context(None, self.t, None)
        seen, mask = self.fast.observe(state, ctx), self.fast.action_mask(state, ctx)
        highest = self.fast.info(state, ctx)["highest"].tolist()
        for row, (program, size) in enumerate(zip(self.programs, self.sizes, strict=True)):
            assert np.array_equal(state.board[row, :size, :size].numpy(), program.board)
            assert (state.board[row] == -1).sum() == 16 - size**2
            assert state.score[row].item() == program.total_score
            assert np.array_equal(seen[row, :size, :size].numpy(), program._get_obs())
            assert seen[row].sum() == size**2
            assert highest[row] == program.board.max()
            assert mask[row].tolist() == [program.apply_action(program.board, action)[2] for action in range(4)]
        self.illegal = sum(program.illegal_count for program in self.programs)
        self.highest = max(self.highest, *highest)

    def one(self, before: Any, action: int, drawn: Drawn, shown: Any, row: int) -> None:
        """The reference takes one row's step."""
        draw = ScalarDraw(self.layout, "step", episode_key(0, 0), 0, override=drawn)
        ctx = Context(draw, 0, self.params(**params_values(self.schema, {"size": self.sizes[row]})))
        one = self.reference.step(load_state(self.schema, before), action, ctx)
        size, (_, reward, end, _, info) = self.sizes[row], shown
        assert [list(line[:size]) for line in one.state.board[:size]] == info["board"].tolist()
        assert (one.state.score, float(one.reward), one.terminated) == (info["total_score"], reward, end)

    def renewed(self, state: Any, over: torch.Tensor) -> Any:
        rows = over.nonzero().flatten().tolist()
        self.episodes += len(rows)
        if not rows:
            return state
        fresh = self.started(rows)
        self.t = torch.where(over, 0, self.t)
        made = [value.clone() for value in state]
        for value, new in zip(made, fresh, strict=True):
            value[rows] = new
        self.compare(self.fast.State(*made))
        return self.fast.State(*made)


def test_random_actions() -> None:
    both, generator = Beside(seed=1), np.random.default_rng(0)
    both.play(300, lambda program, step: int(generator.integers(4)))
    assert both.episodes > 60
    assert both.illegal > 60


def test_high_tiles() -> None:
    """The first of left, down, right, up that does something."""
    both = Beside(seed=7)
    order = (LEFT, DOWN, RIGHT, UP)
    both.play(320, lambda program, step: next(a for a in order if program.apply_action(program.board, a)[2]))
    assert both.highest >= 8
    assert both.illegal == 0


def test_the_comparison_sees_a_tile() -> None:
    both = Beside(seed=3)
    both.play(3, lambda program, step: step % 4)
    both.programs[5].board[both.programs[5].board == both.programs[5].board.max()] += 1
    with pytest.raises(AssertionError):
        both.play(1, lambda program, step: UP)


def test_the_comparison_sees_a_draw() -> None:
    """A 4 that came in the program and a 2 in ours part them."""
    both = Beside(seed=3)
    for program in both.programs:
        give = program.np_random.taken
        program.np_random.taken = lambda give=give: {**give(), "four": True}
    with pytest.raises(AssertionError):
        both.play(5, lambda program, step: step % 4)


@pytest.mark.parametrize("name", ["turn", "any_move", "corner"])
def test_the_program_earns_what_the_probes_state(name: str) -> None:
    """Where the means in probes.py come from, with fewer games: the policies on the program itself."""
    probe = next(probe for probe in load_package("game_2048").module("probes").PROBES if probe.name == name)
    returns, episodes = [], 30
    for seed in range(episodes):
        program: Any = TwentyFortyEightEnv()
        program.reset(seed=1_000_000 + seed)
        program._get_obs = lambda: None  # nobody looks
        ended, t = False, 0
        while not ended:
            action = probe.act(None, SimpleNamespace(board=program.board.tolist()), t)
            _, _, ended, _, _ = program.step(action)
            t += 1
        returns.append(program.total_score)
    mean, deviation = (
        float(number.replace(",", "")) for number in re.findall(r"(?:measured|deviation) ([\d,.]+)", probe.why)
    )
    assert abs(np.mean(returns) - mean) < 5 * deviation / episodes**0.5


@pytest.mark.parametrize(("size", "power"), [(2, 3), (4, 16)])
def test_the_program_stops_at_the_highest_tile_that_it_allows(size: int, power: int) -> None:
    """What docs/differences.md tells: `max_pow`, 16 by default, is documented as the maximum power."""
    program: Any = TwentyFortyEightEnv(size=size, max_pow=power)
    program.reset(seed=0)
    for highest in (power - 1, power):
        program.board[:] = 0
        program.board[0, :2] = highest - 1
        if highest == power:
            with pytest.raises(IndexError):
                program.step(LEFT)
        else:
            assert program.step(LEFT)[0][0, 0, highest] == 1


def test_the_program_has_no_end_of_moves_that_do_nothing() -> None:
    """What the spec tells as a difference: only a mask or a limit helps."""
    program: Any = TwentyFortyEightEnv()
    program.reset(seed=0)
    program.board[:] = 0
    program.board[0] = 1, 2, 3, 4
    for _ in range(500):
        _, reward, terminated, truncated, info = program.step(UP)
        assert (reward, terminated, truncated, info["is_legal"]) == (0, False, False, False)
