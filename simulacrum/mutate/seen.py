"""What each expression of a twin was in a short run: type, dtype, shape and range, by a wrapped copy of the source.

Operators have to know that `a + b` is float32 `[N]` before they can change it and keep it legal. The text alone does
not say so; one run of a copy in which every expression reports its value does.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.actions import to_tensors
from simulacrum.engine.boundary import Core
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.bench import seeds_for
from simulacrum.harness.drivers import Random
from simulacrum.harness.frames import row_action
from simulacrum.portable.scalar import Float32
from simulacrum.twin.batched import BatchedEnv
from simulacrum.twin.reference import ReferenceEnv

# A prime that no environment is likely to have as another size, so that the batch axis is known by its length.
ROWS, STEPS, SEED = 13, 24, 77
VARIED = (-1,)


@dataclass(frozen=True)
class Fact:
    """What an expression was, every time it was evaluated.

    kind: "tensor", "int", "bool", "float", "Float32", "list", "other", or "mixed" where it varied. dtype: of a tensor
    ("int32"). shape: of one row of it. rows: whether its first axis is the batch. low, high: the range of the numbers
    seen, None where there were none. length: of a list or tuple. item: what each of its items was. A tensor of rows
    whose other axes varied from call to call has the shape VARIED.
    """

    kind: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    rows: bool = False
    low: float | None = None
    high: float | None = None
    length: int = 0
    item: Fact | None = None

    @property
    def form(self) -> tuple[Any, ...]:
        """All but the range: two expressions of one form can stand for each other."""
        return self.kind, self.dtype, self.shape, self.rows, self.length, None if self.item is None else self.item.form

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point number or a tensor of them."""
        return self.kind in ("float", "Float32") or self.dtype in ("float32", "float64")

    @property
    def is_int(self) -> bool:
        """Whether it is an integer or a tensor of them."""
        return self.kind == "int" or self.dtype in ("int8", "uint8", "int16", "int32", "int64")

    @property
    def is_bool(self) -> bool:
        """Whether it is a truth value or a tensor of them."""
        return self.kind == "bool" or self.dtype == "bool"


Facts = dict[int, Fact]


def seen(package: EnvPackage, file: str, tree: ast.Module) -> Facts:
    """The facts of the expressions of `tree`, the parsed text of `file`, by the position they have in `ast.walk`.

    Raises:
        ContractError: the package does not run.
    """
    facts: Facts = {}

    def see(index: int, value: Any) -> Any:
        found = _fact(value)
        facts[index] = _joined(facts[index], found) if index in facts else found
        return value

    # The draws that a twin makes are pure, and nothing else may have an effect: looking changes nothing.
    if file == "fast.py":
        _run_fast(package, _twin(package, tree, see, BatchedEnv))
    else:
        _run_reference(package, _twin(package, tree, see, ReferenceEnv))
    return facts


def _twin(package: EnvPackage, tree: ast.Module, see: Callable[[int, Any], Any], base: type[Any]) -> Any:
    for index, node in enumerate(ast.walk(tree)):
        cast(Any, node).index = index
    wrapped = ast.fix_missing_locations(_Wrap().visit(copy.deepcopy(tree)))
    package.module("__init__")
    module = types.ModuleType(f"{package.import_name}.seen")
    module.__package__ = package.import_name
    vars(module)["__see__"] = see
    exec(compile(wrapped, f"<{package.name}, watched>", "exec"), vars(module))
    kinds = [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, base) and kind.__module__ == module.__name__
    ]
    leaves = [kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds)]
    return leaves[0](package.schema)


def _run_fast(package: EnvPackage, twin: BatchedEnv) -> None:
    env = SimulacrumVectorEnv(package, ROWS)
    env.reset(seed=seeds_for(ROWS, SEED))
    core, state, params = Core(twin, env.max_episode_steps), env.state, env.params
    state = core.fresh(state.seed, state.episode, params)
    driver = Random(package.schema, ROWS, SEED)
    for step in range(STEPS):
        action = to_tensors(package.schema.action, driver.actions({}, step), ROWS, env.device)
        state, _ = core.step(AutoresetMode.NEXT_STEP, state, action, params)
    core.invariants(state, params)
    env.close()


def _run_reference(package: EnvPackage, twin: ReferenceEnv) -> None:
    runner = ReferenceRunner(package, env=twin, max_episode_steps=package.schema.max_episode_steps)
    driver = Random(package.schema, 1, SEED)
    runner.reset(SEED)
    for step in range(3 * STEPS):
        if runner.ended:
            runner.reset()
        runner.step(row_action(package.schema, driver.actions({}, step), 0))


class _Wrap(ast.NodeTransformer):
    """Puts `__see__(index, ...)` around every expression that is read."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return node if node.value is Ellipsis or isinstance(node.value, str) else self._watched(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The expression, wrapped so that its value is seen; what is stored to or is no expression stays."""
        super().generic_visit(node)
        stored = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        if not isinstance(node, ast.expr) or stored or isinstance(node, (ast.Starred, ast.Slice)):
            return node
        return self._watched(node)

    def _watched(self, node: ast.expr) -> ast.AST:
        index = ast.Constant(cast(Any, node).index)
        return ast.copy_location(ast.Call(ast.Name("__see__", ast.Load()), [index, node], []), node)


def _fact(value: Any, depth: int = 2) -> Fact:
    if isinstance(value, torch.Tensor):
        low = high = None
        if value.numel():
            least, most = torch.aminmax(value.detach().to(torch.float64))
            low, high = float(least), float(most)
        rows = value.dim() > 0 and value.shape[0] == ROWS
        shape = tuple(value.shape[1:] if rows else value.shape)
        return Fact("tensor", str(value.dtype).removeprefix("torch."), shape, rows, low, high)
    if isinstance(value, bool):
        return Fact("bool", low=float(value), high=float(value))
    if isinstance(value, Float32):
        return Fact("Float32", low=float(value), high=float(value))
    if isinstance(value, (int, float)):
        return Fact(type(value).__name__, low=float(value), high=float(value))
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        items = cast("Sequence[Any]", value)
        if depth and items:
            item = _fact(items[0], depth - 1)
            for other in items[1:]:
                item = _joined(item, _fact(other, depth - 1))
            return Fact("list", length=len(items), item=item)
        return Fact("list", length=len(items))
    return Fact("other")


def _joined(a: Fact, b: Fact) -> Fact:
    shape = a.shape
    if a.rows and b.rows and a.dtype == b.dtype and a.shape != b.shape:
        shape = VARIED
    elif a.form != b.form:
        return Fact("mixed")
    lows, highs = [v for v in (a.low, b.low) if v is not None], [v for v in (a.high, b.high) if v is not None]
    item = None if a.item is None or b.item is None else _joined(a.item, b.item)
    return Fact(a.kind, a.dtype, shape, a.rows, min(lows, default=None), max(highs, default=None), a.length, item)
