"""The native form of a package as one file: made from its core, or loaded again, never both in one call.

The file says itself what it is: a JSON text in it lists the ports in the order of the pointers, and what the compiler
and the processor were. So a training process loads one file and captures, lowers and compiles nothing.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from simulacrum.engine.native.graphs import functions
from simulacrum.errors import CompileError
from simulacrum.lower.compiler import ENDINGS, compile_library, find_compiler, processor
from simulacrum.lower.library import TILE, Function, Library, make_library
from simulacrum.lower.program import Port

FORMAT = 1
_WORDS = ctypes.c_void_p  # an array of pointers


@dataclass(frozen=True)
class Binary:
    """A loaded library. `about` is what the file says of itself; `sha256` the hash of its bytes.

    `at` gives a port of the arena its place in bytes in a block, and any other its place in the array of pointers, of
    which the first is the arena's.
    """

    path: Path
    sha256: str
    about: Mapping[str, Any]
    ports: Mapping[str, Port]
    at: Mapping[str, int]
    library: ctypes.CDLL

    def function(self, name: str) -> Any:
        """`void name(p, lo, hi)`."""
        return self._typed(name, None)

    def check(self, name: str) -> Any:
        """`int64 name_check(p, lo, hi)`: 0, or bits: 1 an illegal action, 2 a fault."""
        return self._typed(f"{name}_check", ctypes.c_int64)

    def checked(self, name: str) -> Any:
        """`int64 name_checked(p, lo, hi)`: the check, and where it gives 0 the function."""
        return self._typed(f"{name}_checked", ctypes.c_int64)

    def many(self, name: str) -> Any:
        """`void name_many(p, lo, hi, times, stride)`."""
        function = getattr(self.library, f"{name}_many")
        function.argtypes = [_WORDS, *[ctypes.c_int64] * 3, ctypes.c_void_p]
        function.restype = None
        return function

    def _typed(self, name: str, result: Any) -> Any:
        function = getattr(self.library, name)
        function.argtypes = [_WORDS, ctypes.c_int64, ctypes.c_int64]
        function.restype = result
        return function


def build(core: Any, folder: Path | None = None) -> Binary:
    """Capture, lower and compile the native form of a core.

    Args:
        core: the engine's core of the package; with and without a time limit it is the same binary.
        folder: where the file is put; a temporary one, removed with the binary, by default.

    Raises:
        LoweringError: an operation cannot be lowered; it names file, line and rule.
        CompileError: no compiler, or it failed, or a step is not one graph.
    """
    captured = functions(core)
    library = make_library(captured)
    about = {
        "format": FORMAT,
        "processor": processor(),
        "compiler": getattr(find_compiler(), "title", None),
        "split": library.split,
        **described(core, captured, library),
    }
    kept = None if folder is not None else tempfile.TemporaryDirectory(prefix="simulacrum-native-")
    place = Path(kept.name) if kept is not None else folder
    assert place is not None
    import platform

    target = place / f"native{ENDINGS.get(platform.system(), '.so')}"
    compile_library(f"{library.text}\n{said(about)}", target)
    made = load(target)
    if kept is not None:
        weakref.finalize(made, kept.cleanup)
    return made


def described(core: Any, captured: Sequence[Function], library: Library) -> dict[str, Any]:
    """What a caller of a library has to know, as JSON values: where each tensor lies, and what is shown."""
    memory = library.memory
    return {
        "env": core.schema.id,
        "tile": TILE,
        "shown": {
            one.name: [port.name for port in one.outputs if port is not None and port.name.startswith("out.")]
            for one in captured
        },
        "block_bytes": memory.block_bytes,
        "ports": [
            {
                "name": port.name,
                "dtype": str(port.dtype).removeprefix("torch."),
                "shape": list(port.shape),
                "layout": port.layout,
                "at": memory.numbers.get(port, memory.starts.get(port)),
            }
            for port in (*memory.starts, *memory.numbers)
        ],
    }


def said(about: Mapping[str, Any]) -> str:
    """The C text of the JSON that a library says of itself."""
    text = json.dumps(about, sort_keys=True)
    quoted = json.dumps(text)  # a C string literal is quoted as a JSON string of ASCII is
    return f"const char simulacrum_about[] = {quoted};\n"


def load(path: Path, sha256: str | None = None) -> Binary:
    """The library in a file.

    Args:
        sha256: what the bytes must hash to. They are compared before anything of the file is run.

    Raises:
        CompileError: it cannot be read, has another hash, was built for another processor, or is no such library.
    """
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise _refused("the native form cannot be read", path, found=error.strerror or str(error)) from error
    if sha256 is not None and found != sha256:
        raise _refused("the native form is not the one that was validated", path, expected=sha256, found=found)
    try:
        library = ctypes.CDLL(str(path))
        text = ctypes.c_char_p(ctypes.addressof(ctypes.c_char.in_dll(library, "simulacrum_about"))).value
        about: dict[str, Any] = json.loads(text or b"")
    except (OSError, ValueError) as error:
        raise _refused("the native form cannot be loaded", path, found=str(error)) from error
    if (about.get("format"), about.get("processor")) != (FORMAT, processor()):
        raise _refused(
            "the native form was built for another processor, or by another version",
            path,
            expected=f"format {FORMAT}, {processor()}",
            found=f"format {about.get('format')}, {about.get('processor')}",
        )
    ports = {
        one["name"]: Port(one["name"], getattr(torch, one["dtype"]), tuple(one["shape"]), one["layout"])
        for one in about["ports"]
    }
    return Binary(path, found, about, ports, {one["name"]: one["at"] for one in about["ports"]}, library)


def _refused(message: str, path: Path, *, expected: Any = None, found: Any = None) -> CompileError:
    return CompileError(
        message, expected=expected, found=found, where=path, next_step="validate the environment again: it is rebuilt"
    )
