"""Functions split on a bool, faults, refused rows, ports in place, and many steps in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from kit.lowering import ROWS, Case, Filled, Loaded, different, items, lowered, small
from torch import Tensor

from simulacrum.lower.library import Function, make_library
from simulacrum.lower.program import Port

SIZES = (1, 7, 64, 513, 1100)


def placed(
    name: str, function: Any, inputs: dict[str, Tensor], in_place: Sequence[str] = (), **ports: str
) -> Function:
    """`function` of the named inputs; the outputs named in `in_place` lie in the ports of the inputs of that name.

    `restart` and `refuse` name an output or an input.
    """
    captured = lowered(Case(name, function, tuple(inputs.values())), name)
    held = dict(zip(inputs, captured.inputs, strict=True))
    given = {port.name.rpartition(".")[2]: port for port in captured.outputs if port is not None}
    outputs = {key: held[key] if key in in_place else port for key, port in given.items()}
    chosen = {role: {**held, **outputs}[key] for role, key in ports.items()}
    return Function(name, captured.program, captured.inputs, list(outputs.values()), **chosen)


def compare(loaded: Loaded, function: Function, case: Any, inputs: dict[str, Tensor], rows: int) -> list[str]:
    """Where the library and eager torch differ."""
    given = {key: one[:rows] if one.dim() else one for key, one in inputs.items()}
    found = loaded.call(function, dict(zip(function.inputs, given.values(), strict=True)), rows)
    expected = case(*[one.clone() for one in given.values()])
    return [
        f"{key}: {line}"
        for (key, wanted), port in zip(expected.items(), function.outputs, strict=True)
        if port is not None and port != function.refuse
        for line in different(wanted, found[port])
    ]


# --- splitting --------------------------------------------------------------------------------------------------------


def episode(x: Tensor, t: Tensor, seed: Tensor) -> dict[str, Tensor]:
    """A step whose rows begin again at t = 3: what begins depends on `seed`, which the step only reads."""
    moved = x + t[:, None]
    restart = t >= 3
    fresh = torch.stack([seed * 7, seed ^ 5, -seed], dim=1)
    return {
        "x": torch.where(restart[:, None], fresh, moved),
        "t": torch.where(restart, 0, t + 1),
        "shown": moved.sum(1),
        "restart": restart,
        "same": restart,
    }


def chained(x: Tensor, t: Tensor, seed: Tensor) -> dict[str, Tensor]:
    """The same, but what begins depends on the `x` that the step writes."""
    restart = t >= 3
    return {
        "x": torch.where(restart[:, None], x * 2 + seed[:, None], x + 1),
        "t": torch.where(restart, 0, t + 1),
        "restart": restart,
    }


def by_mask(x: Tensor, mask: Tensor, seed: Tensor) -> dict[str, Tensor]:
    """Split on an input."""
    fresh = torch.stack([seed, seed + 1, seed + 2], dim=1)
    return {"x": torch.where(mask[:, None], fresh, x), "shown": torch.where(mask, seed, 0)}


INPUTS = {"x": small(torch.int32, -9, 9, 3), "t": small(torch.int32, 0, 5), "seed": items(torch.int32)}
MASKED = {"x": INPUTS["x"], "mask": small(torch.int32, 0, 9).eq(0), "seed": INPUTS["seed"]}
IN_PLACE = ("x", "t")


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> tuple[Loaded, dict[str, Function]]:
    functions = [
        placed("episode", episode, INPUTS, IN_PLACE, restart="restart"),
        placed("chained", chained, INPUTS, IN_PLACE, restart="restart"),
        placed("apart", chained, INPUTS, restart="restart"),
        placed("by_mask", by_mask, MASKED, ["x"], restart="mask"),
    ]
    loaded = Loaded(make_library(functions), tmp_path_factory.mktemp("split"))
    return loaded, {function.name: function for function in functions}


def test_what_reads_what_the_first_pass_wrote_is_not_split(split: Any) -> None:
    assert split[0].library.split == {"episode": True, "chained": False, "apart": True, "by_mask": True}


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("name", ["episode", "chained", "apart", "by_mask"])
def test_split_functions_give_the_bits_of_the_whole(split: Any, name: str, rows: int) -> None:
    loaded, functions = split
    case = {"episode": episode, "by_mask": by_mask}.get(name, chained)
    assert compare(loaded, functions[name], case, MASKED if name == "by_mask" else INPUTS, rows) == []


@pytest.mark.parametrize("value", [False, True])
def test_no_row_and_every_row_may_begin_again(split: Any, value: bool) -> None:
    loaded, functions = split
    inputs = {**MASKED, "mask": torch.full((ROWS,), value)}
    assert compare(loaded, functions["by_mask"], by_mask, inputs, 1100) == []


def test_many_steps_in_one_call(split: Any) -> None:
    loaded, functions = split
    function, rows, times = functions["episode"], 700, 5
    given = dict(zip(function.inputs, (one[:rows] for one in INPUTS.values()), strict=True))
    numbers = loaded.library.memory.numbers
    shown = next(port for port in function.outputs if port is not None and port.name.endswith("shown"))
    memory = Filled(loaded.library.memory, given, [port for port in function.outputs if port is not None], rows)
    wide = torch.zeros(times, rows, dtype=torch.int64)
    pointers = memory.pointers()
    pointers[numbers[shown]] = wide.data_ptr()
    strides = [rows * 8 if number == numbers[shown] else 0 for number in range(len(pointers))]
    loaded.binary.episode_many(
        pointers,
        *map(ctypes.c_int64, (0, rows, times)),
        (ctypes.c_int64 * len(strides))(*strides),
    )
    x, t, seed = (one[:rows] for one in INPUTS.values())
    for step in range(times):
        after = episode(x, t, seed)
        x, t = after["x"], after["t"]
        assert torch.equal(wide[step], after["shown"])
    assert torch.equal(memory.read(function.inputs[0]), x)


# --- in place ---------------------------------------------------------------------------------------------------------


def exchanged(x: Tensor, y: Tensor, a: Tensor, b: Tensor) -> dict[str, Tensor]:
    """Small and large ports, each written over with what the others held."""
    return {
        "x": y + a[:, 7:10],
        "y": x,
        "a": b + x.sum(1, dtype=torch.int32)[:, None],
        "b": a.flip(dims=(1,)),
        "seen": a[:, :2] - b[:, :2],
        "large": torch.where(a > b, a, -b),
    }


def kept(x: Tensor, a: Tensor) -> dict[str, Tensor]:
    return {"x": x, "a": a, "sum": a.sum(1) + x}


def shifted(a: Tensor) -> dict[str, Tensor]:
    """Every element from its neighbour's old value, in place."""
    return {"a": torch.cat([a[:, 1:], a[:, :1]], dim=1)}


