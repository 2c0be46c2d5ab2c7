"""Twins of the kit's counter that use what other packages have no need of: each operator has a place in some text."""

from __future__ import annotations

import functools

from kit import package

from simulacrum.mutate.mutant import Mutant, planted
from simulacrum.mutate.operators import OPERATORS, REWRITES
from simulacrum.mutate.sites import Twin

FAST = '''"""counter with more to do."""

from __future__ import annotations

import torch

from simulacrum.portable.tensor import sqrt
from simulacrum.twin.batched import BatchedEnv, Transition

from . import MARKS


class Counter(BatchedEnv):
    def reset(self, ctx):
        count = ctx.draw.integers("start", 4) * ctx.params.spread  # R2
        return self.State(count=count, mark=ctx.draw.integers("mark", MARKS))

    def step(self, state, action, ctx):
        pair = torch.stack([state.count, state.mark], dim=-1)
        square = torch.stack([pair, pair], dim=-1)
        order = pair.argsort(dim=-1, stable=True)
        top = pair.argmax(dim=-1)
        several = (square > 3).any(dim=-1).sum(dim=-1, dtype=torch.int32)
        busy = several > 0
        early = state.count < state.mark
        moved = torch.zeros_like(pair).scatter_add(1, order, pair)
        picked = moved.gather(1, top[:, None])[:, 0]
        root = sqrt(picked.to(torch.float32) + 1.0)
        signed = (state.count - 3) // 2  # can be below zero
        halved = (state.count - 3) >> 1
        count = state.count + 1  # R4
        again = state.count > 3
        reward = torch.ones_like(root) + torch.where(busy & early & again, signed.to(torch.float32), 0.0) * 0.0
        reward = reward + halved.to(torch.float32) * 0.0
        terminated, truncated = count == ctx.params.goal, count == ctx.params.cut  # R6
        return Transition(state.replace(count=count), reward, terminated, truncated)

    def observe(self, state, ctx):
        mark = state.mark.to(torch.float32) / MARKS
        return torch.stack([state.count.to(torch.float32), mark], dim=-1)  # R7

    def info(self, state, ctx):
        return {"count": state.count, "success": state.count == ctx.params.goal}

    def action_mask(self, state, ctx):
        few = state.count < 3
        return torch.stack([torch.ones_like(few), few], dim=-1)
'''

REFERENCE = '''"""counter with more to do."""

from __future__ import annotations

from simulacrum.portable.scalar import Float32
from simulacrum.twin.reference import ReferenceEnv, Transition

from . import MARKS


class Counter(ReferenceEnv):
    def reset(self, ctx):
        count = ctx.draw.integers("start", 4) * ctx.params.spread  # R2
        return self.State(count=count, mark=ctx.draw.integers("mark", MARKS))

    def step(self, state, action, ctx):
        early = state.count < state.mark
        parity = state.count % 2
        parity = parity + 1
        parity = parity * 2
        half = state.count // 2
        count = state.count + 1  # R4
        again = state.count > 3
        reward = Float32(1.0) if early or again else Float32(1.0)
        terminated, truncated = count == ctx.params.goal, count == ctx.params.cut  # R6
        return Transition(state.replace(count=count), reward, terminated, truncated)

    def observe(self, state, ctx):
        return Float32(state.count), Float32(state.mark) / MARKS  # R7

    def info(self, state, ctx):
        return {"count": state.count, "success": state.count == ctx.params.goal}

    def action_mask(self, state, ctx):
        return True, state.count < 3
'''


@functools.cache
def made(source: str) -> tuple[Mutant, ...]:
    """All mutants, and for a batched twin all rewrites, of "NAME/fast" or "NAME/reference"; "sample" is that above."""
    name, _, side = source.partition("/")
    file = f"{side}.py"
    text = {"fast": FAST, "reference": REFERENCE}[side] if name == "sample" else None
    twin = Twin(package("counter" if name == "sample" else name), file, text)
    operators = [*OPERATORS, *(REWRITES if side == "fast" else ())]
    return tuple(mutant for mutant, _ in planted(twin, operators))
