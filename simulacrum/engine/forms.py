"""The forms a pure step can be built in: eager, or compiled. One table, so that another form is one more row.

A form takes the pure function of the engine and gives a callable with the same bits, as the battery's
`benchmark_factory_parity` demands for every form that is ever handed out.
"""

from __future__ import annotations

import functools
import os
import shutil
import warnings
from collections.abc import Callable
from typing import Any

import torch

from simulacrum.errors import CompileError, UsageError

PureFunction = Callable[..., Any]

# What keeps Inductor's arithmetic that of eager torch on CPU: no contraction to fused multiply-add and no unsafe
# math. They are the defaults of recent versions; a promise about bits does not rest on defaults.
INDUCTOR_OPTIONS: dict[str, Any] = {
    "cpp.enable_floating_point_contract_flag": "off",
    "cpp.enable_unsafe_math_opt_flag": False,
    "cpp.threads": 1,
    "emulate_precision_casts": True,
}


class CompilerWarning(UserWarning):
    """A compiled form was asked for and cannot be built here; the eager form is used."""


def eager(function: PureFunction) -> PureFunction:
    """The function itself."""
    return function


def inductor(function: PureFunction) -> PureFunction:
    """One graph through torch.compile: a graph break is an error, and a new batch size is a new graph.

    The first call compiles (seconds to a minute); later processes find the result in torch's cache.
    """
    options = {key: value for key, value in INDUCTOR_OPTIONS.items() if _known_option(key)}
    return torch.compile(function, fullgraph=True, dynamic=False, options=options)


def _known_option(key: str) -> bool:
    import torch._inductor.config as config

    return key in config._config  # type: ignore[attr-defined]  # the only list of names torch keeps


FORMS: dict[str, Callable[[PureFunction], PureFunction]] = {"eager": eager, "inductor": inductor}


@functools.lru_cache(maxsize=None)
def cpp_compiler() -> str | None:
    """The C++ compiler that Inductor would call on this machine, or None."""
    names = [os.environ.get("CXX"), "g++", "clang++", "c++"]
    return next((found for name in names if name and (found := shutil.which(name))), None)


def resolve_form(compile: Any, device: torch.device, *, warn: bool = True) -> str:
    """The name of the form that `compile=` asks for, as it can be built here.

    Args:
        compile: False or "eager"; True or "inductor".
        device: where the rows live.
        warn: say so once when a compiled form falls back to eager.

    Raises:
        UsageError: no form of that name.
    """
    name = {False: "eager", True: "inductor", None: "eager"}.get(compile, compile) if not isinstance(compile, str) else compile
    if name not in FORMS:
        raise UsageError(
            f"unknown form compile={compile!r}", expected=f"False or one of {sorted(FORMS)}", found=repr(compile),
            where="compile=",
        )
    if name == "inductor" and device.type == "cpu" and cpp_compiler() is None:
        if warn:
            warnings.warn(
                "no C++ compiler was found (looked for $CXX, g++, clang++, c++), so the eager form is used. It gives "
                "the same bits, slower. Install one (on Debian: apt install g++) or pass compile=False.",
                CompilerWarning,
                stacklevel=3,
            )
        return "eager"
    return name


def build(form: str, function: PureFunction) -> PureFunction:
    """`function` in the named form. `CompileError` when the name is unknown."""
    if form not in FORMS:
        raise CompileError(f"unknown form {form!r}", expected=sorted(FORMS), found=form)
    return FORMS[form](function)
