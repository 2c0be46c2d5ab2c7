"""List where the code does not do what the style guide (docs/style.md) asks, rule by rule.

    python tools/style.py                 all rules, up to ten places each
    python tools/style.py docstrings --all

A list to work on, not a gate: it exits with 0 whatever it finds. What has to hold everywhere is in ruff, pyright,
import-linter and tests. Needs only the standard library.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sizes import FILE_LIMIT, FUNCTION_LIMIT, functions

ROOT = Path(__file__).resolve().parent.parent
LIBRARY, TWINS = "simulacrum", "envs"
FOLDERS = (LIBRARY, TWINS, "training", "tools", "tests")
# A code and a reason, as in "pyright: ignore[reportAny]: why".
IGNORE = re.compile(r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore)(?P<rest>.*)")
NAMED = re.compile(r"^(?::\s*[A-Z]+\d+|\[[\w, -]+\])(?:,\s*[A-Z]+\d+)*")
REASON = re.compile(r"^\s*(?:#|:|--?|,)?\s*\w+.*\s\w+")
OPEN = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK)\b")
SHAPE = re.compile(r"\[N\b|`\[T, N")


@dataclass(frozen=True)
class Source:
    """A Python file: its name from the root, its text, its tree."""

    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


Found = Iterator[tuple[int, str]]  # line and what is wrong there
RULES: dict[str, Callable[[Source], Found]] = {}


def rule(check: Callable[[Source], Found]) -> Callable[[Source], Found]:
    """Enter a check under its function's name. The first line of its docstring is the rule."""
    RULES[check.__name__] = check
    return check


@rule
def files(source: Source) -> Found:
    """A file has at most 250 lines or so."""
    if len(source.lines) > FILE_LIMIT:
        yield 1, f"{len(source.lines)} lines"


@rule
def long_functions(source: Source) -> Found:
    """A function has at most 40 lines or so, its docstring included."""
    for name, line, lines in functions(source.tree):
        if lines > FUNCTION_LIMIT:
            yield line, f"{name}: {lines} lines"


@rule
def docstrings(source: Source) -> Found:
    """In simulacrum/ every public module, class and function says what it is."""
    if not source.name.startswith(f"{LIBRARY}/"):
        return
    if source.text.strip() and ast.get_docstring(source.tree) is None:
        yield 1, "the module"
    for node in [*source.tree.body, *(n for c in source.tree.body if isinstance(c, ast.ClassDef) for n in c.body)]:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        if not (said(node) or ast.get_docstring(node)) and len(ast.unparse(node).splitlines()) > 3:
            yield node.lineno, node.name


def said(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator says what it is: a sentence that it is given, or a setter of a property that says it."""
    setter = any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in node.decorator_list)
    texts = (part.value for one in node.decorator_list for part in ast.walk(one) if isinstance(part, ast.Constant))
    return setter or any(isinstance(text, str) and text.count(" ") >= 2 for text in texts)


@rule
def ignores(source: Source) -> Found:
    """What silences a tool names the rule that it silences, and why: behind it, or in a comment on the line above."""
    for line, comment in comments(source):
        found = IGNORE.search(comment)
        if not found:
            continue
        named = NAMED.match(found["rest"].strip())
        above = source.lines[line - 2].strip() if line > 1 else ""
        if named is None or not (REASON.match(named.string[named.end() :]) or above.startswith("#")):
            yield line, found.group().strip()


@rule
def open_ends(source: Source) -> Found:
    """Nothing is left to be done in a comment."""
    for line, comment in comments(source):
        found = OPEN.search(comment)
        if found:
            yield line, found[1]


@rule
def shapes(source: Source) -> Found:
    """In a batched twin each method that returns a tensor says the shape of one."""
    if not (source.name.startswith(f"{TWINS}/") and source.name.endswith("/fast.py")):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and node.returns is not None and "Tensor" in ast.unparse(node.returns):
            written = "\n".join(source.lines[node.lineno - 1 : node.end_lineno])
            if not SHAPE.search(written):
                yield node.lineno, node.name


def comments(source: Source) -> Found:
    """The comments of a file, each with its line; what only looks like one inside a string is none."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def sources(root: Path = ROOT) -> Iterator[Source]:
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            yield Source(path.relative_to(root).as_posix(), text, ast.parse(text))


def violations(names: list[str], root: Path = ROOT) -> dict[str, list[str]]:
    """For each rule the places that break it, as `file:line what`."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for source in sources(root):
        for name in names:
            found[name] += [f"{source.name}:{line} {what}" for line, what in RULES[name](source)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="*", metavar="RULE", help=f"of {', '.join(RULES)}; all by default")
    parser.add_argument("--all", action="store_true", help="every place, not the first ten")
    options = parser.parse_args()
    unknown = [name for name in options.rules if name not in RULES]
    if unknown:
        parser.error(f"no rule is called {unknown[0]}; there are {', '.join(RULES)}")
    for name, places in violations(options.rules or list(RULES)).items():
        print(f"{name}: {(RULES[name].__doc__ or '').splitlines()[0]} {len(places)} places do not.")
        shown = places if options.all else places[:10]
        print("".join(f"  {place}\n" for place in shown), end="")
        if len(shown) < len(places):
            print(f"  and {len(places) - len(shown)} more: python tools/style.py {name} --all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
