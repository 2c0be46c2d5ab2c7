"""A copy of somebody else's class in whose code some names mean ours, for a reference that drives that program.

    MountainCar = rebind(MountainCarEnv, math=overlay(math, cos=cos))

Sine, cosine and their like come from the C library, and their last bit differs from machine to machine. A twin takes
them from `simulacrum.portable`; so must the program that it is held against, and all else there stays its own.
Nothing in the other program changes: its functions are copied, code and all, with other globals.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from simulacrum.errors import UsageError

T = TypeVar("T")
# What Python makes for each class by itself.
_MADE = {"__dict__", "__weakref__", "_abc_impl", "__orig_bases__", "__firstlineno__", "__static_attributes__"}
_CLASS_CELL = "__class__"  # the closure variable by which a method's super() knows its class


def overlay(module: Any, **names: Any) -> Any:
    """A namespace that answers `names` itself and every other attribute from `module`.

    Raises:
        UsageError: the module has no attribute of such a name, so that nothing would ever ask for it.
    """
    absent = [name for name in names if not hasattr(module, name)]
    if absent:
        raise UsageError(
            f"nothing is called {', '.join(absent)} there",
            expected="names that the module has, since only those can be asked of it",
            found=", ".join(absent),
            where=getattr(module, "__name__", repr(module)),
            next_step="mend the name in overlay()",
        )
    return _Overlay(module, names)


class _Overlay:
    def __init__(self, module: Any, names: Mapping[str, Any]) -> None:
        self._module = module
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        if name == "_module":  # asked of a copy that has no fields yet
            raise AttributeError(name)
        return getattr(self._module, name)

    def __repr__(self) -> str:
        return f"<overlay of {getattr(self._module, '__name__', self._module)!r}>"


def rebind(kind: type[T], **names: Any) -> type[T]:
    """A copy of `kind` in whose code the globals `names` are those given here.

    Copied are the class and those of its bases whose code, or a function of whose module, asks for such a name; and
    with them those functions. Default arguments, class attributes and what a module computed when it was imported keep
    the values they have. The copy is no subclass of `kind`, but has every base that needed no copy.

    Raises:
        UsageError: no code of `kind` or of a base asks for a global of that name.
    """
    wanted = frozenset(names)
    touched = [base for base in reversed(kind.__mro__) if _asked(base) & wanted]
    absent = sorted(wanted - frozenset().union(*(_asked(base) for base in touched)))
    if absent:
        raise UsageError(
            f"the code of {kind.__name__} asks for no global called {', '.join(absent)}",
            expected="names that its code looks up in its own module",
            found=", ".join(absent),
            where=", ".join(sorted({base.__module__ for base in kind.__mro__} - {"builtins", "typing", "abc"})),
            next_step="read that module, in the version installed, and mend rebind()",
        )
    copies: dict[type[Any], type[Any]] = {}
    spaces: dict[str, dict[str, Any]] = {}
    for base in reversed(kind.__mro__):
        if base in touched or any(parent in copies for parent in base.__bases__):
            space = spaces.setdefault(base.__module__, _space(base, names))
            copies[base] = _copy(base, tuple(copies.get(parent, parent) for parent in base.__bases__), space)
    return copies[kind]


def _globals_of(kind: type[Any]) -> Mapping[str, Any]:
    """The globals that a class's own methods see; none for a class that is not written in Python."""
    return next((function.__globals__ for _, function in _own_functions(kind)), {})


def _asked(kind: type[Any]) -> frozenset[str]:
    """The globals that a class's own methods, and the functions of its module, look up."""
    space = _globals_of(kind)
    functions = [function for _, function in _own_functions(kind)] + list(_module_functions(kind.__module__, space))
    return frozenset(name for function in functions for name in _names(function.__code__) if name in space)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _module_functions(module: str, space: Mapping[str, Any]) -> Iterator[types.FunctionType]:
    for value in space.values():
        if isinstance(value, types.FunctionType) and value.__module__ == module:
            yield value


def _own_functions(kind: type[Any]) -> Iterator[tuple[str, types.FunctionType]]:
    for name, value in vars(kind).items():
        function = _function_in(value)
        if function is not None and function.__module__ == kind.__module__:
            yield name, function


def _function_in(value: Any) -> types.FunctionType | None:
    """The function of a method, static method, class method or property, if it is one."""
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, functools.cached_property):
        value = value.func
    return value if isinstance(value, types.FunctionType) else None


def _space(kind: type[Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """The globals of a class's module with other values for some names, and its functions bound to these globals."""
    old = _globals_of(kind)
    space = dict(old)
    for function in _module_functions(kind.__module__, old):
        if old.get(function.__name__) is function:
            space[function.__name__] = _bound(function, space)
    space.update({name: value for name, value in names.items() if name in old})
    return space


def _copy(kind: type[Any], bases: tuple[type[Any], ...], space: dict[str, Any]) -> type[Any]:
    """The class again, upon other bases, its own functions with other globals."""
    cell = types.CellType()
    body = {name: value for name, value in vars(kind).items() if name not in _MADE}
    body.update({name: _rewrapped(body[name], space, cell) for name, _ in _own_functions(kind)})
    made = types.new_class(kind.__name__, bases, exec_body=lambda given: given.update(body))
    cell.cell_contents = made
    if space.get(kind.__name__) is kind:
        space[kind.__name__] = made
    return made


def _rewrapped(value: Any, space: dict[str, Any], cell: types.CellType) -> Any:
    if isinstance(value, property):
        return property(*(part and _bound(part, space, cell) for part in (value.fget, value.fset, value.fdel)))
    function = _function_in(value)
    assert function is not None
    bound = _bound(function, space, cell)
    return bound if isinstance(value, types.FunctionType) else type(value)(bound)


def _bound(function: Callable[..., Any], space: dict[str, Any], cell: types.CellType | None = None) -> Any:
    assert isinstance(function, types.FunctionType)
    free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    closure = tuple(cell if cell is not None and name == _CLASS_CELL else old for name, old in free)
    made = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__doc__, made.__module__, made.__qualname__ = function.__doc__, function.__module__, function.__qualname__
    return made
