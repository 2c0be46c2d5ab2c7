"""From an exported graph to the scalars of one row: each node becomes a `Tensor` by the rule of its operation."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import torch
from torch import fx

from simulacrum.errors import LoweringError
from simulacrum.lower.program import Builder, Scalar
from simulacrum.lower.rules import RULES, Call
from simulacrum.lower.tensors import LARGE, Place, Tensor, demand, materialise, stored

# Operations that stand for another place of their operand, and cost nothing however often they are asked.
VIEWS = {
    "view", "reshape", "_unsafe_view", "flatten", "unflatten", "view_as", "reshape_as", "unsqueeze", "squeeze",
    "expand", "expand_as", "broadcast_to", "broadcast_tensors", "permute", "transpose", "t", "movedim", "swapaxes",
    "numpy_T", "mT", "select", "slice", "narrow", "split", "split_with_sizes", "chunk", "unsafe_split",
    "unsafe_chunk", "tensor_split", "unbind", "flip", "clone", "contiguous", "detach", "alias", "lift_fresh",
    "lift_fresh_copy", "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "arange", "scalar_tensor",
    "_assert_tensor_metadata",
}  # fmt: skip
_NOTHING = {"_assert_tensor_metadata", "_assert_scalar", "sym_constrain_range_for_size", "_assert_async"}
_SYMBOLS = {"sym_size"}
_PORTABLE = {"atan2", "cos", "exp", "log", "sin", "tan", "tanh"}  # torch's own have other bits in every form


class Graph:
    """The nodes of one exported program as tensors of one row.

    Args:
        b: where the scalars are made.
        program: the exported program; its inputs are `inputs`, in order.
        inputs: a `Tensor` for each.
        instead: node name -> the value that its users see in its place (how a kernel is made for rows of one kind).
    """

    def __init__(
        self,
        b: Builder,
        program: torch.export.ExportedProgram,
        inputs: Sequence[Tensor],
        instead: Mapping[str, bool] | None = None,
    ) -> None:
        self.b, self.program = b, program
        self.instead = dict(instead or {})
        self.made: dict[fx.Node, Any] = {}
        self.order = {node: number for number, node in enumerate(program.graph.nodes)}
        self._enter_inputs(inputs)
        for node in program.graph.nodes:
            if node.op == "call_function":
                self.made[node] = self._node(node)

    def outputs(self) -> list[Tensor | None]:
        """What the program gives, in order; None for a part it has not. `instead` does not hold for these."""
        given = outputs_of(self.program)
        return [self._true.get(node, self.made[node]) if isinstance(node, fx.Node) else None for node in given]

    # --- inputs -----------------------------------------------------------------------------------------------------

    def _enter_inputs(self, inputs: Sequence[Tensor]) -> None:
        self._true: dict[fx.Node, Any] = {}
        given = iter(inputs)
        for node, value in _placeholders(self.program):
            self.made[node] = self._seen(node, next(given) if value is None else self._constant(value))

    def _constant(self, value: torch.Tensor) -> Tensor:
        values = tuple(value.detach().flatten().tolist())
        made = stored(self.b, self.b.table(values, value.dtype), tuple(value.shape))
        made.meta = value
        return made

    def _seen(self, node: fx.Node, made: Any) -> Any:
        """`made` with its stand-in; or, for its users, the constant that `instead` names."""
        meta = node.meta.get("val")
        if isinstance(made, Tensor):
            made.meta = meta
            self._place_refusals(node, made)
        if node.name in self.instead:
            self._true[node] = made
            value = self.b.const(self.instead[node.name], torch.bool)
            made = Tensor(made.shape, torch.bool, lambda _: value)
            made.meta = meta
        return made

    def _place_refusals(self, node: fx.Node, made: Tensor) -> None:
        """Elements are made when they are asked for; what they refuse is still this node's."""
        element = made.element

        def placed(place: Place) -> Scalar:
            try:
                return element(place)
            except LoweringError as error:
                raise error if error.where else self._refusal(node, error) from error

        made.element = placed

    # --- operations -------------------------------------------------------------------------------------------------

    def _node(self, node: fx.Node) -> Any:
        name, changes = operation(node)
        if name in _SYMBOLS or not _has_tensor(node):
            return None if name in _NOTHING else node.meta.get("val")
        if name == "getitem":
            source, number = cast("tuple[fx.Node, int]", node.args)
            return self._seen(node, self.made[source][number])
        rule = RULES.get("view_as_dtype" if name == "view" and "dtype" in _given(node) else name)
        if rule is None:
            instead = f"simulacrum.portable.tensor.{name}" if name in _PORTABLE else None
            error = LoweringError(f"the operation {node.target} cannot be lowered", next_step=instead)
            raise self._refusal(node, error)
        self._check_in_place(node, name, changes)
        try:
            given = {key: self._value(value) for key, value in _given(node).items()}
            made = rule(Call(self.b, name, given, node.meta["val"]))
            return self._seen(node, self._settled(node, name, made))
        except LoweringError as error:
            raise self._refusal(node, error) from error

    def _settled(self, node: fx.Node, name: str, made: Any) -> Any:
        """Small tensors are written out now; a large one that is used more than once is computed once, in a loop."""
        for one in made if isinstance(made, list) else [made]:
            # In the order of the graph, so that no chain of operations is followed to its beginning at once.
            if isinstance(one, Tensor) and one.size <= LARGE and name not in VIEWS:
                demand(one)
        if not isinstance(made, Tensor) or name in VIEWS:
            return made
        user = next(iter(node.users), node)
        if made.size > LARGE and (len(node.users) > 1 or not (user.op == "output" or _is_elementwise(user))):
            return materialise(self.b, made)
        return made

    def _value(self, value: Any) -> Any:
        if isinstance(value, fx.Node):
            return self.made[value]
        if isinstance(value, (list, tuple)):
            return [self._value(one) for one in value]
        return value

    def _check_in_place(self, node: fx.Node, name: str, changes: bool) -> None:
        """An operation in place is the plain one if nobody looks at the old tensor, or at a view of it, afterwards.

        And if the plain one gives the same type: torch computes in that, and only then converts.
        """
        schema, problem = getattr(node.target, "_schema", None), None
        if schema is None or not schema.is_mutable or (changes and name in VIEWS):
            return
        if not changes:
            problem = "writes into a tensor that it is given"
        elif self._looked_at(node):
            problem = "changes a tensor in place that something else looks at"
        else:
            args, kwargs = fx.map_arg((node.args, node.kwargs), lambda one: one.meta["val"])
            plain = getattr(torch.ops.aten, name)(*args, **kwargs)
            kept = node.meta["val"].dtype
            if plain.dtype != kept:
                problem = f"computes in {plain.dtype} what it keeps as {kept}"
        if problem is not None:
            error = LoweringError(f"{node.target} {problem}", next_step="use the form that returns a new tensor")
            raise self._refusal(node, error)

    def _looked_at(self, node: fx.Node) -> bool:
        """Whether what `node` changes is an input or a view, or somebody has a view of it or asks for it later."""
        changed = cast("fx.Node", node.args[0])
        later = [user for user in changed.users if user is not node and self.order[user] > self.order[node]]
        views = [user for user in changed.users if operation(user)[0] in VIEWS]
        source = changed.args[0] if operation(changed)[0] == "getitem" else changed
        return changed.op == "placeholder" or bool(later or views) or operation(cast("fx.Node", source))[0] in VIEWS

    def _refusal(self, node: fx.Node, error: LoweringError) -> LoweringError:
        where, rule = place_of(node)
        tag = f" (rule {rule})" if rule else ""
        return LoweringError(
            error.message + tag,
            expected="operations that one loop over rows can be made of: see docs/native.md",
            found=str(node.target),
            where=where,
            next_step=error.next_step or "compile=False runs it as it is, eagerly",
        )


