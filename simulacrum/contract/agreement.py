"""Do spec.md, schema.json and the code of a package say the same? Only `__init__.py` is run to find out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

from simulacrum.contract import rule_checks
from simulacrum.contract.code_checks import check_draw_calls, check_methods
from simulacrum.contract.constant_checks import check_constants
from simulacrum.contract.imports import TWINS, check_imports
from simulacrum.contract.package import EnvPackage
from simulacrum.contract.problem import Problem, from_error
from simulacrum.contract.source import Source, read_source
from simulacrum.contract.tables import check_tables
from simulacrum.errors import AgreementError, ContractError

__all__ = ["Problem", "check_agreement", "require_agreement"]

Read = TypeVar("Read")


def check_agreement(package: EnvPackage) -> list[Problem]:
    """Every contradiction inside the package; an empty list where there is none.

    A file that cannot be read is a problem like any other; what the remaining files say is still compared.
    """
    problems: list[Problem] = []
    folder = package.folder

    def attempt(file: str, read: Callable[[], Read]) -> Read | None:
        try:
            return read()
        except ContractError as error:
            problems.append(from_error(error, folder, file))
            return None

    spec = attempt("spec.md", lambda: package.spec)
    schema = attempt("schema.json", lambda: package.schema)
    sources: dict[str, Source] = {}
    for twin in TWINS:
        with contextlib.suppress(ContractError):  # check_imports below reports a twin that cannot be read
            sources[twin] = read_source(folder / f"{twin}.py")
    if spec and schema:
        problems += check_tables(spec, schema)
    if spec:
        problems += rule_checks.check_rule_references(spec, schema)
        problems += rule_checks.check_rule_tags(spec, sources)
        problems += rule_checks.check_invariants(spec, sources)
        problems += rule_checks.check_sometimes(spec, sources)
    problems += check_constants(package, spec)
    if schema:
        problems += check_methods(schema, sources)
        problems += check_draw_calls(schema, folder, sources)
    problems += check_imports(folder, schema.outside if schema else ())
    return list(dict.fromkeys(problems))


def require_agreement(package: EnvPackage) -> None:
    """Raise AgreementError with every problem, one a line, unless there is none."""
    problems = check_agreement(package)
    if problems:
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise AgreementError(
            f"{package.name} contradicts itself in {len(problems)} place(s)\n{lines}",
            where=package.folder,
            next_step=f"mend these, then run `simulacrum validate {package.name}`",
        )
