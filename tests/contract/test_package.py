"""Packages: the three ways to find one, loading its modules, and what a broken one says."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulacrum.contract import loader
from simulacrum.contract.package import (
    BrokenPackage,
    EnvPackage,
    find_packages,
    load_package,
    packages_at,
)
from simulacrum.errors import PackageError, SchemaError, SimulacrumError, UnknownEnvError, UsageError

Write = Callable[..., Path]


def schema_text(raw: dict[str, Any], env_id: str) -> str:
    return json.dumps(raw | {"$id": env_id})


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A distribution in a site-packages folder, with entry points in the group simulacrum.envs."""

    def run(entries: dict[str, str]) -> Path:
        site = tmp_path / "site-packages"
        info = site / "lab_envs-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-envs\nVersion: 1.0\n")
        lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
        (info / "entry_points.txt").write_text(f"[simulacrum.envs]\n{lines}")
        monkeypatch.syspath_prepend(site)
        return site

    return run


def test_built_in_packages_are_found() -> None:
    found = {package.name: package for package in find_packages()}
    assert {"toywalk", "forager"} <= set(found)
    toywalk = found["toywalk"]
    assert isinstance(toywalk, EnvPackage)
    assert (toywalk.env_id, toywalk.origin) == ("simulacrum/toywalk-v0", "built-in")


@pytest.mark.parametrize("name", ["toywalk", "simulacrum/toywalk-v0", "simulacrum:simulacrum/toywalk-v0"])
def test_loads_by_name_and_id(name: str) -> None:
    assert load_package(name).env_id == "simulacrum/toywalk-v0"


def test_loads_by_path(lamp: EnvPackage, monkeypatch: pytest.MonkeyPatch) -> None:
    by_path = load_package(lamp.folder)
    assert (by_path.name, by_path.env_id, by_path.folder) == ("lamp", "lab/lamp-v2", lamp.folder)
    assert load_package(str(lamp.folder)) == lamp
    monkeypatch.chdir(lamp.folder.parent)
    assert load_package("./lamp") == lamp
    assert load_package("lamp") == lamp  # no package of that name, so the folder
    monkeypatch.chdir(lamp.folder)
    assert load_package(".") == lamp


def test_the_folder_may_be_a_link_and_have_another_name(lamp: EnvPackage) -> None:
    link = lamp.folder.parent / "other"
    link.symlink_to(lamp.folder, target_is_directory=True)
    assert load_package(link).name == "lamp"
    assert load_package(link).reference().schema.name == "lamp"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("toywlak", "'toywalk'"), ("simulacrum/foragr-v0", "'simulacrum/forager-v0'"), ("q", "list")],
)
def test_unknown_names(name: str, hint: str) -> None:
    with pytest.raises(UnknownEnvError) as caught:
        load_package(name)
    assert hint in str(caught.value)
    assert "simulacrum/toywalk-v0" in str(caught.value)


def test_paths_that_lead_nowhere(tmp_path: Path, lamp: EnvPackage) -> None:
    with pytest.raises(PackageError, match="nothing there"):
        load_package(tmp_path / "none")
    with pytest.raises(PackageError, match="a file"):
        load_package(lamp.folder / "spec.md")
    with pytest.raises(PackageError, match="no environment package here"):
        packages_at(tmp_path / "none")


def test_a_folder_of_packages(tmp_path: Path, write_lamp: Write, raw: dict[str, Any]) -> None:
    write_lamp(tmp_path / "all" / "one")
    write_lamp(tmp_path / "all" / "two", schema=schema_text(raw, "lab/two-v0"))
    (tmp_path / "all" / "__pycache__").mkdir()
    (tmp_path / "all" / "notes").mkdir()
    assert [package.name for package in packages_at(tmp_path / "all")] == ["lamp", "two"]


def test_broken_packages_do_not_hide_the_others(
    tmp_path: Path, write_lamp: Write, raw: dict[str, Any]
) -> None:
    shelf = tmp_path / "all"
    write_lamp(shelf / "good")
    write_lamp(shelf / "json", schema="{")
    write_lamp(shelf / "id", schema=schema_text(raw, "lamp"))
    write_lamp(shelf / "lacking", fast=None)
    write_lamp(shelf / "same")
    found = [package for package in find_packages(shelf) if str(package.origin).startswith("path")]
    broken = {package.name: str(package.error) for package in found if isinstance(package, BrokenPackage)}
    assert [package.folder for package in found if isinstance(package, EnvPackage)] == [shelf / "good"]
    assert "line 1, column 2" in broken["json"]
    assert "not a Gymnasium id" in broken["id"]
    assert "lacks fast.py" in broken["lacking"]
    assert "lab/lamp-v2 is already taken" in broken["lamp"]


