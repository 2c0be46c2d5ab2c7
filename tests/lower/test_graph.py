"""What cannot be lowered is refused, by the operation's name, the author's line and the rule of the specification."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from kit.lowering import Case, lowered, small

from simulacrum.errors import CompileError, LoweringError
from simulacrum.lower.graph import VIEWS
from simulacrum.lower.library import make_library
from simulacrum.lower.rules import RULES

FLOATS, WHOLE, WIDE = small(torch.float32, 0, 9, 3), small(torch.int32, 1, 9, 3), small(torch.int32, 1, 9, 3, 4)
ROW = small(torch.int32, 0, 9)

# Body of the function of (x: float32 [N, 3], y: int32 [N, 3], z: int32 [N, 3, 4], k: int32 [N]); words of the refusal.
REFUSED = {
    # Without a rule, or with other bits in every form.
    "torch.fft.fft(x).real": ("fft",),
    "torch.nn.functional.gelu(x)": ("gelu", "cannot be lowered"),
    "torch.sin(x)": ("aten.sin.default cannot be lowered", "simulacrum.portable.tensor.sin"),
    "torch.exp(x)": ("exp", "simulacrum.portable.tensor.exp"),
    "torch.rsqrt(x)": ("rsqrt", "cannot be lowered"),
    "torch.lerp(x, x, 0.3)": ("lerp", "cannot be lowered"),
    "x @ torch.ones(3, 2)": ("matmul", "cannot be lowered"),
    "x.mean(1)": ("mean", "cannot be lowered"),
    "x.topk(2, dim=1)[0]": ("topk", "cannot be lowered"),
    "x.sum(1)": ("a float sum", "ordered_sum"),
    "x.prod(1)": ("a float prod", "product"),
    "x.cumsum(1)": ("a running sum of floats", "+"),
    "x // 2": ("floor division of floats", "torch.floor(x / y)"),
    "x % 2": ("the remainder of floats", "remainder(x, y)"),
    "torch.fmod(x, 2)": ("the remainder of floats",),
    "torch.add(x, x, alpha=0.3)": ("alpha=", "a + alpha * b"),
    "(y > 1) - (x > 1)": ("a difference with bools", "x ^ y"),
    "1 - (y > 1)": ("a difference with bools",),
    "torch.add(y, y, alpha=2**40)": ("add: torch.int32 has no 1099511627776",),
    "torch.add(y, y, alpha=2.0)": ("alpha=2.0 for torch.int32",),
    "torch.add(y, y, alpha=True)": ("alpha=True for torch.int32",),
    "torch.add(x, x, alpha=True)": ("alpha=True for torch.float32",),
    "torch.abs(y > 1)": ("the absolute value of bools",),
    "x ** 0.5": ("a power of 0.5", "simulacrum.portable.tensor.pow"),
    "x ** x": ("a power", "simulacrum.portable.tensor.pow"),
    "torch.round(x, decimals=1)": ("decimals", "scale"),
    "torch.round(y, decimals=1)": ("decimals", "scale"),
    "torch.zeros_like(x).scatter_add(1, y.long() % 3, x)": ("combines floats", "in order"),
    "x.scatter(1, y.long() % 3, x, reduce='add')": ("combines floats",),
    "y // 0": ("a division by zero",),
    "y.index_select(1, torch.tensor([3]))": ("the constant index 3 is outside",),
    "torch.arange(0.0, 1.0, 0.4) + x[:, :1]": ("a range of floats", "integers"),
    "torch.arange(0.5, 3.0, dtype=torch.int32) + y": ("a range of floats", "integers"),
    "torch.arange(0, 3, 1.0, dtype=torch.int32) + y": ("a range of floats", "integers"),
    "torch.sort(z.repeat(1, 3, 9).flatten(1), dim=1, stable=True)[0]": ("sorts 324 items",),
    # Numbers that a type has not.
    "torch.full_like(y, float('nan'))": ("full_like: torch.int32 has no nan",),
    "torch.full_like(x, 1e300)": ("torch.float32 has no 1e+300",),
    "y.clamp(max=2**40)": ("torch.int32 has no 1099511627776",),
    "y.masked_fill(y > 1, 2**40)": ("torch.int32 has no 1099511627776",),
    "torch.where(y > 1, y, 2**40)": ("torch.int32 has no 1099511627776",),
    "y.scatter(1, y.long() % 3, 2**40)": ("torch.int32 has no 1099511627776",),
    "torch.nn.functional.pad(y, (1, 1), value=2**40)": ("torch.int32 has no",),
    # Types.
    "x.half()": ("torch.float16", "torch.float32"),
    "x.to(torch.bfloat16).float()": ("torch.bfloat16",),
    "x.view(torch.int16)": ("torch.float32 seen as torch.int16", "same width"),
    "x.view(torch.uint8)": ("seen as torch.uint8",),
    "(y == 1).to(torch.uint8).view(torch.bool)": ("torch.uint8 seen as torch.bool",),
    # Other rows.
    "x.roll(1, 0)": ("roll: goes over the rows of the batch", "dim=-1"),
    "x.roll(1)": ("rolls all elements", "dims=(1,)"),
    "y.sum(0, keepdim=True) + y": ("sum: goes over the rows", "dim=-1"),
    "y.sum() + y": ("sum: goes over the rows",),
    "y.amax(0) + y": ("amax: goes over the rows",),
    "y.argmax() + k": ("over all elements, the rows among them",),
    "y.max() + k": ("over all elements, the rows among them",),
    "y.cumsum(0)": ("cumsum: goes over the rows",),
    "y.sort(dim=0, stable=True)[0]": ("sort: goes over the rows",),
    "y.flip(dims=(0,))": ("flip: goes over the rows",),
    "y.gather(0, y.long() * 0)": ("gather: goes over the rows",),
    "torch.cat([y, y])[: y.shape[0]]": ("a dimension has the length", "a dimension of its own"),
    "y.flatten().unflatten(0, (-1, 3))": ("a dimension has the length", "flatten(1)"),
    "y[0] + y": ("goes over the rows",),
    "y[:1] + y": ("takes some rows", "torch.where"),
    "y.triu()": ("triu: goes over the rows",),
    "y[k.long() * 0]": ("reads other rows of the batch", "torch.arange(N)"),
    "y[torch.arange(y.shape[0]) // 2]": ("reads other rows of the batch",),
    "y[:, k.long() * 0].any(1)": ("pairs every row with every row",),
    "(k[:, None] == k[None, :]).any(1)": ("pairs every row with every row",),
    "torch.eye(k.shape[0], dtype=torch.int32)[:, 0]": ("pairs every row with every row",),
    "k + k.shape[0]": ("depends on the number of rows",),
    "torch.eye(k.shape[0], 3) + y": ("eye: goes over the rows of the batch", "torch.arange(N)"),
    "torch.eye(3, k.shape[0]).t() + y": ("eye: goes over the rows of the batch",),
    "torch.nn.functional.pad(y, (0, 0, 1, -1))": ("pad: goes over the rows of the batch",),
    "torch.take_along_dim(torch.tensor([3, 1, 2]), torch.tensor([2, 0])) + k[:, None]": ("over all elements", "dim=-1"),
    "torch.add(y, y, alpha=k.shape[0])": ("depends on the number of rows",),
    "y ** k.shape[0]": ("depends on the number of rows",),
    "y.roll(k.shape[0], 1)": ("depends on the number of rows",),
    "z.triu(diagonal=k.shape[0])": ("depends on the number of rows",),
    "torch.arange(k.shape[0], k.shape[0] + 3) + y": ("depends on the number of rows",),
    "torch.full_like(k, k.shape[0])": ("depends on the number of rows",),
    "torch.arange(1, k.shape[0] + 1)": ("a range over the rows that is not 0, 1, 2",),
    # Shapes and places.
    "torch.take(y, k.long())": ("take", "cannot be lowered"),
    "y.index_put((k.long(),), y)": ("index_put",),
    "z.scatter(2, torch.zeros_like(z[:, :2]).long(), z)": ("an index smaller than the tensor it writes to", "expand"),
    # In place, where somebody else looks.
    "x.add_(1)": ("changes a tensor in place", "returns a new tensor"),
    "(lambda a: (a[:, 0].add_(1), a)[1])(x * 2)": ("changes a tensor in place",),
    "(lambda a: (a.copy_(x), a)[1])(x * 2)": ("copy_",),
    **{
        f"(lambda a: (lambda v: (a.add_(1), v)[1])(a.{view}))(z * 2)": ("changes a tensor in place",)
        for view in ("mT", "swapaxes(1, 2)", "view_as(a)", "reshape_as(a)")
    },
    **{
        f"(lambda a: (a.{parts}[0].add_(1), a)[1])(y * 2)": ("changes a tensor in place",)
        for parts in ("split(1, dim=1)", "chunk(3, dim=1)", "unbind(1)", "tensor_split(3, dim=1)")
    },
    # In place or into a tensor that is given, in a type that the result has not.
    "(x * 2).add_(x.double())": ("computes in torch.float64", "returns a new tensor"),
    "(y * 2).floor_divide_(y.long())": ("computes in torch.int64",),
    "(y * 2).bitwise_right_shift_(y.long())": ("computes in torch.int64",),
    "(x * 2).logical_not_()": ("computes in torch.bool",),
    "(x * 2).gt_(x)": ("computes in torch.bool",),
    "torch.add(x, x, out=torch.zeros_like(x))": ("writes into a tensor", "returns a new tensor"),
    "torch.zeros(y.shape[0], 3, out=y * 2.0)": ("writes into a tensor",),
    "torch.add(y, y, out=torch.zeros_like(y, dtype=torch.int64))": ("writes into a tensor",),
}
# Operations that torch.export itself takes for no graph of any N.
NOT_CAPTURED = {
    "x[x > 1]": "reads a value",
    "x.nonzero()": "reads a value",
    "x if x.sum() > 0 else -x": "cannot be captured",
    "y[1:].sum(1)": "Constraints violated",
    "y[::2]": "Constraints violated",
    "y.reshape(3, -1)": "Constraints violated",
    "z.permute(1, 0, 2).reshape(4, z.shape[0], 3)[0]": "Constraints violated",
    "x << 1": "integral dtype",
    "torch.take_along_dim(y, y.long() % 3, dim=1)": "Constraints violated",
}


def written(folder: Path, body: str) -> Any:
    """`function` of a fast.py with the body at line 6, below the tag of a rule."""
    path = folder / "fast.py"
    path.write_text(
        "import torch\n\n\ndef function(x, y, z, k):\n"
        "    moved = x + 1  # R7: things move\n"
        f"    return {body}\n"
    )
    spec = importlib.util.spec_from_file_location("fast", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.function


@pytest.mark.parametrize("body", [body for body, words in REFUSED.items() if words])
def test_refusals_name_operation_place_rule_and_a_way_out(tmp_path: Path, body: str) -> None:
    case = Case(body, written(tmp_path, body), (FLOATS, WHOLE, WIDE, ROW))
    with pytest.raises(LoweringError) as caught:
        make_library([lowered(case)])
    message = str(caught.value)
    for word in REFUSED[body]:
        assert word in message
    assert caught.value.next_step
    assert f"{tmp_path / 'fast.py'}:6" in message
    assert "(rule R7)" in message


def test_every_view_of_torch_is_known_as_one() -> None:
    """What shares the memory of its operand, as its schema says. `to` gives its operand itself, or a copy."""

    def is_view(name: str) -> bool:
        packet = getattr(torch.ops.aten, name, None)
        schemas = [getattr(packet, overload)._schema for overload in packet.overloads()] if packet is not None else []
        returned = [one.alias_info for schema in schemas for one in schema.returns if "Tensor" in str(one.type)]
        return any(alias is not None and not alias.is_write for alias in returned)

    assert {name for name in RULES if is_view(name)} - {"to"} <= VIEWS


@pytest.mark.parametrize("body", NOT_CAPTURED)
def test_some_are_refused_by_the_capture(tmp_path: Path, body: str) -> None:
    with pytest.raises(CompileError, match=NOT_CAPTURED[body]):
        lowered(Case(body, written(tmp_path, body), (FLOATS, WHOLE, WIDE, ROW)))
