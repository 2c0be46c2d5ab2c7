"""The rule by which the random generator is lowered: a captured step holds each evaluation of it as one operator.

Captured operation by operation, the generator would be most of a small environment's graph, and nearly all of the time
that a capture takes.
"""

from __future__ import annotations

import torch

from simulacrum.lower.program import Scalar
from simulacrum.lower.rules.call import Call, rule
from simulacrum.lower.tensors import Place, Tensor, broadcast
from simulacrum.rng.batched import blocks_as_one_operator
from simulacrum.rng.scalar import PARITY, ROTATIONS, ROUNDS

__all__ = ["blocks_as_one_operator", "threefry2x32"]  # who captures with the one needs the rule of the other

_WORD = torch.int32


@rule("threefry2x32")
def threefry2x32(c: Call) -> list[Tensor]:
    """`rng.batched.threefry2x32` for one row: two words."""
    tensors: list[Tensor] = [c[name] for name in ("k0", "k1", "c0", "c1")]
    made: dict[Place, tuple[Scalar, Scalar]] = {}

    def words(place: Place) -> tuple[Scalar, Scalar]:
        if place not in made:
            made[place] = _block(c, *(broadcast(tensor, place) for tensor in tensors))
        return made[place]

    return [
        Tensor(c.shape, _WORD, lambda place: words(place)[0]),
        Tensor(c.shape, _WORD, lambda place: words(place)[1]),
    ]


def _block(c: Call, k0: Scalar, k1: Scalar, c0: Scalar, c1: Scalar) -> tuple[Scalar, Scalar]:
    def op(name: str, x: Scalar, y: Scalar | int) -> Scalar:
        return c.b.op(name, _WORD, x, c.b.const(y, _WORD) if isinstance(y, int) else y)

    schedule = (k0, k1, op("xor", op("xor", k0, k1), PARITY))
    x0, x1 = op("add", c0, k0), op("add", c1, k1)
    for number in range(ROUNDS):
        x0 = op("add", x0, x1)
        x1 = op("xor", op("rotl", x1, ROTATIONS[number % 8]), x0)
        if number % 4 == 3:
            turn = number // 4 + 1
            x0 = op("add", x0, schedule[turn % 3])
            x1 = op("add", x1, op("add", schedule[(turn + 1) % 3], turn))
    return x0, x1
