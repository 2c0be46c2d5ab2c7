"""C text to a shared library: which compiler, with which flags, for which processor."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simulacrum.errors import CompileError

# No contraction to fused multiply-add, and integers wrap: what keeps the bits of torch. The rest is speed.
FLAGS = ("-O3", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC", "-g0")
CHOICE = "SIMULACRUM_CC"  # names a compiler of the system: "clang", "gcc -m64"
ENDINGS = {"Linux": ".so", "Darwin": ".dylib", "Windows": ".dll"}


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C, and its name and version as reports state them."""

    command: tuple[str, ...]
    title: str


@functools.cache
def find_compiler() -> Compiler | None:
    """The clang of the `ziglang` package, or what the variable SIMULACRUM_CC names; None where there is neither."""
    chosen = shlex.split(os.environ.get(CHOICE, ""))
    if chosen:
        if shutil.which(chosen[0]) is None:
            return None
        said = subprocess.run([*chosen, "--version"], capture_output=True, text=True, check=False).stdout
        return Compiler(tuple(chosen), (said.splitlines() or [chosen[0]])[0])
    return zig_compiler()


def zig_compiler() -> Compiler | None:
    """The clang of the `ziglang` package, or None."""
    if importlib.util.find_spec("ziglang") is None:
        return None
    version = importlib.metadata.version("ziglang")
    return Compiler((sys.executable, "-m", "ziglang", "cc"), f"clang of ziglang {version}")


def target_flags() -> tuple[str, ...]:
    """Flags for the processor at hand; vectors as wide as it has them."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return ("-march=native", "-mprefer-vector-width=512")
    return ("-mcpu=native",)


@functools.cache
def processor() -> str:
    """The processor's model and a hash of its instruction sets: code built on one is loaded only on an equal one."""
    model, flags = platform.processor() or platform.machine(), ""
    if sys.platform == "darwin":
        said = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=False)
        model = said.stdout.strip() or model
    else:
        lines = _read("/proc/cpuinfo").splitlines()
        facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        model = facts.get("model name", model)
        flags = " ".join(sorted(facts.get("flags", facts.get("Features", "")).split()))
    return f"{model} ({platform.machine()}, {hashlib.sha256(flags.encode()).hexdigest()[:12]})"


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def compile_library(text: str, target: Path) -> list[str]:
    """Compile C text into the shared library `target`; returns the flags that were used.

    Raises:
        CompileError: no compiler, or it failed.
    """
    compiler = find_compiler()
    if compiler is None:
        raise CompileError(
            "the native form needs a C compiler",
            expected=f"the package ziglang, or a compiler named in {CHOICE}",
            found=os.environ.get(CHOICE) or "neither",
            next_step="pip install ziglang, or pass compile=False: the eager form gives the same bits",
        )
    flags = [*FLAGS, *target_flags()]
    source = target.with_suffix(".c")
    source.write_text(text)
    run_compiler(
        [*compiler.command, *flags, "-o", str(target), str(source), "-lm"],
        target,
        expected="a shared library",
        where=source,
        next_step="run `simulacrum doctor`, or pass compile=False: the eager form gives the same bits",
    )
    return flags


def run_compiler(
    command: Sequence[str], target: Path, *, expected: str, where: Path, next_step: str, text: str | None = None
) -> None:
    """Run a compiler that is to write `target`, `text` being its standard input.

    Raises:
        CompileError: it failed; with the beginning of what it said.
    """
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not target.exists():
        raise CompileError(
            "the C compiler failed",
            expected=expected,
            found=(done.stderr or done.stdout).strip()[:400],
            where=str(where),
            next_step=next_step,
        )
