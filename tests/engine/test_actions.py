"""Actions at the door: what is accepted, what is refused by name, and that nothing of the caller's is touched."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from kit import package
from kit.tools import MODES, Actor, assert_same, clone, vector

from simulacrum.engine.actions import sanitize, to_tensors
from simulacrum.errors import ActionError

CPU = torch.device("cpu")


def group(name: str) -> Any:
    return package(name).schema.action


PLAIN = torch.tensor([0, 1, 1, 0])
ALIKE: list[Any] = [
    [0, 1, 1, 0],
    (0, 1, 1, 0),
    np.array([0, 1, 1, 0]),
    np.array([0, 1, 1, 0], dtype=">i8"),
    np.array([0, 1, 1, 0], dtype=">u2"),
    [np.int32(0), np.int64(1), np.uint8(1), np.int8(0)],
    [torch.tensor(0), torch.tensor(1), torch.tensor(1), torch.tensor(0)],
    torch.tensor([0, 9, 1, 9, 1, 9, 0, 9])[::2],
    np.array([0, 9, 1, 9, 1, 9, 0, 9])[::2],
    np.array([0, 1, 1, 0])[::-1],
    *(np.array([0, 1, 1, 0], dtype=kind) for kind in ("i1", "i2", "i4", "u1", "u2", "u4", "u8")),
    *(PLAIN.to(kind) for kind in (torch.int8, torch.uint8, torch.int16, torch.int32)),
    *(PLAIN.to(kind) for kind in (torch.uint16, torch.uint32, torch.uint64)),
]


@pytest.mark.parametrize("given", ALIKE, ids=lambda given: f"{type(given).__name__}-{getattr(given, 'dtype', '')}")
def test_any_integers_of_any_layout_are_accepted(given: Any) -> None:
    taken = to_tensors(group("counter"), given, 4, CPU)
    assert_same(taken, PLAIN)
    assert taken.is_contiguous()


BOX = torch.tensor([[0.5, -1.0], [0.25, 1.0], [0.0, 0.125]])


@pytest.mark.parametrize(
    "given",
    [
        BOX.tolist(),
        BOX.double(),
        BOX.half(),
        BOX.bfloat16(),
        BOX.numpy().astype(">f4"),
        BOX.numpy().astype("f8"),
        np.asfortranarray(BOX.numpy()),
        BOX.numpy()[::-1, ::-1].copy()[::-1, ::-1],
        BOX.t().contiguous().t(),
        BOX.clone().requires_grad_(),
        BOX.clone().requires_grad_() * 1.0,
    ],
    ids=str,
)
def test_any_floats_of_any_layout_are_accepted(given: Any) -> None:
    taken = to_tensors(group("glider"), given, 3, CPU)
    assert_same(taken, BOX)
    assert taken.is_contiguous()
    assert not taken.requires_grad


def test_expanded_and_read_only_actions_are_accepted_and_kept() -> None:
    env = vector("glider", 3)
    env.reset(seed=0)
    wide = torch.tensor([[0.5, -0.5]]).expand(3, 2)
    locked = wide.numpy().copy()
    locked.flags.writeable = False
    other = vector("glider", 3)
    other.reset(seed=0)
    assert_same(env.step(wide)[0], other.step(locked)[0])
    assert wide.tolist() == locked.tolist() == [[0.5, -0.5]] * 3


@pytest.mark.parametrize("output", ["torch", "numpy"])
def test_actions_and_options_are_never_changed(output: str) -> None:
    for name in ("counter", "glider", "dials", "canvas"):
        env = vector(name, 3, output=output)
        options = {"reset_mask": np.array([True, False, True])}
        env.reset(seed=0)
        action = Actor(env)()
        action = (
            action
            if output == "torch"
            else clone({k: v.numpy() for k, v in action.items()} if isinstance(action, dict) else action.numpy())
        )
        kept, kept_options = clone(action), clone(options)
        for _ in range(4):
            env.step(action)
            env.reset(options=options)
        assert_same(action, kept)
        assert_same(options, kept_options)
        assert list(options) == ["reset_mask"]


WRONG: list[tuple[str, Any, str]] = [
    ("counter", torch.zeros(4, 1, dtype=torch.int64), "wrong shape"),
    ("counter", torch.zeros(1, 4, dtype=torch.int64), "wrong shape"),
    ("counter", torch.tensor(1), "wrong shape"),
    ("counter", 1, "wrong shape"),
    ("counter", torch.zeros(3, dtype=torch.int64), "wrong shape"),
    ("counter", torch.zeros(5, dtype=torch.int64), "wrong shape"),
    ("counter", [], "wrong"),
    ("counter", torch.zeros(4), "wrong dtype"),
    ("counter", [0.0, 1.0, 1.0, 0.0], "wrong dtype"),
    ("counter", torch.zeros(4, dtype=torch.bool), "wrong dtype"),
    ("counter", [True, False, True, False], "wrong dtype"),
    ("counter", torch.zeros(4, dtype=torch.complex64), "wrong dtype"),
    ("counter", ["0", "1", "1", "0"], "not an array of numbers"),
    ("counter", [None] * 4, "not an array of numbers"),
    ("counter", None, "not an array of numbers"),
    ("counter", [[0], [1, 1], [0], [1]], "not an array of numbers"),
    ("counter", {"action": [0, 0, 0, 0]}, "not an array of numbers"),
    ("counter", [10**30] * 4, "not an array of numbers"),
    ("glider", torch.zeros(4), "wrong shape"),
    ("glider", torch.zeros(2), "wrong shape"),
    ("glider", torch.zeros(4, 2, 1), "wrong shape"),
    ("glider", torch.zeros(2, 4), "wrong shape"),
    ("glider", torch.zeros(4, 2, dtype=torch.int64), "wrong dtype"),
    ("glider", np.zeros((4, 2), dtype=np.longdouble), "wrong dtype"),
    ("dials", torch.zeros(4, dtype=torch.int64), "wrong shape"),
    ("canvas", torch.zeros(4, dtype=torch.int64), "not a mapping"),
    ("canvas", {"ink": torch.zeros(4, 3, dtype=torch.uint8)}, "not a mapping with the declared keys"),
    ("canvas", {"ink": torch.zeros(4, 3, dtype=torch.uint8), "cell": [0] * 4, "x": 1}, "declared keys"),
    ("canvas", {"ink": torch.zeros(4, dtype=torch.uint8), "cell": [0] * 4}, "wrong shape"),
]
OUTSIDE: list[tuple[str, Any, list[int]]] = [
    ("counter", [0, 2, 1, 0], [1]),
    ("counter", [0, 1, -1, 0], [2]),
    ("counter", [-(2**63), 1, 0, 2**62], [0, 3]),
    ("counter", np.array([0, 2**64 - 1, 0, 0], dtype=np.uint64), [1]),
    ("counter", torch.tensor([0, 1, 255, 0], dtype=torch.uint8), [2]),
    ("glider", [[0.0, 0.0], [3.0, 0.0], [0.0, 0.0], [0.0, -1.5]], [1, 3]),
    ("glider", [[0.0, float("nan")], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [0]),
    ("glider", [[0.0, 0.0], [0.0, 0.0], [float("inf"), 0.0], [0.0, float("-inf")]], [2, 3]),
    ("glider", np.array([[1e300, 0], [0, 0], [0, 0], [0, 0]]), [0]),
    ("dials", [[1, 2], [0, 3], [2, 0], [-1, 0]], [1, 2, 3]),
    ("canvas", {"cell": [-1, 15, 16, -2], "ink": [[0, 0, 0]] * 4}, [2, 3]),
    ("canvas", {"cell": [0] * 4, "ink": [[0, 0, 256], [0, 0, 0], [-1, 0, 0], [255, 255, 255]]}, [0, 2]),
]


def outcome(name: str, mode: str, bad: Any) -> tuple[str, Any, Any]:
    """The error of a bad action, with the state before and after it."""
    env = vector(name, 4, autoreset_mode=mode)
    env.reset(seed=3)
    before = env.state_dict()
    with pytest.raises(ActionError) as caught:
        env.step(bad)
    assert isinstance(caught.value, ValueError)
    return str(caught.value), before, env.state_dict()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "bad", "words"), WRONG, ids=str)
def test_wrong_forms_raise_and_step_nothing(name: str, bad: Any, words: str, mode: str) -> None:
    text, before, after = outcome(name, mode, bad)
    assert words in text
    assert_same(before, after)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "bad", "rows"), OUTSIDE, ids=str)
def test_illegal_values_name_their_rows_and_step_nothing(name: str, bad: Any, rows: list[int], mode: str) -> None:
    text, before, after = outcome(name, mode, bad)
    assert f"in row {', '.join(map(str, rows))}" in text
    assert "no row was stepped" in text
    assert_same(before, after)


def test_many_illegal_rows_are_counted() -> None:
    env = vector("counter", 30)
    env.reset(seed=0)
    with pytest.raises(ActionError, match=r"in row 0, 1, 2, 3, 4, 5, 6, 7, \.\.\. \(30 rows\)"):
        env.step([2] * 30)


def test_sanitize_replaces_only_what_is_illegal() -> None:
    bad = torch.tensor([[float("nan"), 0.5], [2.0, -1.0], [0.5, 1.0]])
    clean, outside = sanitize(group("glider"), bad)
    assert outside.tolist() == [True, True, False]
    assert ((clean >= -1) & (clean <= 1)).all()
    assert clean[2].tolist() == [0.5, 1.0]
    assert bad[1, 0] == 2.0


def test_an_unbounded_box_takes_any_number_but_no_nan_and_no_infinity() -> None:
    leaf = dataclasses.replace(group("glider").leaf, low=None, high=None)
    unbounded = dataclasses.replace(group("glider"), fields={"": leaf})
    given = torch.tensor([[1e30, -1e30], [float("nan"), 0.0], [0.0, float("inf")], [float("-inf"), 0.0]])
    clean, outside = sanitize(unbounded, given)
    assert outside.tolist() == [False, True, True, True]
    assert torch.isfinite(clean).all()
    assert torch.equal(clean[0], given[0])


def test_the_action_of_a_row_being_reset_is_ignored_whatever_it_is() -> None:
    env = vector("counter", 2, params={"goal": [1, 1000]})
    env.reset(seed=0)
    env.step([0, 0])
    out = env.step([-7, 1])
    assert out[4]["autoreset"].tolist() == [True, False]
    env = vector("counter", 2, params={"goal": [1, 1000]})
    env.reset(seed=0)
    env.step([0, 0])
    with pytest.raises(ActionError, match="row 1"):
        env.step([0, -7])
