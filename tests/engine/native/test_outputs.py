"""Memory of outputs is written again only when nobody can tell."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.dlpack

from simulacrum.engine.native.outputs import ALIGNMENT, KEPT, Block, Outputs
from simulacrum.lower.program import Port

PORTS = (
    Port("out.observation", torch.float32, (3,), "rows"),
    Port("out.reward", torch.float32, (), "rows"),
    Port("out.terminated", torch.bool, (), "rows"),
    Port("out.info.count", torch.int64, (), "rows"),
)


def outputs(**kwargs: Any) -> Outputs:
    return Outputs(PORTS, 5, lambda address, starts: None, **kwargs)


def test_tensors_lie_in_one_allocation() -> None:
    block = Block(PORTS, 5, None)
    assert [(t.dtype, tuple(t.shape)) for t in block.tensors] == [(p.dtype, (5, *p.shape)) for p in PORTS]
    assert len({t.untyped_storage().data_ptr() for t in block.tensors}) == 1
    assert all(t.is_contiguous() for t in block.tensors)
    assert all((t.data_ptr() - block.address) % ALIGNMENT == 0 for t in block.tensors)


def saved_for_backward(block: Block) -> Any:
    weight = torch.ones(3, requires_grad=True)
    return (block.tensors[0] * weight).sum()


HOLDS: dict[str, Callable[[Block], Any]] = {
    "the tensor": lambda block: block.tensors[0],
    "a row": lambda block: block.tensors[0][2],
    "a slice": lambda block: block.tensors[1][1:],
    "another shape": lambda block: block.tensors[0].view(-1),
    "an array": lambda block: block.tensors[3].numpy(),
    "a view of an array": lambda block: block.tensors[0].numpy()[1:],
    "detached": lambda block: block.tensors[1].detach(),
    "a capsule": lambda block: torch.utils.dlpack.to_dlpack(block.tensors[0]),
    "NumPy by the array protocol": lambda block: np.asarray(block.tensors[0]),
    "a graph that waits for its backward pass": saved_for_backward,
    "a list": lambda block: [block.tensors[2]],
}


@pytest.mark.parametrize("how", list(HOLDS))
def test_whoever_holds_it_keeps_it(how: str) -> None:
    block = Block(PORTS, 5, None)
    assert block.free
    held = HOLDS[how](block)
    assert not block.free
    del held
    gc.collect()
    assert block.free


CHANGES: dict[str, Callable[[torch.Tensor], Any]] = {
    "its dimensions": lambda tensor: tensor.unsqueeze_(0),
    "its shape": lambda tensor: tensor.t_(),
    "its gradient": lambda tensor: tensor.requires_grad_(),
}


@pytest.mark.parametrize("what", list(CHANGES))
def test_a_tensor_that_was_changed_in_place_is_not_handed_out_again(what: str) -> None:
    block = Block(PORTS, 5, None)
    CHANGES[what](block.tensors[0])
    assert not block.free


def test_free_blocks_come_back_and_held_ones_do_not() -> None:
    made = outputs()
    first = made.take()
    assert made.take() is first
    held = first.tensors[0]
    second = made.take()
    assert second is not first
    assert made.made == 2
    del held
    assert {made.take(), made.take()} <= {first, second}
    assert made.made == 2


def test_only_so_many_blocks_are_kept() -> None:
    made = outputs()
    held = [made.take().tensors[0] for _ in range(KEPT + 3)]
    assert made.made == KEPT + 3
    assert len({tensor.data_ptr() for tensor in held}) == KEPT + 3
    assert len(made._blocks) == KEPT


def test_without_torchs_counts_every_block_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    from simulacrum.engine.native import outputs as module

    monkeypatch.setattr(module, "_uses", None)
    made = outputs()
    assert made.take() is not made.take()


def test_double_buffering_takes_turns_whoever_looks() -> None:
    made = outputs(double_buffer=True)
    blocks = [made.take() for _ in range(5)]
    held = [block.tensors[0] for block in blocks]
    assert blocks[0] is blocks[2] is blocks[4]
    assert blocks[1] is blocks[3]
    assert blocks[0] is not blocks[1]
    assert held


def test_forgetting_makes_new_ones() -> None:
    made = outputs()
    first = made.take()
    made.forget()
    assert made.take() is not first
