"""The forms a pure step can be built in: eager, or compiled. One table, so that another form is one more row.

A form takes the pure function of the engine and gives a callable with the same bits, as the battery's
`benchmark_factory_parity` demands for every form that is ever handed out.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from simulacrum.engine.capture import MAX_ROWS, Graph, capture
from simulacrum.errors import CompileError, UsageError
from simulacrum.lower.compiler import find_compiler

PureFunction = Callable[..., Any]

# What keeps Inductor's arithmetic that of eager torch on CPU: no contraction to fused multiply-add and no unsafe
# math. They are the defaults of recent versions; a promise about bits does not rest on defaults.
INDUCTOR_OPTIONS: dict[str, Any] = {
    "cpp.enable_floating_point_contract_flag": "off",
    "cpp.enable_unsafe_math_opt_flag": False,
    "cpp.threads": 1,
    "emulate_precision_casts": True,
    # An intermediate result used twice is otherwise written out twice, nested: the portable functions then take
    # minutes to compile instead of seconds. The loops and their bits stay the same.
    "realize_opcount_threshold": 8,
}


class CompilerWarning(UserWarning):
    """A compiled form was asked for and cannot be built here; the eager form is used."""


def eager(function: PureFunction) -> PureFunction:
    """The function itself."""
    return function


class Inductor:
    """One graph through torch.compile, the same for every N. A batch of one row runs as two equal rows.

    The first call captures and compiles, in seconds to a minute; later processes find the machine code in torch's
    cache. It is made once per package, device and kind of step, and every env of those shares it.

    A graph of its own for N = 1 would double the time to compile and to validate, and it would be scalar code with
    bits of its own to compare, for a batch size that nobody compiles for.
    """

    def __init__(self, function: PureFunction) -> None:
        self.function = function
        self.built: dict[torch.device, tuple[Callable[..., Any], Graph]] = {}

    def __call__(self, *args: Any) -> Any:
        # One layout: torch would compile again, silently and for long, for a tensor with other strides.
        flat = [tensor.contiguous() for tensor in pytree.tree_leaves(args)]
        alone = flat[0].shape[0] == 1
        if alone:
            flat = [torch.cat((tensor, tensor)) if tensor.dim() else tensor for tensor in flat]
        device = flat[0].device
        if device not in self.built:
            self.built[device] = self._build(pytree.tree_unflatten(flat, pytree.tree_structure(args)))
        run, graph = self.built[device]
        given = run(*flat)
        if alone:
            given = [value if value is None else value[:1] for value in given]  # None: a part the mode has not
        return pytree.tree_unflatten(given, graph.given)

    def _build(self, args: tuple[Any, ...]) -> tuple[Callable[..., Any], Graph]:
        import torch._dynamo  # here: it takes as long to load as all the rest of torch

        graph = capture(self.function, args)
        # The compiler that was found, and not the first name that torch would try.
        wanted: dict[str, Any] = {**INDUCTOR_OPTIONS, "cpp.cxx": (None, cpp_compiler() or "g++")}
        options = {key: value for key, value in wanted.items() if _known_option(key)}
        run = torch.compile(graph.plain(), fullgraph=True, options=options)
        for tensor in graph.example:
            if tensor.dim():
                torch._dynamo.mark_dynamic(tensor, 0, min=2, max=MAX_ROWS)
        try:
            with torch.no_grad(), warnings.catch_warnings():
                # What torch's compiler says about its own insides is no warning about this step.
                warnings.simplefilter("ignore", DeprecationWarning)
                warnings.simplefilter("ignore", FutureWarning)
                run(*graph.example)
        except Exception as error:
            raise CompileError(
                "the step was captured but could not be compiled",
                expected="a C++ compiler that builds extensions (it needs Python's headers too)",
                found=f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}",
                where=str(cpp_compiler()),
                next_step="run `simulacrum doctor`, or pass compile=False: the eager form gives the same bits",
            ) from error
        return run, graph


def _known_option(key: str) -> bool:
    import torch._inductor.config as config

    return key in config._config  # type: ignore[attr-defined]  # the only list of names torch keeps


FORMS: dict[str, Callable[[PureFunction], PureFunction]] = {"eager": eager, "inductor": Inductor}
NATIVE = "native"  # not made function by function: one library has reset and step (engine/native)
NAMES = (*FORMS, NATIVE)


@functools.cache
def cpp_compiler() -> str | None:
    """The C++ compiler that Inductor would call on this machine, or None."""
    chosen = shlex.split(os.environ.get("CXX", ""))[:1]  # CXX may bring arguments with it
    return next((found for name in (*chosen, "g++", "clang++", "c++") if (found := shutil.which(name))), None)


def resolve_form(compile: Any, device: torch.device, *, warn: bool = True) -> str:
    """The name of the form that `compile=` asks for, as it can be built here.

    Args:
        compile: False or "eager"; True or "native" (on an accelerator "inductor"); "inductor".
        device: where the rows live.
        warn: say so once when a compiled form falls back to eager.

    Raises:
        UsageError: no form of that name.
    """
    fast = NATIVE if device.type == "cpu" else "inductor"
    name = {False: "eager", True: fast}[compile] if isinstance(compile, bool) else compile
    name = "eager" if name is None else name
    if not isinstance(name, str) or name not in NAMES:
        raise UsageError(
            f"unknown form compile={compile!r}",
            expected=f"False or one of {sorted(NAMES)}",
            found=repr(compile),
            where="compile=",
        )
    if name == NATIVE and device.type != "cpu":
        raise UsageError(
            "the native form runs on the CPU",
            expected="compile='inductor' or False",
            found=f"compile='native' on {device}",
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


def standard_forms(device: torch.device) -> tuple[str, ...]:
    """The forms that are validated and measured unless others are named: eager, and the fastest that can be built."""
    if device.type == "cpu" and find_compiler() is not None:
        return ("eager", NATIVE)
    return ("eager", "inductor") if device.type != "cpu" or cpp_compiler() is not None else ("eager",)


def build(form: str, function: PureFunction) -> PureFunction:
    """`function` in the named form. `CompileError` when the name is unknown."""
    if form not in FORMS:
        raise CompileError(f"unknown form {form!r}", expected=sorted(FORMS), found=form)
    return FORMS[form](function)
