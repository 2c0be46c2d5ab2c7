"""WebAssembly modules: of the batched twin as it is in the repository, and of each planted fault.

All are built by `simulacrum.engine.native.web`, as `simulacrum build-wasm` builds them. A module whose sources have not
changed since it was built is taken from the cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from builder import groups
from builder.faults import ENV, FAULTS, ROOT, Fault, copy_env
from simulacrum.attest.gate import gate_state
from simulacrum.contract.package import load_package
from simulacrum.engine import boundary
from simulacrum.engine.native import web

CACHE = ROOT / "build" / "article-cache"


def build_modules(out: Path, cache: Path = CACHE, *, say: Any = print) -> dict[str, Path]:
    """Every module of the article, by name ("toywalk" is the true one), as files in `out`."""
    out.mkdir(parents=True, exist_ok=True)
    made = {ENV: _cached(None, ENV, 0, cache, say)}
    for fault in FAULTS:
        made.update({name: _cached(fault, name, size, cache, say) for name, size in fault.modules})
    return {name: Path(shutil.copy(path, out / f"{name}.wasm")) for name, path in made.items()}


def build_module(fault: Fault | None, size: int, folder: Path) -> web.Module:
    """One module: of the twin as it is (`fault` None), or with the fault planted; `size` rows a group, 0 for rows."""
    if fault is None:
        package = load_package(ROOT / "envs" / ENV)
        core = boundary.core_of(package, package.schema.max_episode_steps)
        return web.build_module(core, folder, validated=gate_state(package).fresh)
    core = mutated_core(fault, folder)
    if not size:
        return web.build_module(core, folder)
    with mock.patch.object(web, "functions", groups.functions):
        return web.build_module(groups.GroupCore(core, size), folder)


def mutated_core(fault: Fault, folder: Path) -> Any:
    """The engine's core of the environment with the fault in it; a changed copy of it is put into `folder`."""
    package = load_package(copy_env(ENV, folder, fault.mutant.edits))
    kind = boundary.Core if not fault.mutant.in_framework else _mutated_boundary(fault).Core
    return kind(package.fast(), package.schema.max_episode_steps)


def _mutated_boundary(fault: Fault) -> types.ModuleType:
    """`engine/boundary.py` with its edits, as another module beside the true one."""
    (edit,) = fault.mutant.edits
    path = ROOT / edit.file
    text = path.read_text("utf-8")
    assert text.count(edit.old) == 1, f"{edit.file} holds {text.count(edit.old)} times: {edit.old!r}"
    module = types.ModuleType(f"simulacrum.engine.boundary_{fault.key}")
    sys.modules[module.__name__] = module  # annotations of its classes are looked up there
    exec(compile(text.replace(edit.old, edit.new), str(path), "exec"), module.__dict__)
    return module


def _cached(fault: Fault | None, name: str, size: int, cache: Path, say: Any) -> Path:
    key = _key(fault, size)
    path = cache / f"{name}-{key}.wasm"
    if not path.exists():
        say(f"building {name}.wasm")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            module = build_module(fault, size, Path(folder))
            # Whole or not at all: two processes may build the same module.
            beside = shutil.copy(module.wasm, cache / f"{path.name}.{os.getpid()}")
            os.replace(beside, path)
    return path


def _key(fault: Fault | None, size: int) -> str:
    """A hash of everything that a module is made of."""
    told = {"size": size, "fresh": fault is None and gate_state(load_package(ROOT / "envs" / ENV)).fresh}
    told["edits"] = [] if fault is None else [[e.file, e.old, e.new] for e in fault.mutant.edits]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for path in _sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    rooms = ("portable", "rng", "lower", "contract", "twin", "engine")
    for folder in (*(ROOT / "simulacrum" / room for room in rooms), ROOT / "envs" / ENV):
        yield from sorted(path for path in folder.rglob("*.py"))
    yield ROOT / "envs" / ENV / "schema.json"
    yield Path(groups.__file__)
