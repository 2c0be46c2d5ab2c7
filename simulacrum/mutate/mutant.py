"""A twin with one fault planted in it, and the two lists of them that a package gives rise to."""

from __future__ import annotations

import ast
import difflib
import hashlib
import itertools
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulacrum.contract.package import EnvPackage
from simulacrum.mutate.doses import dosed
from simulacrum.mutate.operators import OPERATORS, REWRITES, Operator
from simulacrum.mutate.sites import Edit, Piece, Twin, apply, comments


@dataclass(frozen=True)
class Mutant:
    """One file of a package with one change in it.

    id: a short hash of file, operator, site and dose, the same in every run. kind: "K01" to "K24", or "same" for a
    rewrite that changes nothing. operator: its short name. file: "fast.py", "reference.py" or "__init__.py".
    line: where the change begins. before, after: the fragment as it was and as it is. source: the whole changed file.
    dose: "" where the fault is always there, or what it waits for ("t>=200", "row>=1", "p=2^-4", ...).
    note: what the change means, where the fragments do not say it. undosed: of a fault with a dose, (id, before, after)
    of the same fault without one.
    """

    id: str
    kind: str
    operator: str
    file: str
    line: int
    before: str
    after: str
    source: str
    dose: str = ""
    note: str = ""
    original: str = ""
    undosed: tuple[str, str, str] | None = None

    @property
    def diff(self) -> str:
        """The change as a unified diff with three lines around it."""
        old, new = self.original.splitlines(keepends=True), self.source.splitlines(keepends=True)
        return "".join(difflib.unified_diff(old, new, f"a/{self.file}", f"b/{self.file}"))


def mutants(
    package: EnvPackage, *, file: str = "fast.py", kinds: Sequence[str] | None = None, doses: bool = False
) -> list[Mutant]:
    """The faults that the operators can plant in a file, in an order whose beginning is spread over kinds and lines.

    kinds: only these ("K06", ...). doses: each fault that can be made to wait, in its rarer forms, instead of the
    undosed ones.

    Raises:
        ContractError: the twin cannot be read or does not run.
    """
    twin = Twin(package, file)
    found = planted(twin, [each for each in OPERATORS if kinds is None or each.kind in kinds])
    if not doses:
        return spread([mutant for mutant, _ in found])
    gated: list[Mutant] = []
    for mutant, edit in found:
        for dose, late in dosed(twin, edit, int(mutant.id, 16)):
            waiting = _mutant(twin, mutant.kind, mutant.operator, late, dose)
            whole = mutant.id, mutant.before, mutant.after
            gated += [] if waiting is None else [replace(waiting, undosed=whole)]
    return spread(gated)


def rewrites(package: EnvPackage) -> list[Mutant]:
    """Rewrites of fast.py that change no bit of what it computes: the battery must let each of them through."""
    return spread([mutant for mutant, _ in planted(Twin(package, "fast.py"), REWRITES)])


def spread(found: Sequence[Mutant]) -> list[Mutant]:
    """The same mutants so that every beginning of the list holds as many kinds and lines as it can."""
    rounds: list[tuple[int, int, int, Mutant]] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for mutant in sorted(found, key=lambda mutant: mutant.id):  # an order that nobody chose
        seen[mutant.kind, str(mutant.line)] += 1
        seen[mutant.kind, mutant.operator] += 1
        seen[mutant.kind, mutant.dose] += 1 if mutant.dose else 0
        counts = [seen[mutant.kind, each] for each in (str(mutant.line), mutant.operator, mutant.dose)]
        rounds.append((max(counts), sum(counts), len(rounds), mutant))
    by_kind: dict[str, list[Mutant]] = {}
    for *_, mutant in sorted(rounds, key=lambda entry: entry[:3]):
        by_kind.setdefault(mutant.kind, []).append(mutant)
    lists = [by_kind[kind] for kind in sorted(by_kind)]
    return [each for turn in itertools.zip_longest(*lists) for each in turn if each is not None]


def planted(twin: Twin, operators: Sequence[Operator]) -> list[tuple[Mutant, Edit]]:
    """One mutant for each edit that is Python, keeps all comments, and differs from the original and those before."""
    forms = {_form(twin, (function,), ()) for function in (*twin.functions.values(), twin.tree)}
    found: list[tuple[Mutant, Edit]] = []
    for each in operators:
        if twin.file not in each.files:
            continue
        for edit in each.find(twin):
            try:
                form = _form(twin, twin.outer(edit), edit.pieces)
            except (ValueError, SyntaxError):  # pieces that overlap, or text that is not Python in its place
                continue
            mutant = _mutant(twin, each.kind, each.name, edit)
            if mutant is not None and form not in forms:
                forms.add(form)
                found.append((mutant, edit))
    return found


def _form(twin: Twin, nodes: Sequence[ast.AST], pieces: Sequence[Piece]) -> str:
    """The syntax tree of some whole functions, or of the file, with the pieces in them."""
    texts: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Module):
            texts.append(ast.dump(ast.parse(apply(twin.data, pieces))))
            continue
        start, end = twin.span(node)
        inside = [piece for piece in pieces if start <= piece.start < end]
        indent = " " * getattr(node, "col_offset", 0)
        text = textwrap.dedent(indent + apply(twin.data, inside, start, end))
        texts.append(f"{getattr(node, 'name', '')} {getattr(node, 'lineno', 0)} {ast.dump(ast.parse(text))}")
    return "\n".join(texts)


def _mutant(twin: Twin, kind: str, operator: str, edit: Edit, dose: str = "") -> Mutant | None:
    source = apply(twin.data, edit.pieces)
    marked = any(b"#" in twin.data[p.start : p.end] or "#" in p.text for p in edit.pieces)
    if marked and comments(source) != comments(twin.text):
        return None
    start, end = twin.span(edit.site)
    start, end = min(start, *(p.start for p in edit.pieces)), max(end, *(p.end for p in edit.pieces))
    before, after = twin.data[start:end].decode(), apply(twin.data, edit.pieces, start, end)
    line = twin.data[:start].count(b"\n") + 1
    name = short_id(twin.file, kind, operator, str(start), before, after, dose)
    return Mutant(name, kind, operator, twin.file, line, before, after, source, dose, edit.note, twin.text)


def short_id(*parts: str) -> str:
    """Eight hex digits that stand for these words, the same in every run and on every machine."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]
