"""Rules of simultaneity: decide for all from the old state, then apply."""

from __future__ import annotations

import itertools

import pytest
import torch
from kit import package
from kit.tools import vector

from simulacrum.engine.runner import ReferenceRunner

PLACES = list(itertools.permutations(range(5), 2))
MOVES = list(itertools.product(range(3), repeat=2))


def test_b28_two_rivals_in_every_position_and_move() -> None:
    situations = [(places, prize, moves) for places in PLACES for prize in range(5) for moves in MOVES]
    env = vector("rivals", len(situations), max_episode_steps=None)
    env.reset(seed=0)
    env.load_states([{"places": list(places), "prize": prize} for places, prize, _ in situations])
    swapped = env.fork(range(len(situations)))
    swapped.load_states([{"places": list(places[::-1]), "prize": prize} for places, prize, _ in situations])
    actions = torch.tensor([moves for _, _, moves in situations])
    observation, reward, *_ = env.step(actions)
    mirrored, against, *_ = swapped.step(actions.flip(-1))
    assert torch.equal(mirrored[:, :2].flip(-1), observation[:, :2])
    assert torch.equal(mirrored[:, 2], observation[:, 2])
    assert torch.equal(against, 0.0 - reward)
    runner = ReferenceRunner(package("rivals"))
    seen = set()
    for row, (places, prize, moves) in enumerate(situations):
        runner.load({"places": list(places), "prize": prize}, t=0, seed=row, episode=0)
        out = runner.step(moves)
        assert out.observation == tuple(observation[row].tolist())
        assert float(out.reward) == reward[row].item()
        wanted = [min(max(place + move - 1, 0), 4) for place, move in zip(places, moves, strict=False)]
        seen.add("tie" if wanted[0] == wanted[1] else "swap" if wanted == [*places[::-1]] else "free")
    assert seen == {"tie", "swap", "free"}


@pytest.mark.parametrize(
    ("places", "moves", "after"),
    [([0, 2], [2, 0], [0, 2]), ([1, 2], [2, 0], [1, 2]), ([1, 2], [2, 2], [2, 3]), ([0, 4], [0, 2], [0, 4])],
    ids=["tie", "swap", "follow", "edges"],
)
def test_b28_ties_and_swaps_by_hand(places: list[int], moves: list[int], after: list[int]) -> None:
    env = vector("rivals", 1)
    env.reset(seed=0)
    env.load_states([{"places": places, "prize": 4}])
    assert env.step([moves])[0][0, :2].tolist() == after
