"""`simulacrum check-vec`: a stranger's Gymnasium vector environment, held to the contract rule by rule."""

from __future__ import annotations

import json as jsonlib
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import Json
from simulacrum.errors import UsageError

if TYPE_CHECKING:
    from simulacrum.conformance.rule import Result
    from simulacrum.conformance.supervise import Made

STYLES = {"passed": "green", "FAILED": "bold red", "warning": "yellow", "skipped": "dim"}


def check_vec(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A Gymnasium id (module:Env-v0), or its maker (module:function, file.py:function)."
        ),
    ],
    num_envs: Annotated[int, typer.Option("--num-envs", min=2, help="How many rows the rules use.")] = 4,
    kwargs: Annotated[
        str, typer.Option("--kwargs", metavar="JSON", help="Keywords that it is made with, as a JSON object.")
    ] = "{}",
    vectorization_mode: Annotated[
        str | None,
        typer.Option("--vectorization-mode", metavar="MODE", help="sync, async or vector_entry_point, for ids."),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option("-k", "--rule", metavar="RULE", help="Judge this rule or group alone (repeatable)."),
    ] = None,
    steps: Annotated[
        int, typer.Option("--steps", min=10, help="Random steps taken at most to see an episode end.")
    ] = 500,
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="How long one rule may take.")] = 30.0,
    strict: Annotated[bool, typer.Option("--strict", help="A warning fails as well.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the claim of each rule.")] = False,
    json: Json = False,
) -> None:
    """Check anybody's Gymnasium VectorEnv, of NumPy arrays or tensors, against the contract.

    Nothing of it has to be written with simulacrum. It runs in a process of its own: a rule that hangs or crashes it
    has failed, and the next one goes on. Exit codes: 0 no error, 1 an error, 2 it cannot be made.

    --json prints one JSON object a line, each with an "event":

    - `started`: version, target, class, autoreset_mode, num_envs, versions
    - `rule`, as each one ends: rule, severity, status (passed, failed, skipped), message, claim, source, row, step,
      field, found, expected, seconds
    - `finished`: passed, errors, warnings, skipped (names), seconds
    """
    from simulacrum.conformance.supervise import Made, Request, run

    terminal.use_json(json)
    request = Request(target, num_envs, _object(kwargs), vectorization_mode, rule or None, steps, seconds)
    view = _JsonView(target) if json else _TextView(target, verbose)
    began, results = time.perf_counter(), list[Any]()
    for one in run(request):
        if isinstance(one, Made):
            view.made(one)
        else:
            results.append(one)
            view.ended(one)
    failed = [one for one in results if one.status == "failed" and (strict or one.severity == "error")]
    view.finished(results, time.perf_counter() - began, passed=not failed)
    raise typer.Exit(terminal.FAILED if failed else terminal.PASSED)


def _object(text: str) -> dict[str, Any]:
    try:
        value = jsonlib.loads(text)
    except ValueError as error:
        raise UsageError("--kwargs is no JSON", found=text, where=str(error)) from error
    if not isinstance(value, dict):
        raise UsageError("--kwargs is no JSON object", expected='{"name": value}', found=text)
    return value


class _TextView:
    """A line for each rule, with the claim and its source below one that does not hold."""

    def __init__(self, target: str, verbose: bool) -> None:
        self.target, self.verbose, self.console = target, verbose, terminal.out()

    def made(self, made: Made) -> None:
        """Say what was built."""
        versions = ", ".join(f"{name} {version}" for name, version in made.versions.items())
        facts = f"{made.name}, {made.num_envs} rows, {made.mode or 'no autoreset mode'}, {versions}"
        self.console.print(Text.assemble((self.target, "bold"), f"  {facts}"), soft_wrap=True)
        self.console.print()

    def ended(self, result: Result) -> None:
        """Say what a rule has come to."""
        from simulacrum.conformance.catalog import RULES

        word = _word(result)
        lead = Text.assemble((f"{word:<9}", STYLES[word]), (f"{result.rule:<34}", "" if word != "skipped" else "dim"))
        terminal.prose(self.console, lead, Text(result.text(), style="dim" if word in ("passed", "skipped") else ""))
        if self.verbose or result.status == "failed":
            rule = RULES[result.rule]
            told = f"{rule.claim} ({rule.source})"
            terminal.prose(self.console, Text(" " * 11, style="dim"), Text(told, style="dim"))
        self.console.file.flush()

    def finished(self, results: list[Result], seconds: float, *, passed: bool) -> None:
        """Say how it ended."""
        counts = {word: sum(_word(one) == word for one in results) for word in STYLES}
        words = {"passed": "passed", "FAILED": "failed", "warning": "warnings", "skipped": "skipped"}
        told = ", ".join(f"{counts[word]} {name}" for word, name in words.items())
        result = Text("conforms" if passed else "DOES NOT CONFORM", style="green" if passed else "bold red")
        self.console.print()
        self.console.print(Text.assemble(("result  ", "dim"), result, f": {told} in {seconds:.1f} s"), soft_wrap=True)


def _word(result: Result) -> str:
    if result.status != "failed":
        return result.status
    return "FAILED" if result.severity == "error" else "warning"


class _JsonView:
    """One JSON object a line."""

    def __init__(self, target: str) -> None:
        self.target = target

    def made(self, made: Made) -> None:
        """Say what was built."""
        terminal.print_json({"event": "started", "version": 1, "target": self.target, "class": made.name,
                             "autoreset_mode": made.mode, "num_envs": made.num_envs,
                             "versions": dict(made.versions)})  # fmt: skip

    def ended(self, result: Result) -> None:
        """Say what a rule has come to."""
        from simulacrum.conformance.catalog import RULES

        rule = RULES[result.rule]
        terminal.print_json({"event": "rule", **result.to_json(), "claim": rule.claim, "source": rule.source})

    def finished(self, results: list[Result], seconds: float, *, passed: bool) -> None:
        """Say how it ended."""
        named = {word: [one.rule for one in results if _word(one) == word] for word in STYLES}
        terminal.print_json({"event": "finished", "passed": passed, "errors": named["FAILED"],
                             "warnings": named["warning"], "skipped": named["skipped"],
                             "seconds": round(seconds, 3)})  # fmt: skip
