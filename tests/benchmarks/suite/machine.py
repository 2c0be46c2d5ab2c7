"""What the machine is, so that figures can be told apart: processor, flags, caches, load, versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

PACKAGES = ("simulacrum", "torch", "numpy", "gymnasium", "ziglang")
# Flags that decide what code a compiler writes for loops like these.
TELLING = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512vl", "avx512bw", "avx512dq", "asimd", "sve")


def describe() -> dict[str, Any]:
    """The machine and the software, as JSON."""
    flags = _cpuinfo("flags") or _cpuinfo("Features")
    return {
        "cpu": _cpuinfo("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "flags": [flag for flag in TELLING if flag in flags.split()],
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "cores": os.cpu_count(),
        "caches": dict(_caches()),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "load": load(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def load() -> list[float]:
    """Processes that want a core, averaged over 1, 5 and 15 minutes; [] where the system does not say."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else []


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpuinfo(key: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")


def _caches() -> Iterable[tuple[str, str]]:
    """Data caches of the first core: ("L1d", "48K"), ..."""
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / part).read_text().strip() for part in ("level", "type", "size"))
        if kind != "Instruction":
            yield f"L{level}{'d' if kind == 'Data' else ''}", size
