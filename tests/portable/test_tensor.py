from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from portable_inputs import BINARY, UNARY, one, two
from torch import Tensor

from simulacrum import portable
from simulacrum.portable import Float32, scalar, tensor

DTYPES = [torch.float32, torch.float64]
# Without the last one the compiler takes minutes over these functions; the bits are the same. The engine
# sets them too.
OPTIONS = {
    "cpp.enable_floating_point_contract_flag": "off",
    "cpp.enable_unsafe_math_opt_flag": False,
    "realize_opcount_threshold": 8,
}


# torch warns about its own use of its own old parts when the compiler is first imported.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


def bits(x: Tensor) -> Tensor:
    return x.view(torch.int32 if x.dtype == torch.float32 else torch.int64)


def as_scalars(x: Tensor) -> list[float]:
    return [Float32(v) for v in x.tolist()] if x.dtype == torch.float32 else x.tolist()


def assert_same_bits(got: Tensor, expected: Tensor, name: str, *arguments: Tensor) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    wrong = (bits(got) != bits(expected)).nonzero().flatten().tolist()
    shown = [([a[i].item() for a in arguments], got[i].item(), expected[i].item()) for i in wrong[:3]]
    assert not wrong, f"{name}: {len(wrong)} differ, first {shown}"


def arguments_of(name: str, count: int, dtype: torch.dtype) -> tuple[Tensor, ...]:
    if name in UNARY:
        return (torch.tensor(one(count), dtype=dtype),)
    return tuple(torch.tensor(column, dtype=dtype) for column in zip(*two(count), strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_a_tensor_has_the_bits_of_the_scalars(name: str, dtype: torch.dtype) -> None:
    arguments = arguments_of(name, 4097, dtype)
    by_one = map(getattr(scalar, name), *map(as_scalars, arguments))
    expected = torch.tensor(list(by_one), dtype=dtype)
    assert_same_bits(getattr(tensor, name)(*arguments), expected, name, *arguments)


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_a_row_alone_has_the_bits_it_has_in_a_batch(name: str) -> None:
    arguments = arguments_of(name, 4097, torch.float64)
    function = getattr(tensor, name)
    whole = function(*arguments)
    for start, stop in ((0, 1), (1, 2), (4096, 4097), (5, 22), (0, 1001)):
        part = tuple(a[start:stop].clone() for a in arguments)
        assert_same_bits(function(*part), whole[start:stop], name, *part)


def everything(x: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    results = [getattr(tensor, name)(x) for name in UNARY]
    results += [getattr(tensor, name)(a, b) for name in BINARY]
    return [*results, tensor.positive_zero(x), tensor.ordered_sum(torch.stack([x, a, b], dim=-1))]


def some(x: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
    return [tensor.sqrt(x), tensor.sin(x), tensor.exp(x), tensor.positive_zero(x)]


def compare_compiled(function: Callable[..., list[Tensor]], dtype: torch.dtype, sizes: list[int]) -> None:
    compiled = torch.compile(function, fullgraph=True, dynamic=False, options=OPTIONS)
    inputs = [*arguments_of("sin", 4097, dtype), *arguments_of("pow", 4097, dtype)]
    for size in sizes:
        part = [x[:size].clone() for x in inputs]
        for number, (got, expected) in enumerate(zip(compiled(*part), function(*part), strict=True)):
            # NaN out of + alone may carry other bits; the functions' own NaN is always the same.
            if number == len(UNARY + BINARY) + 1:
                got, expected = got.nan_to_num(nan=0.5), expected.nan_to_num(nan=0.5)
            assert_same_bits(got, expected, f"result {number} of {size}", *part)


def test_compiled_has_the_bits_of_eager() -> None:
    compare_compiled(some, torch.float32, [97])


@pytest.mark.long
@pytest.mark.nightly
def test_every_function_compiled_has_the_bits_of_eager_alone_and_in_a_batch() -> None:
    compare_compiled(everything, torch.float64, [1, 4097])


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_exports_with_any_number_of_rows(name: str) -> None:
    class Module(torch.nn.Module):
        def forward(self, *x: Tensor) -> Any:
            return getattr(tensor, name)(*x)

    arguments = arguments_of(name, 64, torch.float64)
    rows = torch.export.Dim("rows", min=2)
    program = torch.export.export(Module(), arguments, dynamic_shapes=(tuple({0: rows} for _ in arguments),))
    longer = arguments_of(name, 301, torch.float64)
    assert_same_bits(program.module()(*longer), getattr(tensor, name)(*longer), name, *longer)


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_slopes_are_those_of_torch(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(64, generator=generator, dtype=torch.float64) * 4 + 0.05
    arguments = [x] if name in UNARY else [x, x.flip(0) - 2]
    if name in ("sin", "tan", "tanh"):
        arguments[0][:2] = torch.tensor([0.0, 1e-12])
    if name == "log":
        arguments[0][0] = 1.0
    slopes = []
    for function in (getattr(tensor, name), getattr(torch, name)):
        leaves = [a.clone().requires_grad_() for a in arguments]
        slopes.append(torch.autograd.grad(function(*leaves).sum(), leaves))
    for got, expected in zip(*slopes, strict=True):
        # The polynomials' slopes are not rounded as carefully as their values; 1e-12 is far below use.
        torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-14)


def test_square_root_is_correctly_rounded() -> None:
    x = torch.tensor([v for v in one(4097) if v > 0], dtype=torch.float64)
    near = torch.arange(1, 2000, dtype=torch.float64) ** 2  # exact squares and their neighbours
    x = torch.cat([x, near, near.nextafter(torch.tensor(math.inf, dtype=torch.float64)), near * 2.0**-1074])
    expected = torch.tensor([math.sqrt(v) for v in x.tolist()], dtype=torch.float64)
    assert_same_bits(tensor.sqrt(x), expected, "sqrt", x)


def test_a_wrong_estimate_of_a_root_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.tensor([v for v in one(4097) if v > 0], dtype=torch.float64)
    expected = torch.tensor([math.sqrt(v) for v in x.tolist()], dtype=torch.float64)
    # torch's own root may be one off already, so the right one comes from NumPy.
    for step in (-(2.0**-52), 2.0**-52):
        monkeypatch.setattr(torch, "sqrt", lambda m, step=step: torch.from_numpy(np.sqrt(m.numpy())) + step)
        assert_same_bits(tensor.sqrt(x), expected, "sqrt", x)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.int32])
def test_ordered_sum_is_a_loop(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    x = (torch.randn(257, 23, generator=generator) * 100).to(dtype)
    total = x[:, 0]
    for column in range(1, 23):
        total = total + x[:, column]
    assert torch.equal(tensor.ordered_sum(x), total)
    assert torch.equal(tensor.ordered_sum(x.T, dim=0), total)
    assert tensor.ordered_sum(x).dtype == dtype
    empty = tensor.ordered_sum(x[:, :0])
    assert (empty.shape, empty.dtype) == ((257,), dtype)
    if dtype == torch.float32:
        assert tensor.ordered_sum(x)[5].item() == scalar.ordered_sum([Float32(v) for v in x[5].tolist()])


@pytest.mark.parametrize("dtype", DTYPES)
def test_positive_zero(dtype: torch.dtype) -> None:
    x = torch.tensor([-0.0, 0.0, -1.5, 5e-324, -5e-324, math.inf], dtype=dtype)
    expected = [0.0 if v == 0.0 else v for v in x.tolist()]
    assert_same_bits(tensor.positive_zero(x), torch.tensor(expected, dtype=dtype), "positive_zero", x)


def test_a_python_number_takes_the_dtype_of_the_tensor() -> None:
    x = torch.tensor([0.3, 2.0], dtype=torch.float32)
    assert torch.equal(tensor.pow(x, 0.1), tensor.pow(x, torch.full_like(x, 0.1)))
    assert torch.equal(tensor.pow(2.0, x), tensor.pow(torch.full_like(x, 2.0), x))
    assert torch.equal(tensor.atan2(1, x), tensor.atan2(torch.ones_like(x), x))
    assert tensor.atan2(x[:, None], x).shape == (2, 2)


def test_shapes_and_dtypes_are_kept() -> None:
    for dtype in DTYPES:
        for shape in [(), (0,), (2, 3, 1)]:
            x = torch.full(shape, 0.5, dtype=dtype)
            for name in UNARY:
                answer = getattr(tensor, name)(x)
                assert (answer.shape, answer.dtype) == (x.shape, dtype)
            assert tensor.pow(x, x).shape == x.shape


def test_arguments_are_left_alone() -> None:
    x = torch.tensor(one(100), dtype=torch.float64)
    before = x.clone()
    everything(x, x, x)
    assert torch.equal(bits(x), bits(before))


def test_other_dtypes_are_refused() -> None:
    with pytest.raises(TypeError, match="float32 or float64"):
        tensor.sin(torch.tensor([1]))
    with pytest.raises(TypeError, match="float16"):
        tensor.positive_zero(torch.tensor([1.0], dtype=torch.float16))
    with pytest.raises(TypeError, match="one dtype"):
        tensor.pow(torch.ones(1), torch.ones(1, dtype=torch.float64))
    with pytest.raises(TypeError, match="must be a tensor"):
        tensor.pow(1.0, 2.0)


def test_one_name_serves_scalars_and_tensors() -> None:
    x = torch.tensor([0.5], dtype=torch.float64)
    for name in UNARY:
        assert getattr(portable, name)(x).item() == getattr(portable, name)(0.5)
    assert portable.pow(2.0, x).item() == portable.pow(2.0, 0.5)
    assert portable.atan2(x, 1.0).item() == portable.atan2(0.5, 1.0)
    assert portable.ordered_sum(torch.ones(2, 3)).tolist() == [3.0, 3.0]
