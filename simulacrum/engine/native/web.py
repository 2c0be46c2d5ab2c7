"""The native form as a WebAssembly module, of the same C as the binary, and what steps it in JavaScript."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulacrum.contract.fields import Field
from simulacrum.engine.native.binary import described, said
from simulacrum.engine.native.graphs import functions
from simulacrum.lower.compiler import zig_compiler
from simulacrum.lower.library import make_library
from simulacrum.lower.program import LANES
from simulacrum.lower.wasm import compile_module, stack_bytes

FORMAT = 1  # of what a module says of itself; the loader reads this one
LOADER = Path(__file__).with_name("simulacrum.js")
EXPORTS = ("reset", "next_step_checked", "same_step_checked", "simulacrum_about")


@dataclass(frozen=True)
class Module:
    """What was written: `wasm`, the module of one package, and `loader`, the same for every module."""

    wasm: Path
    loader: Path
    about: Mapping[str, Any]


def build_module(core: Any, folder: Path, *, validated: bool = False) -> Module:
    """Capture, lower and compile a core for WebAssembly.

    Args:
        core: the engine's core of the package.
        folder: where the two files are put, in place of any of the same names; made where it is missing.
        validated: what the module says of its package.

    Raises:
        LoweringError: an operation cannot be lowered; it names file, line and rule.
        CompileError: no compiler, or it failed, or a step is not one graph.
        OSError: the folder cannot be written.
    """
    captured = functions(core)
    library = make_library(captured)
    about = {**described(core, captured, library), **_told(core.schema), "validated": validated}
    folder.mkdir(parents=True, exist_ok=True)
    wasm, loader = folder / f"{core.schema.name}.wasm", folder / LOADER.name
    compile_module(f"{library.text}\n{said(about)}", wasm, exports=EXPORTS, stack=stack_bytes(library))
    wasm.chmod(0o644)  # it is data to whoever serves it
    loader.write_bytes(LOADER.read_bytes())
    return Module(wasm, loader, about)


def _told(schema: Any) -> dict[str, Any]:
    """What a caller without the schema has to know of it."""
    return {
        "format": FORMAT,
        "compiler": getattr(zig_compiler(), "title", None),
        "lanes": LANES,
        "max_episode_steps": schema.max_episode_steps,
        "action": {f"action.{name}" if name else "action": _bounds(field) for name, field in schema.action.items()},
        "observation": {name: _bounds(field) for name, field in schema.observation.items()},
        "params": {name: {**_bounds(one.field), "default": one.default} for name, one in schema.params.items()},
    }


def _bounds(field: Field) -> dict[str, Any]:
    told = {"dtype": field.dtype, "shape": list(field.shape), "low": _plain(field.low), "high": _plain(field.high)}
    return told if field.space is None else {**told, "space": field.space}


def _plain(bound: Any) -> Any:
    """A bound as JSON has it, None where there is none."""
    if isinstance(bound, tuple):
        return [_plain(one) for one in bound]
    return None if isinstance(bound, float) and not math.isfinite(bound) else bound
