"""Views and joins, of what is given, computed, constant, large, and looked up at computed places."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from kit.lowering import DTYPES, Bench, Case, items, small
from torch import Tensor

pytestmark = pytest.mark.long  # its library takes a minute to compile

KINDS = (torch.bool, torch.uint8, torch.int32, torch.float64)


def views(x: Tensor) -> dict[str, Tensor]:
    """Of `[N, 3, 4]`."""
    n = x.shape[0]
    first, second = x.split([1, 3], dim=-1)
    return {
        "reshape": x.reshape(-1, 4, 3),
        "view": x.view(n, 2, 6),
        "view_as": x.view_as(x.reshape(-1, 2, 2, 3)) if False else x.reshape(-1, 12).view_as(x),
        "flatten": x.flatten(1),
        "flatten all but one": x.unsqueeze(-1).flatten(2),
        "unflatten": x.unflatten(-1, (2, 2)),
        "unflatten -1": x.unflatten(1, (-1, 1)),
        "unsqueeze": x.unsqueeze(1),
        "unsqueeze -1": x.unsqueeze(-1),
        "none": x[:, None, :, None],
        "squeeze": x[:, :1].squeeze(1),
        "squeeze -1": x[:, :, 2:3].squeeze(-1),
        "squeeze nothing": x.squeeze(1),
        "expand": x[:, :1].expand(-1, 5, -1),
        "expand front": x[:, None].expand(n, 2, 3, 4),
        "expand_as": x[:, :, :1].expand_as(x),
        "broadcast_to": x[:, 0, 0, None, None].broadcast_to(n, 2, 2),
        "permute": x.permute(0, 2, 1),
        "permute twice": x.permute(2, 0, 1).permute(1, 2, 0),
        "transpose": x.transpose(-1, 1),
        "movedim": x.movedim(-1, 1),
        "movedim several": x.movedim((1, 2), (2, 1)),
        "swapaxes": x.swapaxes(1, 2),
        "mT": x.mT,
        "t": x[:, 0].t().t(),
        "T": torch.ops.aten.numpy_T(x).movedim(-1, 0),
        "select": x.select(2, -1),
        "integers": x[:, 1, 2],
        "slice": x[:, 1:, ::2],
        "slice from end": x[:, -2:, -3:-1],
        "slice beyond": x[:, 1:99, -99:2],
        "ellipsis": x[..., 1],
        "narrow": x.narrow(1, 1, 2),
        "narrow from end": x.narrow(-1, -2, 2),
        "split": torch.cat(x.split(3, dim=2), dim=2),
        "split sizes": torch.cat([second, first], dim=-1),
        "chunk": torch.cat(x.chunk(3, dim=-1)[::-1], dim=-1),
        "tensor_split": torch.cat(torch.tensor_split(x, 3, dim=2)[::-1], dim=2),
        "unbind": torch.stack(x.unbind(1)[::-1], dim=-1),
        "unbind -1": torch.stack(x.unbind(-1), dim=1),
        "flip": x.flip(dims=(1,)),
        "flip both": x.flip(dims=(-1, 1)),
        "roll": x.roll(1, dims=1),
        "roll both": x.roll((-1, 5), dims=(1, 2)),
        "roll one twice": x.roll((1, 1), dims=(2, 2)),
        "repeat": x.repeat(1, 2, 3),
        "repeat front": x.repeat(1, 2, 1, 1) if x.dim() == 4 else x[:, None].repeat(1, 2, 1, 1),
        "tile": x.tile(2),
        "clone": x.clone().contiguous().detach(),
        "triu": x.triu(),
        "tril": x.tril(-1),
        "triu up": x.triu(diagonal=1),
        "pad": F.pad(x, (1, 2)),
        "pad both": F.pad(x, (0, 1, 2, 0)),
        "pad less": F.pad(x, (-1, 1, 0, -1)),
    }


def joined(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Of `[N, 3]` and `[N, 2]`."""
    return {
        "cat": torch.cat([x, y], dim=1),
        "cat -1": torch.cat([x, y, x], dim=-1),
        "concat": torch.concat([y, x, y], dim=1),
        "cat nothing": torch.cat([x[:, :0], x, y[:, :0], y, x[:, :0]], dim=1),
        "cat empty of rank 1": torch.cat([x.new_zeros(0), x, torch.zeros(0)], dim=1),
        "cat rows of a matrix": torch.cat([x[:, None], x[:, None] == 0], dim=1),
        "stack": torch.stack([x, x.flip(1)], dim=1),
        "stack -1": torch.stack([x, x], dim=-1),
        "broadcast": torch.cat(torch.broadcast_tensors(x[:, :1], y), dim=1),
        "stack front": torch.stack([x, x], dim=0).transpose(0, 1),
        "pad": F.pad(x, (1, 1), value=1) if x.dtype != torch.bool else F.pad(x, (1, 1), value=True),
    }


