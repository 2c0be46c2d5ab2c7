"""The generator as one operator: in a capture it is one node, and its rule gives the generator's own words."""

from __future__ import annotations

from pathlib import Path

import torch
from kit.lowering import Case, Loaded, lowered
from kit.tools import assert_same

from simulacrum.engine.capture import capture
from simulacrum.engine.native import draws
from simulacrum.lower.library import make_library
from simulacrum.rng.batched import blocks_as_one_operator, threefry2x32

ENDS = torch.tensor([0, 1, -1, 2**31 - 1, -(2**31), 466688986], dtype=torch.int32)


def words(rows: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    random = torch.randint(-(2**31), 2**31, (rows,), generator=generator, dtype=torch.int64).to(torch.int32)
    random[: len(ENDS)] = ENDS
    return random


def test_it_is_one_node_inside_and_many_outside() -> None:
    def function(key: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return threefry2x32(key, key + 1, 3, 4)

    with blocks_as_one_operator():
        inside = capture(function, (words(8, 0),))
    outside = capture(function, (words(8, 0),))
    assert sum("threefry" in str(node.target) for node in inside.program.graph.nodes) == 1
    assert not any("threefry" in str(node.target) for node in outside.program.graph.nodes)
    assert len(outside.program.graph.nodes) > 60


def test_the_rule_gives_the_generators_words(tmp_path: Path) -> None:
    assert draws.threefry2x32 is not None
    inputs = tuple(words(4097, seed) for seed in range(4))
    case = Case("threefry", lambda *four: threefry2x32(*four), inputs)
    with blocks_as_one_operator():
        function = lowered(case, "words")
    loaded = Loaded(make_library([function]), tmp_path)
    found = loaded.call(function, dict(zip(function.inputs, inputs, strict=True)), 4097)
    assert_same(list(found.values()), list(threefry2x32(*inputs)))
