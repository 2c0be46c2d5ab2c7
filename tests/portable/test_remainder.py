"""The remainder: Python's own `%` on one side, exact steps on tensors on the other, the same bits."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import torch

from simulacrum import portable
from simulacrum.portable import Float32, bits64, scalar, tensor

TURN = 2 * math.pi
DIVISORS = [TURN, 1.0, 0.1, 3.0, 1.0 - 2.0**-53, 1.0 + 2.0**-52, 2.0**-900, 2.0**900, 1e-300 * 1e30, math.pi * 1e200]
# torch warns about its own use of its own old parts when the compiler is first imported.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


def dividends(y: float) -> list[float]:
    """Of all sizes, whole and half multiples and their neighbours, both signs."""
    draw, values = random.Random(y), [0.0, -0.0, 5e-324, y, y / 2, y * 2**20]
    for whole in [*range(12), *(draw.randrange(2**20) for _ in range(150)), 2**20 - 1]:
        for part in (0.0, 0.5):
            multiple = (whole + part) * y
            values += [multiple, math.nextafter(multiple, 0.0), math.nextafter(multiple, math.inf)]
    values += [draw.uniform(0.0, y * 2.0 ** draw.uniform(-60, 20)) for _ in range(600)]
    values = [value for value in values if value <= y * 2**20]
    return values + [-value for value in values]


@pytest.mark.parametrize("y", DIVISORS)
def test_a_tensor_has_the_bits_of_python(y: float) -> None:
    values = dividends(y)
    expected = torch.tensor([value % y for value in values], dtype=torch.float64)
    x = torch.tensor(values, dtype=torch.float64)
    for got in (tensor.remainder(x, y), tensor.remainder(x, torch.full_like(x, y)), portable.remainder(x, y)):
        assert torch.equal(got.view(torch.int64), expected.view(torch.int64))
    assert [bits64(scalar.remainder(value, y)) for value in values] == [bits64(value % y) for value in values]


def test_on_the_way_it_is_exact() -> None:
    for value in dividends(TURN)[:500]:
        true = Fraction(value) % Fraction(TURN)
        assert Fraction(scalar.remainder(value, TURN)) == true  # of a positive number nothing is rounded


def test_numpy_scalars_and_arrays_have_these_bits() -> None:
    values = np.array(dividends(TURN))
    ours = tensor.remainder(torch.from_numpy(values), TURN).numpy()
    assert np.array_equal((values % TURN).view(np.int64), ours.view(np.int64))
    assert all(scalar.remainder(value, np.float64(TURN)) == value % TURN for value in values[:200])


def test_float32_is_rounded_once() -> None:
    values = [float(Float32(value)) for value in dividends(TURN)]
    y = np.float32(TURN)
    expected = np.array(values, dtype=np.float32) % y
    got = tensor.remainder(torch.tensor(values), float(y)).numpy()
    inside = np.abs(np.array(values)) <= float(y) * 2**20
    assert np.array_equal(expected[inside].view(np.int32), got[inside].view(np.int32))
    ones = [scalar.remainder(Float32(value), Float32(y)) for value in values]
    assert all(type(one) is Float32 for one in ones)
    assert np.array_equal(np.array(ones, dtype=np.float32).view(np.int32), got.view(np.int32))


@pytest.mark.parametrize(
    ("x", "y"),
    [(math.nextafter(2.0**20, math.inf), 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, math.inf), (math.inf, 1.0),
     (math.nan, 1.0), (1.0, math.nan), (1.0, 2.0**-901), (1.0, 2.0**901)],
)  # fmt: skip
def test_its_range_is_stated(x: float, y: float) -> None:
    one = tensor.remainder(torch.tensor([x], dtype=torch.float64), torch.tensor([y], dtype=torch.float64))
    assert bits64(scalar.remainder(x, y)) == 0x7FF8000000000000
    assert one.view(torch.int64).item() == 0x7FF8000000000000


@pytest.mark.long
@pytest.mark.nightly
def test_compiled_has_the_bits_of_eager() -> None:
    compiled = torch.compile(lambda x: tensor.remainder(x, TURN), fullgraph=True, dynamic=False)
    x = torch.tensor(dividends(TURN), dtype=torch.float64)
    for part in (x, x[:1], x[5:22].clone()):
        assert torch.equal(compiled(part).view(torch.int64), tensor.remainder(part, TURN).view(torch.int64))
