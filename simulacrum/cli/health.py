"""What there is on this machine, and what of it will fail or be slow. Looks only; changes nothing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXTRAS = {
    "stable_baselines3": "sb3",
    "tensorboard": "train",
    "matplotlib": "plots",
    "tyro": "train",
    "pillow": "video",
}
CORE = ("torch", "numpy", "gymnasium", "jsonschema", "rich", "typer")


@dataclass(frozen=True)
class Finding:
    """`level` is "problem" (something will fail), "slow" or "note"; `mend` says what to do about it."""

    level: str
    topic: str
    text: str
    mend: str


def version_of(distribution: str) -> str | None:
    """The installed version of a distribution, None where it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """Versions of Python, simulacrum, its libraries and the optional ones."""
    import simulacrum

    found: dict[str, str | None] = {"simulacrum": simulacrum.__version__, "python": platform.python_version()}
    found |= {name: version_of(name) for name in (*CORE, *EXTRAS)}
    return found


def machine() -> dict[str, Any]:
    """System, processor, the cores that this process may use, and how busy they are."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cores": cores,
        "load": None if load is None else round(load, 1),
    }


def native() -> dict[str, Any]:
    """What builds the native form, and for which processor; "compiler" is None where nothing does."""
    from simulacrum.lower.compiler import CHOICE, find_compiler, processor

    found = find_compiler()
    return {
        "compiler": None if found is None else found.title,
        "processor": processor(),
        "chosen": os.environ.get(CHOICE),
    }


def compiler() -> dict[str, Any]:
    """The C++ compiler that torch.compile would call, and the headers that it needs. Imports torch."""
    from simulacrum.engine.forms import cpp_compiler

    path = cpp_compiler()
    include = Path(sysconfig.get_path("include"))
    return {
        "path": path,
        "version": None if path is None else _first_line([path, "--version"]),
        "python_headers": (include / "Python.h").is_file(),
        "include": str(include),
    }


def _first_line(words: list[str]) -> str | None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.splitlines()
    return lines[0] if done.returncode == 0 and lines else None


def torch_facts() -> dict[str, Any]:
    """Devices, threads and CPU kernels, as torch sees them; {"error": ...} where it cannot be imported."""
    before = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    try:
        import torch
    except Exception as error:  # a broken install raises whatever it likes: that is what the doctor is asked about
        return {"error": f"{type(error).__name__}: {error}", "devices": [], "variables": before}
    devices = ["cpu"]
    if torch.cuda.is_available():
        devices += [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())]
    return {
        "error": None,
        "devices": devices,
        "cpu_capability": str(torch.backends.cpu.get_cpu_capability()),
        "threads": torch.get_num_threads(),
        "variables": before,
    }


def folders() -> dict[str, dict[str, Any]]:
    """Where things are kept: torch's compiled code, reports of read-only installs. Nothing is created."""
    from simulacrum.attest.report import state_folder

    user = os.environ.get("USER") or os.environ.get("LOGNAME") or str(os.getuid() if hasattr(os, "getuid") else "")
    default = Path(tempfile.gettempdir()) / f"torchinductor_{user}"
    compiled = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR") or default)
    return {"compiled code": _folder(compiled, runs=True), "state": _folder(state_folder())}


def _folder(path: Path, *, runs: bool = False) -> dict[str, Any]:
    standing = path
    while not standing.exists() and standing != standing.parent:
        standing = standing.parent
    flags = os.statvfs(standing).f_flag if hasattr(os, "statvfs") else 0
    return {
        "path": str(path),
        "exists": path.exists(),
        "writable": os.access(standing, os.W_OK | os.X_OK),
        "executable": not (runs and flags & getattr(os, "ST_NOEXEC", 0)),
    }


def in_virtual_environment() -> bool:
    """Whether this Python is one of a virtual environment."""
    return sys.prefix != sys.base_prefix
