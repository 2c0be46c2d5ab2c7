"""small.json: what it makes of a package, and what is said of one that means nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kit import package
from mutants.mutant import copy_env

from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import ContractError, PackageError, SchemaError
from simulacrum.harness.small.config import merged, read_small, small_package, with_constants

TEXT = '"""Doc."""\n\nSIZE = 8\nNAME: str = "café"\nRATE = 0.5  # a share\nBIG = SIZE * 2\nON = True\n'


def with_small(tmp_path: Path, content: Any, name: str = "toywalk") -> EnvPackage:
    folder = copy_env(name, tmp_path)
    (folder / "small.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return load_package(folder)


def test_constants_are_replaced_where_they_stand() -> None:
    made = with_constants(TEXT, {"RATE": 1, "SIZE": 3, "ON": False}, "here")
    assert made == TEXT.replace("SIZE = 8", "SIZE = 3").replace("0.5 ", "1.0 ").replace("True", "False")


@pytest.mark.parametrize(
    ("constants", "said"),
    [({"SIZ": 3}, "no constant is called SIZ"), ({"BIG": 3}, "no constant is called BIG"),
     ({"SIZE": 2.5}, "SIZE is of another kind"), ({"ON": 1}, "ON is of another kind")],
)  # fmt: skip
def test_constants_that_are_not_there_or_of_another_kind(constants: dict[str, Any], said: str) -> None:
    with pytest.raises(PackageError, match=said):
        with_constants(TEXT, constants, "here")


def test_a_merge_patch_replaces_and_removes_and_adds_nothing() -> None:
    whole = {"a": {"b": [1, 2], "c": 3}, "d": 4}
    assert merged(whole, {"a": {"b": [9], "c": None}}, "schema") == {"a": {"b": [9]}, "d": 4}
    assert whole == {"a": {"b": [1, 2], "c": 3}, "d": 4}
    with pytest.raises(PackageError, match="has no 'e' there") as error:
        merged(whole, {"a": {"e": 1}}, "schema")
    assert str(error.value.where) == "schema.a"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "cannot be read"),
        ({"constant": {}}, "right shape"),
        ({"max_episode_steps": 0}, "right shape"),
        ({"constants": {"GAOL": 1}}, "no constant is called GAOL"),
        ({"schema": {"properties": {"state": {"properties": {"place": {}}}}}}, "has no 'place' there"),
        ({"schema": {"properties": {"state": {"properties": {"position": {"minimum": 9}}}}}}, "does not hold together"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: Any, said: str) -> None:
    made = with_small(tmp_path, content)
    with pytest.raises(ContractError, match=said) as error, small_package(made, read_small(made)):
        pass
    assert "small.json" in str(error.value)


def test_the_small_package_has_its_own_constants_and_schema_and_is_gone_afterwards(tmp_path: Path) -> None:
    content = {"constants": {"GOAL": 2}, "max_episode_steps": 4,
               "schema": {"properties": {"state": {"properties": {"position": {"maximum": 2}}}}}}  # fmt: skip
    made = with_small(tmp_path, content)
    with small_package(made, read_small(made)) as small:
        assert small.module("__init__").GOAL == 2
        assert small.schema.max_episode_steps == 4
        assert small.schema.state["position"].high == 2
        assert small.env_id == made.env_id
        folder = small.folder
    assert not folder.exists()
    assert made.module("__init__").GOAL == 5


def test_an_empty_file_and_none_leave_the_package_as_it_is(tmp_path: Path) -> None:
    made = with_small(tmp_path, {})
    for content in ({}, None):
        with small_package(made, content) as small:
            assert small is made
    assert read_small(package("counter")) is None


def test_the_file_is_part_of_what_was_judged(tmp_path: Path) -> None:
    made = with_small(tmp_path, {})
    before = compute_digest(made)
    (made.folder / "small.json").write_text('{"max_episode_steps": 3}')
    assert before.whole != compute_digest(made).whole


@pytest.mark.parametrize("name", ["toywalk", "forager"])
def test_the_files_that_come_with_environments_hold(name: str) -> None:
    made = package(name)
    with small_package(made, read_small(made)) as small:
        assert small.schema.state.names == made.schema.state.names


def test_a_schema_error_names_the_file(tmp_path: Path) -> None:
    made = with_small(tmp_path, {"schema": {"x-draws": "none"}})
    with pytest.raises(SchemaError, match=r"small\.json"), small_package(made, read_small(made)):
        pass
