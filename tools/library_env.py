"""A virtual environment for one training library, on top of the project's own: `python tools/library_env.py rllib`.

Libraries pin versions that contradict each other, so each gets a folder of its own, `.venv-libs/NAME`. It sees all
packages of the environment that runs this script, and its own before them; so only what a library wants otherwise is
installed, and torch is there once. The extra NAME in pyproject.toml says what that is. Options of pip come from
PIP_ARGS, as in the Makefile.

With `--test` the tests of the library run in it: tests/adapters/test_NAME*.py and tests/training/test_NAME*.py, and
tests/envs/test_*_NAME.py, where an environment is held to one of the library's own.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import requires
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv-libs"
VERSIONS = ROOT / "constraints-libraries.txt"
# What must not be replaced: one torch for all, since the reports speak of it.
KEPT = ("torch",)


class Build(NamedTuple):
    """How a package is installed that plain pip cannot install beside what is here."""

    options: tuple[str, ...]  # of pip
    environment: dict[str, str]
    first: tuple[str, ...]  # what has to be there before


# PufferLib's source package imports torch and numpy to build, hence no isolation. It pins numpy<2, gymnasium<=0.29.1
# and this torch away, but runs with the newer ones, hence no dependencies: the extra names what it imports.
BUILDS = {
    "pufferlib": Build(
        options=("--no-deps", "--no-build-isolation"),
        environment={"NO_OCEAN": "1", "PYTHONPATH": str(ROOT / "tools" / "pufferlib_build")},
        first=("setuptools", "wheel"),
    ),
    # It pins gymnasium==1.3.0 and a pygame away; the code runs with the newer ones.
    "gymnasium-2048": Build(options=("--no-deps",), environment={}, first=()),
}


def requirements(name: str) -> list[str]:
    """What the extra `name` of simulacrum asks for, in this Python."""
    found = [Requirement(text) for text in requires("simulacrum") or ()]
    plain = [one for one in found if one.marker is None or one.marker.evaluate({"extra": ""})]
    extra = [one for one in found if one not in plain and one.marker and one.marker.evaluate({"extra": name})]
    if not extra:
        raise SystemExit(f"pyproject.toml has no extra called {name}, or it was added after `make setup`")
    return [str(Requirement(str(one).partition(";")[0])) for one in extra]


def make(name: str) -> Path:
    """The interpreter of the library's environment, made or brought up to date where its requirements changed."""
    wanted = requirements(name)
    folder = PLACE / name
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp = folder / "ready"
    version = sys.version.split()[0]
    about = (wanted, version, sysconfig.get_path("purelib"), VERSIONS.read_text())
    state = hashlib.sha256(repr(about).encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == state and python.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    purelib = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    # addsitedir, and not a bare path, so that the editable install of simulacrum itself is seen as well.
    (Path(purelib) / "beneath.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    kept = folder / "kept.txt"
    kept.write_text("".join(f"{one}=={_version(one)}\n" for one in KEPT))
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-c", kept, "-c", VERSIONS]
    pip += shlex.split(os.environ.get("PIP_ARGS", ""))
    print(f"installing {', '.join(wanted)} into {folder.relative_to(ROOT)}", flush=True)
    built = {text: BUILDS[Requirement(text).name] for text in wanted if Requirement(text).name in BUILDS}
    ordinary = [text for text in wanted if text not in built]
    if ordinary:
        subprocess.run([*pip, *ordinary], check=True)
    for text, build in built.items():
        if build.first:
            subprocess.run([*pip, *build.first], check=True)
        subprocess.run([*pip, *build.options, text], check=True, env={**os.environ, **build.environment})
    stamp.write_text(state)
    return python


def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name).partition("+")[0]


def main() -> int:
    """Make the environment, and run the tests in it where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="a library: the name of its extra in pyproject.toml")
    parser.add_argument("--test", action="store_true", help="run the library's tests")
    arguments, more = parser.parse_known_args()
    name = arguments.name
    python = make(name)
    if not arguments.test:
        print(python)
        return 0
    stem = name.replace("-", "_")
    rooms = [ROOT / "tests" / room for room in ("adapters", "training")]
    files = sorted(path for room in rooms for path in room.glob(f"test_{stem}*.py"))
    files += sorted((ROOT / "tests" / "envs").glob(f"test_*_{stem}.py"))
    if not files:
        raise SystemExit(f"no test_{stem}*.py in tests/adapters or tests/training, and no tests/envs/test_*_{stem}.py")
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return subprocess.run([*pytest, *map(str, files), *more], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
