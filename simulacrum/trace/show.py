"""A divergence for people: coloured for a terminal, plain for a log. Both say the same, readable at 80
columns."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from simulacrum.trace.divergence import Difference, Divergence, Likely, Shown
from simulacrum.trace.jsonio import pretty
from simulacrum.trace.values import plain_json

_WIDTH = 78
_MOST_OTHERS = 8
_MOST_WORDS = 8
_VERDICT_STYLE = {"equal": "green", "differ": "bold red", "only reference": "yellow"}


def render_plain(record: Divergence) -> str:
    """The record as text without colour, at most about 80 columns, ending without a line break."""
    lines = [f"DIVERGENCE in {record.check}: {record.env_id}", ""]
    lines += _labelled("where", where_text(record))
    lines += _labelled("ran as", configuration_text(record))
    lines += ["", f"  {record.difference.path} ({_dtype(record.difference)})"]
    lines += [f"    {side:<10} {_value(value)}" for side, value in _sides(record.difference)]
    if record.difference.ulp is not None:
        lines.append(f"    {'distance':<10} {record.difference.ulp} ulp")
    if record.rule is not None:
        lines += ["", *_labelled("rule", f"{record.rule.id}: {record.rule.text}")]
    if record.others:
        lines += ["", "  other fields that differ"]
        lines += [f"    {line}" for line in _others(record)]
    lines += ["", *_labelled("action", _compact(record.action))]
    lines += _labelled("before", _compact(record.previous_state))
    if record.forced:
        lines += _labelled("draws", f"put in: {_compact(record.forced)}")
    if record.draws:
        lines += ["", "  draws of this step (words, reference | batched)"]
        lines += [f"    {slot}: {one} | {two}  {verdict}" for slot, one, two, verdict in _draws(record)]
    lines += _tail(record)
    return "\n".join(lines)


def render_rich(record: Divergence) -> RenderableType:
    """The record as a Rich renderable: a red panel with tables in it."""
    parts: list[RenderableType] = [_facts(record), Text(), _comparison(record.difference)]
    if record.rule is not None:
        parts += [Text(), Text.assemble((f"{record.rule.id} ", "bold magenta"), record.rule.text)]
    if record.others:
        parts += [
            Text(),
            Text("other fields that differ", style="bold"),
            *(Text(f"  {t}") for t in _others(record)),
        ]
    parts += [Text(), Text("action", style="bold"), Text(f"  {_compact(record.action)}")]
    parts += [Text("state before the step", style="bold"), Text(_state(record.previous_state))]
    if record.forced:
        parts += [Text("draws, put in on both sides", style="bold"), Text(f"  {_compact(record.forced)}")]
    if record.draws:
        parts += [Text(), _draw_table(record)]
    parts += [Text(f"looks like {_likely(likely)}", style="yellow") for likely in record.diagnosis]
    parts += [Text(f"note: {hint}", style="dim") for hint in record.hints]
    if record.shrunk is not None:
        parts += [Text.assemble(("smallest case  ", "bold"), record.shrunk.summary)]
    if record.files:
        table = Table.grid(padding=(0, 1))
        for name, path in record.files.items():
            table.add_row(Text(name, style="dim"), Text(path, overflow="fold"))
        parts += [Text(), table]
    if record.command:
        parts += [Text(), Text.assemble(("run it again  ", "bold"), (record.command, "bold cyan"))]
    title = Text.assemble("divergence in ", (record.check, "bold"), f": {record.env_id}")
    return Panel(Group(*parts), title=title, border_style="red", title_align="left")


def where_text(record: Divergence) -> str:
    """Row, seed, episode and step in words."""
    moment = (
        "the reset" if record.step < 0 else f"step t={record.t} of the episode, step {record.step} of the run"
    )
    return f"row {record.row} (seed {record.seed}), episode {record.episode}, {moment}"


def configuration_text(record: Divergence) -> str:
    """Form, device, batch size, mode, threads, time limit, params and counts in words."""
    ran = record.configuration
    parts = [f"{ran.form} on {ran.device}", f"N={ran.num_envs}", ran.autoreset_mode]
    parts += [f"threads={ran.threads}"] if ran.threads is not None else []
    parts += [f"max_episode_steps={ran.max_episode_steps}"]
    parts += [f"{name}={value}" for name, value in ran.params.items()]
    parts += _small_text(ran.small)
    counts = record.counts
    if counts is not None:
        parts.append(f"{counts.rows_differing} of {counts.rows_compared} rows differ")
        parts.append(f"{counts.fields_differing} fields differ")
        if counts.transitions_compared is not None:
            parts.append(f"{counts.transitions_compared} transitions compared")
    return ", ".join(parts)


def _small_text(small: Mapping[str, Any] | None) -> list[str]:
    if small is None:
        return []
    constants = ", ".join(f"{name} = {value}" for name, value in small.get("constants", {}).items())
    return [f"small model ({constants or 'small.json'})"]


def _likely(likely: Likely) -> str:
    return f"{likely.kind} {likely.title}: {likely.why}"


def _facts(record: Divergence) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("where", style="dim"), where_text(record))
    table.add_row(Text("ran as", style="dim"), Text(configuration_text(record)))
    return table


def _comparison(item: Difference) -> Table:
    table = Table(title=Text(f"{item.path} ({_dtype(item)})", style="bold"), title_justify="left")
    for heading in ("", "value", "bits"):
        table.add_column(heading)
    for (side, value), style in zip(_sides(item), ("green", "red"), strict=True):
        table.add_row(side, Text(value.decimal, style=style), Text(value.bits or "none", style=style))
    if item.ulp is not None:
        table.add_row("distance", f"{item.ulp} ulp", "")
    return table


def _draw_table(record: Divergence) -> Table:
    table = Table(title=Text("draws of this step", style="bold"), title_justify="left")
    for heading in ("slot", "reference", "batched", ""):
        table.add_column(heading, overflow="fold")
    for slot, one, two, verdict in _draws(record):
        table.add_row(slot, one, two, Text(verdict, style=_VERDICT_STYLE.get(verdict, "dim")))
    return table


def _sides(item: Difference) -> list[tuple[str, Shown]]:
    return [("reference", item.reference), ("batched", item.batched)]


def _dtype(item: Difference) -> str:
    one, two = item.reference.dtype, item.batched.dtype
    return one if one == two else f"{one} against {two}"


def _value(value: Shown) -> str:
    return f"{value.decimal:<24} {value.bits or ''}".rstrip()


def _others(record: Divergence) -> list[str]:
    lines = [
        f"{item.path}: {item.reference.decimal} | {item.batched.decimal}"
        + (f"  ({item.ulp} ulp)" if item.ulp is not None else "")
        for item in record.others[:_MOST_OTHERS]
    ]
    left = len(record.others) - _MOST_OTHERS
    return lines + ([f"and {left} more (all of them in the record)"] if left > 0 else [])


def _draws(record: Divergence) -> list[tuple[str, str, str, str]]:
    return [(pair.slot, _words(pair.reference), _words(pair.batched), pair.verdict) for pair in record.draws]


def _words(words: Sequence[int | None]) -> str:
    shown = ["-" if word is None else f"{word:08x}" for word in words[:_MOST_WORDS]]
    left = len(words) - _MOST_WORDS
    return " ".join(shown) + (f" and {left} more" if left > 0 else "") if words else "none"


def _compact(value: Any) -> str:
    return json.dumps(plain_json(value), ensure_ascii=False)


def _state(value: Any) -> str:
    return textwrap.indent(pretty(plain_json(value)).rstrip("\n"), "  ")


def _labelled(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"  {label:<8} ", subsequent_indent=" " * 11, break_on_hyphens=False
    )


def _tail(record: Divergence) -> list[str]:
    lines = [line for likely in record.diagnosis for line in _labelled("looks like", _likely(likely))]
    lines += [line for hint in record.hints for line in _labelled("note", hint)]
    lines += _labelled("smallest", record.shrunk.summary) if record.shrunk is not None else []
    lines += [f"  {name:<10} {path}" for name, path in record.files.items()]
    if record.command:
        lines += ["  run it again:", f"    {record.command}"]
    return ["", *lines] if lines else []