def test_a_folder_reached_twice_is_listed_once(lamp: EnvPackage) -> None:
    link = lamp.folder.parent / "again"
    link.symlink_to(lamp.folder, target_is_directory=True)
    found = find_packages(lamp.folder, link)
    assert [package for package in found if package.name == "lamp"] == [lamp]


def test_entry_points(install: Callable[..., Path], write_lamp: Write, raw: dict[str, Any]) -> None:
    site = install({"lab": "lab_envs", "single": "lab_deep.inner.lamp"})
    poison = "raise RuntimeError('finding a package must not run it')"
    write_lamp(site / "lab_envs" / "one", schema=schema_text(raw, "lab/one-v0"), init=poison)
    (site / "lab_envs" / "__init__.py").write_text(poison)
    write_lamp(site / "lab_deep" / "inner" / "lamp", schema=schema_text(raw, "lab/deep-v3"))
    (site / "lab_deep" / "__init__.py").write_text(poison)
    found = {package.name: package.origin for package in find_packages()}
    assert found["one"] == "entry point lab"
    assert found["deep"] == "entry point single"
    assert load_package("lab/deep-v3").folder == site / "lab_deep" / "inner" / "lamp"
    assert "lab_envs" not in sys.modules


def test_entry_points_that_lead_nowhere(install: Callable[..., Path], write_lamp: Write) -> None:
    site = install({"gone": "no_such_package", "attribute": "lab_envs:x", "empty": "lab_empty"})
    (site / "lab_empty").mkdir()
    (site / "lab_empty" / "__init__.py").write_text("")
    found = {package.name: package for package in find_packages()}
    for name, words in [
        ("gone", "leads to no package"),
        ("attribute", "leads to no package"),
        ("empty", "no env"),
    ]:
        package = found[name]
        assert isinstance(package, BrokenPackage)
        assert words in str(package.error)
        with pytest.raises(PackageError, match=words):
            load_package(name)
    assert "distribution lab-envs" in str(found["gone"].error)  # type: ignore[union-attr]  # broken, as above
    assert isinstance(found["toywalk"], EnvPackage)


def test_one_name_in_two_namespaces_needs_the_id(
    install: Callable[..., Path], write_lamp: Write, raw: dict[str, Any]
) -> None:
    site = install({"lab": "lab_envs"})
    write_lamp(site / "lab_envs" / "one", schema=schema_text(raw, "one/lamp-v0"))
    write_lamp(site / "lab_envs" / "two", schema=schema_text(raw, "two/lamp-v0"))
    with pytest.raises(UsageError, match="one/lamp-v0, two/lamp-v0"):
        load_package("lamp")
    assert load_package("two/lamp-v0").folder.name == "two"


def test_modules_under_their_own_names(tmp_path: Path, write_lamp: Write) -> None:
    one = EnvPackage.open(write_lamp(tmp_path / "one"), "path")
    two = EnvPackage.open(write_lamp(tmp_path / "two", init="LEVELS = 7\n"), "path")
    assert one.import_name.startswith("simulacrum_packages.lamp_")
    assert one.module("reference").LEVELS == 4
    assert two.module("reference").LEVELS == 7
    assert one.module("reference") is one.module("reference")
    assert one.reference().schema is one.schema
    assert type(one.reference()) is not type(two.reference())


def test_both_twins_are_built(lamp: EnvPackage) -> None:
    assert type(lamp.reference()).__mro__[1].__name__ == "ReferenceEnv"
    assert type(lamp.fast()).__mro__[1].__name__ == "BatchedEnv"
    assert lamp.probes() is None
    assert lamp.render() is None


def test_no_init_file(tmp_path: Path, write_lamp: Write) -> None:
    package = EnvPackage.open(write_lamp(tmp_path / "bare", init=None, probes="PROBES = []\n"), "path")
    probes = package.probes()
    assert probes is not None
    assert probes.PROBES == []


def test_an_edit_of_equal_length_in_the_same_second_is_seen(lamp: EnvPackage) -> None:
    init = lamp.folder / "__init__.py"
    text = init.read_text()
    for level in (4, 5, 6, 7):
        init.write_text(text.replace("LEVELS = 4", f"LEVELS = {level}"))
        lamp.reload()
        assert level == lamp.module("__init__").LEVELS
        assert level == lamp.module("reference").LEVELS
    assert not (lamp.folder / "__pycache__").exists()


def test_reload_reads_spec_and_schema_again(lamp: EnvPackage) -> None:
    assert lamp.schema.max_episode_steps == 20
    assert lamp.spec.constants["LEVELS"] == 4
    schema = lamp.folder / "schema.json"
    schema.write_text(schema.read_text().replace('"x-max-episode-steps": 20', '"x-max-episode-steps": 21'))
    assert lamp.schema.max_episode_steps == 20
    lamp.reload()
    assert lamp.schema.max_episode_steps == 21


