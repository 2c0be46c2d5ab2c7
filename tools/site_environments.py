"""The environments in the documentation: a page for each package below envs/ and a gallery, made as the site is built.

mkdocs calls this file (`hooks:` in mkdocs.yml). The entry "Environments" of the navigation there is filled with the
pages. What they hold is told in tools/environment_pages.
"""

from __future__ import annotations

import functools
import logging
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from environment_pages.facts import Facts, facts  # noqa: E402  # found below HERE
from environment_pages.gallery import gallery, grouped  # noqa: E402  # found below HERE
from environment_pages.page import page  # noqa: E402  # found below HERE
from environment_pages.pictures import Pictures, pictures  # noqa: E402  # found below HERE
from mkdocs.structure.files import File, Files  # noqa: E402  # found below HERE

from simulacrum.contract.package import BrokenPackage, packages_at  # noqa: E402  # found below HERE

ENVS = HERE.parent / "envs"
INDEX = "environments/index.md"
log = logging.getLogger("mkdocs.hooks.environments")


@functools.cache
def shown() -> tuple[tuple[Facts, Pictures | None], ...]:
    """Every environment of the project that can be read, in the order of names. A broken one is a warning."""
    found = []
    for package in packages_at(ENVS):
        if isinstance(package, BrokenPackage):
            log.warning("%s is broken and has no page: %s", package.folder, package.error)
            continue
        found.append((facts(package), pictures(package)))
    return tuple(sorted(found, key=lambda one: one[0].name))


def on_config(config: Any) -> Any:
    """Fill the navigation's entry with the pages, in the gallery's groups."""
    shown.cache_clear()
    groups: list[Any] = []
    for program, some in grouped(shown()).items():
        pages = [{one.name: f"environments/{one.name}.md"} for one, _ in some]
        groups.append({f"Held to {program}" if program else "Rules of our own": pages})
    for entry in config.nav:
        if isinstance(entry, dict) and entry.get("Environments") == INDEX:
            entry["Environments"] = [INDEX, *groups]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and the pictures."""
    made: dict[str, str | bytes] = {INDEX: gallery(shown())}
    for one, drawn in shown():
        made[f"environments/{one.name}.md"] = page(one, drawn)
        if drawn is not None:
            made[f"assets/environments/{one.name}.png"] = drawn.still
            made[f"assets/environments/{one.name}.webp"] = drawn.film
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files
