"""Lowered functions beside eager torch: many captured functions in one compiled library, compared bit for bit."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from simulacrum.engine.capture import capture
from simulacrum.lower.compiler import compile_library
from simulacrum.lower.emit import Memory
from simulacrum.lower.library import Function, Library, make_library
from simulacrum.lower.program import LANES, Port

ROWS = 4097
# A row alone (the first, the last, one between), a few, and many: torch takes vectors for some, and not for others.
WINDOWS = ((0, 1), (2000, 2001), (4096, 4097), (5, 12), (64, 128), (0, ROWS))
GUARD = 64  # bytes before and behind each output, which nobody may write
UNWRITTEN = 0xAB


@dataclass(frozen=True)
class Case:
    """A function of `inputs` (4097 rows each, or no dimension) that gives a tensor, or tensors by their names."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[Tensor, ...]
    windows: tuple[tuple[int, int], ...] = field(default=WINDOWS)

    def __str__(self) -> str:
        return self.name

    def eager(self, *inputs: Tensor) -> dict[str, Tensor]:
        """What torch gives, by name."""
        result = self.function(*inputs)
        if isinstance(result, Tensor):
            return {"": result}
        return dict(result) if isinstance(result, dict) else {str(key): one for key, one in enumerate(result)}


def lowered(case: Case, name: str = "function", *, blocks: bool = False) -> Function:
    """The case captured, every tensor in a port of its own: row by row, or in blocks."""
    noted: list[dict[str, Tensor]] = []

    def named(*inputs: Tensor) -> dict[str, Tensor]:
        noted.append(case.eager(*inputs))
        return noted[-1]

    graph = capture(named, tuple(one[:2] if one.dim() else one for one in case.inputs))
    layout = "blocks" if blocks else "rows"

    def port(part: str, tensor: Tensor) -> Port:
        return Port(f"{name}.{part}", tensor.dtype, tuple(tensor.shape[1:]), layout if tensor.dim() else "one")

    inputs = [port(f"in{number}", one) for number, one in enumerate(graph.example)]
    return Function(name, graph.program, inputs, [port(f"out.{key}", one) for key, one in noted[-1].items()])


class Bench:
    """The cases, compiled into one library in `folder`. A case that cannot be lowered raises when it is run."""

    def __init__(self, cases: Sequence[Case], folder: Path) -> None:
        self.errors: dict[str, Exception] = {}
        self.functions: dict[str, Function] = {}
        for number, case in enumerate(cases):
            self._enter(case, f"f{number}", blocks=number % 2 == 1)
        self.loaded = Loaded(make_library(list(self.functions.values())), folder)

    def _enter(self, case: Case, name: str, *, blocks: bool) -> None:
        try:
            function = lowered(case, name, blocks=blocks)
            make_library([function])
        except Exception as error:  # shown by the test of this case, not by all
            self.errors[case.name] = error
        else:
            self.functions[case.name] = function

    def run(self, case: Case, lo: int, hi: int) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Rows lo..hi-1 of the case: what torch gives, and what the library gives."""
        if case.name in self.errors:
            raise self.errors[case.name]
        inputs = [one[lo:hi].clone() if one.dim() else one.clone() for one in case.inputs]
        expected = case.eager(*[one.clone() for one in inputs])
        function = self.functions[case.name]
        found = self.loaded.call(function, dict(zip(function.inputs, inputs, strict=True)), hi - lo)
        return expected, {name: found[port] for name, port in zip(expected, function.outputs, strict=True) if port}

    def differences(self, case: Case) -> list[str]:
        """A line for each output and window whose bits differ."""
        lines: list[str] = []
        for lo, hi in case.windows:
            expected, found = self.run(case, lo, hi)
            lines += [
                f"{name} rows {lo}..{hi - 1}: {line}"
                for name in expected
                for line in different(expected[name], found[name], lo)
            ]
        return lines


class Loaded:
    """A library, compiled in `folder` and loaded."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library = library
        target = folder / "lowered.so"
        compile_library(library.text, target)
        self.binary = ctypes.CDLL(str(target))

    def call(self, function: Function, given: Mapping[Port, Tensor], rows: int) -> dict[Port, Tensor]:
        """What `function` leaves in its outputs, `[rows, *shape]` each. A port that is an input too is in place."""
        outputs = [port for port in function.outputs if port is not None and port != function.refuse]
        memory = Filled(self.library.memory, given, outputs, rows)
        getattr(self.binary, function.name)(memory.pointers(), ctypes.c_int64(0), ctypes.c_int64(rows))
        return {port: memory.read(port) for port in outputs}

    def check(self, function: Function, given: Mapping[Port, Tensor], rows: int) -> int:
        """The bits of the check: 1 a refused row, 2 a fault."""
        checker = getattr(self.binary, f"{function.name}_check")
        checker.restype = ctypes.c_int64
        memory = Filled(self.library.memory, given, [], rows)
        return checker(memory.pointers(), ctypes.c_int64(0), ctypes.c_int64(rows))


