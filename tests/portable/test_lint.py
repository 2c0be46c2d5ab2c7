from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from simulacrum.errors import PackageError
from simulacrum.harness.checks.spec_contract import lint_twin
from simulacrum.portable.lint import Finding, lint_fast

HEAD = """\
from __future__ import annotations

import math
import torch
import torch.nn.functional as F
from torch import Tensor, where
from simulacrum.portable.tensor import sin
from simulacrum.twin.batched import BatchedEnv, Context, Transition
from . import GOAL, TABLE

class Env(BatchedEnv):
    def step(self, state, action: Tensor, ctx: Context) -> Transition:
"""


def lint(tmp_path: Path, body: str) -> list[Finding]:
    path = tmp_path / "fast.py"
    path.write_text(HEAD + textwrap.indent(textwrap.dedent(body), " " * 8), encoding="utf-8")
    return lint_fast(path)


# (what is planted, the operation reported, a fragment of the reason, a fragment of what to use instead)
PLANTED = [
    ("x = torch.sin(state.x)", "torch.sin", "round differently", "portable.sin"),
    ("x = state.x.sqrt()", ".sqrt()", "round differently", "portable.sqrt"),
    ("x = F.softmax(state.x, dim=-1)", "torch.nn.functional.softmax", "round differently", "ordered_sum"),
    ("x = torch.frexp(state.x)", "torch.frexp", "not on the list", "list"),
    ("torch.add(state.x, 1, out=state.x)", "torch.add", "may hold", "returns a new tensor"),
    ("x = state.x.roll(1, 0)", ".roll()", "rows are mixed", "dim=-1"),
    ("x = state.x.roll(1)", ".roll()", "torch's choice", "dims="),
    ("x = state.x.sinc()", ".sinc()", "not on the list", "list"),
    ("x = torch.addcmul(state.x, state.y, state.z)", "torch.addcmul", "rounds twice", "a * b"),
    ("x = torch.special.expit(state.x)", "torch.special.expit", "not on the list", "list"),
    ("x = list(map(torch.cos, state.parts))", "torch.cos", "round differently", "portable.cos"),
    ("x = state.x ** 0.5", "**", "powers", "portable.sqrt"),
    ("x = pow(state.x, 0.5)", "pow()", "powers", "portable.pow"),
    ("x = torch.pow(state.x, 2)", "torch.pow", "round differently", "portable.pow"),
    ("x = state.x @ TABLE", "@", "batch size", "unrolled"),
    ("x = torch.einsum('nk,k->n', state.x, TABLE)", "torch.einsum", "batch size", "unrolled"),
    ("x = state.x.float() % 1.5", "% on floats", "round differently", "remainder(x, y) for %"),
    ("x = state.x // 0.5", "// on floats", "round differently", "torch.floor(x / y) for //"),
    ("y = state.x / 3\nx = y % state.z", "% on floats", "round differently", "remainder(x, y) for %"),
    ("x = 0.1 / state.x", "number / tensor", "reciprocal", "full_like"),
    ("x = state.x.sum(dim=-1)", ".sum()", "order of a float sum", "ordered_sum"),
    ("x = state.x.sum(-1, dtype=torch.float32)", ".sum()", "order of a float sum", "ordered_sum"),
    ("x = torch.sum(state.x, dtype=torch.int32)", "torch.sum", "rows are mixed", "dim=-1"),
    ("x = state.x.sum(dim=0, dtype=torch.int32)", ".sum()", "rows are mixed", "dim=-1"),
    ("x = state.x.sum(dim=(0, 1), dtype=torch.int32)", ".sum()", "rows are mixed", "dim=-1"),
    ("x = state.x.mean(-1)", ".mean()", "order of a float sum", "ordered_sum"),
    ("x = state.x.prod(-1)", ".prod()", "order of a float product", "loop"),
    ("x = state.x.cumsum(-1)", ".cumsum()", "wider than float32", "loop"),
    ("x = state.alive.any()", ".any()", "rows are mixed", "dim=-1"),
    ("x = torch.all(state.alive)", "torch.all", "rows are mixed", "dim=-1"),
    ("x = state.x.argmax()", ".argmax()", "rows are mixed", "dim=-1"),
    ("x = state.x.max()", ".max()", "rows are mixed", "dim=-1"),
    ("x = state.x.amax(dim=None)", ".amax()", "rows are mixed", "dim=-1"),
    ("x = state.x.flip(dims=(0,))", ".flip()", "rows are mixed", "dim=-1"),
    ("x = state.x.topk(2, dim=-1)", ".topk()", "ties", "stable"),
    ("x = state.x.argsort(dim=-1)", ".argsort()", "stable", "stable"),
    ("x = state.x.sort(dim=-1, stable=False)", ".sort()", "stable", "stable"),
    ("x = torch.round(state.x, decimals=2)", "torch.round", "decimals", "without"),
    ("x = F.one_hot(action)", "torch.nn.functional.one_hot", "num_classes", "num_classes"),
    ("x = state.x.item()", ".item()", "host", "torch.where"),
    ("x = state.x.tolist()", ".tolist()", "host", "tensor operations"),
    ("x = state.x.cpu()", ".cpu()", "host", "tensor operations"),
    ("x = state.x.numpy()", ".numpy()", "host", "tensor operations"),
    ("x = int(state.x[0])", "int()", "host", "tensor operations"),
    ("x = float(action)", "float()", "host", "tensor operations"),
    ("for k in range(state.x):\n    pass", "range()", "host", "tensor operations"),
    ("x = state.alive.nonzero()", ".nonzero()", "depends on data", "mask"),
    ("x = torch.where(state.alive)", "torch.where", "depends on data", "mask"),
    ("x = torch.masked_select(state.x, state.alive)", "torch.masked_select", "depends on data", "mask"),
    ("x = state.x[state.x > 0]", "boolean index", "depends on data", "torch.where"),
    ("dead = ~(state.x > 0)\nx = state.x[dead]", "boolean index", "depends on data", "torch.where"),
    ("x = torch.zeros(3)\nx[action == 1] = 2.0", "assignment to an index", "depends on data", "torch.where"),
    ("x = torch.zeros(3)\nx[:, 0] = 2.0", "assignment to an index", "may hold", "new tensor"),
    ("x = torch.zeros(3)\nx[:, 0] += 2.0", "assignment to an index", "may hold", "new tensor"),
    ("x = state.x\nx += 1", "augmented assignment", "may hold", "new tensor"),
    ("x = state.x.add_(1)", ".add_()", "may hold", "new tensor"),
    ("x = F.relu_(state.x)", "torch.nn.functional.relu_", "may hold", "new tensor"),
    ("self.last = state.x", "assignment to .last", "may hold", "new tensor"),
    ("state.x = action", "assignment to .x", "may hold", "new tensor"),
    ("self.last[0] = 1", "assignment to an index", "may hold", "new tensor"),
    ("self.last[0] += 1", "assignment to an index", "may hold", "new tensor"),
    ("self.last['x'] = 1", "assignment to an index", "may hold", "new tensor"),
    ("for self.k in range(3):\n    pass", "assignment to .k", "may hold", "new tensor"),
    ("for k, (*self.k, _) in TABLE:\n    pass", "assignment to .k", "may hold", "new tensor"),
    ("x = [0 for self.k in range(3)]", "assignment to .k", "may hold", "new tensor"),
    ("x = {0: 0 for k, self.k in TABLE}", "assignment to .k", "may hold", "new tensor"),
    ("with TABLE as self.table:\n    pass", "assignment to .table", "may hold", "new tensor"),
    ("with TABLE as (a, self.table):\n    pass", "assignment to .table", "may hold", "new tensor"),
    ("self.last: Tensor = action", "assignment to .last", "may hold", "new tensor"),
    ("del self.last", "deletion of .last", "may hold", "new tensor"),
    ("del TABLE, (self.last, GOAL)", "deletion of .last", "may hold", "new tensor"),
    ("info = {}\ninfo[state.x.item()] = 1", ".item()", "host", "torch.where"),
    ("info = {}\ninfo[state.x.item()] += 1", ".item()", "host", "torch.where"),
    ("x = lambda v=state.x.item(): v", ".item()", "host", "torch.where"),
    ("x = lambda *, v=state.x.item(): v", ".item()", "host", "torch.where"),
    ("x = torch.rand(3)", "torch.rand", "shared by all rows", "ctx.draw"),
    ("x = torch.randint(0, 5, (3,))", "torch.randint", "shared by all rows", "ctx.draw"),
    ("x = torch.rand_like(state.x)", "torch.rand_like", "shared by all rows", "ctx.draw"),
    ("x = torch.bernoulli(state.p)", "torch.bernoulli", "shared by all rows", "ctx.draw"),
    ("x = state.p.uniform_()", ".uniform_()", "may hold", "new tensor"),
    ("x = torch.manual_seed(0)", "torch.manual_seed", "shared by all rows", "ctx.draw"),
    ("x = state.x.scatter(1, action, 2.0)", ".scatter()", "which write wins", "arange"),
    ("x = torch.empty(3)", "torch.empty", "memory", "zeros"),
    ("if state.x > 0:\n    pass", "if", "whole batch", "torch.where"),
    ("if (state.x > 0).all(dim=-1):\n    pass", "if", "whole batch", "torch.where"),
    ("done = state.x > 3\nif done:\n    pass", "if", "whole batch", "torch.where"),
    ("while ctx.t < 3:\n    pass", "while", "whole batch", "torch.where"),
    ("x = 1 if action == 0 else 2", "... if ... else", "whole batch", "torch.where"),
    ("assert state.x >= 0", "assert", "whole batch", "torch.where"),
    ("x = (state.x > 0) and (state.y > 0)", "and", "whole batch", "torch.where"),
    ("x = state.alive or action", "or", "whole batch", "torch.where"),
    ("x = not state.alive", "not", "whole batch", "torch.where"),
    ("x = 0 < state.x < 3", "chained comparison", "whole batch", "torch.where"),
    ("x = action in (1, 2)", "in", "whole batch", "torch.where"),
    ("x = max(state.x, state.y)", "max()", "whole batch", "torch.where"),
    ("x = [k for k in (1, 2) if state.x > k]", "if in a comprehension", "whole batch", "torch.where"),
    ("import numpy as np", "import numpy", "bear on numbers", "portable.tensor"),
    ("from random import random", "import random", "bear on numbers", "portable.tensor"),
    ("x = math.sin(GOAL)", "math.sin", "between machines", "literal"),
]


