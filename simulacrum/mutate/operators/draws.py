"""K10, K11: a draw used twice, and draws that hang on something else than seed, episode, step and slot."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.contract.fields import Draw
from simulacrum.mutate.operators.registry import BOTH, FAST, operator
from simulacrum.mutate.operators.restart import draw_calls, kept_rows
from simulacrum.mutate.sites import Edit, Twin


def _slot(twin: Twin, call: ast.Call) -> Draw | None:
    """The declared draw that a call asks for."""
    if call.args and isinstance(call.args[0], ast.Constant):
        return twin.schema.draw(str(call.args[0].value))
    return None


@operator("K10", "another slot", BOTH)
def other_slot(twin: Twin) -> Iterator[Edit]:
    """`draw.integers("a", n)` -> `draw.integers("b", n)`: both are one draw."""
    for call in draw_calls(twin):
        slot = _slot(twin, call)
        if slot is None:
            continue
        for other in twin.schema.draws:
            alike = (other.phase, other.distribution, other.dtype, other.count) == (
                slot.phase, slot.distribution, slot.dtype, slot.count,
            )  # fmt: skip
            if alike and other.name != slot.name:
                yield twin.replaced(call.args[0], f'"{other.name}"', f"one draw for {slot.name} and {other.name}")


@operator("K10", "one draw for every index")
def one_index(twin: Twin) -> Iterator[Edit]:
    """A draw [N, K] -> its first column K times; or its columns in reverse."""
    for call in draw_calls(twin):
        fact, text = twin.fact(call), twin.raw(call)
        if fact.rows and len(fact.shape) == 1 and fact.shape[0] > 1:
            yield twin.replaced(call, f"{text}[:, :1].expand_as({text})", "the index is dropped")
            yield twin.replaced(call, f"{text}.flip(dims=[-1])", "the indices in reverse")
            yield twin.replaced(call, f"{text}.roll(1, dims=-1)", "the draw of the index before")


@operator("K10", "one draw for every index", ("reference.py",))
def scalar_one_index(twin: Twin) -> Iterator[Edit]:
    """`index=k` -> `index=0`."""
    for call in draw_calls(twin):
        for keyword in call.keywords:
            if keyword.arg == "index" and not isinstance(keyword.value, ast.Constant):
                yield twin.replaced(keyword.value, "0", "the index is dropped")


@operator("K10", "the other end of a word")
def complement(twin: Twin) -> Iterator[Edit]:
    """u -> 1 - u: bernoulli true for high words, integers and uniforms mirrored."""
    for call in draw_calls(twin):
        slot, given = _slot(twin, call), [twin.raw(arg) for arg in call.args]
        assert isinstance(call.func, ast.Attribute)
        owner = twin.raw(call.func.value)
        if slot is None:
            continue
        note = "made of the same word the other way round"
        if slot.distribution == "bernoulli" and len(call.args) == 2:
            text = f"~{owner}.bernoulli({given[0]}, 1.0 - {twin.src(call.args[1])})"
            yield twin.replaced(call, text, note)
        elif slot.distribution == "integers" and len(call.args) == 2:
            low = next((twin.src(k.value) for k in call.keywords if k.arg == "low"), "0")
            yield twin.replaced(call, f"{twin.src(call.args[1])} - 1 + {low} - {twin.raw(call)}", note)
        elif slot.distribution == "uniform" and len(call.args) == 3:
            ends = f"({twin.src(call.args[1])} + {twin.src(call.args[2])})"
            yield twin.replaced(call, f"{ends} - {twin.raw(call)}", note)


def _rekeyed(twin: Twin, changes: str, note: str) -> Iterator[Edit]:
    """The draws of a method come from a copy of the handle with other coordinates; ledger and record stay shared.

    The call stays one on something named `draw`, as whoever reads the source looks for it.
    """
    for node in twin.nodes(ast.Attribute, *(("reset",) if "_t" not in changes else ()), "step"):
        if node.attr != "draw" or not isinstance(node.value, ast.Name):
            continue
        owner, ctx = twin.raw(node), twin.raw(node.value)
        copied = f'(lambda d: (vars(d).update({changes}), d)[1])(__import__("copy").copy({owner}))'
        called = isinstance(twin.parent(node), ast.Attribute)
        yield twin.replaced(node, f"{ctx}._replace(draw={copied}).draw" if called else copied, note, lift=False)


_FORGET = "_lanes=None, _row_words=None"


@operator("K11", "draws of another step")
def next_step(twin: Twin) -> Iterator[Edit]:
    """The draws of `step` hang on t + 1, or on no t at all."""
    yield from _rekeyed(twin, f"_t=d._t + 1, {_FORGET}", "keyed by t + 1")
    yield from _rekeyed(twin, f"_t=d._t * 0, {_FORGET}", "the same in every step")


@operator("K11", "draws of another seed")
def other_key(twin: Twin) -> Iterator[Edit]:
    """The key of the draws is halved, cut to 16 bits, constant, or that of the next row."""
    changes = {
        "d._key >> 1": "seed // 2",
        "d._key & 0xFFFF": "seed & 0xFFFF",
        "d._key * 0": "one seed for all",
        "d._key.roll(-1, dims=0)": "the key of the next row",
    }
    for change, note in changes.items():
        yield from _rekeyed(twin, f"_key={change}, {_FORGET}", note)


@operator("K11", "draws of another step or seed", ("reference.py",))
def scalar_other_key(twin: Twin) -> Iterator[Edit]:
    """The draws hang on t + 1, or on half the seed."""
    yield from _rekeyed(twin, "_t=d._t + 1, _blocks={}", "keyed by t + 1")
    yield from _rekeyed(twin, "_key=(d._key[0] // 2, d._key[1]), _blocks={}", "seed // 2")


@operator("K11", "torch's own generator")
def global_generator(twin: Twin) -> Iterator[Edit]:
    """A draw -> one of torch's global generator, of the same range."""
    for call in draw_calls(twin):
        slot, text = _slot(twin, call), twin.raw(call)
        fact = twin.fact(call)
        if slot is None or not fact.rows:
            continue
        given = [twin.src(arg) for arg in call.args]
        shape = f"{text}.shape"
        if slot.distribution == "bernoulli" and len(given) == 2:
            new = f"torch.rand({shape}) < {given[1]}"
        elif slot.distribution == "integers" and len(given) == 2:
            low = next((twin.raw(k.value) for k in call.keywords if k.arg == "low"), "0")
            new = f"torch.randint({low}, {given[1]}, {shape}, dtype={text}.dtype)"
        elif slot.distribution == "uniform" and len(given) == 3:
            new = f"torch.rand({shape}, dtype={text}.dtype) * ({given[2]} - {given[1]}) + {given[1]}"
        else:
            continue
        # The call stays, so that the slot is still drawn and only its value is not used.
        yield twin.replaced(call, f"[{text}, {new}][1]", "from the global generator")


@operator("K11", "the first draw for good", FAST)
def memoised(twin: Twin) -> Iterator[Edit]:
    """A draw is kept in the twin and given again."""
    for call in draw_calls(twin):
        slot, text = _slot(twin, call), twin.raw(call)
        if slot is not None:
            kept = f"{kept_rows('drawn', slot.name)}.setdefault(len({text}), {text})"
            yield twin.replaced(call, kept, "kept in the twin between two calls", lift=False)
