"""What is installed: the list of packages in pyproject.toml, and the contents of a wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli", reason="Python 3.10 reads TOML through tomli, which pytest brings")


@pytest.fixture(scope="module")
def settings(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def test_listed_packages_are_the_folders(root, settings):
    listed = settings["tool"]["setuptools"]["packages"]
    template = root / "simulacrum" / "scaffold" / "template"
    folders = [
        path.parent
        for path in (root / "simulacrum").rglob("__init__.py")
        if not path.is_relative_to(template)
    ]
    found = {folder.relative_to(root).as_posix().replace("/", ".") for folder in folders}
    assert sorted(listed) == sorted({*found, "simulacrum_envs"})


def test_tested_versions_are_of_packages_that_are_asked_for(root, settings):
    project = settings["project"]
    asked = [
        *project["dependencies"],
        *(one for group in project["optional-dependencies"].values() for one in group),
    ]
    names = {plain_name(text) for text in asked} - {"simulacrum"}
    files = [root / "constraints.txt", root / "constraints-libraries.txt"]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    pinned = {plain_name(line) for line in lines if line and not line.startswith("#")}
    # These come with packages that are asked for: the site's generator and two of its parts, what oracles need.
    brought = {"mkdocs", "mkdocstrings-python", "pymdown-extensions", "pandas", "pygame-ce", "seaborn"}
    assert pinned - brought == names


def plain_name(requirement):
    name = requirement
    for end in "[<>=!~; ":
        name = name.partition(end)[0]
    return name.lower().replace("_", "-")


@pytest.fixture(scope="module")
def wheel(root, project_files, tmp_path_factory):
    """Return the names in a wheel built from a copy, so that the working tree gets no build folder."""
    pytest.importorskip("setuptools", minversion="77")
    source = tmp_path_factory.mktemp("source")
    for name in project_files:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, target)
    for environment in (source / "envs").glob("*/spec.md"):
        environment.with_name("validation_report.json").write_text("{}", encoding="utf-8")
    out = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
    ]
    command += ["--disable-pip-version-check", "--wheel-dir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return path


def test_wheel_holds_the_package_and_its_environments_whole(wheel, project_files):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    rooms = {name for name in project_files if name.startswith("simulacrum/")}
    envs = {
        name.replace("envs/", "simulacrum_envs/", 1) for name in project_files if name.startswith("envs/")
    }
    assert names == rooms | envs
    for file in ("spec.md", "schema.json", "reference.py", "fast.py", "__init__.py"):
        assert f"simulacrum_envs/toywalk/{file}" in names


def test_unpacked_wheel_finds_its_environments(wheel, tmp_path, run_python):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import simulacrum\n"
        "from simulacrum.contract.package import find_packages\n"
        "assert simulacrum.__file__.startswith(sys.argv[1]), simulacrum.__file__\n"
        "for package in find_packages(): print(package.name, package.folder)\n"
    )
    done = run_python(code, str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    for name in ("toywalk", "forager"):
        assert found[name] == str(tmp_path / "simulacrum_envs" / name)
