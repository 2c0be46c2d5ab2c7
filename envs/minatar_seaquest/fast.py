"""minatar_seaquest, all games at once: the rules of spec.md in their order, on tensors; K = 8 lanes.

What is in a lane is one number: a bit for each column where something is or is not, a hexadecimal digit for each column
of subs. Enemies that move in the same number of steps share it, so that all of a lane do a thing by one operation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from simulacrum.twin.batched import BatchedEnv, Context, Transition
from simulacrum.twin.invariant import invariant

from . import (
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
ROW = (1 << SIZE) - 1  # bits of all columns
DIGITS = (1 << 4 * SIZE) - 1  # digits of all columns
ONES = DIGITS // 15  # the lowest bit of each digit
SPREADS = ((24, 0x000000FF000000FF), (12, 0x000F000F000F000F), (6, 0x0303030303030303), (3, 0x1111111111111111))


class Player(NamedTuple):
    """Where the player is, and how that reads beside what is in lanes, where it is in one."""

    x: Tensor  # int32 [N]
    y: Tensor  # int32 [N]
    bit: Tensor  # int32 [N, K]
    one: Tensor  # int64 [N, K]: 1 as its column's digit


class Seaquest(BatchedEnv):
    """N games; int32, but for `subs`, int64, and `faces_right`, `to_right` and `diver_right`, bool.

    Enemies are handled as lists of `TIMERS` tensors `[N, K]`, one for each number of steps until they move. The engine
    carries out R1 (illegal actions) and R20 (the time limit).
    """

    def reset(self, ctx: Context) -> Any:
        zero = torch.zeros_like(ctx.t)  # R2: int32 [N]
        rows, lanes = zero[:, None].repeat(1, LANES + 1), zero[:, None].repeat(1, LANES)
        enemies, two = lanes[:, None, :].repeat(1, TIMERS, 1), zero[:, None].repeat(1, 2)
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
            fish=enemies,
            subs=enemies.to(torch.int64),
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
        left, right = self._flown(state, fires)  # R8: [N, 9] each
        shots = (left | right)[:, 1:]  # [N, K]
        fish, subs, unspent = self._shot(fish, subs, shots)  # R9
        divers, diver_count = self._gathered(state, divers, player, ctx)  # R10
        subs, fired, unspent, rammed = self._subs_moved(subs, to_right, unspent, player, wait)  # R11, R12
        bombs_left, bombs_right, bombed = self._bombs(state, fired, to_right, player)  # R13
        fish, unspent, bitten = self._fish_moved(fish, to_right, unspent, player, wait)  # R14
        spent = shots ^ unspent
        drowned = state.oxygen <= 0  # R16: bool [N]
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
            shots_left=torch.cat([left[:, :1], left[:, 1:] & ~spent], dim=-1),
            shots_right=torch.cat([right[:, :1], right[:, 1:] & ~spent], dim=-1),
            to_right=to_right & (self._there(fish, subs) != 0),
            fish=torch.stack(fish, dim=1),
            subs=torch.stack(subs, dim=1),
            bombs_left=bombs_left,
            bombs_right=bombs_right,
            **divers,
            last_action=act,
        )
        reward = self._count(spent) + torch.where(full, oxygen * 10 // MAX_OXYGEN, 0)  # R18: what was spent has hit
        return Transition(after, reward.to(torch.float32), rammed | bombed | bitten | drowned | lost)  # R19

    def _move_wait(self, state: Any) -> Tensor:
        """R3: int32 `[N]`."""
        return MOVE_WAIT - state.ramp_index.clamp(max=FASTEST) // 2

    def _spawned(self, state: Any, wait: Tensor, ctx: Context) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """R5: fish and subs, and the directions of lanes `[N, K]`, with the new enemy among them."""
        draw = ctx.draw
        to_right, is_sub = draw.bernoulli("enemy_right", 0.5), draw.bernoulli("enemy_sub", SUB_CHANCE)  # bool [N]
        row = draw.integers("enemy_row", LANES + 1, low=1)  # [N]
        fish, subs = list(state.fish.unbind(1)), list(state.subs.unbind(1))
        opposed = (self._there(fish, subs) != 0) & (state.to_right != to_right[:, None])  # bool [N, K]
        new = (state.spawn_timer == 0)[:, None] & (self._rows(row)[1:] == row[:, None]) & ~opposed
        bit = torch.where(to_right, 1, 1 << LAST).to(torch.int32)  # [N]
        digit = torch.where(to_right, SHOT_WAIT + 1, (SHOT_WAIT + 1) << 4 * LAST)  # int64 [N]
        a_fish = torch.where(new & ~is_sub[:, None], bit[:, None], 0)  # [N, K]
        a_sub = torch.where(new & is_sub[:, None], digit[:, None], 0)
        fish, subs = self._with(fish, a_fish, wait), self._with(subs, a_sub, wait)
        return fish, subs, torch.where(new, to_right[:, None], state.to_right)

    def _with(self, enemies: list[Tensor], more: Tensor, wait: Tensor) -> list[Tensor]:
        """Enemies, and more of them that move in `wait` steps."""
        return [enemies[m] | torch.where((wait == m)[:, None], more, 0) for m in range(TIMERS)]

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
        bit = torch.where(self._rows(y)[1:] == y[:, None], (torch.ones_like(x) << x)[:, None], 0)  # [N, K]
        return Player(x, y, bit, self._spread(bit)), right | (state.faces_right & ~left)

    def _flown(self, state: Any, fires: Tensor) -> tuple[Tensor, Tensor]:
        """R7, R8: the player's bullets after they flew, `[N, 9]` each; one is fired where the player was."""
        x, y, faces_right = state.player_x, state.player_y, state.faces_right[:, None]
        new = torch.where(fires[:, None] & (self._rows(y) == y[:, None]), (torch.ones_like(x) << x)[:, None], 0)
        left = (state.shots_left | torch.where(faces_right, 0, new)) >> 1
        return left, ((state.shots_right | torch.where(faces_right, new, 0)) << 1) & ROW

    def _shot(self, fish: list[Tensor], subs: list[Tensor], shots: Tensor) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """R9: fish and subs that are left, and bullets that have not hit `[N, K]`."""
        left_fish, left_subs = [], []
        for some in fish:
            hit = some & shots
            shots, left_fish = shots ^ hit, [*left_fish, some ^ hit]
        ones = self._spread(shots)
        for some in subs:
            hit = self._ones(some) & ones
            ones, left_subs = ones ^ hit, [*left_subs, some & ~(hit * 15)]
        return left_fish, left_subs, self._narrowed(ones)

    def _gathered(
        self, state: Any, divers: dict[str, Tensor], player: Player, ctx: Context
    ) -> tuple[dict[str, Tensor], Tensor]:
        """R10: the fields of divers `[N, 2]`, and how many are on board `[N]`."""
        moves = ctx.t % DIVER_MOVE == DIVER_MOVE - 1
        first, second = ({name: value[:, k] for name, value in divers.items()} for k in (0, 1))
        second, there_second, count = self._diver_moved(second, moves, state.diver_count, player)
        first, there_first, count = self._diver_moved(first, moves, count, player)
        kept = {}
        for name, one in first.items():
            none = torch.zeros_like(one)
            last = torch.where(there_second, second[name], none)
            both = [torch.where(there_first, one, last), torch.where(there_first, last, none)]
            kept = {**kept, name: torch.stack(both, dim=-1)}
        return kept, count

    def _diver_moved(
        self, diver: dict[str, Tensor], moves: Tensor, count: Tensor, player: Player
    ) -> tuple[dict[str, Tensor], Tensor, Tensor]:
        """R10 for one diver: its fields, whether it is still there (bool), how many are on board, `[N]` each."""
        level = (diver["diver_y"] > 0) & (diver["diver_y"] == player.y)  # bool [N] each
        aboard = level & (diver["diver_x"] == player.x) & (count < MOST_DIVERS)
        count = count + aboard.to(torch.int32)
        goes = moves & ~aboard
        way = torch.where(diver["diver_right"], 1, -1).to(torch.int32)
        x = diver["diver_x"] + torch.where(goes, way, 0)
        met = goes & level & (x == player.x) & (count < MOST_DIVERS)
        there = (diver["diver_y"] > 0) & ~aboard & ~met & (x >= 0) & (x <= LAST)
        return {**diver, "diver_x": x}, there, count + met.to(torch.int32)

    def _subs_moved(
        self, subs: list[Tensor], to_right: Tensor, shots: Tensor, player: Player, wait: Tensor
    ) -> tuple[list[Tensor], Tensor, Tensor, Tensor]:
        """R11, R12: subs; where they shoot, bullets that have not hit, `[N, K]` each; who is hit, bool `[N]`."""
        come = torch.where(to_right, (subs[0] << 4) & DIGITS, subs[0] >> 4)
        comers = self._ones(come)
        hit = (self._ones(self._any(subs)) | comers) & player.one
        struck = comers & self._spread(shots) & ~player.one
        moved = self._with([*subs[1:], torch.zeros_like(come)], come, wait)
        kept, fired = [], torch.zeros_like(come)
        for some in moved:
            ones = self._ones(some)
            less = some - ones
            now = ones & ~self._ones(less)
            kept, fired = [*kept, less + now * (SHOT_WAIT + 1)], fired | now
        left = [kept[m] & ~torch.where((wait == m)[:, None], struck * 15, 0) for m in range(TIMERS)]
        return left, self._narrowed(fired), shots & ~self._narrowed(struck), (hit != 0).any(dim=-1)

    def _fish_moved(
        self, fish: list[Tensor], to_right: Tensor, shots: Tensor, player: Player, wait: Tensor
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        """R14: fish, bullets that have not hit `[N, K]`; who is hit, bool `[N]`."""
        come = torch.where(to_right, (fish[0] << 1) & ROW, fish[0] >> 1)
        hit = (self._any(fish) | come) & player.bit
        struck = come & shots & ~player.bit
        moved = self._with([*fish[1:], torch.zeros_like(come)], come & ~struck, wait)
        return moved, shots & ~struck, (hit != 0).any(dim=-1)

    def _bombs(self, state: Any, fired: Tensor, to_right: Tensor, player: Player) -> tuple[Tensor, Tensor, Tensor]:
        """R12, R13: bullets of subs by their direction `[N, K]`, and who is hit, bool `[N]`."""
        left = state.bombs_left | torch.where(to_right, 0, fired)
        right = state.bombs_right | torch.where(to_right, fired, 0)
        before = left | right
        left, right = left >> 1, (right << 1) & ROW
        return left, right, (((before | left | right) & player.bit) != 0).any(dim=-1)

    def _any(self, enemies: list[Tensor]) -> Tensor:
        """All of them over each other."""
        made = enemies[0]
        for some in enemies[1:]:
            made = made | some
        return made

    def _there(self, fish: list[Tensor], subs: list[Tensor]) -> Tensor:
        """Not 0 for lanes with enemies, int64 `[N, K]`."""
        return self._any(fish).to(torch.int64) | self._any(subs)

    def _ones(self, digits: Tensor) -> Tensor:
        """1 for each digit that is not 0."""
        pairs = digits | (digits >> 1)
        return (pairs | (pairs >> 2)) & ONES

    def _spread(self, bits: Tensor) -> Tensor:
        """Bits as digits 0 and 1, int64."""
        made = bits.to(torch.int64)
        for places, mask in SPREADS:
            made = (made | (made << places)) & mask
        return made

    def _narrowed(self, ones: Tensor) -> Tensor:
        """Digits 0 and 1 as bits, int32."""
        for places, mask in ((3, 0x0303030303030303), (6, 0x000F000F000F000F), (12, 0x000000FF000000FF), (24, ROW)):
            ones = (ones | (ones >> places)) & mask
        return ones.to(torch.int32)

    def _count(self, rows: Tensor) -> Tensor:
        """How many bits are set in rows of ten bits `[N, R]`, int32 `[N]`: pairs, fours, eights, all."""
        pairs = rows - ((rows >> 1) & 0x155)
        fours = (pairs & 0x333) + ((pairs >> 2) & 0x333)
        eights = (fours & 0x30F) + ((fours >> 4) & 0x0F)
        return ((eights & 0xFF) + (eights >> 8)).sum(dim=-1, dtype=torch.int32)

    def _rows(self, like: Tensor, count: int = LANES + 1) -> Tensor:
        return torch.arange(count, dtype=torch.int32, device=like.device)

    def observe(self, state: Any, ctx: Context) -> Tensor:
        fish, subs = self._any(state.fish.unbind(1)), self._narrowed(self._ones(self._any(state.subs.unbind(1))))  # R21
        trail = self._behind(fish | subs, state.to_right)  # [N, K]
        divers = torch.zeros_like(fish)
        for k in (0, 1):
            here = self._rows(fish)[1:] == state.diver_y[:, k, None]  # bool [N, K]
            one = torch.where(here, (torch.ones_like(state.diver_x) << state.diver_x)[:, k, None], 0)
            divers, trail = divers | one, trail | self._behind(one, state.diver_right[:, k, None])
        rows, y = self._rows(fish, SIZE), state.player_y[:, None]
        front = torch.where(rows == y, (torch.ones_like(y) << state.player_x[:, None]), 0)  # [N, 10] each
        air = torch.ones_like(y) << (state.oxygen.clamp(min=0) * 10 // MAX_OXYGEN)[:, None]
        free = torch.ones_like(y) << (LAST - state.diver_count.clamp(min=0))[:, None]
        layers = [
            front,
            self._behind(front, state.faces_right[:, None]),
            torch.nn.functional.pad(state.shots_left | state.shots_right, (0, 1)),
            *(self._screen(lanes) for lanes in (trail, state.bombs_left | state.bombs_right, fish, subs)),
            torch.where(rows == LAST, air - 1, 0),
            torch.where(rows == LAST, (1 << LAST) - free, 0),
            self._screen(divers),
        ]
        bits = torch.stack(layers, dim=-1)[:, :, None, :] >> rows[:, None]  # [N, 10, 10, 10]
        return (bits & 1).to(torch.int8)

    def _behind(self, bits: Tensor, to_right: Tensor) -> Tensor:
        """The columns beside those, on the side that what moves to `to_right` comes from."""
        return torch.where(to_right, bits >> 1, (bits << 1) & ROW)

    def _screen(self, lanes: Tensor) -> Tensor:
        """Lanes `[N, K]` as rows of the screen `[N, 10]`."""
        return torch.nn.functional.pad(lanes, (1, 1))

    @invariant("the player faces the middle from where the screen ends", rule="R22")
    def faces_in(self, state: Any, ctx: Context) -> Tensor:
        return ((state.player_x > 0) | ~state.faces_right) & ((state.player_x < LAST) | state.faces_right)  # bool [N]

    @invariant("the player's bullets are two at most and fly away from it", rule="R23")
    def shots_fly_away(self, state: Any, ctx: Context) -> Tensor:
        x, left, right = state.player_x[:, None], state.shots_left, state.shots_right
        away = ((left >> x) == 0) & ((right & ((torch.full_like(x, 2) << x) - 1)) == 0)  # bool [N, 9]
        return away.all(dim=-1) & (self._count(left) + self._count(right) <= 2)  # bool [N]

    @invariant("where nothing is, nothing is kept of it", rule="R24")
    def empty_places(self, state: Any, ctx: Context) -> Tensor:
        lanes = ~state.to_right | (self._there(state.fish.unbind(1), state.subs.unbind(1)) != 0)  # bool [N, K]
        timers = self._digits(state) <= SHOT_WAIT + 1
        empty = (state.diver_y > 0) | ((state.diver_x == 0) & ~state.diver_right)  # bool [N, 2]
        in_front = (state.diver_y[:, 0] > 0) | (state.diver_y[:, 1] == 0)
        return lanes.all(dim=-1) & timers.flatten(1).all(dim=-1) & empty.all(dim=-1) & in_front  # bool [N]

    @invariant("no enemy overtakes another", rule="R25")
    def in_file(self, state: Any, ctx: Context) -> Tensor:
        wait, column = self._move_wait(state), self._rows(state.fish, SIZE)
        come = torch.where(state.to_right[:, :, None], column, LAST - column)  # [N, K, 10]
        place = (come * (wait + 1)[:, None, None] + TIMERS - 1).to(torch.int64)  # 0 and above once m is taken off
        fish, subs = ((state.fish[..., None] >> column) & 1) == 1, self._digits(state) != 0  # bool [N, 6, K, 10]
        met = torch.zeros_like(place[:, :, 0])  # [N, K]: places as bits
        alone = met == 0
        for m in range(TIMERS):
            for there in (fish[:, m], subs[:, m]):
                bits = (there.to(torch.int64) << (place - m)).sum(dim=-1, dtype=torch.int64)
                alone, met = alone & ((met & bits) == 0), met | bits
        new = torch.ones_like(wait).to(torch.int64) << (TIMERS - 1 - wait)
        free = (state.spawn_timer > 0)[:, None] | ((met & new[:, None]) == 0)
        return (alone & free).all(dim=-1)  # bool [N]

    @invariant("subs that are close do not shoot together", rule="R26")
    def shoot_apart(self, state: Any, ctx: Context) -> Tensor:
        digits = self._digits(state)
        met = torch.zeros_like(digits[:, 0])  # [N, K, 10]: digits as bits
        alone = met == 0
        for m in range(TIMERS):
            bits = (torch.ones_like(met) << digits[:, m]) & ~1
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

    def _digits(self, state: Any) -> Tensor:
        """Every digit of `subs`, int64 `[N, 6, K, 10]`."""
        return (state.subs[..., None] >> (4 * self._rows(state.subs, SIZE))) & 15
