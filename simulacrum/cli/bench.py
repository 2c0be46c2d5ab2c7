"""`simulacrum bench`: steps per second of both twins, measured side by side."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import Device, Envs, FormsToMeasure, Json

if TYPE_CHECKING:
    from simulacrum.cli.bottleneck import Bottleneck
    from simulacrum.cli.measure import Measured
    from simulacrum.cli.profile import Share

_BARS = (8, 40)  # characters of the longest bar, at least and at most
_FIGURES = 62  # characters that the columns before the bars take


def bench(
    names: Envs = None,
    num_envs: Annotated[
        str, typer.Option("--num-envs", metavar="N,N,...", help="Batch sizes, with commas between them.")
    ] = "1,64,1024",
    compile: FormsToMeasure = None,
    device: Device = "cpu",
    seconds: Annotated[float, typer.Option("--seconds", min=0.05, max=600.0, help="Seconds for each line.")] = 1.0,
    profile: Annotated[bool, typer.Option("--profile", help="Also show an eager step's time by rule.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw steps per second against rows.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure steps per second: random actions, observations, automatic resets and episode statistics included.

    One process measures all lines in turns, round after round, so that a busy machine slows all of them alike. The
    figure is the median of the rounds; the spread is from the slowest to the fastest. The gate is not asked. Below the
    lines stands what holds the quickest form up: the call itself, or which part of the rows' arithmetic.

    --json prints one document with version, device, threads and environments, each of these with its id and its
    lines: form, num_envs, steps_per_second, lowest, highest, per_reference, per_eager (null where not measured); and
    its bottleneck: form, num_envs, call_seconds, row_seconds, call_share, parts, text (null with one size alone);
    with --profile its profile: rule, seconds and operations of a step, for each rule (null without).
    """
    terminal.use_json(json)
    sizes = _sizes(num_envs)
    terminal.one_thread()
    packages = _packages(names)
    from simulacrum.plots import check_picture

    check_picture(plot)
    import torch

    from simulacrum.cli import bottleneck, pictures
    from simulacrum.cli.measure import measure
    from simulacrum.cli.profile import by_rule
    from simulacrum.engine.modes import check_device

    place = check_device(device)
    forms = _forms(compile, place)
    environments: list[dict[str, Any]] = []
    measured: dict[str, list[Measured]] = {}
    for package in packages:
        with terminal.err().status(f"measuring {package.env_id}") as status:
            lines = measure(package, sizes, forms, seconds, device=str(place), say=status.update)
            measured[package.env_id] = lines
            status.update(f"taking a step of {package.env_id} apart")
            held = bottleneck.find(package, lines, str(place))
            shares = by_rule(package) if profile else None
        if not json:
            _show(terminal.out(), package.env_id, lines, held)
            if shares is not None:
                _show_profile(terminal.out(), shares)
        told = None if held is None else held.to_json()
        document = {"id": package.env_id, "lines": [line.to_json() for line in lines], "bottleneck": told}
        document["profile"] = None if shares is None else [asdict(share) for share in shares]
        environments.append(document)
    if plot is not None:
        pictures.speeds(plot, measured)
    if json:
        threads = torch.get_num_threads()
        terminal.print_json({"version": 1, "device": str(place), "threads": threads, "environments": environments})


def _show_profile(console: Console, shares: list[Share]) -> None:
    from simulacrum.cli.profile import ROWS

    whole = sum(share.seconds for share in shares)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(f"an eager step, N = {ROWS}", no_wrap=True)
    for title in ("share", "us", "operations"):
        table.add_column(title, justify="right")
    for share in shares:
        part = f"{share.seconds / whole:.0%}"
        table.add_row(share.rule, part, f"{share.seconds * 1e6:.0f}", f"{share.operations:.0f}")
    console.print(table)


def _sizes(text: str) -> list[int]:
    from simulacrum.errors import UsageError

    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdigit() and int(part) >= 1 for part in parts):
        raise UsageError("these are not batch sizes", expected="numbers from 1, such as 1,64,1024", found=text)
    return sorted({int(part) for part in parts})


def _forms(asked: list[str] | None, place: Any) -> list[str]:
    from simulacrum.engine.forms import resolve_form, standard_forms

    if asked is None:
        return list(standard_forms(place))
    return list(dict.fromkeys(resolve_form(form, place) for form in asked))


def _packages(names: list[str] | None) -> list[Any]:
    from simulacrum.contract.package import EnvPackage, find_packages, load_package

    if names:
        return [load_package(name) for name in names]
    return [package for package in find_packages() if isinstance(package, EnvPackage)]


def _show(console: Console, env_id: str, lines: list[Measured], held: Bottleneck | None) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("twin", no_wrap=True)
    for heading in ("rows", "steps/s", "spread", "x reference", "x eager"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("log scale", no_wrap=True)
    top = max(line.steps_per_second for line in lines)
    low = min(line.steps_per_second for line in lines)
    longest = min(max(console.width - _FIGURES, _BARS[0]), _BARS[1])
    for line in lines:
        spread = f"{(line.highest - line.lowest) / line.steps_per_second / 2:.0%}"
        style = "" if line.form == "reference" else "bold" if line.steps_per_second == top else ""
        eager = "" if line.per_eager is None else _ratio(line.per_eager)
        table.add_row(
            Text(line.form, style=style), f"{line.num_envs:,}", Text(short_number(line.steps_per_second), style=style),
            f"+-{spread}", _ratio(line.per_reference), eager, _bar(line.steps_per_second, low, top, longest),
        )  # fmt: skip
    console.print(Text(env_id, style="bold"))
    console.print(table)
    if held is not None:
        console.print(Text(held.text))
    console.print()


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def short_number(value: float) -> str:
    """A rate in three digits: 812, 74.3 k, 1.25 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _bar(value: float, low: float, top: float, longest: int) -> Text:
    """A bar that begins at a third of the slowest, by logarithm: equal ratios are equal lengths."""
    start = math.log(low / 3)
    share = (math.log(value) - start) / (math.log(top) - start)
    return Text("━" * max(1, round(share * longest)), style="cyan")