@pytest.mark.parametrize(("planted", "operation", "reason", "instead"), PLANTED, ids=[p[0] for p in PLANTED])
def test_a_planted_operation_is_found(tmp_path: Path, planted: str, operation: str, reason: str, instead: str) -> None:
    findings = lint(tmp_path, planted)
    assert [f.operation for f in findings] == [operation], findings
    finding = findings[0]
    last = HEAD.count("\n") + planted.count("\n") + 1
    first = HEAD.count("\n") + 1
    assert first <= finding.line <= last
    assert finding.file.endswith("fast.py")
    assert reason in finding.reason
    assert instead in finding.instead
    assert finding.waived is None


CLEAN = """
slips = ctx.draw.bernoulli("slip", ctx.params.slip)
angle = ctx.draw.uniform("angle", 0.0, 6.0)
x = (state.x + torch.where(slips, -1, 1)).clamp(0, GOAL - 1)
x = where(x == 3, x, state.x) + sin(angle).to(torch.int32)
y = state.y[:, 0] * 0.5 + state.y[:, 1] / 3.0
y = torch.full_like(y, 2.0) / y + 1.0 / (1.0 + y)
living = state.alive.sum(dim=-1, dtype=torch.int32)
running = torch.cumsum(state.count, 1, dtype=torch.int64)
best = state.score.argmax(dim=-1)
order = torch.argsort(state.score, dim=-1, stable=True)
any_left = state.alive.any(dim=1) & ~torch.all(state.alive, -1)
turn = (action.to(torch.int32) + 1) % 4 // 2
picked = state.score.gather(1, best[:, None]).squeeze(-1)
column = state.score[:, GOAL]
larger = torch.max(x, living)
kinds = F.one_hot(action, num_classes=4)
total = torch.zeros_like(y)
for k in range(state.score.shape[1]):
    total = total + state.score[:, k]
for score in state.score.unbind(-1):
    total = torch.maximum(total, score)
if state.score.shape[1] > 3 and len(TABLE) > 2 and ctx.params is not None:
    total = total - 1
half = GOAL ** 2 / 2
half += math.floor(3.7) + math.pi
near = [k for k in range(5) if k < GOAL]
near = [k + more for k, (*_, more) in TABLE]
for k, (*_, more) in TABLE:
    near[k] = more
with TABLE as (k, more):
    near[k] += more
self.total: Tensor
moved = lambda k=GOAL, *, more=None: k
del near, half
info = {"distance": GOAL - x}
info["turn"] = turn
states = [state.replace(x=x), self.State(x=x), self._helper(x)]
states.append(super().reset(ctx))
parts = torch.stack([y, total.float()], dim=-1)
text = "a # portable: not a comment"
return Transition(states[0], y, ~any_left)
"""