def _placeholders(program: torch.export.ExportedProgram) -> list[tuple[fx.Node, torch.Tensor | None]]:
    """The nodes that begin a graph, in order, each with the tensor that the program itself holds for it, or None."""
    held: dict[Any, Any] = {**program.state_dict, **program.constants}
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]
    specs = program.graph_signature.input_specs
    return [(node, held.get(spec.target)) for node, spec in zip(nodes, specs, strict=True)]


def inputs_of(program: torch.export.ExportedProgram) -> list[fx.Node]:
    """The nodes of what a caller gives, in order."""
    return [node for node, value in _placeholders(program) if value is None]


def outputs_of(program: torch.export.ExportedProgram) -> Sequence[Any]:
    """The nodes of what a caller gets, in order; None for a part that there is not."""
    (given,) = next(node for node in program.graph.nodes if node.op == "output").args
    return cast("Sequence[Any]", given)


def operation(node: fx.Node) -> tuple[str, bool]:
    """The name of a node's operation without its overload, and whether it works in place."""
    name = getattr(node.target, "__name__", str(node.target)) if node.op == "call_function" else node.op
    schema = getattr(node.target, "_schema", None)
    if schema is not None:
        name = schema.name.partition("::")[2]
    plain = name[:-1] if name.endswith("_") and not name.startswith("__") else name
    return plain, plain != name


def _given(node: fx.Node) -> dict[str, Any]:
    """The arguments by the names of the operation's schema; those left out are not in it."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return {str(number): value for number, value in enumerate(node.args)}
    names = [argument.name for argument in schema.arguments]
    return {**dict(zip(names, node.args, strict=False)), **node.kwargs}


def _has_tensor(node: fx.Node) -> bool:
    value = node.meta.get("val")
    several: Iterable[Any] = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(one, torch.Tensor) for one in several)


def _is_elementwise(user: fx.Node) -> bool:
    from simulacrum.lower.rules import choice, elementwise

    rule = RULES.get(operation(user)[0])
    return rule is not None and rule.__module__ in (elementwise.__name__, choice.__name__)


def place_of(node: fx.Node) -> tuple[str | None, str | None]:
    """The author's file and line that a node came from, and the rule (R7) whose tag stands there or just above."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', str(node.meta.get("stack_trace") or ""))
    written = [frame for frame in frames if frame[0].endswith("fast.py")]
    noted = (node.meta.get("custom") or {}).get("where")  # as `capture` notes it
    if noted or written:
        filename, line = noted.rsplit(":", 1) if noted else written[-1]
        return f"{filename}:{line}", rule_near(filename, int(line))
    return (f"{frames[-1][0]}:{frames[-1][1]}", None) if frames else (None, None)


def rule_near(filename: str, line: int) -> str | None:
    """The rule (R7) whose tag stands beside a line of a file, or just above it in the same function."""
    for number in range(line, max(line - 12, 0), -1):
        text = linecache.getline(filename, number)
        tag = re.search(r"#.*\b(R\d+)\b", text)
        if tag:
            return tag.group(1)
        if text.lstrip().startswith("def "):
            return None
    return None
