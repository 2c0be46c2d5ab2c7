"""A small environment package, written file by file, that a test can bend in one place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simulacrum.contract import loader
from simulacrum.contract.package import EnvPackage

SPEC = """# lamp

## Purpose

A lamp that is switched on and off.

## Constants

| name | value | meaning |
|---|---|---|
| LEVELS | 4 | brightness levels |
| GLOW | 0.1 | light for each level |
| MAX_EPISODE_STEPS | 20 | steps after which the engine cuts an episode |

## State

| field | dtype | shape | low | high | meaning |
|---|---|---|---|---|---|
| level | int32 | [] | 0 | LEVELS | brightness |
| warmth | float32 | [2] | 0 | 0.3 | warmth on both sides |
| lit | bool | [] | - | - | whether it shines |

## Parameters

| name | dtype | default | low | high | meaning |
|---|---|---|---|---|---|
| flicker | float32 | 0.1 | 0 | 1 | probability of a flicker |

## Draws

| slot | phase | distribution | dtype | count | rule |
|---|---|---|---|---|---|
| first | reset | integers | int32 | - | R2 |
| flicker | step | bernoulli | float32 | 2 | R3 |

## Actions

- **R1** Action 0 dims, action 1 brightens.

## Episode start

- **R2** `level` is the draw `first`.

## Step

- **R3** The draw `flicker` shakes the lamp,
  on both sides.

## Observation

- **R4** The observation is `level`.

## Reward

- **R5** The reward is `GLOW` times `level`.

## Episode end

- **R6** The episode ends at `LEVELS`.

## Invariants

- **R7** `level` is never negative.
"""

INIT = '''"""Constants of the lamp."""

LEVELS = 4
GLOW = 0.1
MAX_EPISODE_STEPS = 20
'''

REFERENCE = '''"""The lamp, one at a time."""

from simulacrum.twin.invariant import invariant
from simulacrum.twin.reference import ReferenceEnv, Transition

from . import LEVELS


class Lamp(ReferenceEnv):
    def reset(self, ctx):
        return self.State(ctx.draw.integers("first", LEVELS), (0.0, 0.0), False)  # R2

    def step(self, state, action, ctx):
        ctx.draw.bernoulli("flicker", ctx.params.flicker)  # R3
        return Transition(state, 0.0, state.level == LEVELS)  # R5, R6

    def observe(self, state, ctx):
        return state.level  # R4

    @invariant("the level is not negative", rule="R7")
    def not_negative(self, state, ctx):
        return state.level >= 0
'''

FAST = REFERENCE.replace("twin.reference", "twin.batched").replace("ReferenceEnv", "BatchedEnv")

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "lab/lamp-v2",
    "title": "lamp",
    "type": "object",
    "x-max-episode-steps": 20,
    "x-draws": [
        {"name": "first", "phase": "reset", "distribution": "integers", "dtype": "int32", "rule": "R2"},
        {
            "name": "flicker",
            "phase": "step",
            "distribution": "bernoulli",
            "dtype": "float32",
            "count": 2,
            "rule": "R3",
        },
    ],
    "x-params": {
        "flicker": {"type": "number", "x-dtype": "float32", "minimum": 0, "maximum": 1, "default": 0.1}
    },
    "properties": {
        "state": {
            "type": "object",
            "properties": {
                "level": {"type": "integer", "minimum": 0, "maximum": 4, "x-dtype": "int32", "x-shape": []},
                "warmth": {
                    "type": "array",
                    "items": {"type": "number", "minimum": 0, "maximum": 0.3},
                    "minItems": 2,
                    "maxItems": 2,
                    "x-dtype": "float32",
                    "x-shape": [2],
                },
                "lit": {"type": "boolean", "x-dtype": "bool", "x-shape": []},
            },
            "required": ["level", "warmth", "lit"],
            "additionalProperties": False,
        },
        "action": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1,
            "x-dtype": "int64",
            "x-shape": [],
            "x-space": "Discrete",
        },
        "observation": {
            "type": "integer",
            "minimum": 0,
            "maximum": 4,
            "x-dtype": "int64",
            "x-shape": [],
            "x-space": "Discrete",
        },
        "reward": {"type": "number", "minimum": 0, "maximum": 1, "x-dtype": "float32", "x-shape": []},
    },
    "required": ["state", "action", "observation", "reward"],
}


@pytest.fixture
def raw() -> dict[str, Any]:
    """The lamp's schema, to be bent."""
    return copy.deepcopy(SCHEMA)


@pytest.fixture
def spec_text() -> str:
    return SPEC


@pytest.fixture
def write_lamp() -> Callable[..., Path]:
    """Writes the package into a folder; keyword arguments replace a file's text, None leaves the file out."""

    def write(folder: Path, **files: str | None) -> Path:
        texts: dict[str, str | None] = {
            "spec.md": SPEC,
            "schema.json": json.dumps(SCHEMA, indent=1),
            "__init__.py": INIT,
            "reference.py": REFERENCE,
            "fast.py": FAST,
        }
        names = {"spec": "spec.md", "schema": "schema.json", "init": "__init__.py"}
        texts |= {names.get(key, f"{key}.py"): text for key, text in files.items()}
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if text is not None:
                (folder / name).write_bytes(text.encode())
        return folder

    return write


@pytest.fixture
def lamp(tmp_path: Path, write_lamp: Callable[..., Path]) -> Iterator[EnvPackage]:
    """The lamp as a package in a folder of its own."""
    package = EnvPackage.open(write_lamp(tmp_path / "lamp"), "path")
    yield package
    loader.forget(package.import_name)
