"""One kernel: a loop over rows that reads ports, computes a program, and writes ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from simulacrum.errors import LoweringError
from simulacrum.lower.graph import Graph
from simulacrum.lower.program import Block, Builder, Loop, Port, Put, Scalar, Update
from simulacrum.lower.tensors import LARGE, ROW, Length, Place, Tensor, demand, flat, materialise, walk


@dataclass(frozen=True)
class Kernel:
    """A lowered function. `body` writes `written` and reads `read`; `faults` says in which rows it must not run."""

    name: str
    body: Builder
    read: frozenset[Port]
    written: frozenset[Port]


def input_tensor(b: Builder, port: Port, meta: torch.Tensor) -> Tensor:
    """The tensor that a port brings: `[N, *shape]`, or `shape` for one value that serves all rows."""
    shape: list[Length] = ([] if port.layout == "one" else [ROW]) + list(port.shape)
    made = Tensor(shape, port.dtype, lambda place: b.load(port, b.index(flat(b, shape, _own(port, place)))))
    made.meta = meta
    return made


def _own(port: Port, place: Place) -> Place:
    return place if port.layout == "one" else (ROW, *place[1:])


def store(b: Builder, port: Port, tensor: Tensor) -> None:
    """Write `tensor` to `port`, nothing where it is what the port holds already."""
    found = (tensor.dtype, *tensor.shape)
    if found != (port.dtype, ROW, *port.shape):
        raise LoweringError(f"{port.name} has another form than its port", expected=port, found=str(found))

    def put(place: Place, value: Scalar) -> None:
        index = b.index(flat(b, tensor.shape, place))
        if not _held(port, index, value):
            b.put(port, index, value)

    walk(b, tensor, put, b.root)


def _held(port: Port, index: Scalar, value: Scalar) -> bool:
    """Whether `value` is what element `index` of the port holds already."""
    return value.op == "load" and value.data == port and value.args[0] is index


def lower(
    name: str,
    program: torch.export.ExportedProgram,
    inputs: Sequence[tuple[Port, torch.Tensor]],
    outputs: Sequence[Port | None],
    *,
    instead: Mapping[str, bool] | None = None,
    only: Sequence[Port] | None = None,
    faults: Port | None = None,
) -> Kernel:
    """The kernel `name` of an exported program.

    Args:
        program: the exported program.
        inputs: for each of its inputs the port it comes from, and torch's stand-in.
        outputs: for each of its outputs the port it goes to; None drops it.
        instead: see `Graph`.
        only: the ports to write; all of `outputs` by default.
        faults: a port of layout "any", whose bit 1 receives whether a row does what torch refuses.

    Raises:
        LoweringError: an operation without a rule, or one that mixes rows; it names file, line and rule.
    """
    b = Builder(name)
    graph = Graph(b, program, [input_tensor(b, port, meta) for port, meta in inputs], instead)
    wanted = [
        (port, tensor)
        for port, tensor in zip(outputs, graph.outputs(), strict=True)
        if port is not None and tensor is not None and (only is None or port in only)
    ]
    if faults is not None:  # of every output, whether it is written here or not
        for port, tensor in zip(outputs, graph.outputs(), strict=True):
            if port is not None and tensor is not None:
                _look_at(b, tensor)
    # Ports are read and written in place: all values are made before the first is written over.
    held = {port for port, _ in inputs}
    wanted = [(port, _ready(b, port, tensor, in_place=port in held)) for port, tensor in wanted]
    for port, tensor in sorted(wanted, key=lambda one: one[0] in held):
        store(b, port, tensor)
    if faults is not None:
        fault = b.const(False, torch.bool)
        for one in b.faults:
            fault = b.op("or", torch.bool, fault, one)
        b.put(faults, 1, fault)
    prune(b)
    return Kernel(name, b, frozenset(ports_read(b.root)), frozenset(ports_written(b.root)))


def _ready(b: Builder, port: Port, tensor: Tensor, *, in_place: bool) -> Tensor:
    """The tensor with its small scalars made, or, if it is large and written over what is read, in an array."""
    if tensor.size <= LARGE:
        demand(tensor)
        return tensor
    if not in_place:
        return tensor
    changed: list[bool] = []

    def look(place: Place, value: Scalar) -> None:
        changed.append(not _held(port, b.index(flat(b, tensor.shape, place)), value))

    walk(b, tensor, look, Block(0))  # a trial that leads nowhere
    return materialise(b, tensor) if any(changed) else tensor


def _look_at(b: Builder, tensor: Tensor) -> None:
    """Compute the tensor without storing it: its faults note themselves."""
    walk(b, tensor, lambda place, value: None, b.root)


# --- what is not used is not emitted ----------------------------------------------------------------------------------


def prune(b: Builder) -> None:
    """Drop every statement whose value no output needs."""
    alive: set[object] = set()

    def need(scalar: Scalar) -> None:
        waiting = [scalar]
        while waiting:
            one = waiting.pop()
            if one not in alive:
                alive.add(one)
                alive.add(one.data)
                waiting.extend(one.args)

    def keep(block: Block) -> bool:
        """Whether anything in the block serves an output; backwards, since uses come after what they use."""
        kept: list[object] = []
        for statement in reversed(block.statements):
            if isinstance(statement, Scalar):
                wanted = statement in alive
            elif isinstance(statement, Loop):
                wanted = _until_settled(lambda loop=statement: keep(loop.body), alive)
                if wanted:
                    alive.add(statement.counter)
            elif isinstance(statement, Put):
                wanted = isinstance(statement.target, Port) or statement.target in alive
                if wanted:
                    need(statement.value)
                    need(statement.index)
            else:
                assert isinstance(statement, Update)
                wanted = statement.variable in alive
                if wanted:
                    need(statement.value)
            if wanted:
                kept.append(statement)
                if isinstance(statement, Scalar):
                    need(statement)
        return bool(kept)

    keep(b.root)
    _drop(b.root, alive)


def _until_settled(look: Callable[[], object], alive: set[object]) -> bool:
    """Look at a loop's body again until nothing new is needed: a value of one turn may serve the next."""
    while True:
        before = len(alive)
        wanted = bool(look())
        if len(alive) == before:
            return wanted


def _drop(block: Block, alive: set[object]) -> bool:
    kept: list[object] = []
    for statement in block.statements:
        if isinstance(statement, Scalar):
            wanted = statement in alive
        elif isinstance(statement, Loop):
            wanted = _drop(statement.body, alive)
        elif isinstance(statement, Put):
            wanted = isinstance(statement.target, Port) or statement.target in alive
        else:
            wanted = statement.variable in alive
        if wanted:
            kept.append(statement)
    block.statements[:] = kept
    return bool(kept)


def _statements(block: Block) -> list[object]:
    inside: list[object] = []
    for statement in block.statements:
        inside.append(statement)
        if isinstance(statement, Loop):
            inside.extend(_statements(statement.body))
    return inside


def ports_read(block: Block) -> set[Port]:
    """The ports that the statements of a block load from."""
    return {
        one.data
        for one in _statements(block)
        if isinstance(one, Scalar) and one.op == "load" and isinstance(one.data, Port)
    }


def ports_written(block: Block) -> set[Port]:
    """The ports that the statements of a block write."""
    return {one.target for one in _statements(block) if isinstance(one, Put) and isinstance(one.target, Port)}
