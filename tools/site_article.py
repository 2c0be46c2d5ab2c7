"""The article in the documentation: a page about it, and, where `make article` has built it, the article itself.

mkdocs calls this file (`hooks:` in mkdocs.yml). The files of build/article are put into the site's folder `article/`
as they are. Where they are not there the page says how to build them, so that the site can be built without them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

BUILT = Path(__file__).resolve().parent.parent / "build" / "article"
PAGE = "article.md"
HEAD = """# The article

One page that explains the idea with environments that run while you read: the reference twin and the batched one side
by side in your browser, and what happens when one rule of one of them is broken.
"""
THERE = """
[**Open the article**](article/index.html). It is a page of its own, needs no network, and is built by `make article`.
"""
MISSING = """
It was not built when this site was. `make article docs` builds both, and this page then links it.
"""


def text(built: Path = BUILT) -> str:
    """The page about the article, with a link where it has been built."""
    return HEAD + (THERE if (built / "index.html").is_file() else MISSING)


def on_files(files: Files, config: Any) -> Files:
    """Add the page, and the files of the article where there are any."""
    files.append(File.generated(config, PAGE, content=text()))
    if (BUILT / "index.html").is_file():
        for path in sorted(BUILT.rglob("*")):
            if path.is_file():
                name = f"article/{path.relative_to(BUILT).as_posix()}"
                # Included by name: the article's sources have the same folder's name and stay out.
                kept = InclusionLevel.INCLUDED
                files.append(File.generated(config, name, abs_src_path=str(path), inclusion=kept))
    return files