def test_clean_code_has_no_findings(tmp_path: Path) -> None:
    assert lint(tmp_path, CLEAN) == []


def test_the_environments_that_ship_are_clean() -> None:
    """With what each of them imports, as the check reads them."""
    envs = Path(__file__).resolve().parents[2] / "envs"
    files = sorted(envs.glob("*/fast.py"))
    assert len(files) > 20
    for file in files:
        assert [f for f in lint_twin(file.parent) if f.waived is None] == []


def test_an_import_is_a_finding_unless_the_module_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "fast.py"
    path.write_text("from shared.rules import bent\nimport shared.more\n", encoding="utf-8")
    assert [f.operation for f in lint_fast(path)] == ["import shared.rules", "import shared.more"]
    assert [f.operation for f in lint_fast(path, {"shared.rules"})] == ["import shared.more"]


def test_line_and_column_are_exact(tmp_path: Path) -> None:
    finding = lint(tmp_path, "y = 1\nx = y + torch.sin(state.x)")[0]
    line = HEAD.count("\n") + 2
    assert (finding.line, finding.column) == (line, 8 + len("x = y + ") + 1)
    assert str(finding).startswith(f"{finding.file}:{finding.line}:{finding.column}: torch.sin: ")


def test_a_comment_with_a_reason_waives_and_is_reported(tmp_path: Path) -> None:
    findings = lint(tmp_path, "x = torch.sin(state.x)  # portable: only drawn, never compared\ny = torch.cos(state.x)")
    assert [f.waived for f in findings] == ["only drawn, never compared", None]
    assert "waived: only drawn" in str(findings[0])
    several = lint(
        tmp_path,
        "x = torch.where(\n    action == 1,\n    torch.sin(\n        state.x  # portable: why\n    ),\n    1,\n)",
    )
    assert [f.waived for f in several] == ["why"]


