"""The draws of an environment, guessed from its calls, and the stand-in for its generator that answers them."""

from __future__ import annotations

from dataclasses import dataclass

from simulacrum.errors import PackageError
from simulacrum.scaffold.gym_recorder import Call
from simulacrum.scaffold.gym_runs import Runs
from simulacrum.scaffold.gym_source import Source

_ORDER = "order = list(self.draw.permutation(slot))"


@dataclass(frozen=True)
class SlotGuess:
    """One declared draw: what one method of the generator gives in one phase. `least` and `most` are counts seen."""

    name: str
    phase: str
    method: str
    distribution: str
    dtype: str
    count: int
    least: int
    most: int
    forms: tuple[str, ...]
    given: str

    @property
    def asked(self) -> str:
        """How fast.py asks for it; `...` where the arguments were not always the same."""
        plain = self.distribution == "permutation" or self.method in ("random", "standard_normal")
        arguments = "" if plain else f", {self.given or '...'}"
        return f'ctx.draw.{self.distribution}("{self.name}"{arguments})'

    @property
    def told(self) -> str:
        """What is said of it in the schema."""
        each = "reset" if self.phase == "reset" else "step"
        if self.distribution == "permutation":
            return f"GUESSED: the order that {self.method}() gives at a {each}"
        times = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
        room = "" if self.least == self.most else f", with room for {self.count}"
        return f"GUESSED: {self.method}(), {times} value(s) at a {each}{room}"

    @property
    def varies(self) -> bool:
        return self.least != self.most


@dataclass(frozen=True)
class Answer:
    """One method of the stand-in: its arguments and its body, as lines of Python."""

    method: str
    signature: str
    body: tuple[str, ...]


def guess_slots(source: Source, runs: Runs) -> list[SlotGuess]:
    """A slot for each method and phase. Raises PackageError for a method that no draw answers."""
    if runs.unknown_draws:
        raise PackageError(
            f"{source.id} draws in a way that no draw of simulacrum answers",
            expected="random, uniform, integers, normal, standard_normal, choice, permutation or shuffle",
            found=", ".join(f"np_random.{name}" for name in runs.unknown_draws),
            where=f"{source.kind.__module__}.{source.kind.__qualname__}",
            next_step="write the package by hand (simulacrum new NAME); express the value by one of these, as an "
            "exponential is -log(1 - uniform), and say so in spec.md",
        )
    found: list[SlotGuess] = []
    for phase in ("reset", "step"):
        lists = [moment.calls for moment in runs.moments if (moment.t > 0) == (phase == "step")]
        methods = dict.fromkeys(call.method for calls in lists for call in calls)
        found += [
            _slot(source, phase, one, [[c for c in calls if c.method == one] for calls in lists]) for one in methods
        ]
    return found


def _slot(source: Source, phase: str, method: str, lists: list[list[Call]]) -> SlotGuess:
    calls = [call for row in lists for call in row]
    kinds = {call.distribution for call in calls}
    spans = {call.span for call in calls}
    distribution = kinds.pop()
    counts = [sum(len(call.values) for call in row) for row in lists]
    least, most = min(counts), max(counts)
    name = f"{'start' if phase == 'reset' else 'step'}_{method}"
    forms = tuple(sorted({call.form for call in calls}))
    given = {call.given for call in calls}
    shown = given.pop() if len(given) == 1 else ""
    where = f"{source.kind.__module__}.{source.kind.__qualname__}.{phase}"
    if kinds:
        raise _mixed(source, method, f"{distribution} and {', '.join(kinds)}", where)
    if distribution == "permutation":
        if most > 1 or len(spans) > 1:
            raise _mixed(source, method, f"up to {most} orders in a {phase}, of {sorted(spans)} items", where)
        return SlotGuess(name, phase, method, distribution, "int32", spans.pop(), least, most, forms, "")
    dtype = calls[0].dtype
    if distribution == "integers":
        dtype = "int32" if max(spans) <= 2**16 else "int64"
        if max(spans) > 2**31:
            raise _mixed(source, method, f"one of {max(spans)} integers", where)
    count = most if least == most else 2 * most
    return SlotGuess(name, phase, method, distribution, dtype, count, least, most, forms, shown)


def _mixed(source: Source, method: str, found: str, where: str) -> PackageError:
    return PackageError(
        f"what {source.id} asks of np_random.{method}() is no single draw",
        expected="one distribution at a reset or step, at most 2**31 integers, at most one order, of one length",
        found=found,
        where=where,
        next_step="write the package by hand (simulacrum new NAME), with a draw of its own for each such call",
    )


