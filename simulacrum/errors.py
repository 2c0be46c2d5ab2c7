"""Every error that simulacrum raises on purpose, as one tree.

    SimulacrumError
    ├── ContractError            what a package says about itself does not hold together
    │   ├── PackageError         the folder: missing files, broken modules
    │   ├── SpecError            spec.md
    │   ├── SchemaError          schema.json
    │   └── AgreementError       spec.md and schema.json (or the code) contradict each other
    ├── UnknownEnvError          no package or id of that name (names the nearest one)
    ├── DrawError                a draw that is not declared, or asked for wrongly
    ├── TwinError                a twin returned what its schema does not allow
    ├── StateError               a state that cannot be loaded
    ├── ActionError              an action of wrong shape, dtype or value (also a ValueError)
    ├── ClosedError              a closed environment was used
    ├── ReportError              a validation report that cannot be read or written
    ├── GateError                the gate refuses: report missing, failing, partial or stale
    ├── ProvenanceError          a run or checkpoint that was made with another environment
    ├── TraceError               a trajectory or pack that cannot be read or written
    ├── DeviceError              a device that is not there
    ├── CompileError             a form of the step that cannot be built
    └── UsageError               an argument that means nothing (also a ValueError)

Each message says what was expected, what was found, where, and what to do next, as far as that is known.
"""

from __future__ import annotations

from typing import Any


class SimulacrumError(Exception):
    """Base of all errors raised on purpose. The parts stay readable as attributes for programs."""

    def __init__(
        self,
        message: str,
        *,
        expected: Any = None,
        found: Any = None,
        where: Any = None,
        next_step: str | None = None,
    ) -> None:
        self.message = message
        self.expected = expected
        self.found = found
        self.where = where
        self.next_step = next_step
        parts = [("expected", expected), ("found", found), ("where", where), ("next", next_step)]
        lines = [message, *(f"  {label}: {value}" for label, value in parts if value is not None)]
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross process boundaries (AsyncVectorEnv, workers); keyword arguments need help to survive it.
        return _rebuild, (type(self), self.message, self.expected, self.found, self.where, self.next_step)


def _rebuild(
    kind: type[SimulacrumError], message: str, expected: Any, found: Any, where: Any, next_step: str | None
) -> SimulacrumError:
    return kind(message, expected=expected, found=found, where=where, next_step=next_step)


class ContractError(SimulacrumError):
    """What an environment package says about itself does not hold together."""


class PackageError(ContractError):
    """The package's folder: files missing, unreadable, or modules that do not import."""


class SpecError(ContractError):
    """spec.md is incomplete or cannot be understood."""


class SchemaError(ContractError):
    """schema.json is malformed or says something the project has no meaning for."""


class AgreementError(ContractError):
    """spec.md, schema.json and the code contradict each other."""


class UnknownEnvError(SimulacrumError):
    """No environment of that name; the message names the nearest known one."""


class DrawError(SimulacrumError):
    """A draw that is not declared in the schema, or is asked for in a way it was not declared."""


class TwinError(SimulacrumError):
    """A twin returned a value that its schema does not allow (type, dtype, shape, range)."""


class StateError(SimulacrumError):
    """A state, or a saved environment, that cannot be loaded."""


class ActionError(SimulacrumError, ValueError):
    """An action of wrong shape, dtype or value. Nothing was stepped."""


class ClosedError(SimulacrumError):
    """The environment was closed and then used."""


class ReportError(SimulacrumError):
    """A validation report that cannot be read or written."""


class GateError(SimulacrumError):
    """The gate refuses to build an environment; the message names the cause and the command that mends it."""


class ProvenanceError(SimulacrumError):
    """A run or checkpoint that was made with another environment than the one that is here."""


class TraceError(SimulacrumError):
    """A trajectory or pack that cannot be read or written."""


class DeviceError(SimulacrumError):
    """A device that this machine or this build of torch does not have."""


class CompileError(SimulacrumError):
    """A form of the step that cannot be built here."""


class LoweringError(CompileError):
    """A graph that the native form cannot be made of: an operation it does not know, or rows that are mixed."""


class UsageError(SimulacrumError, ValueError):
    """An argument that means nothing in its place."""
