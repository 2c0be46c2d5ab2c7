"""Several functions of one batch as one C file: each a check, a pass over all rows, and a pass over a few.

A function may be split on one bool of the row, `restart`, that says in which rows something rare happens (an episode
begins). All rows then run the program in which it is false, and those where it is true run, in a second pass, the
program in which it is true, for the ports that depend on it. Both are made from the one graph by putting the known
value in the place of that node, so a row has the bits that the whole graph gives. Where the second pass would read
what the first has written, the function is not split.

The functions of the compiled library, for each `Function` named NAME, on rows lo..hi-1:

    int64_t NAME_check(char *const *p, int64_t lo, int64_t hi)       0, or bits: 1 refused, 2 a fault
    int64_t NAME_checked(char *const *p, int64_t lo, int64_t hi)     NAME_check, then NAME where it gave 0
    void    NAME(char *const *p, int64_t lo, int64_t hi)
    void    NAME_many(char *const *p, int64_t lo, int64_t hi, int64_t times, const int64_t *stride)

`lo` is a multiple of TILE. `p[0]` points to the blocks, the others to ports by `Memory.numbers`. `NAME_many` runs
`times` steps; between two of them pointer k moves on by stride[k] bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from simulacrum.lower.emit import PRELUDE, Memory, kernel_text, memory_of, tables_text
from simulacrum.lower.graph import inputs_of, outputs_of
from simulacrum.lower.kernel import Kernel, lower
from simulacrum.lower.program import LANES, Port

TILE = 512  # rows between two looks at `restart`: what they touch stays in the nearest cache

_REFUSED = Port("refused", torch.bool, (), "any")


@dataclass(frozen=True)
class Function:
    """A captured function and where its inputs and outputs lie.

    `inputs` and `outputs` name a port for each tensor of the graph, in order; an output of None is dropped. `restart`
    is the port (an output, or a bool input) to split on, `refuse` the output that says which rows may not run.
    """

    name: str
    program: torch.export.ExportedProgram
    inputs: Sequence[Port]
    outputs: Sequence[Port | None]
    restart: Port | None = None
    refuse: Port | None = None


@dataclass(frozen=True)
class Library:
    """The C text, where its ports lie, and what was made of each function."""

    text: str
    memory: Memory
    kernels: dict[str, Kernel]
    split: dict[str, bool]


def make_library(functions: Sequence[Function]) -> Library:
    """The library of `functions`. Raises `LoweringError`."""
    met = [port for function in functions for port in (*function.inputs, *function.outputs) if port is not None]
    memory = memory_of(list(dict.fromkeys(met)))
    kernels: dict[str, Kernel] = {}
    texts: list[str] = []
    split: dict[str, bool] = {}
    for function in functions:
        made = _kernels(function)
        split[function.name] = "restart" in made
        kernels.update({kernel.name: kernel for kernel in made.values()})
        texts.append(tables_text(list(made.values())))
        texts.extend(kernel_text(kernel, memory, listed=part == "restart") for part, kernel in made.items())
        texts.append(_driver(function, made, memory))
    sizes = {"LANES": LANES, "TILE": TILE, "BLOCK_BYTES": memory.block_bytes, "POINTERS": len(memory.numbers) + 1}
    head = "\n".join(f"#define {name} {value}" for name, value in sizes.items())
    return Library("\n\n".join([head, PRELUDE, *texts]) + "\n", memory, kernels, split)


def _kernels(function: Function) -> dict[str, Kernel]:
    """"rows", and where there is use for them "check" and "restart"."""
    program = function.program
    inputs = [(port, node.meta["val"]) for port, node in zip(function.inputs, inputs_of(program), strict=True)]
    made: dict[str, Kernel] = {}
    if function.refuse is not None:
        outputs = [_REFUSED if port == function.refuse else port for port in function.outputs]
        made["check"] = lower(
            f"{function.name}_check_rows", program, inputs, outputs, only=[_REFUSED], faults=_REFUSED
        )
    outputs = [None if port == function.refuse else port for port in function.outputs]
    node = _node_of(function)
    if node is not None:
        common = lower(f"{function.name}_rows", program, inputs, outputs, instead={node: False})
        changed = [port for port in _depends(program, node, function) if port != function.refuse]
        rare = lower(f"{function.name}_restart", program, inputs, outputs, instead={node: True}, only=changed)
        if not rare.read & (common.written - {function.restart}):
            return {**made, "rows": common, "restart": rare}
    made["rows"] = lower(f"{function.name}_rows", program, inputs, outputs)
    return made


def _node_of(function: Function) -> str | None:
    """The name of the graph's node that `restart` is."""
    if function.restart is None:
        return None
    ports, nodes = function.inputs, inputs_of(function.program)
    if function.restart in function.outputs:
        ports, nodes = function.outputs, outputs_of(function.program)
    return nodes[list(ports).index(function.restart)].name


