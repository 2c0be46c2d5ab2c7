from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kit import NAMES, package

from simulacrum.contract.fields import Field
from simulacrum.contract.spaces import single_action_space
from simulacrum.harness import drivers
from simulacrum.harness.drivers import Constant, Edge, Mixed, Random, Scripted, limits, standard
from simulacrum.harness.frames import take

ENVS = [*NAMES, "toywalk", "forager"]
ROWS = 40


def rows(actions: object, count: int = ROWS) -> list[object]:
    return [take(actions, [row]) for row in range(count)]


def one(actions: Any) -> Any:
    if isinstance(actions, dict):
        return {name: value[0] for name, value in actions.items()}
    return actions[0]


@pytest.mark.parametrize("name", ENVS)
@pytest.mark.parametrize("kind", [Random, Edge, Constant, standard])
def test_every_driver_stays_inside_the_space(name: str, kind: Any) -> None:
    schema = package(name).schema
    space = single_action_space(schema)
    driver = kind(schema, ROWS, 3)
    for step in range(5):
        for action in rows(driver.actions({}, step)):
            assert space.contains(one(action)), one(action)


@pytest.mark.parametrize("name", ENVS)
def test_a_seed_gives_the_same_actions_again(name: str) -> None:
    schema = package(name).schema
    first, second = standard(schema, 9, 5), standard(schema, 9, 5)
    for step in range(4):
        assert repr(first.actions({}, step)) == repr(second.actions({}, step))


def test_all_discrete_actions_come_up() -> None:
    schema = package("forager").schema
    for kind in (Random, Constant):
        assert set(kind(schema, ROWS, 0).actions({}, 0).tolist()) == {0, 1, 2, 3}
    assert set(Edge(schema, ROWS, 0).actions({}, 0).tolist()) == {0, 3}


def test_a_constant_row_keeps_its_action() -> None:
    driver = Constant(package("forager").schema, ROWS, 0)
    assert driver.actions({}, 0).tolist() == driver.actions({}, 7).tolist()


def test_edges_are_held_for_a_while() -> None:
    driver = Edge(package("toywalk").schema, 500, 0)
    seen = np.stack([driver.actions({}, step) for step in range(30)])
    changes = (seen[1:] != seen[:-1]).mean()
    assert 0.02 < changes < 0.3


def test_a_float_space_without_bounds_is_drawn_from_a_wide_range() -> None:
    low, high = limits(Field(path="a", name="a", dtype="float32", shape=(2,), space="Box"))
    assert low.tolist() == [-drivers.UNBOUNDED] * 2
    assert high.tolist() == [drivers.UNBOUNDED] * 2


def test_a_mixed_batch_gives_each_row_to_its_driver_and_asks_policies_for_no_other() -> None:
    schema, asked = package("toywalk").schema, list[int]()

    def read(row: int) -> tuple[int, int, int] | None:
        asked.append(row)
        return None if row == 4 else (row, 0, 0)

    scripted = Scripted("right", lambda observation, state, t: 1, schema, 6, read)
    driver = Mixed([scripted, Constant(schema, 6, 0)], 6)
    actions = driver.actions({}, 0)
    assert asked == [0, 2, 4]
    assert actions.tolist() == [1, 1, 1, 1, 0, 1]  # row 4 has nothing to decide and gets the lowest action


def test_a_policy_may_act_in_a_dict_space() -> None:
    schema = package("canvas").schema
    given = {"ink": (1, 2, 3), "cell": 5}
    actions = Scripted("painter", lambda *_: given, schema, 2, lambda row: (0, 0, 0)).actions({}, 0)
    assert actions["ink"].tolist() == [[1, 2, 3]] * 2
    assert actions["cell"].tolist() == [5, 5]
    assert {name: value.dtype.name for name, value in actions.items()} == {"ink": "uint8", "cell": "int64"}
