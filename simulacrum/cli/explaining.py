"""`simulacrum explain`: a failure with the rules, the source and the values that one needs to mend it."""

from __future__ import annotations

import json as jsonlib
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import Json, complete_env

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage
    from simulacrum.harness.explain.explanation import Explanation, TwinSource
    from simulacrum.trace.divergence import Divergence

FAR = 3  # lines further than this from where the value is handed over are left to --json and the page
_MOST_LINES = 24
_WIDE = 240  # characters of what one line computed
_NUMBER_STYLE = "dim"


def explain(
    case: Annotated[Path, typer.Argument(metavar="CASE", help="The record of a failure: failures/ID.json.")],
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            metavar="NAME",
            help="The environment, where the record's own id is not installed.",
            autocompletion=complete_env,
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with both twins side by side.")
    ] = None,
    json: Json = False,
) -> None:
    """Explain a failure: what differs, the rule, the lines of both twins that compute it, and their values.

    The one step is run again, line by line, in the reference and in the batched twin as one row. --json prints the
    same as one object (`simulacrum/cli/events.schema.json` states its shape), with every line and value. --html writes
    one page that needs no network: both twins through time around the divergence, drawn, with source and rules.

    Exit codes: 0 explained, 2 the file cannot be used.
    """
    from simulacrum.cli.sources import package_for
    from simulacrum.harness.explain import explain as explained
    from simulacrum.trace import read_divergence

    terminal.use_json(json)
    terminal.one_thread()
    record = read_divergence(case)
    package = package_for(case, record.env_id, env)
    told = explained(record, package, path=case, env=None if env is None else package.folder)
    if html is not None:
        from simulacrum.harness.page import write_page

        write_page(told, package, html)
    if json:
        terminal.print_json(told.to_json())
    elif html is not None:
        terminal.facts(terminal.out(), [("wrote", terminal.short_path(html))])
    else:
        show(told)


def pages(package: EnvPackage, records: Iterable[Divergence]) -> list[Path]:
    """Write a page beside the file of each record, once for each; one that cannot be made is a warning."""
    from simulacrum.harness.explain import explain as explained
    from simulacrum.harness.page import write_page

    env = package.folder if package.origin.startswith("path") else None
    found: list[Path] = []
    for number, record in {record.id: record for record in records if "record" in record.files}.items():
        path = Path(record.files["record"]).with_suffix(".html")
        try:
            found.append(write_page(explained(record, package, env=env), package, path))
        except Exception as error:  # the failure has been told already, and nothing here may hide it
            terminal.warn(f"no page of the failure {number}: {error}")
    return found


def show(told: Explanation) -> None:
    """Print an explanation for people: coloured in a terminal, plain in a log."""
    from dataclasses import replace

    from simulacrum.trace.show import render_plain, render_rich

    console = terminal.out()
    console.print(Text(told.summary, style="bold"), soft_wrap=not console.is_terminal)
    console.print()
    record = replace(told.record, rule=None, command=None)  # they stand below, with their lines
    if console.is_terminal:
        console.print(render_rich(record))
    else:
        console.print(render_plain(record), soft_wrap=True)
    for line in lines(told):
        console.print(line, soft_wrap=True)


def lines(told: Explanation) -> Iterator[Text]:
    """What stands below the record: rules, source of both twins, the first value that differs, commands."""
    for rule in told.rules:
        yield Text()
        yield Text.assemble((f"{rule.id} ", "bold magenta"), (f"spec.md:{rule.line}, {rule.heading}", "dim"))
        for part in textwrap.wrap(rule.text, 76, break_on_hyphens=False):
            yield Text(f"  {part}")
    for side in (told.reference, told.fast):
        yield Text()
        yield from _source(side, told)
    yield from _on_the_way(told)
    if told.commands:
        yield Text()
        for name, command in told.commands.items():
            yield Text.assemble((f"{name:<8} ", "dim"), terminal.command(command))


def _source(side: TwinSource, told: Explanation) -> Iterator[Text]:
    """The near lines of one twin, each with the values that it computed when it ran last."""
    watched = told.watched_reference if side is told.reference else told.watched_fast
    near = [line for line in side.lines if line.distance is None or line.distance <= FAR]
    shown = sorted(sorted(near, key=lambda one: 0 if one.distance is None else one.distance)[:_MOST_LINES],
                   key=lambda one: one.line)  # fmt: skip
    yield Text.assemble((side.file, "bold"), "" if shown else ": no line was found that computes it")
    values = {line.line: line.values for line in told.near_values(watched)}
    ran = {line.line for line in watched.lines}
    before: int | None = None
    for line in shown:
        if before is not None and line.line > before + 1:
            yield Text("       ...", style=_NUMBER_STYLE)
        before = line.line
        strong = "bold" if line.distance is not None and line.distance <= 1 else ""
        yield Text.assemble((f"{line.line:>6} ", _NUMBER_STYLE), (line.text, strong if line.line in ran else "dim"))
        computed = ", ".join(f"{name} = {_short(value)}" for name, value in values.get(line.line, {}).items())
        if computed:
            yield Text(f"         -> {_cut(computed, _WIDE)}", style="cyan")
    if watched.raised is not None:
        yield Text(f"       raised {watched.raised}", style="red")


def _on_the_way(told: Explanation) -> Iterator[Text]:
    parting = told.parting
    yield Text()
    if told.in_smallest:
        yield Text("The values are those of the smallest case, in its own batch: one row alone shows no difference.")
    if parting is None:
        yield Text("no value on the way is seen to differ in one eager row; replay tries the recorded form and rows")
        return
    yield Text.assemble(("first value that differs on the way: ", "bold"), parting.spoken)
    for side, value, line in (
        ("reference", parting.reference, f"reference.py:{parting.reference_line}"),
        ("batched", parting.fast, f"fast.py:{parting.fast_line}"),
    ):
        yield Text.assemble(f"  {side:<10} ", _short(value), (f"  {line}", "dim"))


def _short(value: Any) -> str:
    return _cut(jsonlib.dumps(value), 70)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
