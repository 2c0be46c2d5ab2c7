"""The peers' virtual environments: .venv-bench/NAME, made on request with the versions of peers/pins.json.

    python tests/benchmarks/suite/venvs.py envpool numba

A stamp with the pins is written last, so that an interrupted set-up starts again and changed pins make a new one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".venv-bench"
PINS: dict[str, list[str]] = json.loads((Path(__file__).parent / "peers" / "pins.json").read_text(encoding="utf-8"))
# Libraries that are not measured: their vector environments are held to the contract (../judge_strangers.py).
STRANGERS: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "peers" / "strangers.json").read_text(encoding="utf-8")
)
# Trainers (../training.py), of which only the environment that they train in is measured by bench.py.
TRAINERS: dict[str, list[str]] = {"purejaxrl": [*PINS["gymnax"], "optax==0.2.8", "distrax==0.1.9"]}
# Ports that are held to what they port (tests/ports) and not measured.
PORTS: dict[str, list[str]] = {"navix": ["navix==0.7.4", "jax==0.10.2", "jaxlib==0.10.2"]}
# PufferLib is not installed but taken apart: its source package asks for torch and for downloads from elsewhere, which
# one extension module needs none of.
PUFFERLIB = "3.0.0"
PUFFERLIB_FLAGS = ["-O3", "-march=native", "-fwrapv"]


def python_of(name: str) -> Path:
    """The interpreter of a peer's virtual environment; it may not exist."""
    return FOLDER / name / "bin" / "python"


def environment_of(name: str) -> dict[str, str]:
    """Environment variables that a peer's worker reads."""
    flags = f"zig cc {' '.join(PUFFERLIB_FLAGS)}"
    return {"PEER_VERSION": f"pufferlib {PUFFERLIB}", "PEER_FLAGS": flags} if name == "pufferlib" else {}


def ready(name: str) -> bool:
    """Whether the peer is set up with the pins of now."""
    stamp = FOLDER / name / "pins.json"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == _stamp(name)


def _stamp(name: str) -> str:
    pins = _pins(name)
    return json.dumps([*pins, PUFFERLIB, *PUFFERLIB_FLAGS] if name == "pufferlib" else pins)


def _pins(name: str) -> list[str]:
    return {**STRANGERS, **TRAINERS, **PORTS, **PINS}[name]


def ensure(names: Sequence[str], say: Callable[[str], None] = print) -> dict[str, str]:
    """Set the named peers up where they are not; returns why, by name, for those that could not be."""
    failed: dict[str, str] = {}
    for name in names:
        if name not in {*PINS, *STRANGERS, *TRAINERS, *PORTS}:
            raise SystemExit(f"unknown peer {name!r}: known are {', '.join(PINS)} (Gymnasium is always there)")
        if ready(name):
            continue
        say(f"setting up {name} in {FOLDER.name}/{name}: {', '.join(_pins(name))}")
        try:
            _make(name)
        except (subprocess.CalledProcessError, OSError) as error:
            output = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
            told = next((line.strip() for line in output if "rror:" in line), output[-1] if output else str(error))
            failed[name] = f"could not be set up: {told}"
            say(f"{name} {failed[name]}")
    return failed


def _make(name: str) -> None:
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    _run([sys.executable, "-m", "venv", str(folder)])
    _run([str(python_of(name)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_pins(name)])
    if name == "pufferlib":
        _build_pufferlib(folder)
    (folder / "pins.json").write_text(_stamp(name), encoding="utf-8")


def _run(command: list[str], **more: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **more})
    return done.stdout


def _build_pufferlib(folder: Path) -> None:
    """The extension of its cartpole, from the source package, into the virtual environment's packages."""
    python = str(python_of("pufferlib"))
    with tempfile.TemporaryDirectory() as work:
        # Its set-up script fails without torch and without the network, and pip then keeps nothing unless told to.
        fetch = ["download", "--quiet", "--no-clean", "--no-deps", "--no-build-isolation", "--no-binary", "pufferlib"]
        command = [python, "-m", "pip", *fetch, "-d", work, f"pufferlib=={PUFFERLIB}"]
        subprocess.run(command, capture_output=True, check=False, env={**os.environ, "TMPDIR": work})
        binding = next(Path(work).rglob("ocean/cartpole/binding.c"), None)
        if binding is None:
            raise OSError("pip brought no source package of pufferlib")
        source = binding.parents[3]
        ask = "import numpy, site; print(numpy.get_include()); print(site.getsitepackages()[0])"
        include, packages = _run([python, "-c", ask]).split()
        library = Path(packages) / f"binding{sysconfig.get_config_var('EXT_SUFFIX')}"
        raylib = next(source.glob("raylib-*linux*"))  # it draws; nothing here calls it, but its names must be there
        includes = [f"-I{path}" for path in (include, sysconfig.get_paths()["include"], raylib / "include")]
        flags = [*PUFFERLIB_FLAGS, "-DPLATFORM_DESKTOP", "-w", "-shared", "-fPIC", *includes]
        linked = [str(binding), str(raylib / "lib" / "libraylib.a"), "-lm", "-lpthread", "-ldl"]
        _run([sys.executable, "-m", "ziglang", "cc", *flags, "-o", str(library), *linked])
        _run([python, "-c", "import binding"])


if __name__ == "__main__":
    sys.exit(1 if ensure(sys.argv[1:] or list(PINS)) else 0)
