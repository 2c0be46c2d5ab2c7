"""What is known before the program runs, and what is left to the machine."""

from __future__ import annotations

import math

import pytest
import torch

from simulacrum.lower.program import Builder, Port, Scalar

INT, FLOAT, BOOL = torch.int32, torch.float32, torch.bool


@pytest.fixture
def b() -> Builder:
    return Builder()


def unknown(b: Builder, dtype: torch.dtype = INT, name: str = "x") -> Scalar:
    return b.load(Port(name, dtype, (), "rows"), b.index(0))


def test_integers_of_known_numbers_wrap(b: Builder) -> None:
    assert b.op("add", INT, b.const(2**31 - 1, INT), b.const(1, INT)).data == -(2**31)
    assert b.op("mul", torch.uint8, b.const(200, torch.uint8), b.const(2, torch.uint8)).data == 144
    assert b.op("lt", BOOL, b.const(1, INT), b.const(2, INT)).data is True


def test_floats_are_rounded_as_the_machine_would(b: Builder) -> None:
    third = b.op("div", FLOAT, b.const(1, FLOAT), b.const(3, FLOAT))
    assert third.data == torch.tensor(1.0).div(3.0).item()
    for left, right in ((1.0, 0.0), (3e38, -3e38), (math.inf, 1.0)):
        op = "sub" if right < 0 else "div"
        made = b.op(op, FLOAT, b.const(left, FLOAT), b.const(right, FLOAT))
        expected = torch.tensor(left).sub(right) if op == "sub" else torch.tensor(left).div(right)
        assert not made.constant or made.data == expected.item()


def test_choices_that_are_known(b: Builder) -> None:
    x, flag = unknown(b), unknown(b, BOOL, "flag")
    yes, no = b.const(True, BOOL), b.const(False, BOOL)
    assert b.op("select", INT, yes, x, b.const(1, INT)) is x
    assert b.op("select", INT, flag, x, x) is x
    assert b.op("select", BOOL, flag, yes, no) is flag
    assert b.op("and", BOOL, flag, no) is no
    assert b.op("and", BOOL, yes, flag) is flag
    assert b.op("or", BOOL, flag, yes) is yes
    assert b.op("or", BOOL, flag, flag) is flag
    assert b.op("not", BOOL, yes).data is False


def test_a_whole_number_as_float32_is_rounded_once(b: Builder) -> None:
    number = 2**54 + 2**30 + 1
    assert b.op("cast", FLOAT, b.const(number, torch.int64)).data == torch.tensor(number).float().item()


def test_a_float_beyond_the_integers_is_left_to_the_machine(b: Builder) -> None:
    assert b.op("cast", INT, b.const(7.9, FLOAT)).data == 7
    assert not b.op("cast", INT, b.const(3e9, FLOAT)).constant
    assert not b.op("cast", INT, b.const(math.nan, FLOAT)).constant


def test_a_bound_that_is_nan_is_the_result(b: Builder) -> None:
    nan = b.const(math.nan, FLOAT)
    assert b.op("at_least", FLOAT, unknown(b, FLOAT), nan) is nan


def test_equal_scalars_are_one(b: Builder) -> None:
    x, y = unknown(b), unknown(b, name="y")
    assert b.op("add", INT, x, y) is b.op("add", INT, x, y)
    assert b.const(0.0, FLOAT) is not b.const(-0.0, FLOAT)
    assert unknown(b) is x


def test_what_does_not_change_in_a_loop_stands_outside(b: Builder) -> None:
    x = unknown(b)
    with b.loop(3, b.root) as counter:
        outside, inside = b.op("neg", INT, x), b.op("cast", INT, counter)
    assert outside.block is b.root
    assert inside.block is counter.block
    assert b.root.statements[:2] == [x, outside]