def guess_answers(slots: list[SlotGuess], runs: Runs) -> list[Answer]:
    """The methods of the stand-in, each no wider than what was asked."""
    answers: list[Answer] = []
    for method in dict.fromkeys(slot.method for slot in slots):
        calls = [call for moment in runs.moments for call in moment.calls if call.method == method]
        forms = sorted({call.form for call in calls})
        sized = any(call.sized for call in calls)
        answers.append(_answer(method, forms, sized))
    return answers


def _answer(method: str, forms: list[str], sized: bool) -> Answer:
    found = _body(method, forms, sized)
    return Answer(method, found.signature, (f'slot = self.slots["{method}"]', *found.body))


def _body(method: str, forms: list[str], sized: bool) -> Answer:
    size = ", size: Any = None" if sized else ""
    if method in ("random", "uniform", "normal", "standard_normal"):
        names = {"uniform": ("low", "high"), "normal": ("loc", "scale")}.get(method, ())
        defaults = ("0.0", "1.0")
        signature = "".join(f", {name}: Any = {default}" for name, default in zip(names, defaults, strict=False)) + size
        call = "uniform" if method in ("random", "uniform") else "normal"
        return Answer(method, signature, _numbers(call, names, sized))
    if method == "integers":
        return _integers(forms, size, sized)
    if method == "choice":
        return _choice(forms, size, sized)
    if method == "shuffle":
        return Answer(method, ", x: Any", (_ORDER, "x[:] = [x[i] for i in order]"))
    taken = "np.array(order)" if forms == ["int"] else "np.asarray(x)[order]"
    return Answer(method, ", x: Any", (_ORDER, f"return {taken}"))


def _numbers(call: str, names: tuple[str, ...], sized: bool) -> tuple[str, ...]:
    given = "".join(f", {name}" for name in names)
    if not sized:
        return (f"return self.draw.{call}(slot{given}, index=self._next(slot))",)
    return (
        f"shape = _shape(size{given})",
        f"values = [self.draw.{call}(slot, *row, index=self._next(slot)) for row in _rows(shape{given})]",
        "return np.array(values).reshape(shape)[()]",
    )


def _integers(forms: list[str], size: str, sized: bool) -> Answer:
    lines: list[str] = []
    from_zero, end = {"from zero" in form for form in forms}, {"endpoint" in form for form in forms}
    if from_zero == {True}:
        lines.append("low, high = 0, low")
    elif from_zero == {True, False}:
        lines.append("low, high = (0, low) if high is None else (low, high)")
    if end == {True}:
        lines.append("high = high + 1")
    elif end == {True, False}:
        lines.append("high = high + endpoint")
    signature = f", low: Any, high: Any = None{size}, dtype: Any = np.int64, endpoint: bool = False"
    if sized:
        body = (
            "shape = _shape(size, low, high)",
            "rows = _rows(shape, low, high)",
            "values = [self.draw.integers(slot, b, low=a, index=self._next(slot)) for a, b in rows]",
            "return np.array(values, dtype).reshape(shape)[()]",
        )
    else:
        body = (
            "value = self.draw.integers(slot, int(high), low=int(low), index=self._next(slot))",
            "return np.dtype(dtype).type(value)",
        )
    return Answer("integers", signature, (*lines, *body))


def _choice(forms: list[str], size: str, sized: bool) -> Answer:
    pool = "pool = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)"
    if forms == ["subset"]:
        body = (pool, _ORDER, "return pool[order[: int(np.prod(size))]].reshape((*_shape(size), *pool.shape[1:]))")
        return Answer("choice", ", a: Any, size: Any = 1, replace: bool = True", body)
    weighed = forms == ["weights"]
    what = "choice(slot, weights" if weighed else "integers(slot, len(pool)"
    one = f"self.draw.{what}, index=self._next(slot))"
    lines = (pool, *(("weights = [float(part) for part in p]",) if weighed else ()))
    last = (
        (
            "shape = _shape(size)",
            f"chosen = [{one} for _ in range(int(np.prod(shape)))]",
            "return pool[np.array(chosen, int).reshape(shape)]",
        )
        if sized
        else (f"return pool[{one}]",)
    )
    signature = f", a: Any{size or ', size: Any = None'}, replace: bool = True, p: Any = None"
    return Answer("choice", signature, (*lines, *last))
