"""The Python that runs in the page: rooms of this repository, the environment, and what reads its schema.

`pyodide` brings CPython and its standard library, and nothing else: no NumPy, no torch. The reference twin and the
scalar engine need neither. The one library they need is jsonschema, whose last version in plain Python is taken.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from builder.faults import ENV, ROOT

# Newer versions of jsonschema need a compiled module that is not published for browsers.
WHEELS = ("jsonschema==4.17.3", "attrs==26.1.0", "pyrsistent==0.20.0")
SITE = "site"  # the folder of the archive that libraries lie in
# Whole rooms, and of the engine what drives a reference.
ROOMS = ("contract", "portable", "rng", "twin", "trace")
FILES = ("__init__.py", "errors.py", "imports.py", "engine/__init__.py", "engine/draws.py", "engine/runner.py")
PAGE = Path(__file__).resolve().parents[1] / "page"


def archive(wheels: Path) -> bytes:
    """A zip archive of all Python for the page; the same files give the same bytes. `wheels` keeps what pip fetched."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as zipped:
        for name, data in sorted(contents(wheels)):
            zipped.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return memory.getvalue()


def contents(wheels: Path) -> Iterator[tuple[str, bytes]]:
    """(name in the archive, bytes) of each file."""
    for path in repository_files():
        yield str(path.relative_to(ROOT)), path.read_bytes()
    yield "rows.py", (PAGE / "rows.py").read_bytes()
    for wheel in _fetched(wheels):
        with zipfile.ZipFile(wheel) as zipped:
            for name in zipped.namelist():
                if not name.endswith("/") and "/tests/" not in name:
                    yield f"{SITE}/{name}", zipped.read(name)


def repository_files() -> list[Path]:
    """The repository's own files among them, as they are."""
    simulacrum, env = ROOT / "simulacrum", ROOT / "envs" / ENV
    found = [simulacrum / name for name in FILES]
    for room in ROOMS:
        found += [path for ending in ("py", "json") for path in (simulacrum / room).glob(f"*.{ending}")]
    found += [ROOT / "envs" / "__init__.py", env / "schema.json", env / "spec.md"]
    return sorted([*found, *(env / name for name in ("__init__.py", "reference.py", "fast.py"))])


def _fetched(folder: Path) -> list[Path]:
    """The wheels, fetched by pip where they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for wanted in WHEELS:
        name, _, version = wanted.partition("==")
        if not list(folder.glob(f"{name}-{version}-*.whl")):
            command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
            command += ["--only-binary", ":all:", "--platform", "any", "-d", str(folder), wanted]
            subprocess.run(command, check=True)
    return sorted(folder.glob("*.whl"))
