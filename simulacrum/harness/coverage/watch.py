"""Code that is run as it is, or for a while with marks in it: the functions of a module get other code objects.

Nothing else changes: the module, its classes, and every instance made of them before, meanwhile or afterwards are the
same objects, so whoever steps a twin meanwhile is seen. No tracer is set, so debuggers and coverage tools see the lines
that they would see without it.
"""

from __future__ import annotations

import ast
import collections
import gc
import types
from collections.abc import Generator
from contextlib import contextmanager

from simulacrum.harness.coverage.instrument import instrumented
from simulacrum.harness.coverage.seen import Seen

Key = tuple[str, int, tuple[str, ...]]
Codes = dict[Key, types.CodeType]


class Watched:
    """A source file with marks in it, and what has been seen of it so far.

    Args:
        tree: the syntax tree of the source.
        conditions: whether outcomes and draws are recorded as well as statements.
    """

    def __init__(self, tree: ast.Module, *, conditions: bool) -> None:
        self.tree, self.map = instrumented(tree, conditions=conditions)
        self.seen = Seen(len(self.map.points))
        self.now: set[str] = set()  # the names of the modules that are watched at present
        self._codes: dict[str, Codes] = {}

    @contextmanager
    def watching(self, module: types.ModuleType) -> Generator[None, None, None]:
        """Record what runs meanwhile of a module that was imported from this source."""
        if module.__name__ in self.now:
            yield
            return
        codes = self._codes_for(module)
        swapped = [(function, function.__code__) for function in _functions(module, codes)]
        # These names stay afterwards: a function that is made meanwhile may live on.
        module.__dict__.update(self.seen.names)
        self.now.add(module.__name__)
        for function, code in swapped:
            function.__code__ = codes[_key(code)]
        try:
            yield
        finally:
            self.now.discard(module.__name__)
            for function, code in swapped:
                function.__code__ = code

    def _codes_for(self, module: types.ModuleType) -> Codes:
        """The code objects with marks, under the module's own file name; none where two cannot be told apart."""
        path = module.__file__ or "<twin>"
        if path not in self._codes:
            made = list(_inner(compile(self.tree, path, "exec", dont_inherit=True)))
            times = collections.Counter(map(_key, made))
            self._codes[path] = {_key(code): code for code in made if times[_key(code)] == 1}
        return self._codes[path]


def _functions(module: types.ModuleType, codes: Codes) -> list[types.FunctionType]:
    """The functions of the module that have code with marks, wherever they are kept."""
    space = module.__dict__
    using = [one for one in gc.get_referrers(space) if isinstance(one, types.FunctionType)]
    return [one for one in using if one.__globals__ is space and _key(one.__code__) in codes]


def _key(code: types.CodeType) -> Key:
    return code.co_name, code.co_firstlineno, code.co_freevars


def _inner(code: types.CodeType) -> Generator[types.CodeType, None, None]:
    """All code objects within one, without itself."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inner(constant)
