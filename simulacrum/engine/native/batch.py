"""The rows of one env in the native form: an arena of blocks, and calls of the library on it."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.engine.native.arena import Arena
from simulacrum.engine.native.binary import Binary
from simulacrum.engine.native.graphs import BEGAN, MASK, ONE, RESTART
from simulacrum.engine.native.outputs import Block, Outputs
from simulacrum.engine.rows import NO_LIMIT, EngineState
from simulacrum.lower.program import Port
from simulacrum.twin.state import state_type

ONE_THREAD_BELOW = 65_536  # rows; fewer do not earn the handing over (docs/performance.md)
_CLOCK = ("seed", "episode", "key", "t", "returns", "ended")


class NativeBatch:
    """`num_envs` rows and what steps them.

    Args:
        binary: the package's library.
        schema: of the package.
        num_envs: rows N.
        mode: the autoreset mode.
        max_episode_steps: the time limit in steps, or None.
        params: the params struct, tensors `[N]`.
        threads: how many share a step; None means one below `ONE_THREAD_BELOW` rows, else torch's number.
        double_buffer: write every second step's outputs to the same memory, whoever still looks at it.
    """

    def __init__(
        self,
        binary: Binary,
        schema: Any,
        num_envs: int,
        mode: AutoresetMode,
        max_episode_steps: int | None,
        params: Any,
        *,
        threads: int | None = None,
        double_buffer: bool = False,
    ) -> None:
        self.binary, self.schema, self.num_envs = binary, schema, num_envs
        self.name = "same_step" if mode == AutoresetMode.SAME_STEP else "next_step"
        self.threads = _threads(num_envs) if threads is None else threads
        self.started = False
        self._ones = (ctypes.c_double * 3)()
        self._set_one("limit", ctypes.c_int32, NO_LIMIT if max_episode_steps is None else max_episode_steps)
        self._set_one("autoreset", ctypes.c_uint8, mode != AutoresetMode.DISABLED)
        self._params: dict[str, torch.Tensor] = {}
        self._at = binary.at
        self._arena = Arena(binary, num_envs)
        with torch.inference_mode(False):
            self._mask, self._restarted = (torch.zeros(num_envs, dtype=torch.bool) for _ in range(2))
        self._actions = [self._at[name] for name in binary.ports if name.partition(".")[0] == "action"]
        self._only_action = self._actions[0]
        self._step, self._check = binary.function(self.name), binary.check(self.name)
        self._checked, self._reset = binary.checked(self.name), binary.function("reset")
        self._shown = {name: self._ports_shown(name) for name in ("reset", self.name)}
        self._outputs = {
            name: Outputs(ports, num_envs, self._pointers(ports), double_buffer=double_buffer)
            for name, ports in self._shown.items()
        }
        self._long: Outputs | None = None  # of rollouts
        self._pool: tuple[int, ThreadPoolExecutor] | None = None
        self.take_params(params)

    # --- memory ----------------------------------------------------------------------------------------------------

    def _set_one(self, name: str, kind: Any, value: Any) -> None:
        kind.from_buffer(self._ones, 8 * ONE.index(name)).value = value

    def _ports_shown(self, name: str) -> list[Port]:
        """The outputs of a function, in the order in which the ports were met; the library lists them for all."""
        listed: dict[str, list[str]] = self.binary.about["shown"]
        return [self.binary.ports[one] for one in listed[name]]

    def _pointers(self, shown: Sequence[Port]) -> Callable[[int, Sequence[int]], Any]:
        def make(address: int, starts: Sequence[int]) -> Any:
            pointers = (ctypes.c_void_p * (1 + len(self._at)))()
            pointers[0] = self._arena.address
            pointers[self._at[MASK]], pointers[self._at[RESTART]] = self._mask.data_ptr(), self._restarted.data_ptr()
            for number, name in enumerate(ONE):
                pointers[self._at[name]] = ctypes.addressof(self._ones) + 8 * number
            for port, start in zip(shown, starts, strict=True):
                pointers[self._at[port.name]] = address + start
            for name, param in self._params.items():
                pointers[self._at[name]] = param.data_ptr()
            return pointers

        return make

    def take_params(self, params: Any) -> None:
        """Use other parameters from now on."""
        held = zip(params._fields, params, strict=True)
        self._params = {f"params.{name}": value.contiguous() for name, value in held if f"params.{name}" in self._at}
        for outputs in self._outputs.values():
            outputs.forget()
        self._long = None

    # --- state in and out ------------------------------------------------------------------------------------------

    def state(self) -> EngineState:
        """The rows as tensors `[N, ...]` of their own."""
        struct = state_type(self.schema)
        inner = struct(*(self._arena.rows(f"state.{name}") for name in self.schema.state.fields))
        return EngineState(inner, *(self._arena.rows(name) for name in _CLOCK))

    def load(self, state: EngineState, began: torch.Tensor | None = None) -> None:
        """Stand where `state` is."""
        with torch.inference_mode(False), torch.no_grad():
            for name, value in zip(self.schema.state.fields, state.env, strict=True):
                self._arena.put(f"state.{name}", value)
            for name in _CLOCK:
                self._arena.put(name, getattr(state, name))
            if began is not None:
                self._arena.put(BEGAN, began)
        self.started = True

    def let_go(self) -> None:
        """Give the memory back. A batch that was let go is not used again."""
        self.started = False
        del self._arena
        self._outputs.clear()
        self._long = None
        if self._pool is not None:
            self._pool[1].shutdown(wait=False)
            self._pool = None

    # --- calls -----------------------------------------------------------------------------------------------------

    def reset(self, mask: torch.Tensor, seed: torch.Tensor, episode: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Put the rows of `mask` [N] at the start of `episode` [N] of `seed` [N, 2]; what all rows then show."""
        with torch.inference_mode(False), torch.no_grad():
            self._mask.copy_(mask)
            self._arena.put("seed", torch.where(mask[:, None], seed, self._arena.rows("seed")))
            self._arena.put("episode", torch.where(mask, episode, self._arena.rows("episode")))
        self.started = True
        return self._show(time.perf_counter())

    def observe(self) -> tuple[torch.Tensor, ...]:
        """What all rows show as they stand."""
        self._mask.zero_()
        return self._show(0.0)

    def _show(self, now: float) -> tuple[torch.Tensor, ...]:
        block = self._outputs["reset"].take()
        self._ones[2] = now
        self._run(self._reset, block.call)
        return block.tensors

    def step(self, action: torch.Tensor) -> Block | int:
        """One step with one action tensor, contiguous and of the schema's dtype; the block that has its outputs.

        Returns the bits of the check, 1 for an illegal action and 2 for a fault, where a row may not be stepped;
        nothing has been stepped then.
        """
        block = self._outputs[self.name].take()
        block.pointers[self._only_action] = action.data_ptr()
        return self._advance(block)

    def step_several(self, actions: Sequence[torch.Tensor]) -> Block | int:
        """`step` for a Dict action space: the tensors in the order of the schema."""
        return self._advance(self._with_actions(actions))

    def step_unchecked(self, actions: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """A step in which rows with an illegal action are held still, in place of a refusal."""
        block = self._with_actions(actions)
        self._ones[2] = time.perf_counter()
        self._run(self._step, block.call)
        return block.tensors

    def _with_actions(self, actions: Sequence[torch.Tensor]) -> Block:
        block = self._outputs[self.name].take()
        for place, action in zip(self._actions, actions, strict=True):
            block.pointers[place] = action.data_ptr()
        return block

    def _advance(self, block: Block) -> Block | int:
        self._ones[2] = time.perf_counter()
        if self.threads == 1:
            return self._checked(block.call, 0, self.num_envs) or block
        refused = self._check(block.call, 0, self.num_envs)
        if refused:
            return refused
        self._run(self._step, block.call)
        return block

    def rollout(self, actions: Sequence[torch.Tensor], steps: int) -> tuple[torch.Tensor, ...]:
        """`steps` steps with actions `[steps * N, ...]` that were checked. Outputs `[steps, N, ...]`."""
        shown = self._shown[self.name]
        block = self._outputs_of_rollout(steps).take()
        pointers = block.pointers
        strides = (ctypes.c_int64 * len(pointers))()
        moving = [*shown, *(port for name, port in self.binary.ports.items() if name.partition(".")[0] == "action")]
        for port in moving:
            strides[self._at[port.name]] = self.num_envs * port.size * port.dtype.itemsize
        for at, action in zip(self._actions, actions, strict=True):
            pointers[at] = action.data_ptr()
        self._ones[2] = time.perf_counter()
        many = self.binary.many(self.name)
        self._run(lambda p, lo, hi: many(p, lo, hi, steps, ctypes.addressof(strides)), block.call)
        return tuple(tensor.unflatten(0, (steps, self.num_envs)) for tensor in block.tensors)

    def _outputs_of_rollout(self, steps: int) -> Outputs:
        """Memory for rollouts of this many steps, used again like that of steps; the last length's is kept."""
        if self._long is None or self._long.num_envs != self.num_envs * steps:
            ports = self._shown[self.name]
            self._long = Outputs(ports, self.num_envs * steps, self._pointers(ports))
        return self._long

    def ended(self) -> torch.Tensor:
        """bool [N]: rows that have ended and were not reset."""
        return self._arena.rows("ended")

    def _run(self, function: Any, pointers: int) -> None:
        """Call `function` on all rows: parts of whole tiles, one a thread, the last one in this."""
        count, tile = self.num_envs, self.binary.about["tile"]
        share = -(-count // (self.threads * tile)) * tile
        parts = [(start, min(start + share, count)) for start in range(0, count, share)]
        if len(parts) == 1:
            function(pointers, 0, count)
            return
        waiting = [self._executor().submit(function, pointers, *part) for part in parts[:-1]]
        function(pointers, *parts[-1])
        for one in waiting:
            one.result()

    def _executor(self) -> ThreadPoolExecutor:
        # Threads that wait in a queue cost nothing while nobody steps. A forked process has none of its parent's.
        if self._pool is None or self._pool[0] != os.getpid():
            self._pool = os.getpid(), ThreadPoolExecutor(self.threads - 1, thread_name_prefix="simulacrum-step")
        return self._pool[1]

    def shown(self, name: str | None = None) -> list[str]:
        """The names of the outputs of a function (the step by default), in the order of the tensors."""
        return [port.name for port in self._shown[name or self.name]]

    @property
    def allocations(self) -> int:
        """Blocks of memory allocated for outputs so far."""
        return sum(outputs.made for outputs in self._outputs.values())


def _threads(num_envs: int) -> int:
    return 1 if num_envs < ONE_THREAD_BELOW else max(1, min(torch.get_num_threads(), os.cpu_count() or 1))


__all__ = ["NativeBatch"]
