"""The Gymnasium environment behind an id, as `gymnasium.make` makes it, and how a reference can make it again."""

from __future__ import annotations

import ast
import difflib
import importlib.metadata
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

from simulacrum.contract.origins import is_stdlib_name, module_file, owner
from simulacrum.errors import PackageError, UnknownEnvError


@dataclass(frozen=True)
class Source:
    """An environment of Gymnasium's registry: its id, one instance without wrappers, and its registration."""

    id: str
    env: Any
    spec: Any

    @property
    def kind(self) -> type[Any]:
        return type(self.env)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments of the registration."""
        return dict(self.spec.kwargs)

    def name_beside(self, own: str) -> str:
        """What a reference whose class is `own` calls this class: its name, or another where that is taken."""
        name = self.kind.__name__
        return f"Their{name}" if name in (own, "Generator", "Driven", "ReferenceEnv", "Context", "Transition") else name

    @property
    def version(self) -> int:
        return self.spec.version or 0

    def again(self) -> Any:
        """One more instance, untouched by anything that was done to the first."""
        return _made(self.id).unwrapped


def open_source(env_id: str) -> Source:
    """The environment `env_id`, in which `module:Id` imports the module first.

    Raises:
        UnknownEnvError: nothing is registered under that id; the nearest one is named.
        PackageError: it cannot be made here, or no reference could import its class.
    """
    env = _made(env_id)
    source = Source(env_id, env.unwrapped, env.spec)
    _check_importable(source)
    return source


def _made(env_id: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Gymnasium warns of versions and spaces; the package is judged by itself
            return gymnasium.make(env_id)
    except gymnasium.error.DependencyNotInstalled as error:
        told = re.findall(r"`([^`]+)`", str(error))
        raise PackageError(
            f"{env_id} needs a package that is not installed",
            expected="an environment that can be made here",
            found=str(error).splitlines()[0],
            where=f"gymnasium.make({env_id!r})",
            next_step=" && ".join(told) if told else "install it, then run this again",
        ) from error
    except (gymnasium.error.UnregisteredEnv, gymnasium.error.DeprecatedEnv) as error:
        raise _unknown(env_id, error) from error
    except ModuleNotFoundError as error:
        module = error.name or env_id.partition(":")[0]  # Gymnasium raises it anew for the module before the colon
        raise PackageError(
            f"the module {module} cannot be imported",
            expected="a module on Python's path",
            found=str(error).splitlines()[0],
            where=f"gymnasium.make({env_id!r})",
            next_step=f"install what provides {module}, or put the folder that holds it on the path: "
            "PYTHONPATH=FOLDER simulacrum new ...",
        ) from error
    except Exception as error:  # whatever a stranger's constructor does
        raise PackageError(
            f"{env_id} cannot be made",
            expected="an environment that gymnasium.make makes without further arguments",
            found=f"{type(error).__name__}: {error}",
            where=f"gymnasium.make({env_id!r})",
            next_step="register an id whose kwargs make it, and give that one",
        ) from error


def _unknown(env_id: str, error: Exception) -> UnknownEnvError:
    plain = env_id.rpartition(":")[2]
    known = list(gymnasium.registry)
    near = difflib.get_close_matches(plain, known, 1, 0.5)
    latest = re.search(r"use `([^`]+)` instead", str(error))
    nearest = latest[1] if latest else near[0] if near else None
    return UnknownEnvError(
        f"Gymnasium has no environment {plain!r}",
        expected="an id in Gymnasium's registry" + (f", such as {nearest}" if nearest else ""),
        found=str(error).splitlines()[0],
        where=f"gymnasium.make({env_id!r})",
        next_step=(f"did you mean gym:{nearest}? " if nearest else "")
        + "An id that a module registers is written gym:MODULE:ID",
    )


def _check_importable(source: Source) -> None:
    """A reference imports the class by its module and name, in other processes too."""
    kind = source.kind
    module = sys.modules.get(kind.__module__)
    wrong = None
    if kind.__module__ == "__main__":
        wrong = "it is defined in __main__, the program that is running, which no other process can import"
    elif "<locals>" in kind.__qualname__ or getattr(module, kind.__qualname__, None) is not kind:
        wrong = f"{kind.__module__} has no name {kind.__qualname__} for it"
    elif module_file(kind.__module__) is None:
        wrong = f"no file of Python's path holds {kind.__module__}"
    if wrong:
        raise PackageError(
            f"no reference could import the class of {source.id}",
            expected="a class at the top of an importable module",
            found=wrong,
            where=f"{kind.__module__}.{kind.__qualname__}",
            next_step="move the class and its registration into a module of their own, and give gym:MODULE:ID",
        )


def distributions(source: Source) -> tuple[str, ...]:
    """The installed distributions that a reference of this class imports, itself or through files of the project."""
    tops = {source.kind.__module__.partition(".")[0]}
    queue, seen = [source.kind.__module__], set[str]()
    while queue:
        name = queue.pop()
        file = module_file(name)
        if name in seen or file is None or owner(file) != "project":
            continue
        seen.add(name)
        for imported in _imports(file, name):
            queue.append(imported)
            tops.add(imported.partition(".")[0])
    provided = importlib.metadata.packages_distributions()
    found = {_plain(one) for top in tops if not is_stdlib_name(top) for one in provided.get(top, ())[:1]}
    return tuple(sorted(found - {"simulacrum", "torch"}))


def _imports(file: Path, name: str) -> set[str]:
    found: set[str] = set()
    home = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            steps = home.split(".")
            base = ".".join([*steps[: len(steps) - node.level + 1], node.module or ""]) if node.level else node.module
            found |= {str(base).strip("."), *(f"{str(base).strip('.')}.{alias.name}" for alias in node.names)}
    return found


def _plain(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