@pytest.mark.parametrize("comment", ["# portable:", "# portable", "# not portable: x", "; y = '# portable: x'"])
def test_what_is_no_waiver(tmp_path: Path, comment: str) -> None:
    assert [f.waived for f in lint(tmp_path, f"x = torch.sin(state.x)  {comment}")] == [None]


def test_parameters_annotated_as_tensors_hold_data(tmp_path: Path) -> None:
    path = tmp_path / "fast.py"
    path.write_text("def helper(a: Tensor, n: int):\n    if a > 0: pass\n    if n > 0: pass\n", encoding="utf-8")
    assert [(f.line, f.operation) for f in lint_fast(path)] == [(2, "if")]


def test_a_with_and_a_for_bind_what_they_are_given(tmp_path: Path) -> None:
    findings = lint(tmp_path, "with state.x as x:\n    if x: pass\nfor x in TABLE:\n    if x: pass")
    assert [f.operation for f in findings] == ["if"]


def test_init_may_fill_what_it_makes(tmp_path: Path) -> None:
    path = tmp_path / "fast.py"
    path.write_text(
        "class Env:\n    def __init__(self):\n        self.table = [0, 0]\n        self.table[0] = 1\n"
        "        for self.k in range(2): pass\n        del self.k\n",
        encoding="utf-8",
    )
    assert lint_fast(path) == []


def test_findings_are_in_the_order_of_the_text(tmp_path: Path) -> None:
    findings = lint(tmp_path, "x = state.x.sin() + state.x.cos()\ny = state.x.exp()")
    assert [f.operation for f in findings] == [".sin()", ".cos()", ".exp()"]


@pytest.mark.parametrize("text", ["def (", "x = '\n", "\x00"])
def test_a_file_that_is_no_python_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "fast.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PackageError, match=r"fast\.py"):
        lint_fast(path)


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=r"none\.py"):
        lint_fast(tmp_path / "none.py")
