"""Rows in blocks: what is put is what is read, for any number of rows and any shape, and neighbours stay."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from kit.tools import assert_same

from simulacrum.engine.native.arena import Arena
from simulacrum.lower.emit import memory_of
from simulacrum.lower.program import LANES, Port

PORTS = (
    Port("flag", torch.bool, (), "blocks"),
    Port("grid", torch.uint8, (2, 3), "blocks"),
    Port("speed", torch.float64, (2,), "blocks"),
    Port("count", torch.int32, (), "blocks"),
    Port("elsewhere", torch.int32, (), "rows"),
)


def arena(num_envs: int) -> Arena:
    memory = memory_of(PORTS)
    binary: Any = SimpleNamespace(
        about={"block_bytes": memory.block_bytes},
        ports={port.name: port for port in PORTS},
        at={port.name: memory.starts.get(port, memory.numbers.get(port)) for port in PORTS},
    )
    return Arena(binary, num_envs)


@pytest.mark.parametrize("num_envs", [1, LANES - 1, LANES, LANES + 1, 3 * LANES + 7])
def test_what_is_put_is_what_is_read(num_envs: int) -> None:
    made = arena(num_envs)
    values = {
        "flag": torch.randint(0, 2, (num_envs,)).bool(),
        "grid": torch.randint(0, 256, (num_envs, 2, 3), dtype=torch.uint8),
        "speed": torch.randn((num_envs, 2), dtype=torch.float64),
        "count": torch.randint(-(2**31), 2**31 - 1, (num_envs,), dtype=torch.int32),
    }
    for name, value in values.items():
        made.put(name, value)
    for name, value in values.items():
        assert_same(made.rows(name), value, name)
        assert made.rows(name).is_contiguous()
    made.put("count", values["count"] + 1)
    assert_same(made.rows("speed"), values["speed"])


def test_rows_are_copies() -> None:
    made = arena(3)
    made.rows("count").fill_(7)
    assert made.rows("count").tolist() == [0, 0, 0]


def test_an_element_of_a_block_lies_together() -> None:
    made = arena(2 * LANES)
    made.put("count", torch.arange(2 * LANES, dtype=torch.int32))
    start = memory_of(PORTS).starts[PORTS[3]]
    first = made.memory[start : start + 4 * LANES].view(torch.int32)
    assert first.tolist() == list(range(LANES))