def at_computed_places(x: Tensor, y: Tensor, place: Tensor) -> dict[str, Tensor]:
    """Views and joins of `[N, 3, 4]` and `[N, 3]` where the place is not known before."""

    def pick(of: Tensor) -> Tensor:
        flat = of.flatten(1)
        return flat.gather(1, (place % flat.shape[1])[:, None])

    return {
        "reshape": pick(x.reshape(-1, 2, 6)),
        "permute": pick(x.transpose(1, 2)),
        "flip": pick(x.flip(dims=(1, 2))),
        "roll": pick(x.roll((1, 2), dims=(1, 2))),
        "repeat": pick(x.repeat(1, 2, 2)),
        "pad": pick(F.pad(x, (1, 1, 2, 1))),
        "triu": pick(x.triu()),
        "cat": pick(torch.cat([y, x.flatten(1), y], dim=1)),
        "cat nothing": pick(torch.cat([y[:, :0], y, x[:, 0], x[:, 0, :0]], dim=1)),
        "stack": pick(torch.stack([y, y + y, y.flip(1)], dim=-1)),
        "slice": pick(x[:, 1:, ::2]),
        "expand": pick(y[:, :, None].expand(-1, -1, 2)),
        "sum": pick(x.to(torch.int32).sum(1)),
        "arange": pick(y + torch.arange(3, dtype=torch.int32)),
        "eye": pick((torch.eye(3, dtype=torch.int32) * y[:, None]).flatten(1)),
    }


def large(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """`[N, 9, 10]` and `[N, 10]`: more elements than are written out, so all of it happens in loops."""
    z = x * 3 + y[:, None]
    return {
        "elementwise": torch.where(x > y[:, None], x, -z),
        "reshape": z.reshape(-1, 10, 9),
        "permute": z.transpose(1, 2) + 1,
        "flip": z.flip(dims=(2,)),
        "roll": z.roll((1, 5), dims=(1, 2)),
        "cat": torch.cat([z, x, y[:, None]], dim=1),
        "stack": torch.stack([x, z], dim=1),
        "pad": F.pad(x, (1, 2, 3, 0)),
        "repeat": y.repeat(1, 12),
        "slice": z[:, ::2, 1:-1],
        "table": z + torch.arange(90, dtype=torch.int32).reshape(9, 10),
        "outer": (y[:, :, None] - y[:, None, :]).abs(),
        "sum": z.sum(1),
        "used twice": (z * z).sum(-1) + z.amax(-1),
        "cumsum": z.cumsum(2),
        "any": (z == y[:, None]).any(1),
        "one": z.select(1, 3),
    }


CASES = [
    *(Case(f"views {d}", views, (items(d, 3, 4),)) for d in KINDS),
    *(Case(f"joined {d}", joined, (items(d, 3), items(d, 2, seed=1))) for d in KINDS),
    *(
        Case(f"at places {d}", at_computed_places, (items(d, 3, 4), items(d, 3), small(torch.int64, 0, 48)))
        for d in (torch.int32, torch.float32)
    ),
    *(Case(f"large {d}", large, (small(d, -50, 50, 9, 10), small(d, -50, 50, 10))) for d in (torch.int32, torch.int64)),
]
assert set(KINDS) <= set(DTYPES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bits_are_those_of_torch(bench: Bench, case: Case) -> None:
    assert bench.differences(case) == []
