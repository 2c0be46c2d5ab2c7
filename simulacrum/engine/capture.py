"""One pure function, captured once as one graph of tensors for every batch size.

`torch.export` runs the function as plain Python on stand-ins for tensors, so an author's step may use any Python that
does not look at values. What comes back is the graph that every compiled form is built from: one for N >= 2 with a
symbolic N, and one for N = 1, which export treats apart. A branch on a value, or anything else that cannot be one
graph, is an error here, with the author's file and line in it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
import torch.fx.traceback
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from simulacrum.errors import CompileError

MAX_ROWS = 1 << 24


@dataclass(frozen=True)
class Graph:
    """A captured function: the exported program on flat tensors, and the shape of what it takes and gives."""

    program: torch.export.ExportedProgram
    taken: pytree.TreeSpec
    given: pytree.TreeSpec
    example: tuple[torch.Tensor, ...]

    def plain(self) -> Callable[..., Any]:
        """The graph as a function of the flat tensors alone, without export's own wrapping and checks."""
        program = self.program
        held = {**program.state_dict, **program.constants}
        fixed = [held[spec.target] for spec in program.graph_signature.input_specs if spec.target in held]
        module = program.graph_module
        return functools.partial(module, *fixed) if fixed else module


class _Flat(torch.nn.Module):
    """The function on a flat list of tensors; notes the structure of what it returned in `given`."""

    def __init__(self, function: Callable[..., Any], taken: pytree.TreeSpec, given: list[pytree.TreeSpec]) -> None:
        super().__init__()
        self.function, self.taken = function, taken
        self.note = given.append  # export puts a module's own attributes back as they were; a list outside stays

    def forward(self, *flat: torch.Tensor) -> tuple[Any, ...]:
        """The leaves of what the function returns for its arguments, given as leaves too."""
        with _NotingPlaces():
            result = self.function(*pytree.tree_unflatten(list(flat), self.taken))
        leaves, given = pytree.tree_flatten(result)
        self.note(given)
        return tuple(leaves)


class _NotingPlaces(TorchFunctionMode):
    """Notes on each node of the graph, as `meta["custom"]["where"]`, the line of somebody's fast.py that it came from.

    Newer versions of torch keep no frames of a plain function in `meta["stack_trace"]`; older ones have no notes.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        note = getattr(torch.fx.traceback, "annotate", None)
        # CPython's own, and documented.
        where = next(authors_lines(sys._getframe(1)), None)  # pyright: ignore[reportPrivateUsage]
        if note is None or where is None:
            return func(*args, **(kwargs or {}))
        with note({"where": f"{where[0]}:{where[1]}"}):
            return func(*args, **(kwargs or {}))


def authors_lines(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    """File and line of each frame that lies in somebody's fast.py, from `frame` outwards."""
    while frame is not None:
        if frame.f_code.co_filename.endswith("fast.py"):
            yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


def capture(function: Callable[..., Any], args: tuple[Any, ...]) -> Graph:
    """The graph of `function(*args)`; every tensor of `args` has a leading `[N]`, all the same N, or no dimension.

    Raises:
        CompileError: the function looks at values, or does something that cannot be part of one graph.
    """
    flat, taken = pytree.tree_flatten(args)
    # Export merges two inputs that are one tensor object, silently. Each input gets memory of its own.
    example = tuple(tensor.detach().clone(memory_format=torch.contiguous_format) for tensor in flat)
    rows = example[0].shape[0]
    given: list[pytree.TreeSpec] = []
    module = _Flat(function, taken, given)
    shapes = None
    if rows > 1:
        batch = torch.export.Dim("N", min=2, max=MAX_ROWS)
        shapes = (tuple({0: batch} if tensor.dim() else {} for tensor in example),)
    try:
        with torch.no_grad(), torch.fx.traceback.preserve_node_meta():
            program = torch.export.export(module, example, dynamic_shapes=shapes, strict=False)
        _refuse_values(program)
    except Exception as error:
        raise CompileError(
            "the step cannot be captured as one graph",
            expected="a pure function of tensors: no `if` on a value, no .item(), the same operations for every N",
            found=f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}",
            where=_author_line(error),
            next_step="use torch.where in place of a branch, then run the battery again",
        ) from error
    return Graph(program, taken, given[-1], example)


def _refuse_values(program: torch.export.ExportedProgram) -> None:
    """Raise for operations that read a value into Python or into a shape: each would wait for the device."""
    for node in program.graph.nodes:
        if node.meta.get("unbacked_bindings"):
            lines = str(node.meta.get("stack_trace") or "").strip().splitlines()
            raise RuntimeError(f"{node.target} reads a value: {' '.join(line.strip() for line in lines[-2:])}")


def _author_line(error: BaseException) -> str | None:
    """The innermost frame of the traceback that lies in somebody's fast.py."""
    place, trace = None, error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if filename.endswith("fast.py"):
            place = f"{filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
