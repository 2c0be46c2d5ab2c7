"""minatar_seaquest, all games at once: the rules of spec.md in their order, on tensors; K = 8 lanes, W = 10 columns.

Enemies are kept by the cells they are in, and those of one cell as bits or digits of one number: all wait one step less
by one shift of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
    DIGIT,
    DIVER_MOVE,
    DIVER_SPAWN,
    DOWN,
    FASTEST,
    FIRE,
    FIRE_WAIT,
    LANES,
    LAST_RAMP,
    LEFT,
    MAX_OXYGEN,
    MOST_DIVERS,
    MOVE_WAIT,
    RIGHT,
    SHOT_WAIT,
    SIZE,
    SPAWN_WAIT,
    START_X,
    SUB_CHANCE,
    TIMERS,
    UP,
)

LAST = SIZE - 1
ROW = (1 << SIZE) - 1  # a row whose cells are all taken
BITS = 4  # of a digit
LOWEST = sum(DIGIT**m for m in range(TIMERS))  # the lowest bit of each digit


class Player(NamedTuple):
    """Where the player is, and how that reads beside what belongs to lanes."""

    x: Tensor  # int32 [N]
    y: Tensor  # int32 [N]
    bits: Tensor  # int32 [N, K]: its bit in its lane, 0 in all others
    cell: Tensor  # bool [N, K, W]


class Seaquest(BatchedEnv):
    """N games; int32, but for `faces_right`, `to_right` and `diver_right`, which are bool.

    The engine carries out R1 (illegal actions) and R20 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        zero = torch.zeros_like(ctx.t)  # R2: int32 [N]
        rows, lanes = zero[:, None].repeat(1, LANES + 1), zero[:, None].repeat(1, LANES)
        cells, two = lanes[:, :, None].repeat(1, 1, SIZE), zero[:, None].repeat(1, 2)
        return self.State(
            player_x=zero + START_X,
            player_y=zero,
            faces_right=zero != 0,
            oxygen=zero + MAX_OXYGEN,
            diver_count=zero,
            fire_timer=zero,
            spawn_timer=zero + SPAWN_WAIT,
            ramp_index=zero,
            shots_left=rows,
            shots_right=rows,
            to_right=lanes != 0,
            fish=cells,
            subs=cells,
            bombs_left=lanes,
            bombs_right=lanes,
            diver_x=two,
            diver_y=two,
            diver_right=two != 0,
            last_action=zero,
        )

    def step(self, state: Any, action: Tensor, ctx: Context) -> Transition:
        wait = self._move_wait(state)  # R3: int32 [N]
        sticky = ctx.draw.bernoulli("sticky", ctx.params.sticky_action_prob)  # R4: bool [N]
        act = torch.where(sticky, state.last_action, action.to(torch.int32))  # [N]
        fish, subs, to_right = self._spawned(state, wait, ctx)  # R5
        divers = self._with_diver(state, ctx)  # R6
        fires = (act == FIRE) & (state.fire_timer == 0)  # R7: bool [N]
        player, faces_right = self._moved(state, act)
        left, right = self._flown(state, fires)  # R8
        shots = self._cells((left | right)[:, 1:])  # bool [N, K, W]
        fish, subs, shots, counted = self._shot(fish, subs, shots)  # R9
        divers, diver_count = self._gathered(state, divers, player, ctx)  # R10
        subs, fired, shots, struck, rammed = self._subs_moved(subs, to_right, shots, player, wait)  # R11, R12
        bombs_left, bombs_right, bombed = self._bombs(state, fired, to_right, player)  # R13
        fish, shots, caught, bitten = self._fish_moved(fish, to_right, shots, player, wait)  # R14
        left, right = self._kept(left, shots), self._kept(right, shots)
        drowned = state.oxygen <= 0  # R16
        oxygen = state.oxygen - (player.y > 0).to(torch.int32)
        up = (player.y == 0) & (state.player_y > 0)  # R17: bool [N]
        lost, rises = up & (diver_count == 0), up & (diver_count != 0)
        full = rises & (diver_count == MOST_DIVERS)
        harder = rises & ctx.params.difficulty_ramping & (state.ramp_index < LAST_RAMP)
        spawn_timer = torch.where(state.spawn_timer == 0, SPAWN_WAIT - state.ramp_index, state.spawn_timer)
        after = self.State(
            player_x=player.x,
            player_y=player.y,
            faces_right=faces_right,
            oxygen=torch.where(rises, MAX_OXYGEN, oxygen),
            diver_count=torch.where(full, 0, diver_count) - rises.to(torch.int32),
            fire_timer=(torch.where(fires, FIRE_WAIT, state.fire_timer) - 1).clamp(min=0),  # R15
            spawn_timer=spawn_timer - 1,
            ramp_index=state.ramp_index + harder.to(torch.int32),
            shots_left=left,
            shots_right=right,
            to_right=to_right & ((fish | subs) != 0).any(dim=-1),
            fish=fish,
            subs=subs,
            bombs_left=bombs_left,
            bombs_right=bombs_right,
            **divers,
            last_action=act,
        )
        shot = (counted | struck).sum(dim=(-2, -1), dtype=torch.int32) + caught.sum(dim=(-2, -1), dtype=torch.int32)
        reward = shot + torch.where(full, oxygen * 10 // MAX_OXYGEN, 0)  # R18
        return Transition(after, reward.to(torch.float32), rammed | bombed | bitten | drowned | lost)  # R19

    def _move_wait(self, state: Any) -> Tensor:
        """R3: int32 `[N]`."""
        return MOVE_WAIT - state.ramp_index.clamp(max=FASTEST) // 2

    def _spawned(self, state: Any, wait: Tensor, ctx: Context) -> tuple[Tensor, Tensor, Tensor]:
        """R5: fish and subs `[N, K, W]` and directions `[N, K]` with the new enemy among them."""
        draw = ctx.draw
        to_right, is_sub = draw.bernoulli("enemy_right", 0.5), draw.bernoulli("enemy_sub", SUB_CHANCE)  # bool [N]
        row = draw.integers("enemy_row", LANES + 1, low=1)  # [N]
        lanes = torch.arange(1, LANES + 1, dtype=torch.int32, device=row.device)
        there = ((state.fish | state.subs) != 0).any(dim=-1)  # bool [N, K]
        opposed = there & (state.to_right != to_right[:, None])
        new = (state.spawn_timer == 0)[:, None] & (lanes == row[:, None]) & ~opposed  # bool [N, K]
        edge = self._column(row) == torch.where(to_right, 0, LAST)[:, None].to(torch.int32)  # bool [N, W]
        cell = new[:, :, None] & edge[:, None, :]  # bool [N, K, W]
        one = torch.ones_like(row)
        a_fish = torch.where(is_sub, 0, one << wait)
        a_sub = torch.where(is_sub, (one * (SHOT_WAIT + 1)) << (BITS * wait), 0)
        fish = state.fish | torch.where(cell, a_fish[:, None, None], 0)
        subs = state.subs | torch.where(cell, a_sub[:, None, None], 0)
        return fish, subs, torch.where(new, to_right[:, None], state.to_right)

    def _with_diver(self, state: Any, ctx: Context) -> dict[str, Tensor]:
        """R6: the fields of divers `[N, 2]`, with the new one behind the other."""
        to_right = ctx.draw.bernoulli("diver_right", 0.5)  # bool [N]
        row = ctx.draw.integers("diver_row", LANES + 1, low=1)  # [N]
        due = (ctx.t % DIVER_SPAWN == 0) & (ctx.t > 0)
        first = due & (state.diver_y[:, 0] == 0)
        new = torch.stack([first, due & ~first], dim=-1)  # bool [N, 2]
        return {
            "diver_x": torch.where(new, torch.where(to_right, 0, LAST)[:, None].to(torch.int32), state.diver_x),
            "diver_y": torch.where(new, row[:, None], state.diver_y),
            "diver_right": torch.where(new, to_right[:, None], state.diver_right),
        }

    def _moved(self, state: Any, act: Tensor) -> tuple[Player, Tensor]:
        """R7: the player in its new place, and whether it faces right, bool `[N]`."""
        left, right = act == LEFT, act == RIGHT
        x = (state.player_x - left.to(torch.int32) + right.to(torch.int32)).clamp(0, LAST)
        y = (state.player_y - (act == UP).to(torch.int32) + (act == DOWN).to(torch.int32)).clamp(0, LANES)
        lanes = torch.arange(1, LANES + 1, dtype=torch.int32, device=x.device)
        bits = torch.where(lanes == y[:, None], (torch.ones_like(x) << x)[:, None], 0)  # [N, K]
        return Player(x, y, bits, self._cells(bits)), right | (state.faces_right & ~left)

    def _flown(self, state: Any, fires: Tensor) -> tuple[Tensor, Tensor]:
        """R7, R8: the player's bullets after they flew, `[N, 9]` each; one is fired where the player was."""
        rows = torch.arange(LANES + 1, dtype=torch.int32, device=fires.device)
        bit = torch.ones_like(state.player_x) << state.player_x
        new = torch.where(fires[:, None] & (rows == state.player_y[:, None]), bit[:, None], 0)  # [N, 9]
        faces_right = state.faces_right[:, None]
        left = (state.shots_left | torch.where(faces_right, 0, new)) >> 1
        return left, ((state.shots_right | torch.where(faces_right, new, 0)) << 1) & ROW

    def _shot(self, fish: Tensor, subs: Tensor, shots: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """R9: fish, subs and bullets that are left, and which bullets hit, `[N, K, W]` each."""
        a_fish = shots & (fish != 0)
        a_sub = shots & ~a_fish & (subs != 0)
        taken = self._taken(subs)
        first = (taken ^ (taken & (taken - 1))) * (DIGIT - 1)  # the lowest digit that is not 0, whole
        fish = torch.where(a_fish, fish & (fish - 1), fish)
        return fish, torch.where(a_sub, subs & ~first, subs), shots & ~a_fish & ~a_sub, a_fish | a_sub

    def _gathered(
        self, state: Any, divers: dict[str, Tensor], player: Player, ctx: Context
    ) -> tuple[dict[str, Tensor], Tensor]:
        """R10: the fields of divers `[N, 2]`, and how many are on board `[N]`."""
        moves = ctx.t % DIVER_MOVE == DIVER_MOVE - 1
        first, second = ({name: value[:, k] for name, value in divers.items()} for k in (0, 1))
        x_second, there_second, count = self._diver_moved(second, moves, state.diver_count, player)
        x_first, there_first, count = self._diver_moved(first, moves, count, player)
        kept = {}
        for name, one, other in (
            ("diver_x", x_first, x_second),
            ("diver_y", first["diver_y"], second["diver_y"]),
            ("diver_right", first["diver_right"], second["diver_right"]),
        ):
            last = torch.where(there_second, other, torch.zeros_like(other))
            in_front, behind = (
                torch.where(there_first, one, last),
                torch.where(there_first, last, torch.zeros_like(last)),
            )
            kept = {**kept, name: torch.stack([in_front, behind], dim=-1)}
        return kept, count

    def _diver_moved(
        self, diver: dict[str, Tensor], moves: Tensor, count: Tensor, player: Player
    ) -> tuple[Tensor, Tensor, Tensor]:
        """R10 for one diver: its column, whether it is still there (bool), how many are on board, `[N]` each."""
        level = (diver["diver_y"] > 0) & (diver["diver_y"] == player.y)  # bool [N] each
        aboard = level & (diver["diver_x"] == player.x) & (count < MOST_DIVERS)
        count = count + aboard.to(torch.int32)
        goes = moves & ~aboard
        way = torch.where(diver["diver_right"], 1, -1).to(torch.int32)
        x = diver["diver_x"] + torch.where(goes, way, 0)
        met = goes & level & (x == player.x) & (count < MOST_DIVERS)
        there = (diver["diver_y"] > 0) & ~aboard & ~met & (x >= 0) & (x <= LAST)
        return x, there, count + met.to(torch.int32)

    def _subs_moved(
        self, subs: Tensor, to_right: Tensor, shots: Tensor, player: Player, wait: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """R11, R12: subs, where they shoot, bullets left, subs struck, `[N, K, W]` each; who is hit, bool `[N]`."""
        hit = (player.cell & (subs != 0)).any(dim=-1).any(dim=-1)
        come = self._column_on(subs % DIGIT, to_right)  # [N, K, W]
        hit = hit | (player.cell & (come != 0)).any(dim=-1).any(dim=-1)
        struck = (come != 0) & shots & ~player.cell
        place = (BITS * wait)[:, None, None]
        subs = (subs >> BITS) | (come << place)
        taken = self._taken(subs)
        less = subs - taken  # each digit that is not 0
        fired = taken & ~self._taken(less)  # those that have become 0
        subs = less + fired * (SHOT_WAIT + 1)
        gone = torch.full_like(place, DIGIT - 1) << place
        return torch.where(struck, subs & ~gone, subs), fired != 0, shots & ~struck, struck, hit

    def _fish_moved(
        self, fish: Tensor, to_right: Tensor, shots: Tensor, player: Player, wait: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """R14: fish, bullets left, fish struck, `[N, K, W]` each; who is hit, bool `[N]`."""
        hit = (player.cell & (fish != 0)).any(dim=-1).any(dim=-1)
        come = self._column_on(fish % 2, to_right)  # [N, K, W]
        hit = hit | (player.cell & (come != 0)).any(dim=-1).any(dim=-1)
        struck = (come != 0) & shots & ~player.cell
        return (fish >> 1) | (torch.where(struck, 0, come) << wait[:, None, None]), shots & ~struck, struck, hit

    def _column_on(self, movers: Tensor, to_right: Tensor) -> Tensor:
        """What moves, one column further in the direction of its lane, `[N, K, W]`."""
        none = torch.zeros_like(movers[:, :, :1])
        right, left = torch.cat([none, movers[:, :, :LAST]], dim=-1), torch.cat([movers[:, :, 1:], none], dim=-1)
        return torch.where(to_right[:, :, None], right, left)

    def _bombs(self, state: Any, fired: Tensor, to_right: Tensor, player: Player) -> tuple[Tensor, Tensor, Tensor]:
        """R12, R13: bullets of subs by their direction `[N, K]`, and who is hit, bool `[N]`."""
        new = self._bits(fired)
        left = state.bombs_left | torch.where(to_right, 0, new)
        right = state.bombs_right | torch.where(to_right, new, 0)
        hit = ((left | right) & player.bits) != 0  # bool [N, K]
        left, right = left >> 1, (right << 1) & ROW
        return left, right, (hit | (((left | right) & player.bits) != 0)).any(dim=-1)

    def _kept(self, flying: Tensor, shots: Tensor) -> Tensor:
        """The player's bullets `[N, 9]` without those of the lanes that are not among `shots` `[N, K, W]`."""
        return torch.cat([flying[:, :1], flying[:, 1:] & self._bits(shots)], dim=-1)

    def _taken(self, subs: Tensor) -> Tensor:
        """The lowest bit of each digit that is not 0, as `subs`."""
        return (subs | (subs >> 1) | (subs >> 2) | (subs >> 3)) & LOWEST

    def _column(self, like: Tensor) -> Tensor:
        return torch.arange(SIZE, dtype=torch.int32, device=like.device)

    def _cells(self, rows: Tensor) -> Tensor:
        """Rows of bits `[N, R]` as cells, bool `[N, R, W]`."""
        return ((rows[:, :, None] >> self._column(rows)) & 1) == 1

    def _bits(self, cells: Tensor) -> Tensor:
        """Cells, bool `[N, R, W]`, as rows of bits `[N, R]`."""
        return (cells.to(torch.int32) << self._column(cells)).sum(dim=-1, dtype=torch.int32)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        column = self._column(state.fish)  # R21
        row = column[:, None]  # [W, 1]
        x, y = state.player_x[:, None, None], state.player_y[:, None, None]
        stern = x - torch.where(state.faces_right, 1, -1)[:, None, None]
        front, back = (row == y) & (column == x), (row == y) & (column == stern)  # bool [N, W, W] each
        shots = self._padded(self._cells(state.shots_left | state.shots_right), 0)
        bombs = self._padded(self._cells(state.bombs_left | state.bombs_right), 1)
        fish, subs = state.fish != 0, state.subs != 0  # bool [N, K, W]
        there = fish | subs
        trail = self._padded(self._column_on(there, ~state.to_right), 1)
        divers = torch.zeros_like(front)
        for k in (0, 1):
            here = (row == state.diver_y[:, k, None, None]) & (state.diver_y[:, k, None, None] > 0)
            at, right = state.diver_x[:, k, None, None], state.diver_right[:, k, None, None]
            divers = divers | (here & (column == at))
            trail = trail | (here & (column == at - torch.where(right, 1, -1)))
        air = state.oxygen.clamp(min=0) * 10 // MAX_OXYGEN
        gauge = (row == LAST) & (column < air[:, None, None])
        board = (row == LAST) & (column >= LAST - state.diver_count[:, None, None]) & (column < LAST)
        layers = [front, back, shots, trail, bombs, self._padded(fish, 1), self._padded(subs, 1), gauge, board, divers]
        return torch.stack(layers, dim=-1).to(torch.int8)  # [N, 10, 10, 10]

    def _padded(self, cells: Tensor, above: int) -> Tensor:
        """Cells `[N, R, W]` as a screen `[N, W, W]`, with so many empty rows above them."""
        none = torch.zeros_like(cells[:, :1])
        return torch.cat([none] * above + [cells] + [none] * (SIZE - above - cells.shape[1]), dim=1)

    @invariant("the player faces the middle from where the screen ends", rule="R22")
    def faces_in(self, state: Any, ctx: Context) -> Tensor:
        return ((state.player_x > 0) | ~state.faces_right) & ((state.player_x < LAST) | state.faces_right)  # bool [N]

    @invariant("the player's bullets are two at most and fly away from it", rule="R23")
    def shots_fly_away(self, state: Any, ctx: Context) -> Tensor:
        x, left, right = state.player_x[:, None], state.shots_left, state.shots_right
        away = ((left >> x) == 0) & ((right & ((torch.full_like(x, 2) << x) - 1)) == 0)  # bool [N, 9]
        count = (self._cells(left) | self._cells(right)).sum(dim=(-2, -1), dtype=torch.int32)
        return away.all(dim=-1) & (count <= 2)  # bool [N]

    @invariant("where nothing is, nothing is kept of it", rule="R24")
    def empty_places(self, state: Any, ctx: Context) -> Tensor:
        lanes = ~state.to_right | ((state.fish | state.subs) != 0).any(dim=-1)  # bool [N, K]
        timers = torch.stack([self._digit(state.subs, m) <= SHOT_WAIT + 1 for m in range(TIMERS)], dim=-1)
        empty = (state.diver_y > 0) | ((state.diver_x == 0) & ~state.diver_right)  # bool [N, 2]
        in_front = (state.diver_y[:, 0] > 0) | (state.diver_y[:, 1] == 0)
        return lanes.all(dim=-1) & timers.flatten(1).all(dim=-1) & empty.all(dim=-1) & in_front  # bool [N]

    @invariant("no enemy overtakes another", rule="R25")
    def in_file(self, state: Any, ctx: Context) -> Tensor:
        wait, column = self._move_wait(state), self._column(state.fish)
        come = torch.where(state.to_right[:, :, None], column, LAST - column)  # [N, K, W]
        place = (come * (wait + 1)[:, None, None] + TIMERS - 1).to(torch.int64)  # 0 and above once m is taken off
        met = torch.zeros_like(place[:, :, 0])  # [N, K]: places as bits
        alone = met == 0
        for m in range(TIMERS):
            for there in ((state.fish >> m) & 1 == 1, self._digit(state.subs, m) != 0):
                bits = (there.to(torch.int64) << (place - m)).sum(dim=-1, dtype=torch.int64)
                alone, met = alone & ((met & bits) == 0), met | bits
        new = torch.ones_like(wait).to(torch.int64) << (TIMERS - 1 - wait)
        free = (state.spawn_timer > 0)[:, None] | ((met & new[:, None]) == 0)
        return (alone & free).all(dim=-1)  # bool [N]

    @invariant("subs that are close do not shoot together", rule="R26")
    def shoot_apart(self, state: Any, ctx: Context) -> Tensor:
        met = torch.zeros_like(state.subs)  # [N, K, W]: digits as bits
        alone = met == 0
        for m in range(TIMERS):
            bits = (torch.ones_like(met) << self._digit(state.subs, m)) & ~1
            alone, met = alone & ((met & bits) == 0), met | bits
        apart = (met[:, :, 1:] & met[:, :, :LAST]) == 0
        return alone.flatten(1).all(dim=-1) & apart.flatten(1).all(dim=-1)  # bool [N]

    @invariant("divers come and go by the clock", rule="R27")
    def divers_in_time(self, state: Any, ctx: Context) -> Tensor:
        there, t = state.diver_y > 0, ctx.t[:, None]  # bool [N, 2], int32 [N, 1]
        come = torch.where(state.diver_right, state.diver_x, LAST - state.diver_x)
        in_time = ((come - t // DIVER_MOVE) % 5 == 0) & ((come > 0) | (t % DIVER_SPAWN != 0))
        return (~there | in_time).all(dim=-1) & (~there[:, 1] | (come[:, 0] == come[:, 1] + 5))  # bool [N]

    @invariant("divers are owed for two steps each", rule="R28")
    def divers_owed(self, state: Any, ctx: Context) -> Tensor:
        return state.diver_count * -2 <= ctx.t  # bool [N]

    def _digit(self, subs: Tensor, m: int) -> Tensor:
        return (subs >> (BITS * m)) & (DIGIT - 1)
