"""Golden vectors: what every backend must draw. `python -m simulacrum.rng.golden` writes `vectors.json` anew.

The file holds known answers of the generator, episode keys, and values of every distribution and dtype at a
few addresses. Floats are written as their bits in hexadecimal. Neither torch nor NumPy is needed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simulacrum.portable.bits import bits32, bits64
from simulacrum.rng.layout import Layout, Slot
from simulacrum.rng.scalar import ScalarDraw, episode_key, threefry2x32

PATH = Path(__file__).with_name("vectors.json")

# Slot, method and its arguments: every distribution in every dtype, one-word and two-word slots mixed so that
# the rule about even words matters, and the same list at reset and at step.
CALLS: tuple[tuple[str, str, str, int | None, dict[str, Any]], ...] = (
    ("unit", "uniform", "float32", None, {}),
    ("angle", "uniform", "float64", 2, {"low": -3.5, "high": 3.5}),
    ("position", "uniform", "float32", 3, {"low": -0.3, "high": 0.1}),
    ("die", "integers", "int32", None, {"low": 1, "high": 7}),
    ("cell", "integers", "int32", 5, {"high": 2**16}),
    ("wide", "integers", "int64", 2, {"low": -(2**40), "high": 2**31 - 2**40}),
    ("gust", "bernoulli", "float32", None, {"p": 0.1}),
    ("fault", "bernoulli", "float64", 4, {"p": 0.75}),
    ("kind", "choice", "float32", 3, {"weights": (0.5, 0, 1.25, 0.1, 0)}),
    ("rare", "choice", "float64", None, {"weights": (1, 2, 3, 4)}),
    ("order", "permutation", "int32", 7, {}),
    ("deck", "permutation", "int32", 52, {}),
    ("noise", "normal", "float32", 3, {"mean": 0.25, "std": 2.0}),
    ("fine", "normal", "float64", None, {}),
)

# Row seed, episode, step: small ones, the largest, and seeds that differ in one bit of the upper word.
ADDRESSES = (
    (0, 0, 0),
    (1, 0, 1),
    (2**64 - 1, 2**31 - 1, 2**31 - 1),
    (0x0123456789ABCDEF, 3, 17),
    (0x0123456799ABCDEF, 3, 17),
)

_ONES = 0xFFFFFFFF
KNOWN_INPUTS = (
    ((0, 0), (0, 0)),
    ((_ONES, _ONES), (_ONES, _ONES)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3)),
)


def layout(phase: str) -> Layout:
    """The slots of `CALLS`, all in one phase."""
    return Layout(Slot(name, phase, kind, dtype, count) for name, kind, dtype, count, _ in CALLS)


def encode(value: Any, dtype: str) -> Any:
    """A drawn value as JSON: floats as hexadecimal bits, tuples as lists."""
    if isinstance(value, tuple):
        return [encode(item, dtype) for item in value]
    if dtype == "float32":
        return f"{bits32(value):08x}"
    if dtype == "float64":
        return f"{bits64(value):016x}"
    return value


def build() -> dict[str, Any]:
    """All vectors, computed now."""
    return {
        "about": "Golden vectors of the draws; regenerate with: python -m simulacrum.rng.golden",
        "threefry2x32": [
            {"rounds": rounds, "key": key, "counter": counter, "words": threefry2x32(key, counter, rounds)}
            for rounds in (13, 20)
            for key, counter in KNOWN_INPUTS
        ],
        "draws": [
            _at(seed, episode, t, phase) for seed, episode, t in ADDRESSES for phase in ("reset", "step")
        ],
    }


def _at(seed: int, episode: int, t: int, phase: str) -> dict[str, Any]:
    slots, key = layout(phase), episode_key(seed, episode)
    t = t if phase == "step" else 0
    draw = ScalarDraw(slots, phase, key, t)
    results = {slot.name: slot.result for slot in slots.slots}
    values = {
        name: encode(getattr(draw, kind)(name, **arguments), results[name])
        for name, kind, _, _, arguments in CALLS
    }
    return {"seed": seed, "episode": episode, "t": t, "phase": phase, "key": key, "values": values}


def main() -> None:
    """Write the file, one record a line."""
    vectors = build()
    head = {"about": vectors["about"]}
    lines = [json.dumps(head)[1:-1] + ","]
    for name in ("threefry2x32", "draws"):
        records = ",\n".join("  " + json.dumps(record) for record in vectors[name])
        lines.append(f'"{name}": [\n{records}\n]' + ("," if name == "threefry2x32" else ""))
    PATH.write_text("{\n" + "\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
