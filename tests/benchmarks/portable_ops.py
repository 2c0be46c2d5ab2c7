"""Measures which torch operations have the same bits in every form, and writes down the verdicts.

    python tests/benchmarks/portable_ops.py            # measure and print python
    tests/benchmarks/portable_ops.py --write    # also write portable/ops.json and the table in the docs
    python tests/benchmarks/portable_ops.py --table    # only renew the table in the docs from ops.json

Each operation is run eagerly on 4097 rows and compared, bit for bit, with NumPy (where NumPy has the
right answer), with itself on each of 64 rows alone, and with its inductor-compiled form on 4097, 1001 and
1 rows. It is called portable when no element differs anywhere. A few minutes on one core.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from portable_cases import CASES, Case, Values, make_inputs
from portable_rules import RULES

ROOT = Path(__file__).resolve().parents[2]
OPS = ROOT / "simulacrum" / "portable" / "ops.json"
DOCS = ROOT / "docs" / "portable-numbers.md"
BEGIN, END = "<!-- measured operations: begin -->", "<!-- measured operations: end -->"
ROWS, ODD_ROWS, ALONE = 4097, 1001, 64
COLUMNS = ("numpy", "alone", "compiled", "compiled alone")
FORMS_DIFFER = "the forms round differently"


def differing(first: Any, second: Any) -> int:
    """How many elements differ in bits (two NaN count as equal); every element, if dtype or shape differ."""
    one, two = as_array(first), as_array(second)
    if one.dtype != two.dtype or one.shape != two.shape:
        return max(one.size, two.size, 1)
    if one.dtype.kind == "f":
        bits = np.int32 if one.dtype.itemsize == 4 else np.int64
        same = (one.view(bits) == two.view(bits)) | (np.isnan(one) & np.isnan(two))
        return int((~same).sum())
    return int((one != two).sum())


def as_array(value: Any) -> np.ndarray:
    array = value.detach().contiguous().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
    return np.ascontiguousarray(array)


def rows_of(values: Values, start: int, stop: int) -> Values:
    return {name: value[start:stop].clone() for name, value in values.items()}


def measure_eager(case: Case, values: Values) -> dict[str, int | None]:
    """Differences of the eager form from NumPy, and of rows alone from the batch."""
    whole = case.call(values)
    counts: dict[str, int | None] = {"numpy": None}
    if case.right is not None:
        with np.errstate(all="ignore"):
            counts["numpy"] = differing(whole, case.right({k: v.numpy() for k, v in values.items()}))
    alone = [case.call(rows_of(values, row, row + 1)) for row in range(ALONE)]
    counts["alone"] = sum(differing(one, whole[row : row + 1]) for row, one in enumerate(alone))
    return counts


def measure_compiled(cases: list[Case], values: Values) -> list[dict[str, int]]:
    """Differences of the compiled form from the eager one: in batches, and with one row."""

    def run(inputs: Values) -> list[Any]:
        return [case.call(inputs) for case in cases]

    torch._dynamo.reset()
    compiled = torch.compile(run, fullgraph=True, dynamic=False)
    counts = [{"compiled": 0, "compiled alone": 0} for _ in cases]
    for key, start, stop in (("compiled", 0, ROWS), ("compiled", 0, ODD_ROWS), ("compiled alone", 0, 1)):
        part = rows_of(values, start, stop)
        for count, got, want in zip(counts, compiled(part), run(part), strict=True):
            count[key] += differing(got, want)
    # The graph for one row is there by now; more rows alone cost nothing.
    for row in range(1, ALONE):
        part = rows_of(values, row, row + 1)
        for count, got, want in zip(counts, compiled(part), run(part), strict=True):
            count["compiled alone"] += differing(got, want)
    return counts


def measure() -> list[dict[str, Any]]:
    """One record for each case, in order."""
    values = make_inputs(ROWS)
    groups: dict[str, list[Case]] = {}
    for case in CASES:
        groups.setdefault(case.group, []).append(case)
    records: dict[str, dict[str, Any]] = {}
    for group, cases in groups.items():
        # Operations that differ are compiled apart, so that no other result is computed by their kernel.
        batches = [cases] if group not in ("elementary functions", "float forms") else [[case] for case in cases]
        for batch in batches:
            for case, compiled in zip(batch, measure_compiled(batch, values), strict=True):
                records[case.name] = record(case, {**measure_eager(case, values), **compiled})
                print(line(records[case.name]), flush=True)
    return [records[case.name] for case in CASES]


def record(case: Case, counts: dict[str, int | None]) -> dict[str, Any]:
    portable = not any(counts.values()) and not case.reason
    result: dict[str, Any] = {
        "name": case.name,
        "group": case.group,
        "spelled": list(case.spelled),
        "verdict": "portable" if portable else "not portable",
        "differing": counts,
    }
    if case.needs:
        result["needs"] = list(case.needs)
    if not portable:
        result["reason"] = case.reason or FORMS_DIFFER
        result["instead"] = case.instead or "an operation of the portable list"
    return result


def rule_records() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "group": "by rule",
            "spelled": spelled.split(),
            "verdict": "not portable",
            "reason": reason,
            "instead": instead,
        }
        for name, spelled, reason, instead in RULES
    ]


def line(entry: dict[str, Any]) -> str:
    counts = "  ".join(f"{entry['differing'][column]!s:>6}" for column in COLUMNS)
    return f"{entry['name']:32} {counts}  {entry['verdict']}"


def environment() -> dict[str, str]:
    return {
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu capability": torch.backends.cpu.get_cpu_capability(),
        "rows": str(ROWS),
    }


def table(data: dict[str, Any]) -> str:
    """The Markdown table of all measured operations."""
    where = ", ".join(f"{key} {value}" for key, value in data["measured_with"].items())
    lines = [f"Measured with {where}.", ""]
    lines += [
        "| operation | numpy | alone | compiled | compiled alone | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for entry in data["operations"]:
        if "differing" in entry:
            counts = ["-" if entry["differing"][c] is None else str(entry["differing"][c]) for c in COLUMNS]
            name = entry["name"].replace("|", "\\|")
            lines.append(f"| `{name}` | {' | '.join(counts)} | {entry['verdict']} |")
    return "\n".join(lines)


def write_table() -> None:
    text = DOCS.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    data = json.loads(OPS.read_text(encoding="utf-8"))
    DOCS.write_text(f"{before}{BEGIN}\n\n{table(data)}\n\n{END}{after}", encoding="utf-8")


def main(arguments: list[str]) -> None:
    torch.set_num_threads(1)
    if "--table" not in arguments:
        data = {"measured_with": environment(), "operations": [*measure(), *rule_records()]}
        if "--write" in arguments:
            OPS.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if "--write" in arguments or "--table" in arguments:
        write_table()
        print(f"wrote {OPS.name} and the table in {DOCS.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
