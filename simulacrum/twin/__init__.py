"""HOW an environment is written, twice: the base classes of both twins, their state struct, invariants and relations.

Importing this room loads no torch; `simulacrum.twin.batched` does.
"""

from __future__ import annotations

from simulacrum.twin.invariant import Invariant, invariant, invariants_of
from simulacrum.twin.probe import Probe
from simulacrum.twin.reference import Context, ReferenceEnv, Transition
from simulacrum.twin.relations import Dead, Derived, NoOp, Symmetry
from simulacrum.twin.sometimes import Sometimes, sometimes, sometimes_of
from simulacrum.twin.state import params_type, state_type

__all__ = [
    "Context",
    "Dead",
    "Derived",
    "Invariant",
    "NoOp",
    "Probe",
    "ReferenceEnv",
    "Sometimes",
    "Symmetry",
    "Transition",
    "invariant",
    "invariants_of",
    "params_type",
    "sometimes",
    "sometimes_of",
    "state_type",
]
