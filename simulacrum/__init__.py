"""Fast batched RL environments that are provably the same as the ones you can read.

Importing this package is cheap: it imports no torch, no NumPy and no Gymnasium. Its environments are
registered with Gymnasium at once where that is imported, else as soon as it is; every public name below is
loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simulacrum.imports import after_import

if TYPE_CHECKING:
    from simulacrum import errors
    from simulacrum.attest.gate import require_fresh_report
    from simulacrum.attest.provenance import provenance, require_same_env
    from simulacrum.contract.package import load_package
    from simulacrum.engine.vector import SimulacrumVectorEnv
    from simulacrum.registry import register_envs
    from simulacrum.twin.batched import BatchedEnv
    from simulacrum.twin.invariant import invariant
    from simulacrum.twin.reference import ReferenceEnv

    __version__: str

__all__ = [
    "BatchedEnv",
    "ReferenceEnv",
    "SimulacrumVectorEnv",
    "__version__",
    "errors",
    "invariant",
    "load_package",
    "provenance",
    "register_envs",
    "require_fresh_report",
    "require_same_env",
]

_HOMES = {
    "BatchedEnv": "simulacrum.twin.batched",
    "ReferenceEnv": "simulacrum.twin.reference",
    "SimulacrumVectorEnv": "simulacrum.engine.vector",
    "invariant": "simulacrum.twin.invariant",
    "load_package": "simulacrum.contract.package",
    "provenance": "simulacrum.attest.provenance",
    "register_envs": "simulacrum.registry",
    "require_fresh_report": "simulacrum.attest.gate",
    "require_same_env": "simulacrum.attest.provenance",
}


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("simulacrum.errors")
    if name == "__version__":
        value = _version()
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'simulacrum' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("simulacrum")
    except PackageNotFoundError:  # a checkout on the path that nobody installed
        return "0+unknown"


def _register() -> None:
    importlib.import_module("simulacrum.registry").register_envs()


after_import("gymnasium", _register)