def written_at(a: Tensor, place: Tensor) -> dict[str, Tensor]:
    return {"a": a.scatter(1, place[:, None], 1), "old": a.gather(1, place[:, None])}


WIDE = {"a": items(torch.int32, 200), "b": items(torch.int32, 200, seed=3)}
PLACED = [
    (exchanged, {"x": small(torch.int64, -9, 9, 3), "y": small(torch.int64, -9, 9, 3), **WIDE}, ("x", "y", "a", "b")),
    (kept, {"x": items(torch.int64), "a": WIDE["a"]}, ("x", "a")),
    (shifted, {"a": WIDE["a"]}, ("a",)),
    (shifted, {"a": items(torch.float64, 5)}, ("a",)),
    (written_at, {"a": WIDE["a"], "place": small(torch.int64, 0, 200)}, ("a",)),
]


def in_blocks(function: Function) -> Function:
    """The same function with every tensor in blocks."""
    moved = {
        port: Port(port.name, port.dtype, port.shape, "blocks")
        for port in (*function.inputs, *function.outputs)
        if port is not None
    }
    outputs = [moved[port] for port in function.outputs if port is not None]
    return Function(f"{function.name}_blocks", function.program, [moved[port] for port in function.inputs], outputs)


def test_ports_in_place_give_way_to_nobody(tmp_path: Path) -> None:
    made = [placed(f"f{k}", case, inputs, names) for k, (case, inputs, names) in enumerate(PLACED)]
    made += [in_blocks(function) for function in made]
    loaded = Loaded(make_library(made), tmp_path)
    for function, (case, inputs, _) in zip(made, PLACED * 2, strict=True):
        for rows in SIZES:
            assert compare(loaded, function, case, inputs, rows) == [], (function.name, rows)


def test_what_a_port_holds_already_is_not_written() -> None:
    function = placed("kept", kept, PLACED[1][1], ["x", "a"])
    (kernel,) = make_library([function]).kernels.values()
    assert [port.name for port in kernel.written] == ["kept.out.sum"]


# --- the check --------------------------------------------------------------------------------------------------------


