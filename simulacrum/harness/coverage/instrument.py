"""A twin's syntax tree, written so that running it leaves a record of what has run and how conditions came out.

Values, order and short circuits stay as they are. Beyond lines and branches (which `coverage` would see too) this sees
conditional expressions, conditions of comprehensions, and each operand of `and`, `or`, `|` and `&` between truths: an
operand has been seen once it alone has decided the outcome (true while all others of an `or` are false). For that, the
operands that a short circuit leaves out are looked at as well, where they are plain: built of names, attributes,
comparisons and arithmetic, so that looking at them does nothing. This is masking MC/DC (Hayhurst et al. 2001), with
"masked" replaced by "seen to be so" wherever it can be.

Not seen: bodies of lambdas and comprehensions that run for no item, which argument of `min` or `max` wins, single
comparisons of a chain (`0 <= x < n` is one condition), and code outside the file.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from simulacrum.contract.fields import DISTRIBUTIONS
from simulacrum.harness.coverage.points import RAN, Block, Map, lines_of

# The names under which the instrumented code finds what records it (`seen.Seen`).
HITS, TRUTH, OPERANDS, BITS, DRAWN = "__hits__", "__truth__", "__operands__", "__bits__", "__drawn__"
STEPPED, GIVEN = "__stepped__", "__given__"

_PLAIN = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.Tuple, ast.List, ast.Compare, ast.UnaryOp,
    ast.BinOp, ast.BoolOp, ast.GeneratorExp, ast.ListComp, ast.comprehension, ast.expr_context, ast.operator,
    ast.unaryop, ast.cmpop, ast.boolop, ast.IfExp,
)  # fmt: skip
_HARMLESS = {"any", "all", "len", "abs", "min", "max", "sum", "int", "float", "bool", "range", "zip", "enumerate"}
STEP = ("self", "state", "action", "ctx")  # what a step is given, whatever a twin calls it
_UNASKED = {"invariant", "sometimes"}  # methods so marked state truths about the rules and are none


class Instrument(ast.NodeTransformer):
    """Writes the marks into a tree, and the points that they stand for into `map`.

    Args:
        conditions: whether to record outcomes and draws as well as statements.
    """

    def __init__(self, *, conditions: bool) -> None:
        self.map = Map()
        self.conditions = conditions
        self.in_step = False  # whether a `return` here is what a step gives

    # --- statements -----------------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = [self.visit(one) if isinstance(one, (ast.FunctionDef, ast.ClassDef)) else one for one in node.body]
        return node

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = [self.visit(one) if isinstance(one, (ast.FunctionDef, ast.ClassDef)) else one for one in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Marks in its body. `__init__` and methods that state truths are left as they are.

        A step keeps what it was given in `__given__`, for its `return`s.
        """
        if node.name == "__init__" or any(_last_name(one) in _UNASKED for one in node.decorator_list):
            return node
        first = 1 if ast.get_docstring(node, clean=False) is not None else 0
        self.map.functions[node.name] = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        given, outer = [argument.arg for argument in node.args.args], self.in_step
        self.in_step = self.conditions and node.name == "step" and len(given) == len(STEP)
        node.body[first:] = self._block(node.body[first:])
        if self.in_step:
            names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in given]
            kept = ast.Assign([ast.Name(GIVEN, ast.Store())], ast.Tuple(names, ast.Load()))
            node.body.insert(first, ast.copy_location(kept, node))
        self.in_step = outer
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """In a step, the value goes through `__stepped__`, together with what the step was given."""
        if node.value is not None:
            value: ast.expr = self.visit(node.value)
            node.value = _call(STEPPED, [_name(GIVEN), value], value) if self.in_step else value
        return node

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        block, marked = Block(), list[ast.stmt]()
        self.map.blocks.append(block)
        for statement in body:
            block.lines.append(statement.lineno)
            self.map.statements[statement.lineno] = lines_of(statement)
            marked.append(_mark(self.map.add(statement.lineno, RAN), statement))
            marked.append(self.visit(statement))
        return marked

    def visit_If(self, node: ast.If) -> ast.If:
        """A point for each outcome of the test, which leads to the block that it opens."""
        node.test = self._outcomes(node.test, node.body[0].lineno, node.orelse[0].lineno if node.orelse else 0)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        """A point for the test being true and one for it being false."""
        node.test = self._outcomes(node.test, node.body[0].lineno)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        """Where a `break` or `return` may end the loop, a point for its own end, marked in its `else`."""
        leaves = any(isinstance(one, (ast.Break, ast.Return)) for part in node.body for one in ast.walk(part))
        node.iter = self.visit(node.iter)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        if leaves:
            node.orelse.insert(0, _mark(self.map.add(node.lineno, "the loop never came to its end"), node))
        return node

    def visit_With(self, node: ast.With) -> ast.With:
        """What is entered may hold conditions; the body is a block."""
        node.items = [self.visit(item) for item in node.items]
        node.body = self._block(node.body)
        return node

    def visit_Try(self, node: ast.Try) -> ast.Try:
        """Body, handlers, `else` and `finally` are a block each."""
        node.body, node.orelse, node.finalbody = map(self._block, (node.body, node.orelse, node.finalbody))
        for handler in node.handlers:
            handler.body = self._block(handler.body)
        return node

    def visit_Match(self, node: ast.Match) -> ast.Match:
        """A point for each outcome of a guard, and one, in a last case that is added, for no case fitting."""
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = self._outcomes(case.guard) if case.guard is not None else None
            case.body = self._block(case.body)
        if self.conditions and not any(_takes_all(case) for case in node.cases):
            mark = _mark(self.map.add(node.lineno, "no case ever failed to fit"), node)
            node.cases.append(ast.match_case(ast.MatchAs(), None, [mark]))
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        return node  # it never fails in a sound twin

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.body = self.visit(node.body)
        return node

    # --- conditions and draws -------------------------------------------------------------------------------------

    def _outcomes(self, test: ast.expr, true: int = 0, false: int = 0) -> ast.expr:
        """The test, with both of its outcomes as points; those of `and` and `or` follow from their operands."""
        bare = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        said = ast.unparse(test)
        inner: ast.expr = self.visit(test)
        if not self.conditions or isinstance(bare, ast.BoolOp):
            return inner
        first = self.map.add(test.lineno, f"`{said}` was never true", true)
        self.map.add(test.lineno, f"`{said}` was never false", false)
        return _call(TRUTH, [_number(first), inner], test)

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        """A point for each outcome of the test, which leads to no block."""
        node.test = self._outcomes(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        """A point for each outcome of each `if`."""
        node.iter = self.visit(node.iter)
        node.ifs = [self._outcomes(test) for test in node.ifs]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """A point for each operand that decides alone, looked at again in `__operands__`.

        Where one is not plain, none is looked at twice: each has a point for each of its outcomes instead.
        """
        if not self.conditions:
            return node
        word = "or" if isinstance(node.op, ast.Or) else "and"
        operands = [copy.deepcopy(operand) for operand in node.values]
        if not all(map(is_plain, operands)):
            node.values = [self._outcomes(operand) for operand in node.values]
            return node
        first = self._deciding(operands, word)
        node.values = [self.visit(operand) for operand in node.values]
        later = ast.Tuple([_lambda(operand) for operand in operands], ast.Load())
        return _call(OPERANDS, [_number(first), ast.Constant(word), node, later], node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A chain of `|` or of `&` becomes one call of `__bits__`: a point for each operand that decides alone."""
        kind = type(node.op)
        if not self.conditions or kind not in (ast.BitOr, ast.BitAnd):
            self.generic_visit(node)
            return node
        operands: list[ast.expr] = [node.right]
        left = node.left
        while isinstance(left, ast.BinOp) and type(left.op) is kind:
            operands.insert(0, left.right)
            left = left.left
        operands.insert(0, left)
        word = "or" if kind is ast.BitOr else "and"
        first = self._deciding(operands, word)
        return _call(BITS, [_number(first), ast.Constant(word), *map(self.visit, operands)], node)

    def _deciding(self, operands: Sequence[ast.expr], word: str) -> int:
        """The first of the points: one for each operand that decides alone, and one for no operand deciding."""
        alone, rest = ("true", "false") if word == "or" else ("false", "true")
        told = f"was never {alone} while the rest of its `{word}` was {rest}"
        numbers = [self.map.add(one.lineno, f"`{ast.unparse(one)}` {told}") for one in operands]
        self.map.add(operands[0].lineno, f"the `{word}` from `{ast.unparse(operands[0])}` on was never {rest}")
        return numbers[0]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A draw (`ctx.draw.bernoulli(...)` and its like) goes through `__drawn__`; its slot is noted if a literal."""
        self.generic_visit(node)
        func = node.func
        if not (self.conditions and isinstance(func, ast.Attribute) and func.attr in DISTRIBUTIONS):
            return node
        if _last_name(func.value) != "draw":
            return node
        slot = node.args[0] if node.args else None
        if isinstance(slot, ast.Constant) and isinstance(slot.value, str):
            self.map.slots.setdefault(slot.value, node.lineno)
        return ast.copy_location(ast.Call(_name(DRAWN), [func, *node.args], node.keywords), node)


def instrumented(source_tree: ast.Module, *, conditions: bool) -> tuple[ast.Module, Map]:
    """A copy of the tree with marks, and what they stand for."""
    instrument = Instrument(conditions=conditions)
    tree = instrument.visit(copy.deepcopy(source_tree))
    return ast.fix_missing_locations(tree), instrument.map


def is_plain(node: ast.AST) -> bool:
    """Whether evaluating an expression does nothing but give its value."""
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in _HARMLESS or node.keywords:
            return False
        return all(map(is_plain, node.args))
    return isinstance(node, _PLAIN) and all(map(is_plain, ast.iter_child_nodes(node)))


def _takes_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _mark(number: int, where: ast.stmt) -> ast.stmt:
    target = ast.Subscript(_name(HITS), _number(number), ast.Store())
    return ast.copy_location(ast.Assign([target], ast.Constant(1)), where)


def _number(number: int) -> ast.expr:
    return ast.Constant(number)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(name: str, arguments: list[ast.expr], where: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(_name(name), arguments, []), where)


def _lambda(body: ast.expr) -> ast.expr:
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(empty, body), body)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
