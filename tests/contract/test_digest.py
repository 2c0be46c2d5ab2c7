"""The digest: content alone, the import closure, and sentences that name what changed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simulacrum.contract import digest as digests
from simulacrum.contract.digest import Digest, compare, compute_digest, package_files
from simulacrum.contract.environment import environment, torch_build
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import PackageError

Write = Callable[..., Path]


def fresh(package: EnvPackage) -> Digest:
    package.reload()
    return compute_digest(package)


def own(digest: Digest) -> list[str]:
    return [name for name in digest.subjects if not name.startswith("simulacrum/")]


def test_what_is_hashed(lamp: EnvPackage) -> None:
    digest = compute_digest(lamp)
    names = ("__init__.py", "fast.py", "reference.py", "schema.json", "spec.md")
    assert own(digest) == [f"envs/lamp/{name}" for name in names]
    rooms = {name.split("/")[1] for name in digest.subjects if name.startswith("simulacrum/")}
    assert {"portable", "rng", "twin", "engine", "contract", "harness", "trace"} <= rooms
    assert "simulacrum/contract/digest.py" in digest.subjects
    assert not rooms & {"cli", "adapters", "scaffold", "attest"}
    assert all(len(value) == 64 for value in digest.subjects.values())


def test_names_do_not_depend_on_where_the_folder_lies(tmp_path: Path, write_lamp: Write) -> None:
    one = compute_digest(EnvPackage.open(write_lamp(tmp_path / "one"), "path"))
    two = compute_digest(EnvPackage.open(write_lamp(tmp_path / "two" / "deep"), "entry point x"))
    assert one == two
    assert one.whole == two.whole


def test_every_byte_counts_and_time_does_not(lamp: EnvPackage) -> None:
    before = fresh(lamp)
    for name in own(before):
        path = lamp.folder / name.removeprefix("envs/lamp/")
        data = path.read_bytes()
        os.utime(path, (1, 1))
        assert fresh(lamp) == before
        path.write_bytes(data + b"\n")
        after = fresh(lamp)
        assert compare(before, after) == [f"{name} changed"]
        assert before.whole != after.whole
        path.write_bytes(data)
    assert fresh(lamp).whole == before.whole


def test_added_and_removed_files(lamp: EnvPackage) -> None:
    before = fresh(lamp)
    (lamp.folder / "levels").mkdir()
    (lamp.folder / "levels" / "first.txt").write_text("#")
    after = fresh(lamp)
    assert compare(before, after) == ["envs/lamp/levels/first.txt was added"]
    assert compare(after, before) == ["envs/lamp/levels/first.txt was removed"]


def test_line_ends_are_named_as_the_cause(lamp: EnvPackage) -> None:
    before = Digest.from_json(json.loads(json.dumps(compute_digest(lamp).to_json())))
    path = lamp.folder / "spec.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    for changes in (compare(before, fresh(lamp)), compare(fresh(lamp), before)):
        assert len(changes) == 1
        assert "envs/lamp/spec.md changed in its line ends only" in changes[0]
    path.write_bytes(path.read_bytes() + b"x")
    assert compare(before, fresh(lamp)) == ["envs/lamp/spec.md changed"]


def test_what_running_leaves_behind_is_no_subject(lamp: EnvPackage) -> None:
    before = compute_digest(lamp)
    for name in ("__pycache__", "failures", ".git"):
        (lamp.folder / name).mkdir()
        (lamp.folder / name / "x.json").write_text("1")
    for name in ("validation_report.json", ".validation_report.json.tmp", "fast.pyc", "fast.py~", ".hidden"):
        (lamp.folder / name).write_text("1")
    assert compute_digest(lamp) == before


def test_links(lamp: EnvPackage, tmp_path: Path) -> None:
    before = compute_digest(lamp)
    spec = lamp.folder / "spec.md"
    spec.rename(tmp_path / "elsewhere.md")
    spec.symlink_to(tmp_path / "elsewhere.md")
    assert fresh(lamp) == before
    (tmp_path / "elsewhere.md").write_text(spec.read_text() + "more")
    assert compare(before, fresh(lamp)) == ["envs/lamp/spec.md changed"]
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "book.txt").write_text("x")
    (lamp.folder / "shelf").symlink_to(tmp_path / "shelf")
    (tmp_path / "shelf" / "up").symlink_to(lamp.folder)  # a ring
    assert "shelf/book.txt" in package_files(lamp.folder)
    (lamp.folder / "dangling").symlink_to(tmp_path / "nowhere")
    assert "dangling" not in package_files(lamp.folder)


def test_an_edit_after_the_import_is_refused(lamp: EnvPackage) -> None:
    compute_digest(lamp)
    path = lamp.folder / "fast.py"
    path.write_text(path.read_text() + "# later\n")
    with pytest.raises(PackageError, match=r"fast\.py changed after it was imported"):
        compute_digest(lamp)
    lamp.reload()
    assert compute_digest(lamp).subjects["envs/lamp/fast.py"]


@pytest.fixture
def mylib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project's own library, beside the package."""
    folder = tmp_path / "mylib"
    (folder / "deep").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "rules.py": "from .deep import numbers\n\n\ndef later():\n    from . import lazy\n",
        "lazy.py": "",
        "unused.py": "",
        "deep/__init__.py": "",
        "deep/numbers.py": "import json, torch\n",
    }.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "mylib"]:
        del sys.modules[name]


