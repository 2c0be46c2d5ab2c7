"""`after_import`: once, after the whole module, whoever imports it; and never for looking."""

from __future__ import annotations

import importlib
import importlib.resources
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulacrum.imports import after_import

NAME = "simulacrum_test_latecomer"


@pytest.fixture(autouse=True)
def latecomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that can be imported and is not yet; gone again afterwards, like every finder."""
    folder = tmp_path / NAME
    folder.mkdir()
    (folder / "__init__.py").write_text("last = 'there'\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = list(sys.meta_path)
    yield folder / "__init__.py"
    sys.meta_path[:] = before
    sys.modules.pop(NAME, None)


def test_it_waits_for_the_whole_module_and_is_called_once() -> None:
    seen: list[str] = []
    finders = list(sys.meta_path)
    after_import(NAME, lambda: seen.append(sys.modules[NAME].last))
    assert seen == []
    module = importlib.import_module(NAME)
    assert seen == ["there"]
    assert sys.meta_path == finders
    importlib.reload(module)
    assert seen == ["there"]
    assert importlib.resources.files(module).joinpath("__init__.py").is_file()


def test_it_is_called_at_once_where_the_module_is_there() -> None:
    importlib.import_module(NAME)
    seen: list[int] = []
    after_import(NAME, lambda: seen.append(1))
    assert seen == [1]


def test_looking_for_the_module_calls_nothing_and_spends_nothing() -> None:
    seen: list[int] = []
    after_import(NAME, lambda: seen.append(1))
    spec = importlib.util.find_spec(NAME)
    assert spec is not None
    assert seen == []
    importlib.import_module(NAME)
    assert seen == [1]


def test_everybody_who_waits_is_called() -> None:
    seen: list[str] = []
    after_import(NAME, lambda: seen.append("first"))
    after_import(NAME, lambda: seen.append("second"))
    importlib.import_module(NAME)
    assert sorted(seen) == ["first", "second"]


def test_a_module_that_fails_is_waited_for_again(latecomer: Path) -> None:
    seen: list[int] = []
    after_import(NAME, lambda: seen.append(1))
    whole = latecomer.read_text()
    latecomer.write_text("raise OSError('not yet')\n")
    with pytest.raises(OSError, match="not yet"):
        importlib.import_module(NAME)
    assert seen == []
    latecomer.write_text(whole + "# longer, so that no old bytecode is taken for it\n")
    importlib.import_module(NAME)
    assert seen == [1]


def test_what_the_call_raises_comes_out_of_the_import() -> None:
    def fail() -> None:
        raise ValueError("no registry")

    after_import(NAME, fail)
    with pytest.raises(ValueError, match="no registry"):
        importlib.import_module(NAME)


@pytest.mark.parametrize("missing", ["none", "folder"])
def test_a_module_that_is_not_there_is_missed_as_ever(latecomer: Path, missing: str) -> None:
    latecomer.unlink()
    if missing == "none":
        latecomer.parent.rmdir()
    seen: list[int] = []
    after_import(NAME, lambda: seen.append(1))
    if missing == "none":
        with pytest.raises(ModuleNotFoundError, match=NAME):
            importlib.import_module(NAME)
    else:
        importlib.import_module(NAME)  # an empty folder imports, and holds nothing to wait for
    assert seen == []