def _depends(program: torch.export.ExportedProgram, name: str, function: Function) -> list[Port]:
    """The output ports whose values the node bears on."""
    reached: set[Any] = set()
    for node in program.graph.nodes:
        if node.name == name or any(one in reached for one in node.all_input_nodes):
            reached.add(node)
    return [
        port
        for port, node in zip(function.outputs, outputs_of(program), strict=True)
        if port is not None and node in reached and node.name != name
    ]


def _driver(function: Function, made: dict[str, Kernel], memory: Memory) -> str:
    name = function.name
    lines: list[str] = []
    if "check" in made:
        lines.append(
            f"int64_t {name}_check(char *const *p, int64_t lo, int64_t hi)\n"
            f"{{\n  return {made['check'].name}(p, lo, hi);\n}}\n"
        )
    lines.append(f"static void {name}_tile(char *const *p, int64_t lo, int64_t hi)\n{{")
    lines.append(f"  {made['rows'].name}(p, lo, hi);")
    if "restart" in made and function.restart is not None:
        lines.append(_RESTART.format(mask=memory.numbers[function.restart], kernel=made["restart"].name))
    lines.append("}\n")
    lines.append(_DRIVER.format(name=name))
    if "check" in made:
        lines.append(_CHECKED.format(name=name))
    return "\n".join(lines)


_RESTART = """\
  const uint8_t *mask = (const uint8_t *)p[{mask}];
  int32_t list[TILE];
  int64_t count = 0, i = lo;
  for (; i + 8 <= hi; i += 8) {{
    uint64_t eight;
    __builtin_memcpy(&eight, mask + i, 8);
    if (eight)
      for (int64_t k = 0; k < 8; k++) {{ list[count] = (int32_t)(i + k); count += mask[i + k]; }}
  }}
  for (; i < hi; i++) {{ list[count] = (int32_t)i; count += mask[i]; }}
  if (count) {kernel}(p, list, count);"""

_DRIVER = """\
void {name}(char *const *p, int64_t lo, int64_t hi)
{{
  for (int64_t from = lo; from < hi; from += TILE)
    {name}_tile(p, from, from + TILE < hi ? from + TILE : hi);
}}

void {name}_many(char *const *p, int64_t lo, int64_t hi, int64_t times, const int64_t *stride)
{{
  for (int64_t from = lo; from < hi; from += TILE) {{
    char *q[POINTERS];
    for (int64_t k = 0; k < POINTERS; k++) q[k] = p[k];
    for (int64_t step = 0; step < times; step++) {{
      {name}_tile(q, from, from + TILE < hi ? from + TILE : hi);
      for (int64_t k = 0; k < POINTERS; k++) q[k] += stride[k];
    }}
  }}
}}"""

_CHECKED = """
int64_t {name}_checked(char *const *p, int64_t lo, int64_t hi)
{{
  const int64_t refused = {name}_check(p, lo, hi);
  if (!refused) {name}(p, lo, hi);
  return refused;
}}"""

__all__ = ["TILE", "Function", "Library", "make_library"]
