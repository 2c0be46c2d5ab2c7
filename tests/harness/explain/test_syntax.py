"""Questions to a syntax tree."""

from __future__ import annotations

import ast

import pytest

from simulacrum.harness.explain.syntax import binds, line_of_part

TREE = ast.parse("""
def reset(self):
    return self.State(
        x=1,
        y=two,
    )

def info(self):
    return {
        "far": 1,
        "near": 2,
    }
""")


@pytest.mark.parametrize(
    ("line", "path", "found"),
    [(3, "state.x", 4), (3, "y", 5), (3, "z", 3), (9, "near", 11), (2, "x", 2)],
)
def test_the_line_of_a_part_of_a_return(line: int, path: str, found: int) -> None:
    assert line_of_part(TREE, line, path) == found


@pytest.mark.parametrize(
    ("target", "bound"), [("x", True), ("a, x", True), ("x[0]", True), ("a[x]", False), ("a", False)]
)
def test_what_an_assignment_binds(target: str, bound: bool) -> None:
    (node,) = ast.parse(f"{target} = 1").body
    assert isinstance(node, ast.Assign)
    assert binds(node.targets[0], "x") is bound