def test_the_import_closure(lamp: EnvPackage, mylib: Path) -> None:
    path = lamp.folder / "fast.py"
    path.write_text("from mylib import rules\n" + path.read_text())
    before = fresh(lamp)
    outside = [name for name in own(before) if not name.startswith("envs/lamp/")]
    assert outside == [
        "mylib/__init__.py",
        "mylib/deep/__init__.py",
        "mylib/deep/numbers.py",
        "mylib/lazy.py",
        "mylib/rules.py",
    ]
    (mylib / "deep" / "numbers.py").write_text("import json\n")
    assert compare(before, fresh(lamp)) == ["mylib/deep/numbers.py changed"]


def test_the_closure_does_not_depend_on_what_else_is_loaded(lamp: EnvPackage, mylib: Path) -> None:
    path = lamp.folder / "fast.py"
    path.write_text("from mylib import rules\n" + path.read_text())
    (lamp.folder / "probes.py").write_text("from mylib import unused\n")
    before = fresh(lamp)
    assert lamp.probes() is not None
    lamp.module("fast").rules.later()
    assert "mylib.unused" in sys.modules
    assert "mylib.lazy" in sys.modules
    assert compute_digest(lamp) == before


def test_a_helper_imported_by_path(lamp: EnvPackage, tmp_path: Path) -> None:
    (tmp_path / "by_path.py").write_text("def twice(x): return 2 * x\n")
    (lamp.folder / "fast.py").write_text(
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('by_path', {str(tmp_path / 'by_path.py')!r})\n"
        "helper = importlib.util.module_from_spec(spec)\nimport sys\nsys.modules['by_path'] = helper\n"
        "spec.loader.exec_module(helper)\n" + (lamp.folder / "fast.py").read_text()
    )
    try:
        assert "by_path.py" in fresh(lamp).subjects
    finally:
        sys.modules.pop("by_path", None)


def test_siblings_of_an_installed_package_are_subjects(
    tmp_path: Path, write_lamp: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    folder = write_lamp(site / "lab_envs" / "lamp")
    for name, text in {"__init__.py": "", "common.py": "import numpy\n", "other.py": ""}.items():
        (site / "lab_envs" / name).write_text(text)
    fast = folder / "fast.py"
    fast.write_text("from lab_envs import common\n" + fast.read_text())
    monkeypatch.syspath_prepend(site)
    try:
        names = own(compute_digest(EnvPackage.open(folder, "path")))
    finally:
        for name in ("lab_envs", "lab_envs.common"):
            sys.modules.pop(name, None)
    assert names[-2:] == ["lab_envs/__init__.py", "lab_envs/common.py"]


def test_the_environment() -> None:
    facts = environment()
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["torch"].startswith(importlib.metadata.version("torch").split("+")[0])
    assert len(facts["torch_git"]) == 40
    assert set(facts) >= {"numpy", "gymnasium", "system", "machine", "python_implementation"}


def test_torch_is_described_without_importing_it() -> None:
    code = (
        "import sys\nfrom simulacrum.contract.environment import environment\nprint(environment()['torch'])\n"
        "assert 'torch' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == torch_build()[0]


def test_compare_names_versions(lamp: EnvPackage) -> None:
    now = compute_digest(lamp)
    old = Digest(now.subjects, {**now.environment, "torch": "2.12.0", "python": "3.9.1"}, "x")
    assert compare(old, now) == [
        f"python 3.9.1 -> {now.environment['python']}",
        f"torch 2.12.0 -> {now.environment['torch']}",
    ]


def test_extra_facts_are_part_of_the_whole(lamp: EnvPackage) -> None:
    plain, more = compute_digest(lamp), compute_digest(lamp, extra={"cpu_capability": "AVX2"})
    assert plain.whole != more.whole
    assert compare(plain, more) == ["cpu capability unknown -> AVX2"]


def test_framework_files_are_named(lamp: EnvPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = compute_digest(lamp)
    copy = tmp_path / "simulacrum"
    for name, path in digests.subject_files(lamp).items():
        if name.startswith("simulacrum/"):
            target = copy / name.removeprefix("simulacrum/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    monkeypatch.setattr(digests, "framework_folder", lambda: copy)
    assert compute_digest(lamp) == before
    (copy / "engine" / "boundary.py").write_bytes((copy / "engine" / "boundary.py").read_bytes() + b"#\n")
    assert compare(before, compute_digest(lamp)) == ["simulacrum/engine/boundary.py changed"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads files without permission")
def test_an_unreadable_file(lamp: EnvPackage) -> None:
    (lamp.folder / "secret.txt").write_text("x")
    (lamp.folder / "secret.txt").chmod(0)
    with pytest.raises(PackageError, match=r"envs/lamp/secret\.txt cannot be read"):
        compute_digest(lamp)


def test_round_trip(lamp: EnvPackage) -> None:
    digest: Any = compute_digest(lamp)
    again = Digest.from_json(json.loads(json.dumps(digest.to_json())))
    assert again == digest
    assert compare(digest, again) == []


def test_built_in_names_are_the_folders_of_the_repository() -> None:
    assert "envs/toywalk/fast.py" in compute_digest(load_package("toywalk")).subjects
