"""`simulacrum doctor`: versions, compiler, devices, threads, folders and environments, and what to do about each."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import Json

if TYPE_CHECKING:
    from simulacrum.cli.health import Finding
    from simulacrum.cli.listing import Listed

STYLES = {"problem": "bold red", "slow": "yellow", "note": "cyan"}


def doctor(
    paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", help="More folders with environments.")] = None,
    json: Json = False,
) -> None:
    """Look at this machine and say what will fail, what will be slow and why, each with a mend.

    Exit codes: 0 no problem was found (what is slow is no problem), 1 there is one.

    --json prints one document with version, healthy, versions, machine, native, compiler, torch, folders,
    environments (as `list` has them) and findings, each of these with its level (problem, slow or note), topic, text
    and mend.
    """
    from simulacrum.cli import health
    from simulacrum.cli.advice import findings
    from simulacrum.cli.listing import listed
    from simulacrum.contract.package import find_packages

    terminal.use_json(json)
    facts: dict[str, Any] = {"versions": health.versions(), "machine": health.machine(), "torch": health.torch_facts()}
    # Without torch there is nothing to compile; its own finding says so.
    facts["native"] = health.native()
    facts["compiler"] = health.compiler() if not facts["torch"]["error"] else _no_compiler()
    facts["folders"] = health.folders()
    environments = [listed(package) for package in find_packages(*(paths or ()))]
    found = findings(facts, environments)
    healthy = not any(finding.level == "problem" for finding in found)
    if json:
        shown = [asdict(one) for one in environments]
        told = [asdict(finding) for finding in found]
        terminal.print_json({"version": 1, "healthy": healthy, **facts, "environments": shown, "findings": told})
    else:
        _show(terminal.out(), facts, environments, found)
    raise typer.Exit(terminal.PASSED if healthy else terminal.FAILED)


def _no_compiler() -> dict[str, Any]:
    return {"path": "not looked for", "version": "", "python_headers": True, "include": ""}


def _show(console: Console, facts: dict[str, Any], environments: list[Listed], found: list[Finding]) -> None:
    versions, machine, torch = facts["versions"], facts["machine"], facts["torch"]
    libraries = ", ".join(f"{name} {value}" for name, value in versions.items() if value)
    variables = ", ".join(f"{name} {value or 'unset'}" for name, value in torch["variables"].items())
    rows: list[tuple[str, str | Text]] = [
        ("versions", libraries),
        ("machine", f"{machine['system']}, {machine['machine']}, {_cores(machine)}"),
        ("devices", ", ".join(torch["devices"]) or "none"),
        ("kernels", str(torch.get("cpu_capability", "unknown"))),
        ("threads", f"{torch.get('threads', 'unknown')} of torch; {variables}"),
        ("native form", f"{facts['native']['compiler'] or 'no compiler'}, for {facts['native']['processor']}"),
        ("inductor form", _compiler(facts["compiler"])),
    ]
    rows += [(name, f"{folder['path']}{'' if folder['exists'] else ' (not there yet)'}")
             for name, folder in facts["folders"].items()]  # fmt: skip
    fresh = sum(one.gate == "fresh" for one in environments)
    rows.append(("environments", f"{len(environments)} found, {fresh} with an open gate"))
    terminal.facts(console, rows)
    console.print()
    for finding in found:
        lead = Text(f"{finding.level:<9}", style=STYLES[finding.level])
        terminal.prose(console, lead, Text.assemble((f"{finding.topic}: ", "bold"), finding.text))
        terminal.prose(console, Text("         mend: ", style="dim"), Text(finding.mend, style="cyan"))
    problems = sum(finding.level == "problem" for finding in found)
    verdict = Text(f"{problems} problem(s)", style="bold red") if problems else Text("no problem", style="bold green")
    slow = sum(finding.level == "slow" for finding in found)
    console.print(Text.assemble(verdict, f"; {slow} thing(s) that will be slow" if slow else ""))


def _cores(machine: dict[str, Any]) -> str:
    load = "" if machine["load"] is None else f", load {machine['load']}"
    return f"{machine['cores']} core(s){load}"


def _compiler(compiler: dict[str, Any]) -> str:
    return "none" if compiler["path"] is None else f"{compiler['path']} ({compiler['version'] or 'does not run'})"
