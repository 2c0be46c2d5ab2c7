"""minigrid_dynamicobstacles, all agents at once: the rules of spec.md in their order, on int32 tensors.

There is no grid in here: what stands on a cell follows from its place, the size of the room and K = 4 balls, which move
one after the other, each looking at the nine cells around it.
"""

from __future__ import annotations

from typing import Any

import torch
from simulacrum_envs._minigrid import sight
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import BALL, COLLISION, EMPTY, GOAL, MOST, STEPS_PER_CELL, TIME_PRICE, WALL

LEFT, RIGHT, FORWARD = 0, 1, 2
AROUND = 9  # cells of the square with a ball in the middle
NOT_THERE = -1


class DynamicObstacles(BatchedEnv):
    """N agents; `ball_x` and `ball_y` are int32 `[N, K]`, all else int32 `[N]`.

    The engine carries out R1 (illegal actions) and R15 (the last time limit).
    """

    def reset(self, ctx: Context) -> Any:
        size, asked = ctx.params.size, ctx.params.obstacles  # R2: int32 [N] each
        balls = torch.where(2 * asked <= size + 2, asked, size // 2)
        width = size - 2
        drawn = ctx.params.random_start == 1  # bool [N]
        place = torch.where(drawn, ctx.draw.integers("place", width * width - 1), 0)  # R3: int32 [N]
        facing = ctx.draw.integers("direction", 4)  # R4
        taken = [place]
        for k in range(MOST):
            number = ctx.draw.integers("balls", width * width - 2 - k, index=k)  # R5
            taken.append(self._numbered(number, taken))
        number = torch.stack(taken[1:], dim=-1)  # [N, K]
        there = torch.arange(MOST, device=size.device)[None, :] < balls[:, None]
        return self.State(
            size=size,
            ball_x=torch.where(there, 1 + number % width[:, None], NOT_THERE),
            ball_y=torch.where(there, 1 + number // width[:, None], NOT_THERE),
            x=1 + place % width, y=1 + place // width,
            direction=torch.where(drawn, facing, sight.EAST),
        )  # fmt: skip

    def _numbered(self, number: Tensor, taken: list[Tensor]) -> Tensor:
        """The cell that has this number when those in `taken` are left out, int32 `[N]`.

        Each round counts the taken ones up to where the last one came; it comes further at most once for each of them.
        """
        cell = number
        for _ in taken:
            cell = number + sum((one <= cell).to(torch.int32) for one in taken)
        return cell

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        east, south = sight.ahead(state.direction)
        x, y = state.x + east, state.y + south  # the cell ahead, int32 [N] each
        forward, last = action == FORWARD, state.size - 2
        wall = (x < 1) | (y < 1) | (x > last) | (y > last)  # bool [N]
        collides = forward & (wall | self._ball_on(state.ball_x, state.ball_y, x, y))  # R6
        ball_x, ball_y = self._wandered(state, ctx)  # R7: int32 [N, K] each
        turn = (action == RIGHT).to(torch.int32) - (action == LEFT).to(torch.int32)  # R8: int32 [N]
        moves = forward & ~wall & ~self._ball_on(ball_x, ball_y, x, y)  # R9
        at_goal = moves & (x == last) & (y == last)
        after = state.replace(
            ball_x=ball_x, ball_y=ball_y, direction=(state.direction + turn) & 3,
            x=torch.where(moves, x, state.x), y=torch.where(moves, y, state.y),
        )  # fmt: skip
        taken, time = ctx.t + 1, STEPS_PER_CELL * state.size * state.size  # int32 [N] each
        worth = 1.0 - TIME_PRICE * (taken.to(torch.float64) / time.to(torch.float64))  # R11: float64 [N]
        reward = torch.where(collides, COLLISION, torch.where(at_goal, worth, 0.0))  # R10
        return Transition(after, reward, collides | at_goal, taken >= time)  # R12, R13, R14

    def _ball_on(self, ball_x: Tensor, ball_y: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """bool `[N]`: a ball is on the place."""
        return ((ball_x == x[:, None]) & (ball_y == y[:, None])).any(dim=-1)

    def _wandered(self, state: Any, ctx: Context) -> tuple[Tensor, Tensor]:
        """R7: columns and rows of the balls after they have moved, int32 `[N, K]` each."""
        xs, ys = list(state.ball_x.unbind(dim=-1)), list(state.ball_y.unbind(dim=-1))
        last = (state.size - 2)[:, None]
        square = torch.arange(AROUND, device=state.x.device, dtype=torch.int32)[None, :]
        for k in range(MOST):
            x, y = xs[k][:, None] + square % 3 - 1, ys[k][:, None] + square // 3 - 1  # [N, 9] each
            free = (x >= 1) & (y >= 1) & (x <= last) & (y <= last) & ~((x == last) & (y == last))
            free = free & ~((x == state.x[:, None]) & (y == state.y[:, None]))
            for other_x, other_y in zip(xs, ys, strict=True):
                free = free & ~((x == other_x[:, None]) & (y == other_y[:, None]))
            passed = free.to(torch.int32).cumsum(dim=-1, dtype=torch.int32)  # free ones up to each cell, itself too
            count = passed[:, -1]
            number = ctx.draw.integers("moves", count, index=k)  # int32 [N]
            chosen = free & (passed == number[:, None] + 1)
            moves = (xs[k] >= 0) & (count > 0)
            new_x = torch.where(moves, torch.where(chosen, x, 0).sum(dim=-1, dtype=torch.int32), xs[k])
            new_y = torch.where(moves, torch.where(chosen, y, 0).sum(dim=-1, dtype=torch.int32), ys[k])
            xs, ys = [*xs[:k], new_x, *xs[k + 1 :]], [*ys[:k], new_y, *ys[k + 1 :]]
        return torch.stack(xs, dim=-1), torch.stack(ys, dim=-1)

    def observe(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        x, y = sight.places(state.x, state.y, state.direction)  # R16: int32 [N, 7, 7] each
        last = (state.size - 1)[:, None, None]
        wall = (x <= 0) | (y <= 0) | (x >= last) | (y >= last)  # R17: bool [N, 7, 7]
        seen = torch.full_like(x, sight.packed(EMPTY))
        seen = torch.where((x == last - 1) & (y == last - 1), sight.packed(GOAL), seen)
        for ball_x, ball_y in zip(state.ball_x.unbind(dim=-1), state.ball_y.unbind(dim=-1), strict=True):
            seen = torch.where((x == ball_x[:, None, None]) & (y == ball_y[:, None, None]), sight.packed(BALL), seen)
        seen = torch.where(sight.numbers(x) == sight.OWN_CELL, sight.packed(EMPTY), seen)  # R18
        seen = torch.where(wall, sight.packed(WALL), seen)
        return {"image": sight.image(seen), "direction": state.direction.to(torch.int64)}  # R19

    @invariant("the agent is in the room", rule="R20")
    def in_the_room(self, state: Any, ctx: Context) -> Tensor:
        return (state.x <= state.size - 2) & (state.y <= state.size - 2)  # bool [N]

    @invariant("every ball has a free cell of its own, or none after it is there", rule="R21")
    def balls_in_place(self, state: Any, ctx: Context) -> Tensor:
        x, y, last = state.ball_x, state.ball_y, (state.size - 2)[:, None]  # [N, K], [N, 1]
        there = (x != NOT_THERE) | (y != NOT_THERE)  # bool [N, K]
        inside = (x >= 1) & (y >= 1) & (x <= last) & (y <= last)
        taken = ((x == last) & (y == last)) | ((x == state.x[:, None]) & (y == state.y[:, None]))
        alone = torch.ones_like(state.x, dtype=torch.bool)
        for k in range(1, MOST):
            met = there[:, k : k + 1] & (x[:, :k] == x[:, k : k + 1]) & (y[:, :k] == y[:, k : k + 1])
            alone = alone & ~met.any(dim=-1) & (~there[:, k] | there[:, k - 1])
        return alone & (~there | (inside & ~taken)).all(dim=-1)  # bool [N]

    @invariant("no episode is longer than the room's time", rule="R22")
    def in_time(self, state: Any, ctx: Context) -> Tensor:
        return ctx.t <= STEPS_PER_CELL * state.size * state.size  # bool [N]
