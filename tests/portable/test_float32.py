from __future__ import annotations

import copy
import math
import operator
import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from simulacrum.portable import Float32, bits32, from_bits32

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


def some_floats(count: int) -> list[float]:
    """Float32 values: all kinds of bit patterns, zeros, subnormals, infinities, NaN."""
    draw = random.Random(7)
    values = [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, math.inf, -math.inf, math.nan]
    values += [from_bits32(draw.getrandbits(32)) for _ in range(count)]
    values += [draw.uniform(-10, 10) for _ in range(count)]
    return [float(Float32(v)) for v in values]


@pytest.mark.parametrize("operation", ARITHMETIC)
def test_arithmetic_has_the_bits_of_torch(operation: Any) -> None:
    values = some_floats(1500)
    others = random.Random(8).sample(values, len(values))
    pairs = list(zip(values, others, strict=True)) + [(a, b) for a in values[:11] for b in values[:11]]
    left = torch.tensor([a for a, _ in pairs], dtype=torch.float32)
    right = torch.tensor([b for _, b in pairs], dtype=torch.float32)
    expected = operation(left, right)
    got = [operation(Float32(a), Float32(b)) for a, b in pairs]
    assert all(type(x) is Float32 for x in got)
    same_nan = torch.isnan(expected) & torch.tensor([math.isnan(x) for x in got])
    same_bits = expected.view(torch.int32) == torch.tensor(got, dtype=torch.float32).view(torch.int32)
    assert bool((same_nan | same_bits).all())


@pytest.mark.parametrize("operation", ARITHMETIC + COMPARISONS)
@pytest.mark.parametrize("number", [0.1, -3, 16777217, 2**60 + 2**36 + 1, 1e39, 0.0, -0.0, 0, math.inf])
def test_a_python_number_on_either_side_counts_as_float32_as_in_torch(operation: Any, number: float) -> None:
    for value in [0.1, 16777216.0, 0.0, -2.5, 1e30, 1.1529216e18]:
        tensor = torch.tensor([value], dtype=torch.float32)
        right = operation(Float32(value), number), operation(tensor, number)
        # On the left of / torch multiplies by the reciprocal; the lint refuses that, and a tensor there
        # divides.
        first = torch.tensor([number]).to(torch.float32) if operation is operator.truediv else number
        left = operation(number, Float32(value)), operation(first, tensor)
        for got, expected in (right, left):
            if isinstance(got, bool):
                assert got == expected.item()
            elif math.isnan(got):
                assert expected.isnan()
            else:
                assert np.float32(got).tobytes() == expected.numpy().tobytes()


def test_division_by_zero_follows_torch_and_does_not_raise() -> None:
    assert Float32(1) / 0 == math.inf
    assert Float32(-1) / 0.0 == -math.inf
    assert Float32(1) / -0.0 == -math.inf
    assert 1 / Float32(-0.0) == -math.inf
    assert math.isnan(Float32(0) / 0)
    assert Float32(3e38) * 10 == math.inf


def test_numpy_scalars_beside_it_do_not_widen_the_answer() -> None:
    for other in (np.float32(0.1), np.float64(0.1), np.int64(3), np.int32(3), np.bool_(True)):
        answer = Float32(0.7) * other
        assert type(answer) is Float32
        assert answer == Float32(0.7) * float(other)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda x: x // 2, "math.floor"),
        (lambda x: 2 // x, "math.floor"),
        (lambda x: x % 2, "portable.remainder"),
        (lambda x: 2 % x, "portable.remainder"),
        (lambda x: x**2, r"x \* x"),
        (lambda x: 2**x, "portable.pow"),
        (lambda x: pow(x, 2), "portable.sqrt"),
        (lambda x: divmod(x, 2), "math.floor"),
        (lambda x: divmod(2, x), "math.floor"),
        (lambda x: round(x, 1), "round"),
    ],
)
def test_operators_without_a_portable_form_say_what_to_write(call: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        call(Float32(3))


def test_it_behaves_as_a_number_and_a_value() -> None:
    x = Float32(0.1)
    assert repr(x) == "Float32(0.1)"
    assert str(x) == "0.1"
    assert f"{x:.3f}" == "0.100"
    assert [repr(Float32(v)) for v in (1 / 3, 1e-45, math.inf, 16777216)] == [
        "Float32(0.33333334)",
        "Float32(1e-45)",
        "Float32(inf)",
        "Float32(16777216.0)",
    ]
    assert [type(v) for v in (-x, +x, abs(x))] == [Float32] * 3
    assert bits32(-Float32(0.0)) == 0x80000000
    assert (int(Float32(3.7)), round(Float32(2.5)), math.floor(Float32(-0.5))) == (3, 2, -1)
    assert hash(x) == hash(float(x))
    assert x.bits == 0x3DCCCCCD
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(twin) is Float32
        assert twin.bits == x.bits
    assert type(sum([x, x, x])) is Float32
    assert not hasattr(x, "__dict__")


def test_every_text_form_reads_back() -> None:
    for value in some_floats(500):
        if not math.isnan(value):
            assert Float32(str(Float32(value))) == Float32(value)


def test_with_what_is_no_number_it_steps_aside() -> None:
    with pytest.raises(TypeError):
        Float32(1) + "a"  # type: ignore[operator]  # what is tested
    with pytest.raises(TypeError):
        operator.lt(Float32(1), "a")
    assert Float32(1) != "a"
    assert Float32(1).__add__(1j) is NotImplemented  # type: ignore[arg-type]  # what is tested


def test_scalars_need_neither_numpy_nor_torch() -> None:
    code = (
        "import sys\n"
        "sys.modules['numpy'] = sys.modules['torch'] = None\n"
        "from simulacrum.portable.scalar import Float32, sin, pow, ordered_sum\n"
        "from simulacrum.portable import sin as either\n"
        "x = Float32(0.5)\n"
        "print(sin(x), pow(2.0, 0.5), ordered_sum([x, x]), either(0.5), x * 3)\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split()[0] == "0.47942555"
