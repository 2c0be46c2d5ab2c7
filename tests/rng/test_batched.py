"""The batched twin's draws equal the scalar ones bit for bit, in any batch, eager, compiled and exported."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from simulacrum.errors import DrawError
from simulacrum.rng import batched, golden, scalar, tensors
from simulacrum.rng.batched import BatchedDraw, episode_key, split_seed, threefry2x32
from simulacrum.rng.layout import Layout, Slot

SEEDS = [
    0,
    1,
    2,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**63,
    2**64 - 1,
    0x0123456789ABCDEF,
    0x0123456799ABCDEF,
]
LAYOUT = golden.layout("step")
KIND_OF_DTYPE = {torch.float32: "float32", torch.float64: "float64"}

# One call per distribution, dtype and kind of argument; `p` is a float32 tensor [N] or that row's number, `n`
# an int32 one. Slots of `golden` (all declared for both phases).
Call = Callable[[Any, Any, Any], Any]
CALLS: dict[str, Call] = {
    "unit": lambda d, p, n: d.uniform("unit"),
    "unit below a tensor": lambda d, p, n: d.uniform("unit", high=p),
    "unit between tensors": lambda d, p, n: d.uniform("unit", -p, p),
    "unit far from zero": lambda d, p, n: d.uniform("unit", 1000.0, 1000.001),
    "float64": lambda d, p, n: d.uniform("angle", -3.5, 3.5),
    "float64 index": lambda d, p, n: d.uniform("angle", -0.1, p, index=1),
    "all indices, tensor bound": lambda d, p, n: d.uniform("position", p, 9.0),
    "one index": lambda d, p, n: d.uniform("position", -0.3, 0.1, index=2),
    "die": lambda d, p, n: d.integers("die", 7, low=1),
    "die of n sides": lambda d, p, n: d.integers("die", n),
    "cells": lambda d, p, n: d.integers("cell", 2**16),
    "cells around n": lambda d, p, n: d.integers("cell", n // 2 + 1, low=-(n // 2)),
    "cell 3": lambda d, p, n: d.integers("cell", n, index=3),
    "wide": lambda d, p, n: d.integers("wide", 2**31 - 2**40, low=-(2**40)),
    "wide below n": lambda d, p, n: d.integers("wide", n, index=1),
    "gust": lambda d, p, n: d.bernoulli("gust", 0.1),
    "gust p": lambda d, p, n: d.bernoulli("gust", p),
    "fault": lambda d, p, n: d.bernoulli("fault", p),
    "kind": lambda d, p, n: d.choice("kind", (0.5, 0, 1.25, 0.1, 0)),
    "kind by tensors": lambda d, p, n: d.choice("kind", (p, 1.0, p, 0.0), index=1),
    "rare": lambda d, p, n: d.choice("rare", (1, 2, 3, 4)),
    "rare by tensors": lambda d, p, n: d.choice("rare", (0.25, p, p)),
    "order": lambda d, p, n: d.permutation("order"),
    "deck": lambda d, p, n: d.permutation("deck"),
    "noise": lambda d, p, n: d.normal("noise", 0.25, 2.0),
    "noise of spread p": lambda d, p, n: d.normal("noise", p, p, index=0),
    "fine": lambda d, p, n: d.normal("fine"),
}


def draws(phase: str, seeds: list[int], episodes: list[int], steps: list[int], **modes: Any) -> BatchedDraw:
    key = episode_key(split_seed(seeds), torch.tensor(episodes, dtype=torch.int32))
    return BatchedDraw(golden.layout(phase), phase, key, torch.tensor(steps, dtype=torch.int32), **modes)


def parameters(rows: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(rows)
    p = torch.rand(rows, generator=generator)
    p[0] = 0.0  # a parameter at its bound: no width, no weight, no spread
    return p, torch.randint(1, 2**16, (rows,), generator=generator, dtype=torch.int32)


def rows_that_differ(call: Call, phase: str, seeds: list[int], episodes: list[int], steps: list[int]) -> int:
    """How many rows differ in a bit, or in dtype, from the scalar form, one row at a time."""
    p, n = parameters(len(seeds))
    got = call(draws(phase, seeds, episodes, steps), p, n)
    dtype = KIND_OF_DTYPE.get(got.dtype, str(got.dtype))
    different = 0
    for row, (seed, episode, step) in enumerate(zip(seeds, episodes, steps, strict=True)):
        one = scalar.ScalarDraw(golden.layout(phase), phase, scalar.episode_key(seed, episode), step)
        want = golden.encode(call(one, float(p[row]), int(n[row])), dtype)
        # tuple() of nested lists: the batched values as the same nested Python numbers
        values = got[row].tolist()
        have = golden.encode(tuple(values) if isinstance(values, list) else values, dtype)
        different += have != want
    return different


@pytest.mark.parametrize("phase", ["reset", "step"])
@pytest.mark.parametrize("name", CALLS)
def test_equal_to_the_scalar_form_at_many_addresses(name: str, phase: str) -> None:
    seeds = SEEDS + [row * 0x9E3779B97F4A7C15 % 2**64 for row in range(60)]
    episodes = [row % 5 if row % 7 else 2**31 - 1 - row for row in range(len(seeds))]
    steps = [0 if phase == "reset" else row * row for row in range(len(seeds))]
    assert rows_that_differ(CALLS[name], phase, seeds, episodes, steps) == 0


FAULTS: list[tuple[str, str, Any, str]] = [
    ("an arithmetic shift", "logical_shift", lambda word, bits: word >> bits, "unit"),
    ("signed words", "unsigned", lambda word: word.to(torch.int64), "cells"),
    ("ranks by word as signed", "unsigned", lambda word: word.to(torch.int64), "order"),
]


@pytest.mark.parametrize(("fault", "name", "replacement", "call"), FAULTS)
def test_the_comparison_notices_planted_faults(
    fault: str, name: str, replacement: Any, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensors, name, replacement)
    assert rows_that_differ(CALLS[call], "step", SEEDS, [0] * 11, [3] * 11) > 0, fault


def test_the_comparison_notices_reset_draws_at_step_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batched, "RESET_BLOCKS", 2**32)
    assert rows_that_differ(CALLS["unit"], "reset", SEEDS, [0] * 11, [0] * 11) == 11
    assert rows_that_differ(CALLS["unit"], "step", SEEDS, [0] * 11, [0] * 11) == 0


def test_golden_vectors() -> None:
    vectors = json.loads(golden.PATH.read_text(encoding="utf-8"))
    for record in vectors["threefry2x32"]:
        words = torch.tensor([*record["key"], *record["counter"]]).to(torch.int32).unbind()
        got = threefry2x32(*words, rounds=record["rounds"])
        assert [int(word) % 2**32 for word in got] == record["words"]
    for record in vectors["draws"]:
        draw = draws(record["phase"], [record["seed"]], [record["episode"]], [record["t"]])
        assert [word % 2**32 for word in draw._key[0].tolist()] == record["key"]
        for name, kind, _, _, arguments in golden.CALLS:
            got = getattr(draw, kind)(name, **arguments)
            values = got[0].tolist()
            values = tuple(values) if isinstance(values, list) else values
            assert golden.encode(values, KIND_OF_DTYPE.get(got.dtype, "")) == record["values"][name], name


def everything(seed: Tensor, episode: Tensor, t: Tensor, p: Tensor, n: Tensor) -> tuple[Tensor, ...]:
    draw = BatchedDraw(LAYOUT, "step", episode_key(seed, episode), t)
    return tuple(call(draw, p, n) for call in CALLS.values())


# Compilers get one call of each kind of arithmetic, so that a test stays within seconds.
COMPILED = (
    "unit between tensors",
    "float64",
    "all indices, tensor bound",
    "die of n sides",
    "wide",
    "fault",
    "kind",
    "kind by tensors",
    "order",
    "noise of spread p",
)


def for_compilers(seed: Tensor, episode: Tensor, t: Tensor, p: Tensor, n: Tensor) -> tuple[Tensor, ...]:
    draw = BatchedDraw(LAYOUT, "step", episode_key(seed, episode), t)
    return tuple(CALLS[name](draw, p, n) for name in COMPILED)


def inputs(rows: int) -> tuple[Tensor, ...]:
    seeds = [row * 0x9E3779B97F4A7C15 % 2**64 for row in range(rows)]
    episode = torch.arange(rows, dtype=torch.int32)
    return split_seed(seeds), episode, episode * 3, *parameters(rows)


def assert_same_bits(got: tuple[Tensor, ...], want: tuple[Tensor, ...]) -> None:
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        assert a.dtype == b.dtype, number
        assert a.shape == b.shape, number
        assert a.numpy().tobytes() == b.numpy().tobytes(), number


@pytest.mark.parametrize("rows", [1, 2, 7, 33])
def test_a_row_is_the_same_in_any_batch_and_at_any_place(rows: int) -> None:
    whole = inputs(64)
    want = everything(*whole)
    picked = torch.randperm(64, generator=torch.Generator().manual_seed(rows))[:rows]
    got = everything(*(part[picked] for part in whole))
    assert_same_bits(got, tuple(value[picked] for value in want))


def test_no_draw_waits_for_the_device() -> None:
    # Fake tensors have no values: a draw that looked at one would raise here.
    with FakeTensorMode():
        rows = torch.zeros(5, dtype=torch.int32)
        pairs, p = torch.zeros(5, 2, dtype=torch.int32), torch.zeros(5)
        values = everything(pairs, rows, rows, p, rows)
    assert {value.shape[0] for value in values} == {5}


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.filterwarnings(
    "ignore:`torch.jit.script_method` is deprecated:DeprecationWarning"
)  # inductor's own
def test_compiled_to_one_graph_it_gives_the_eager_bits() -> None:
    compiled = torch.compile(for_compilers, fullgraph=True, dynamic=True)
    for rows in (33, 8):
        assert_same_bits(compiled(*inputs(rows)), for_compilers(*inputs(rows)))


class ForCompilers(torch.nn.Module):
    def forward(self, *arguments: Tensor) -> tuple[Tensor, ...]:
        return for_compilers(*arguments)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::FutureWarning")  # torch.export deep-copies its own deprecated tree specs
def test_exported_with_a_dynamic_batch_it_gives_the_eager_bits() -> None:
    batch = torch.export.Dim("batch")
    program = torch.export.export(ForCompilers(), inputs(5), dynamic_shapes=(({0: batch},) * 5,))
    exported = program.run_decompositions().module()
    for rows in (1, 2, 33):
        assert_same_bits(exported(*inputs(rows)), for_compilers(*inputs(rows)))


def test_the_phase_is_evaluated_once_and_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(*arguments: Any) -> tuple[Tensor, Tensor]:
        calls.append(1)
        return threefry2x32(*arguments)

    draw = draws("step", [1, 2], [0, 0], [0, 0])
    monkeypatch.setattr(batched, "threefry2x32", counted)
    assert not calls
    for call in CALLS.values():
        call(draw, torch.ones(2), torch.ones(2, dtype=torch.int32))
    assert len(calls) == 1


def test_reset_draws_do_not_look_at_t() -> None:
    early = draws("reset", SEEDS, [0] * 11, [0] * 11).integers("cell", 2**16)
    late = draws("reset", SEEDS, [0] * 11, [5] * 11).integers("cell", 2**16)
    assert torch.equal(early, late)
    one = scalar.ScalarDraw(golden.layout("reset"), "reset", scalar.episode_key(SEEDS[3], 0), 5)
    assert list(one.integers("cell", 2**16)) == late[3].tolist()


def test_values_are_fresh_tensors() -> None:
    draw = draws("step", SEEDS, [0] * 11, [0] * 11)
    first = draw.integers("cell", 100)
    kept = first.clone()
    first.add_(1)
    assert torch.equal(draw.integers("cell", 100), kept)


def test_both_ledgers_hold_the_same_words() -> None:
    ledger: dict[str, Tensor] = {}
    draw = draws("step", SEEDS, [1] * 11, [2] * 11, ledger=ledger)
    for row, seed in enumerate(SEEDS):
        records: list[Any] = []
        one = scalar.ScalarDraw(draw._layout, "step", scalar.episode_key(seed, 1), 2, ledger=records)
        for name, kind, _, count, arguments in golden.CALLS:
            getattr(one, kind)(name, **arguments)
            getattr(draw, kind)(name, **arguments)
            words = [word for slot, _, several in records if slot == name for word in several]
            assert ledger[name][row].tolist() == words, (name, count)
    assert draw.used == one.used == set(ledger)


def test_override_gives_the_value_to_every_row_or_each_its_own() -> None:
    ledger: dict[str, Tensor] = {}
    override: dict[str, Any] = {
        "unit": 0.1,
        "die": torch.tensor([1, 2, 3]),
        "cell": torch.arange(15).reshape(3, 5),
        "gust": True,
        "kind": torch.tensor([0, 1, 2]),
        "order": [6, 5, 4, 3, 2, 1, 0],
    }
    draw = draws("step", [1, 2, 3], [0] * 3, [0] * 3, override=override, ledger=ledger)
    assert torch.equal(draw.uniform("unit"), torch.full((3,), 0.1))
    assert draw.integers("die", 7).tolist() == [1, 2, 3]
    assert draw.integers("die", 7).dtype == torch.int32
    assert torch.equal(draw.integers("cell", 9), override["cell"].to(torch.int32))
    assert draw.integers("cell", 9, index=4).tolist() == [4, 9, 14]
    assert draw.bernoulli("gust", 0.0).tolist() == [True] * 3
    assert draw.choice("kind", (1, 1, 1)).tolist() == [[0] * 3, [1] * 3, [2] * 3]
    assert draw.permutation("order").tolist() == [[6, 5, 4, 3, 2, 1, 0]] * 3
    assert not ledger


def test_override_of_a_float64_slot_keeps_all_its_bits() -> None:
    draw = draws("step", [1, 2], [0] * 2, [0] * 2, override={"angle": [0.1, 0.2]})
    assert draw.uniform("angle", index=0).tolist() == [0.1, 0.2]


def test_override_of_a_slot_that_nobody_declared() -> None:
    with pytest.raises(DrawError, match="'dice' is not declared"):
        draws("step", [0], [0], [0], override={"dice": 1})


def test_seeds_are_checked_and_keep_their_bits() -> None:
    assert split_seed([2**32 + 5, 2**64 - 1]).tolist() == [[5, 1], [-1, -1]]
    assert split_seed([]).shape == (0, 2)
    with pytest.raises(DrawError, match="not a seed"):
        split_seed([1, -1])


def test_no_rows_and_no_words() -> None:
    assert draws("step", [], [], []).uniform("position").shape == (0, 3)
    empty = BatchedDraw(
        Layout([Slot("a", "reset", "uniform", "float32")]),
        "step",
        torch.zeros(2, 2, dtype=torch.int32),
        torch.zeros(2, dtype=torch.int32),
    )
    with pytest.raises(DrawError, match="declared for reset"):
        empty.uniform("a")


def test_weights_as_one_tensor_equal_weights_as_columns() -> None:
    weights = torch.rand(11, 4, generator=torch.Generator().manual_seed(0))
    draw = draws("step", SEEDS, [0] * 11, [0] * 11)
    for index in (None, 2):
        whole = draw.choice("kind", weights, index=index)
        assert torch.equal(whole, draw.choice("kind", weights.unbind(1), index=index))
    assert torch.equal(draw.choice("rare", torch.tensor([1, 2, 3, 4])), draw.choice("rare", (1, 2, 3, 4)))