# File, what is replaced by what; the words, and a fragment of the line the message must name.
BROKEN: dict[str, tuple[str, str, str, str, str]] = {
    "syntax": ("fast.py", "def reset(self, ctx):", "def reset(self, ctx)", "SyntaxError", "def reset"),
    "missing module": (
        "fast.py",
        "from . import LEVELS",
        "import no_such_module",
        "install no_such_module",
        "no_such",
    ),
    "missing name": (
        "reference.py",
        "import LEVELS",
        "import LEVEL",
        "cannot import name 'LEVEL'",
        "import LEVEL",
    ),
    "failing line": ("fast.py", "class Lamp", "1 / 0\nclass Lamp", "ZeroDivisionError", "1 / 0"),
    "failing constants": ("__init__.py", "GLOW = 0.1", "GLOW = {}['x']", "KeyError", "GLOW ="),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_module_that_does_not_import(name: str, lamp: EnvPackage) -> None:
    file, old, new, words, place = BROKEN[name]
    path = lamp.folder / file
    text = path.read_text().replace(old, new)
    path.write_text(text)
    line = text[: text.index(place)].count("\n") + 1
    with pytest.raises(PackageError) as caught:
        lamp.module("fast" if file == "fast.py" else "reference")
    assert words in str(caught.value)
    assert f"{path}, line {line}" in str(caught.value)
    path.write_text(text.replace(new, old))
    lamp.reload()
    assert lamp.reference() is not None  # mended, and the failure left nothing behind


def test_an_error_of_ours_is_named(lamp: EnvPackage) -> None:
    path = lamp.folder / "fast.py"
    path.write_text("from simulacrum.errors import DrawError\nraise DrawError('no such slot')\n")
    with pytest.raises(PackageError, match="DrawError: no such slot"):
        lamp.fast()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(BatchedEnv)", "", "one subclass of BatchedEnv"),
        ("class Lamp", "class Other(BatchedEnv): ...\n\n\nclass Lamp", "Other, Lamp"),
    ],
)
def test_one_class_in_each_twin(old: str, new: str, words: str, lamp: EnvPackage) -> None:
    path = lamp.folder / "fast.py"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(PackageError, match=words):
        lamp.fast()


def test_a_base_of_ones_own_does_not_count(lamp: EnvPackage) -> None:
    path = lamp.folder / "fast.py"
    text = path.read_text().replace(
        "class Lamp(BatchedEnv)", "class Base(BatchedEnv): ...\n\n\nclass Lamp(Base)"
    )
    path.write_text(text)
    assert type(lamp.fast()).__name__ == "Lamp"


def test_a_twin_that_cannot_be_built(lamp: EnvPackage) -> None:
    path = lamp.folder / "reference.py"
    path.write_text(
        path.read_text() + "\n    def __init__(self, schema):\n        raise ValueError('dark')\n"
    )
    with pytest.raises(PackageError, match="ValueError: dark"):
        lamp.reference()


def test_missing_module(lamp: EnvPackage) -> None:
    with pytest.raises(PackageError, match=r"kernel\.py is missing"):
        lamp.module("kernel")


def test_a_broken_schema_shows_when_it_is_read(
    tmp_path: Path, write_lamp: Write, raw: dict[str, Any]
) -> None:
    bent = copy.deepcopy(raw)
    bent["properties"].pop("reward")
    package = EnvPackage.open(write_lamp(tmp_path / "bent", schema=json.dumps(bent)), "path")
    with pytest.raises(SchemaError, match="reward is missing"):
        _ = package.schema


def test_pickling_and_copies(lamp: EnvPackage) -> None:
    assert lamp.schema.name == "lamp"
    again = pickle.loads(pickle.dumps(lamp))
    assert again == lamp
    assert (again.name, again.origin) == ("lamp", "path")
    assert copy.deepcopy(lamp) == lamp
    assert hash(again) == hash(lamp)


def test_read_only_folder(lamp: EnvPackage) -> None:
    lamp.folder.chmod(0o555)
    try:
        assert lamp.fast() is not None
    finally:
        lamp.folder.chmod(0o755)


def test_finding_is_cheap_and_reads_only_ids() -> None:
    """Neither torch nor jsonschema, nor any module of a package, is loaded to list the packages."""
    code = (
        "import sys\nfrom simulacrum.contract.package import find_packages\n"
        "assert len(find_packages()) >= 2\n"
        "heavy = {'torch', 'jsonschema', 'markdown_it', 'simulacrum_packages', 'simulacrum_envs'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_errors_survive_other_processes(lamp: EnvPackage) -> None:
    (lamp.folder / "fast.py").write_text("import no_such_module\n")
    with pytest.raises(SimulacrumError) as caught:
        lamp.fast()
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.fixture(autouse=True)
def leave_no_modules() -> Any:
    yield
    for name in [name for name in sys.modules if name.startswith(loader.ROOT + ".lamp_")]:
        del sys.modules[name]
