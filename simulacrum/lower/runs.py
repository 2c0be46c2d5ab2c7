"""How a program with inner loops is still computed many rows at a time.

A loop over rows that has other loops inside is not turned into vectors. So the order is changed: the inner loops stand
outside, and each stretch of statements between them, a *run*, is a loop over a few rows of its own. What one run
computes and another uses is kept for all of these rows, in an array with a lane for each.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulacrum.lower.program import Array, Block, Loop, Put, Scalar, Update

Run = list[Scalar | Put | Update]


def runs_of(block: Block) -> Iterator[Run | Loop]:
    """The runs and the loops of a block, in order."""
    run: Run = []
    for one in block.statements:
        if isinstance(one, Loop):
            if run:
                yield run
            run = []
            yield one
        else:
            run.append(one)
    if run:
        yield run


def kept_between(block: Block) -> list[Scalar]:
    """The scalars of a block, and of those inside it, that more than one run needs; variables are among them."""
    home: dict[Scalar, int] = {}
    kept: dict[Scalar, None] = {}
    number = 0

    def use(scalar: Scalar) -> None:
        if home.get(scalar, number) != number:  # constants and counters have no home
            kept[scalar] = None

    def visit(inner: Block) -> None:
        nonlocal number
        for part in runs_of(inner):
            number += 1
            if isinstance(part, Loop):
                visit(part.body)
                continue
            for one in part:
                if isinstance(one, Scalar):
                    home[one] = number
                    for argument in one.args:
                        use(argument)
                    if one.op == "variable":
                        kept[one] = None
                else:
                    use(one.value)
                    use(one.index if isinstance(one, Put) else one.variable)

    visit(block)
    return list(kept)


def arrays_of(block: Block) -> list[Array]:
    """The arrays of a row, those that loops fill too."""
    seen: dict[Array, None] = {}
    for one in block.statements:
        if isinstance(one, Put) and isinstance(one.target, Array):
            seen[one.target] = None
        elif isinstance(one, Loop):
            seen.update(dict.fromkeys(arrays_of(one.body)))
    return list(seen)
