"""The files of a pack that are for strangers' programs: flat columns, their description, and the words
around them."""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulacrum.trace.bits import spell_scalar
from simulacrum.trace.columns import field_table, value_at
from simulacrum.trace.trajectory import Start, Step, Trajectory

if TYPE_CHECKING:
    from simulacrum.contract.fields import Field
    from simulacrum.contract.schema import Schema


@dataclass(frozen=True)
class CsvColumn:
    """One column: one element of one field. name: `state.berry_x.0`; source: `state.berry_x`; step_only:
    empty in the row of an episode's start."""

    name: str
    source: str
    index: tuple[int, ...]
    dtype: str
    step_only: bool
    description: str


def column_table(schema: Schema) -> list[CsvColumn]:
    """All columns after the first three (`kind`, `episode`, `t`), in the order in which they stand in the
    files."""
    at_start = field_table(schema, "start")
    table = [
        CsvColumn("terminated", "terminated", (), "bool", True, "the rules ended the episode with this step"),
        CsvColumn("truncated", "truncated", (), "bool", True, "the episode was cut off after this step"),
    ]
    for source, leaf in field_table(schema, "step").items():
        table += _elements(source, leaf, source not in at_start)
    return table


def _elements(source: str, leaf: Field, step_only: bool) -> list[CsvColumn]:
    indices = itertools.product(*(range(size) for size in leaf.shape))
    return [
        CsvColumn(
            ".".join([source, *map(str, index)]), source, index, leaf.dtype, step_only, leaf.description
        )
        for index in indices
    ]


def csv_bytes(trajectory: Trajectory, table: list[CsvColumn]) -> bytes:
    """A header line, then a line per moment in order of time: `start` rows and `step` rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["kind", "episode", "t", *(column.name for column in table)])
    for start, steps in trajectory.episodes():
        for item in (start, *steps):
            kind = "step" if isinstance(item, Step) else "start"
            writer.writerow([kind, item.episode, item.t, *(_cell(item, column) for column in table)])
    return text.getvalue().encode("ascii")


def _cell(item: Start | Step, column: CsvColumn) -> str:
    if column.step_only and isinstance(item, Start):
        return ""
    value: Any = value_at(item, column.source)
    for position in column.index:
        value = value[position]
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(spell_scalar(value, column.dtype))


def describe(table: list[CsvColumn]) -> dict[str, Any]:
    """The value of columns.json."""
    first = [
        {"name": "kind", "dtype": "text", "description": "start: an episode begins; step: one step"},
        {"name": "episode", "dtype": "int32", "description": "number of the episode in its row"},
        {"name": "t", "dtype": "int32", "description": "steps the episode had taken before this one"},
    ]
    rest = [
        {
            "name": column.name,
            "field": column.source,
            "index": list(column.index),
            "dtype": column.dtype,
            "empty_at_start": column.step_only,
            "description": column.description,
        }
        for column in table
    ]
    return {"format": "simulacrum-pack-columns", "version": 1, "columns": [*first, *rest]}


def readme(env_id: str) -> str:
    """The README.md of a pack."""
    return _README.replace("ENV_ID", env_id)


_README = """\
# Trajectories of ENV_ID

This folder is a pack: recorded episodes of one reinforcement learning environment, with everything that is
needed to read them. Nothing in it has to be run.

| file | what it holds |
|---|---|
| `manifest.json` | the list of all other files with their sizes and SHA-256; a line about each trajectory |
| `schema.json` | the environment's fields: names, types, shapes, limits, random draws, parameters |
| `trajectories/*.json` | one row (one seed) each: episodes and steps with everything seen and drawn |
| `columns/*.csv` | the same as flat columns, one line per moment, without the random words |
| `columns.json` | what each column holds: its field, index and type |

## Reading the numbers

- A `start` line is an episode's first state. A `step` line holds what came after its action, also where the
  step ended the episode; `t` counts the steps taken before it.
- Decimals are the shortest that read back to the same bits: 32 bits for float32 fields, 64 for float64. Read
  a float32 field as float32. Other values: `nan`, `inf`, `-inf` (strings in JSON), and `-0.0`.
- int64 fields can hold whole numbers above 2^53, which JavaScript's plain numbers cannot.
- In CSV, booleans are 1 and 0. An array field has one column per element, with its index after a dot:
  `state.cells.0.3`.
- Random words are unsigned 32-bit numbers; `null` marks a word that the step did not ask for.

## Checking

`sha256sum` of each file must be what `manifest.json` lists. With the `simulacrum` package installed:

    python -c "from simulacrum.trace import verify_pack; print(verify_pack('.').counts)"
"""
