"""Which layer between eager torch and machine code is the first to differ."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.capture import capture
from simulacrum.engine.forms import Inductor
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.casework import Casework
from simulacrum.harness.diagnosis.view import View
from simulacrum.trace.case import Case

# In the order in which a step goes through them; the last is the form itself.
NAMES = {"graph": "the captured graph", "aot_eager": "torch's decompositions (aot_eager)"}


class _Rung(Inductor):
    """A step captured as the compiled forms are, run by a plainer backend."""

    def __init__(self, function: Any, backend: str) -> None:
        super().__init__(function)
        self.backend = backend

    def _build(self, args: tuple[Any, ...]) -> tuple[Any, Any]:
        graph = capture(self.function, args)
        run = graph.plain()
        if self.backend != "graph":
            run = torch.compile(run, fullgraph=True, backend=self.backend, dynamic=True)
        return run, graph


def first_rung(view: View) -> str:
    """In words, where a failure of a compiled form begins; "" where that cannot be told."""
    if view.case.form not in ("inductor", "native"):
        return ""
    names = ["graph"] if view.case.form == "native" else list(NAMES)
    for name in names:
        differs = _differs(view, name)
        if differs is None:
            return ""
        if differs:
            return f"; {NAMES[name]} is the first layer that differs"
    last = "the emitted C or its compiler" if view.case.form == "native" else "Inductor"
    return f"; {last} is the first layer that differs"


class _Work(Casework):
    """Runs cases with the batch's step on a rung."""

    def __init__(self, package: EnvPackage, backend: str) -> None:
        super().__init__(package)
        self.backend = backend

    def env(self, case: Case, form: str, device: str, side: str = "batched") -> SimulacrumVectorEnv:
        """The batch in the eager form, its step replaced."""
        made = super().env(case, "eager", device, side)
        if side == "batched":
            core, same = made.core, made.autoreset_mode == AutoresetMode.SAME_STEP
            # Parts of the engine that its users have no use for: the step as it goes into a compiler.
            pair = core._same_pair if same else core._next_pair  # pyright: ignore[reportPrivateUsage]
            run = core._step_compiled  # pyright: ignore[reportPrivateUsage]  # as above
            advance = functools.partial(run, made.autoreset_mode, _Rung(pair, self.backend))
            # As above; the rows of an eager form are `PureRows`, which have it.
            made._rows.advance = advance  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
        return made


def _differs(view: View, backend: str) -> bool | None:
    """Whether the case differs where the step is run so; None where it cannot be run."""
    try:
        return view.still(replace(view.case, form="eager"), _Work(view.package, backend))
    except Exception:  # a backend that is not here, or does not take the graph
        return None