def dividing(x: Tensor, y: Tensor, bad: Tensor) -> dict[str, Tensor]:
    return {"quotient": x // y, "rest": x % y, "refused": bad}


def looking(table: Tensor, place: Tensor, bad: Tensor) -> dict[str, Tensor]:
    rows = torch.arange(table.shape[0])
    return {"got": table.gather(1, place[:, None]), "own": table[rows, place], "refused": bad}


def looking_in_large(table: Tensor, places: Tensor, bad: Tensor) -> dict[str, Tensor]:
    return {"got": table.gather(1, places), "refused": bad}


def dividing_large(x: Tensor, y: Tensor, bad: Tensor) -> dict[str, Tensor]:
    return {"sum": (x // y).sum(1), "refused": bad}


def harmless(x: Tensor, y: Tensor, bad: Tensor) -> dict[str, Tensor]:
    return {"quotient": x // torch.where(y == 0, 1, y) + x // 7, "refused": bad}


ROW = 900
NOBODY = torch.zeros(ROWS, dtype=torch.bool)
FINE = small(torch.int32, 1, 9)
LARGE = small(torch.int64, 0, 200, 140)
CHECKED: dict[str, tuple[Any, dict[str, Tensor], list[Tensor]]] = {
    # A function, its inputs, and values of its second input that fault in one row.
    "dividing": (dividing, {"x": items(torch.int32), "y": FINE, "bad": NOBODY}, [torch.tensor(0)]),
    "looking": (
        looking,
        {"table": items(torch.int32, 5), "place": small(torch.int64, 0, 5), "bad": NOBODY},
        [torch.tensor(5), torch.tensor(-1), torch.tensor(2**62), torch.tensor(-(2**63))],
    ),
    "looking_in_large": (
        looking_in_large,
        {"table": items(torch.int32, 200), "places": LARGE, "bad": NOBODY},
        [torch.tensor([0] * 139 + [200]), torch.tensor([-1] + [3] * 139)],
    ),
    "dividing_large": (
        dividing_large,
        {"x": items(torch.int32, 140), "y": small(torch.int32, 1, 9, 140), "bad": NOBODY},
        [torch.tensor([1] * 139 + [0])],
    ),
    "harmless": (harmless, {"x": items(torch.int32), "y": small(torch.int32, 0, 3), "bad": NOBODY}, []),
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Loaded, dict[str, Function]]:
    functions = {
        name: placed(name, function, inputs, refuse="refused") for name, (function, inputs, _) in CHECKED.items()
    }
    return Loaded(make_library(list(functions.values())), tmp_path_factory.mktemp("checked")), functions


@pytest.mark.parametrize("name", CHECKED)
def test_the_check_names_refused_rows_and_faults(checked: Any, name: str) -> None:
    loaded, functions = checked
    _, inputs, faulty = CHECKED[name]

    def bits(**changed: Tensor) -> int:
        given = {**inputs, **changed}.values()
        return loaded.check(functions[name], dict(zip(functions[name].inputs, given, strict=True)), ROWS)

    refused = NOBODY.clone()
    refused[ROW] = True
    assert bits() == 0
    assert bits(bad=refused) == 1
    second = list(inputs)[1]
    for value in faulty:
        wrong = inputs[second].clone()
        wrong[ROW] = value.to(wrong.dtype)
        assert bits(**{second: wrong}) == 2
        assert bits(**{second: wrong, "bad": refused}) == 3


@pytest.mark.parametrize("name", CHECKED)
def test_checked_functions_give_the_bits_of_torch(checked: Any, name: str) -> None:
    loaded, functions = checked
    function, inputs, _ = CHECKED[name]
    fine = {**inputs, "x": inputs["x"].clamp(min=-(2**31) + 1)} if "x" in inputs else inputs
    assert compare(loaded, functions[name], function, fine, ROWS) == []


def test_a_row_that_would_fault_does_no_harm(checked: Any) -> None:
    """Torch raises for 0, and stops the process for the lowest integer by -1. Here each has one meaning."""
    loaded, functions = checked
    x = torch.tensor([-(2**31), -(2**31), 7, -7, 0], dtype=torch.int32)
    y = torch.tensor([-1, 0, 0, -1, 0], dtype=torch.int32)
    given = dict(zip(functions["dividing"].inputs, (x, y, NOBODY[:5]), strict=True))
    quotient, rest = loaded.call(functions["dividing"], given, 5).values()
    assert quotient.tolist() == [-(2**31), -(2**31), 7, 7, 0]
    assert rest.tolist() == [0, 0, 0, 0, 0]