class Filled:
    """The memory of one call: `given`, a pattern where an output is to be written, and guards around every piece."""

    def __init__(self, memory: Memory, given: Mapping[Port, Tensor], outputs: Sequence[Port], rows: int) -> None:
        self.memory, self.row = memory, torch.arange(rows)
        self.pieces = {0: _guarded(-(-rows // LANES) * memory.block_bytes)}
        for port in (*given, *outputs):
            if port.layout != "blocks":
                size = port.size * port.dtype.itemsize
                self.pieces[memory.numbers[port]] = _guarded(size if port.layout == "one" else size * rows)
        for port, tensor in given.items():
            if port.layout == "blocks":
                self._lanes(port)[self.row // LANES, :, self.row % LANES] = tensor.reshape(rows, port.size)
            else:
                self._piece(port)[:] = tensor.reshape(-1)

    def pointers(self) -> Any:
        """What the functions of the library take."""
        starts = [self.pieces[number].data_ptr() + GUARD if number in self.pieces else 0 for number in self._numbers()]
        return (ctypes.c_void_p * len(starts))(*starts)

    def read(self, port: Port) -> Tensor:
        """The port's `[rows, *shape]`."""
        for piece in self.pieces.values():
            assert bool((piece[:GUARD] == UNWRITTEN).all() & (piece[-GUARD:] == UNWRITTEN).all()), "written outside"
        rows = len(self.row)
        if port.layout != "blocks":
            return self._piece(port).reshape(rows, *port.shape).clone()
        return self._lanes(port)[self.row // LANES, :, self.row % LANES].reshape(rows, *port.shape)

    def _numbers(self) -> range:
        return range(len(self.memory.numbers) + 1)

    def _piece(self, port: Port) -> Tensor:
        return self.pieces[self.memory.numbers[port]][GUARD:-GUARD].view(port.dtype)

    def _lanes(self, port: Port) -> Tensor:
        """The port's part of the blocks, `[blocks, size, LANES]`, a view."""
        start, size = self.memory.starts[port], port.size * LANES * port.dtype.itemsize
        whole = self.pieces[0][GUARD:-GUARD].reshape(-1, self.memory.block_bytes)
        return whole[:, start : start + size].view(port.dtype).unflatten(1, (port.size, LANES))


def _guarded(size: int) -> Tensor:
    return torch.full((GUARD + size + GUARD,), UNWRITTEN, dtype=torch.uint8)


def different(expected: Tensor, found: Tensor, first_row: int = 0) -> list[str]:
    """Where two tensors differ in type, shape or bits: [] or one line. NaNs are equal: their bits are left open."""
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return [f"{expected.dtype} {tuple(expected.shape)} expected, {found.dtype} {tuple(found.shape)} found"]
    same = bits(expected) == bits(found)
    if expected.dtype.is_floating_point:
        same |= (expected != expected) & (found != found)
    if bool(same.all()):
        return []
    place = tuple((~same).nonzero()[0].tolist())
    row = (first_row + place[0], *place[1:])
    wanted, got = expected[place].item(), found[place].item()
    return [f"{int((~same).sum())} differ, first at {row}: {wanted!r} expected, {got!r} found"]


def bits(tensor: Tensor) -> Tensor:
    """The bits of each element, as integers."""
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(kinds[tensor.dtype.itemsize])


# --- values -----------------------------------------------------------------------------------------------------------

DTYPES = (
    torch.bool,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float32,
    torch.float64,
)
INTEGERS = DTYPES[1:6]
FLOATS = DTYPES[6:]


def extremes(dtype: torch.dtype, count: int = 64, seed: int = 0) -> Tensor:
    """`count` values: the ends of the type and what lies beside them, then random ones."""
    draw = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(count, generator=draw) < 0.5
    if dtype.is_floating_point:
        info = torch.finfo(dtype)
        ends = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, info.max, info.tiny, info.tiny / 4, info.smallest_normal * 1.5, info.eps]
        ends += [float("inf"), 1.0 + info.eps, 127.0, 128.5, 2.0**31, 2.0**31 - 129, 2.0**32 + 2**10, 2.0**63, 1e-3]
        special = torch.tensor([*ends, float("nan")], dtype=dtype)
        special = torch.cat([special, -special])
        scale = torch.randint(-20, 21, (count,), generator=draw)
        rest = torch.randn(count, generator=draw, dtype=torch.float64) * 2.0**scale
        return torch.cat([special, rest.to(dtype)])[:count]
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    ends = [low, low + 1, low // 2, high, high - 1, high // 2, 0, 1, 2, 3, 7, 100]
    ends += [] if low == 0 else [-1, -2, -3, -7, -100]
    rest = torch.randint(-(2**62), 2**62, (count,), generator=draw)
    rest[::2] = torch.randint(-100, 100, (rest[::2].numel(),), generator=draw)
    return torch.cat([torch.tensor(ends, dtype=dtype), rest.to(dtype)])[:count]


def pairs(left: torch.dtype, right: torch.dtype | None = None) -> tuple[Tensor, Tensor]:
    """Two columns `[4097]` in which every one of 64 values meets every one of 64 others."""
    row = torch.arange(ROWS)
    return extremes(left)[row % 64], extremes(right or left, seed=1)[row // 64 % 64]


def items(dtype: torch.dtype, *shape: int, seed: int = 0) -> Tensor:
    """`[4097, *shape]` of extreme and random values, ties among them."""
    draw = torch.Generator().manual_seed(seed)
    values = torch.cat([extremes(dtype, 64, seed), extremes(dtype, 8, seed).repeat(4)])
    return values[torch.randint(0, len(values), (ROWS, *shape), generator=draw)]


def small(dtype: torch.dtype, low: int, high: int, *shape: int, seed: int = 0) -> Tensor:
    """`[4097, *shape]` of whole numbers low..high-1."""
    draw = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, (ROWS, *shape), generator=draw).to(dtype)
