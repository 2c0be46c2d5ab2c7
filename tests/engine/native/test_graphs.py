"""What is captured and how its tensors are named: every output has a port, what is kept is written in place."""

from __future__ import annotations

import pytest
from kit import NAMES, package

from simulacrum.engine.boundary import core_of
from simulacrum.engine.native.graphs import MASK, ONE, RESTART, functions


@pytest.mark.parametrize("name", NAMES)
def test_names_and_layouts(name: str) -> None:
    schema = package(name).schema
    made = {one.name: one for one in functions(core_of(package(name), None))}
    assert list(made) == ["reset", "next_step", "same_step"]
    kept = {f"state.{field}" for field in schema.state.fields}
    kept |= {"seed", "episode", "key", "t", "returns", "ended", "began"}
    for function in made.values():
        inputs = {port.name: port for port in function.inputs}
        assert {port.name for port in function.inputs if port.layout == "blocks"} == kept
        outputs = [port for port in function.outputs if port is not None]
        assert {port.name for port in outputs if port.layout == "blocks"} == kept
        assert all(inputs[port.name] is port for port in outputs if port.layout == "blocks")
        assert all(port.name.startswith("out.") for port in outputs if port.name not in {*kept, RESTART, "illegal"})
    assert made["reset"].restart is not None
    assert made["reset"].restart.name == MASK
    assert {port.name for port in made["next_step"].inputs if port.layout == "one"} == set(ONE)
    shown = {port.name for port in made["same_step"].outputs if port is not None}
    assert {"out.reward", "out.info._final_obs", "out.info.episode.r"} <= shown
