"""From the words of a command line to an environment that can be made: an id, or anything that makes one.

    CartPole-v1                     a Gymnasium id
    my_package:Env-v0               an id that importing my_package registers
    my_package.envs:make_vector     a function or class, called as make_vector(num_envs=N, **kwargs)
    path/to/file.py:make_vector     the same, in a file
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium

from simulacrum.conformance.subject import Subject
from simulacrum.errors import UsageError


def subject_of(
    target: str,
    *,
    num_envs: int = 4,
    kwargs: Mapping[str, Any] | None = None,
    vectorization_mode: str | None = None,
    steps: int = 500,
) -> Subject:
    """The subject that a target names.

    Args:
        target: an id or a maker, as in this module's head.
        num_envs: as of `Subject`.
        vectorization_mode: of `gymnasium.make_vec`, for ids.
        kwargs: as of `Subject`.
        steps: as of `Subject`.

    Raises:
        UsageError: there is nothing of that name, or it cannot be made with these arguments.
    """
    kwargs = dict(kwargs or {})
    maker = _maker(target)
    if maker is not None:
        if vectorization_mode is not None:
            raise UsageError("a maker has no vectorization mode", found=vectorization_mode, where=target)

        def call(count: int, **more: Any) -> Any:
            return maker(num_envs=count, **more)

        subject = Subject(call, num_envs=num_envs, kwargs=kwargs, steps=steps)
    else:
        subject = _of_id(target, num_envs, kwargs, vectorization_mode, steps)
    _try(subject, target)
    return subject


def _of_id(target: str, num_envs: int, kwargs: dict[str, Any], mode: str | None, steps: int) -> Subject:
    def make(count: int, **more: Any) -> Any:
        return gymnasium.make_vec(target, num_envs=count, vectorization_mode=mode, **more)

    def single(**more: Any) -> Any:
        own = {name: value for name, value in kwargs.items() if name not in ("vector_kwargs", "autoreset_mode")}
        return gymnasium.make(target, **{**own, **more})

    return Subject(make, num_envs=num_envs, kwargs=kwargs, single=single, env_id=target, steps=steps)


def _maker(target: str) -> Callable[..., Any] | None:
    """The function or class that a target names, None where it names an id."""
    place, _, name = target.rpartition(":")
    if not place:
        return None
    if place.endswith(".py"):
        module = _file(Path(place))
    else:
        sys.path.insert(0, "")  # as Python itself has it for a program in the working directory
        try:
            module = importlib.import_module(place)
        except ImportError as error:
            raise UsageError(f"{place!r} cannot be imported", found=str(error), where=target) from error
        finally:
            sys.path.remove("")
    found = getattr(module, name, None)
    if found is None and place.endswith(".py") and name not in gymnasium.registry:
        raise UsageError(f"{place} has nothing called {name!r}", where=target)
    return found if callable(found) else None


def _file(path: Path) -> Any:
    if not path.is_file():
        raise UsageError("no such file", found=str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # so that what it defines can be pickled
    spec.loader.exec_module(module)
    return module


def _try(subject: Subject, target: str) -> None:
    """Make it once, so that a wrong name or argument is told as such and not by every rule."""
    try:
        subject.make().close()
    except Exception as error:
        raise UsageError(
            f"it cannot be made: {type(error).__name__}: {error}",
            where=f"{target}, num_envs={subject.num_envs}, {subject.kwargs}",
            next_step="check the name, --kwargs and --vectorization-mode",
        ) from error
