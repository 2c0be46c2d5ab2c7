"""C text to a WebAssembly module: a target without an operating system, a C library or a fused multiply-add.

Every operation has a WebAssembly instruction of the same bits, roundings and square roots too; copies of memory become
`memory.copy`. Only the bits of a NaN are left open, as they are everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulacrum.errors import CompileError
from simulacrum.lower.compiler import run_compiler, zig_compiler
from simulacrum.lower.emit import stack_of
from simulacrum.lower.library import Library

# Vectors have 128 bits: four rows at a time. Wider ones would be split, into larger code that is no faster. What a few
# rows do, when an episode begins, is most of the code, and it is kept small.
FLAGS = (
    *("-target", "wasm32-freestanding", "-mcpu=generic+simd128+bulk_memory", "-nostdlib", "-g0"),
    *("-O3", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    '-DLOOP_OVER_ROWS=_Pragma("clang loop vectorize(assume_safety) vectorize_width(4) interleave(disable)")',
    '-DLOOP_OVER_LIST=_Pragma("clang loop vectorize(disable) interleave(disable)")',
)
# The linker puts the stack first, so that running out of it is an error and never writes over anything.
LINKING = ("--no-entry", "--strip-all", "--export=__heap_base")
_SPARE = 65_536  # bytes of stack for whatever is not counted


def stack_bytes(library: Library) -> int:
    """Enough stack for any function of the library."""
    needed = [
        stack_of(kernel, library.memory, listed=kernel.name.endswith("_restart")) for kernel in library.kernels.values()
    ]
    return -(-(max(needed, default=0) + _SPARE) // _SPARE) * _SPARE


def compile_module(text: str, target: Path, *, exports: Sequence[str], stack: int) -> list[str]:
    """Compile C text into the module `target`; returns the flags that were used.

    Args:
        text: of a `Library`, and what else is to be in it.
        target: the file to write.
        exports: the functions and data that can be reached from outside; beside them "memory" and "__heap_base".
        stack: its size in bytes.

    Raises:
        CompileError: the package ziglang is not there, or the compiler failed.
    """
    compiler = zig_compiler()
    if compiler is None:
        raise CompileError(
            "a WebAssembly module needs the compiler of the package ziglang",
            expected="ziglang",
            found="not installed",
            next_step="pip install ziglang",
        )
    linking = [*LINKING, f"-z,stack-size={stack}", *(f"--export={name}" for name in exports)]
    flags = [*FLAGS, *(f"-Wl,{flag}" for flag in linking)]
    command = [*compiler.command, *flags, "-o", str(target), "-x", "c", "-"]
    run_compiler(
        command,
        target,
        expected="a WebAssembly module",
        where=target,
        next_step="run `simulacrum doctor`, and report what it prints with this message",
        text=text,
    )
    return flags
