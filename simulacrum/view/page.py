"""A film as a page that needs no network: one HTML file, or a folder with its pictures as files of their own."""

from __future__ import annotations

import base64
import functools
import json
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jinja2

from simulacrum.errors import UsageError
from simulacrum.harness.page.drawing import Drawing
from simulacrum.trace.jsonio import cannot_write, write_bytes
from simulacrum.view.film import Film

_FOLDER = Path(__file__).parent
_SCRIPTS = ("data.js", "charts.js", "panels.js", "main.js")  # one after the other, in one function
_MARK = "simulacrum-view"  # what says that a folder may be replaced
_KINDS = {"data:image/png;base64,": "png", "data:image/svg+xml;base64,": "svg"}


def page_html(film: Film) -> str:
    """The page as text: HTML 5 with its style, its script, its data and its pictures inside."""
    return _template().render(film=film, style=_style(), script=_script(), data=_json(film), linked=False)


def write_page(film: Film, path: str | Path) -> Path:
    """Write the page as one file, whole or not at all, and return its path.

    Raises:
        TraceError: the file cannot be written.
    """
    path = Path(path)
    write_bytes(path, page_html(film).encode("utf-8"))
    return path


def write_folder(film: Film, folder: str | Path) -> Path:
    """Write the page as a folder, whole or not at all, and return the path of its `index.html`.

        index.html, view.css, view.js   the page
        film.js                         what it shows, as one JSON object
        drawings/00000.png, ...         the states drawn, each once

    A folder that this function wrote before is replaced; an empty one is used.

    Raises:
        UsageError: something else stands there. TraceError: it cannot be written.
    """
    folder = Path(folder)
    _check_place(folder)
    pictures, drawings = _pictures(film.drawings)
    linked = replace(film, drawings=drawings)
    texts = {
        "index.html": _template().render(film=film, style="", script="", data="", linked=True),
        "view.css": _style(),
        "view.js": _script(),
        "film.js": f"// {_MARK}\nwindow.film = {_json(linked)};\n",
    }
    partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        (partial / "drawings").mkdir(parents=True)
        for name, data in {**{name: text.encode("utf-8") for name, text in texts.items()}, **pictures}.items():
            (partial / name).write_bytes(data)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder / "index.html"


def _check_place(folder: Path) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    film = folder / "film.js"
    if not film.is_file() or not film.read_bytes().startswith(f"// {_MARK}".encode()):
        raise UsageError(
            "something else stands where the folder would go; nothing was touched",
            expected="a new or an empty folder, or one that `simulacrum view` wrote",
            where=folder,
            next_step="name another folder",
        )


def _pictures(drawings: Sequence[Drawing]) -> tuple[dict[str, bytes], tuple[Drawing, ...]]:
    """Files of the drawings by name, and the drawings with these names for addresses."""
    files: dict[str, bytes] = {}
    linked: list[Drawing] = []
    for number, drawing in enumerate(drawings):
        kind = next((head for head in _KINDS if (drawing.src or "").startswith(head)), None)
        if kind is None or drawing.src is None:
            linked.append(drawing)
            continue
        name = f"drawings/{number:05d}.{_KINDS[kind]}"
        files[name] = base64.b64decode(drawing.src[len(kind) :])
        linked.append(replace(drawing, src=name))
    return files, tuple(linked)


def _json(film: Film) -> str:
    """The film as JSON that may stand in a script: no `<` in it."""
    plain: dict[str, Any] = {
        **{
            name: getattr(film, name)
            for name in ("env_id", "sides", "lines", "rules", "slots", "here", "note", "facts")
        },
        "moments": [
            {
                **{
                    name: getattr(one, name)
                    for name in ("episode", "t", "sides", "drawings", "rules", "ran", "left_out")
                },
                "raised": one.raised,
                "draws": [[draw.slot, draw.verdict, _hex(draw.reference), _hex(draw.batched)] for draw in one.draws],
            }
            for one in film.moments
        ],
        "series": [asdict(one) for one in film.series],
        "drawings": [asdict(one) for one in film.drawings],
    }
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _hex(words: Sequence[int | None]) -> list[str]:
    return ["-" if word is None else f"{word:08x}" for word in words]


@functools.cache
def _style() -> str:
    return (_FOLDER / "view.css").read_text("utf-8")


@functools.cache
def _script() -> str:
    parts = "\n".join((_FOLDER / name).read_text("utf-8") for name in _SCRIPTS)
    return f'(function () {{\n"use strict";\n{parts}\n}})();\n'


@functools.cache
def _template() -> jinja2.Template:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    return made.get_template("view.html")
