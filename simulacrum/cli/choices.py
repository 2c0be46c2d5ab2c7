"""Arguments that several commands take, alike or nearly alike, and what the shell completes them with."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Completion = list[tuple[str, str]]


def complete_env(incomplete: str) -> Completion:
    """Names of the environments that are found, with their ids."""
    from simulacrum.contract.package import EnvPackage, find_packages

    found = [package for package in find_packages() if isinstance(package, EnvPackage)]
    return [(package.name, package.env_id) for package in found if package.name.startswith(incomplete)]


def complete_check(incomplete: str) -> Completion:
    """Names of the checks and of their sub-checks, with what a pass proves."""
    from simulacrum.attest.catalog import CHECKS, SUB_CHECKS

    names = [(check.name, check.claim) for check in CHECKS] + [(one.path, one.claim) for one in SUB_CHECKS]
    return [(name, claim) for name, claim in names if name.startswith(incomplete)]


def complete_form(incomplete: str) -> Completion:
    """Names of the forms of the batched twin."""
    forms = {
        "eager": "torch, operation by operation",
        "native": "one loop of machine code over the rows",
        "inductor": "one graph through torch.compile",
    }
    return [(name, text) for name, text in forms.items() if name.startswith(incomplete)]


def complete_player(incomplete: str) -> Completion:
    """Names of everything that can play an episode."""
    forms = {"reference": "the readable twin", **dict(complete_form(""))}
    return [(name, text) for name, text in forms.items() if name.startswith(incomplete)]


def complete_policy(context: typer.Context, incomplete: str) -> Completion:
    """`random`, and the names of the package's probes."""
    from simulacrum.contract.package import load_package
    from simulacrum.errors import SimulacrumError

    names = {"random": "uniform over the action space"}
    try:
        module: Any = load_package(context.params["name"]).probes()
        names |= {probe.name: str(probe.why) for probe in getattr(module, "PROBES", ())}
    except (SimulacrumError, KeyError, TypeError):
        pass  # the name is not typed yet, or is wrong: there is nothing to complete with
    return [(name, text) for name, text in names.items() if name.startswith(incomplete)]


Env = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name, id or folder of an environment.", autocompletion=complete_env),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**64 - 1, help="Seed of the row.")]
Policy = Annotated[
    str, typer.Option("--policy", help="Who acts: random, or a probe of the package.", autocompletion=complete_policy)
]

# `validate` and `bench` build the same forms on the same devices; only what is said of a form differs.
Device = Annotated[str, typer.Option("--device", help="Where the batched twin runs: cpu or cuda.")]


def _form_option(help: str) -> Any:
    return typer.Option("--compile", metavar="FORM", autocompletion=complete_form, help=help)


FormsToValidate = Annotated[
    list[str] | None,
    _form_option(
        "Validate this form beside eager (repeatable). Default: native, or inductor where that cannot be built."
    ),
]
FormsToMeasure = Annotated[
    list[str] | None, _form_option("Form to measure (repeatable). Default: eager and native.")
]
Envs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME", help="Environments; all that are found, if none is named.", autocompletion=complete_env
    ),
]
Checks = Annotated[
    list[str] | None,
    typer.Option(
        "-k", "--check", metavar="CHECK", help="Run this check alone (repeatable).", autocompletion=complete_check
    ),
]
