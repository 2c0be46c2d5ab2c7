"""The folder of the article: the page, one script, one style sheet, and what is loaded later, each as a script."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from builder.faults import ENV, FAULTS, ROOT
from builder.modules import CACHE, build_modules
from builder.python import PAGE, archive
from simulacrum.contract.package import load_package
from simulacrum.engine.boundary import core_of
from simulacrum.engine.native.graphs import functions
from simulacrum.engine.native.web import LOADER
from simulacrum.errors import SimulacrumError
from simulacrum.lower.library import make_library

OUT = ROOT / "build" / "article"
NPM = ROOT / "build" / "article-npm"
HERE = PAGE.parent
PYODIDE = ("pyodide.asm.wasm", "python_stdlib.zip")
FONTS = (
    ("Source Serif 4 Variable", "normal", "source-serif-4/files/source-serif-4-latin-standard-normal.woff2"),
    ("Source Serif 4 Variable", "italic", "source-serif-4/files/source-serif-4-latin-wght-italic.woff2"),
    ("Source Code Pro Variable", "normal", "source-code-pro/files/source-code-pro-latin-wght-normal.woff2"),
)
# Changes to the reference that the page offers.
SUGGESTIONS = (
    ("forget slips", "return -move if slips else move", "return move"),
    ("the wall one cell early", "return LEFT_END\n", "return LEFT_END + 1\n"),
    ("end when it passes 4", "terminated = position == GOAL", "terminated = position >= GOAL - 1"),
)


def build(out: Path = OUT, *, say: Any = print) -> Path:
    """Build the article into `out`, in place of an older one; returns the folder.

    It is made beside its place and moved there when it is whole, so what stops half-way leaves what stood there.

    Raises:
        SimulacrumError: npm is missing or failed, or something else stands at that place.
    """
    check_place(out)
    packages = install(NPM)
    modules = build_modules(CACHE / "modules", say=say)
    with beside(out) as partial:
        fill(partial, packages, modules, say)
    return out


def check_place(out: Path) -> None:
    """Raise SimulacrumError where `out` is neither an article nor empty."""
    if not out.exists() or (out / "article.js").is_file() or (out.is_dir() and not any(out.iterdir())):
        return
    raise SimulacrumError(
        "something else stands where the article would go; nothing was touched",
        expected="a new or an empty folder, or an article",
        where=out,
        next_step="name another folder",
    )


@contextmanager
def beside(out: Path) -> Iterator[Path]:
    """A new folder beside `out`, which takes its place when the block ends well, and is removed otherwise."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as made:
        new, old = Path(made) / "new", Path(made) / "old"
        new.mkdir()
        yield new
        if out.exists():
            out.rename(old)
        new.rename(out)


def fill(out: Path, packages: Path, modules: dict[str, Path], say: Any) -> None:
    """Write the page, its script and style, and what is loaded later."""
    (out / "payload").mkdir()
    facts = gather(modules[ENV], packages)
    (CACHE / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    say("bundling the page")
    bundle(packages, out / "article.js", PAGE / "main.js", modules[ENV])
    bundle(packages, CACHE / "worker.js", PAGE / "worker.js", modules[ENV])
    (out / "article.css").write_text(fonts(packages) + (PAGE / "style.css").read_text("utf-8"), encoding="utf-8")
    shutil.copy(PAGE / "index.html", out / "index.html")
    contents = {name: (packages / "pyodide" / name).read_bytes() for name in PYODIDE}
    contents |= {f"{name}.wasm": path.read_bytes() for name, path in modules.items() if name != ENV}
    contents |= {"python.zip": archive(CACHE / "wheels"), "worker.js": (CACHE / "worker.js").read_bytes()}
    for name, data in contents.items():
        (out / "payload" / f"{name}.js").write_text(payload(name, data), encoding="ascii")


def install(folder: Path) -> Path:
    """The npm packages of package-lock.json, installed into `folder`; returns their folder."""
    wanted = {name: (HERE / name).read_text("utf-8") for name in ("package.json", "package-lock.json")}
    have = {name: (folder / name).read_text("utf-8") if (folder / name).is_file() else "" for name in wanted}
    packages, stamp = folder / "node_modules", folder / "installed"
    if have == wanted and stamp.exists():
        return packages
    npm = shutil.which("npm")
    if npm is None:
        raise SimulacrumError(
            "the article is built with packages of npm",
            expected="npm, of node 20 or newer",
            found="not installed",
            next_step="install node, then run the command again",
        )
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], folder)
    stamp.touch()
    return packages


def bundle(packages: Path, out: Path, entry: Path, module: Path) -> None:
    """One script of `entry` and all that it imports, by esbuild."""
    aliases = {"facts": CACHE / "facts.json", "simulacrum": LOADER, "toywalk.wasm": module}
    command = [str(packages / ".bin" / "esbuild"), str(entry), "--bundle", f"--outfile={out}", "--format=iife"]
    command += ["--minify", "--charset=utf8", "--legal-comments=none", "--log-level=warning", "--loader:.wasm=binary"]
    command += [
        "--target=es2022",
        "--platform=browser",
        "--external:node:*",
        "--external:ws",
        "--log-override:empty-import-meta=silent",
    ]
    command += [f"--alias:{name}={path}" for name, path in aliases.items()]
    _run(command, packages.parent, {"NODE_PATH": str(packages)})


def _run(command: list[str], folder: Path, more: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **(more or {})}
    )
    if done.returncode != 0:
        raise SimulacrumError(
            f"{Path(command[0]).name} failed",
            found=(done.stderr or done.stdout).strip()[:2000],
            where=" ".join(command[:3]),
        )


def payload(name: str, data: bytes) -> str:
    """A script that hands `data` over: see page/payload.js."""
    text = base64.b64encode(gzip.compress(data, compresslevel=9, mtime=0)).decode("ascii")
    return f'articlePayload("{name}","{text}");\n'


def fonts(packages: Path) -> str:
    """The faces as CSS, with their files inside."""
    faces: list[str] = []
    for family, style, path in FONTS:
        data = base64.b64encode((packages / "@fontsource-variable" / path).read_bytes()).decode("ascii")
        faces.append(
            f'@font-face {{ font-family: "{family}"; font-style: {style}; font-weight: 200 900; font-display: swap; '
            f'src: url("data:font/woff2;base64,{data}") format("woff2"); }}\n'
        )
    return "".join(faces)


# --- what the page tells ----------------------------------------------------------------------------------------------


def gather(module: Path, packages: Path) -> dict[str, Any]:
    """All that the page shows of the repository, read from it."""
    package = load_package(ROOT / "envs" / ENV)
    fast, reference = ((package.folder / f"{twin}.py").read_text("utf-8") for twin in ("fast", "reference"))
    data = module.read_bytes()
    lock = json.loads((packages / "pyodide" / "pyodide-lock.json").read_text("utf-8"))
    pyodide = json.loads((packages / "pyodide" / "package.json").read_text("utf-8"))["version"]
    for title, old, _ in SUGGESTIONS:
        assert reference.count(old) == 1, f"{title}: reference.py holds {reference.count(old)} times {old!r}"
    return {
        "env": ENV,
        "reference": reference,
        "fast": _methods(fast, "step", "observe"),
        "c": _c_text(package),
        "rules": [{"name": rule.id, "text": plain(rule.text)} for rule in package.spec.rules.values()],
        "faults": [_fault(fault) for fault in FAULTS],
        "suggestions": [{"title": title, "old": old, "with": new} for title, old, new in SUGGESTIONS],
        "size": len(data),
        "packed": len(gzip.compress(data, mtime=0)),
        "lock": json.dumps({"info": lock["info"], "packages": {}}),
        "made": f"Pyodide {pyodide} brings CPython. Everything else is built from the repository of simulacrum.",
    }


def _fault(fault: Any) -> dict[str, Any]:
    edits: list[dict[str, Any]] = []
    for edit in fault.mutant.edits:
        path = ROOT / edit.file if fault.mutant.in_framework else ROOT / "envs" / ENV / edit.file
        text = path.read_text("utf-8")
        line = text[: text.index(edit.old)].count("\n") + 1
        edits.append({"file": edit.file, "line": line, "old": edit.old.strip(), "with": edit.new.strip()})
    return {
        "key": fault.key,
        "title": fault.title,
        "short": fault.short,
        "story": fault.story,
        "edits": edits,
        "caught_by": sorted(fault.mutant.caught_by),
        "modules": [{"name": name, "group": size} for name, size in fault.modules],
    }


def plain(text: str) -> str:
    """A rule's text without its marks, in one line."""
    return re.sub(r"\s+", " ", text.replace("`", "")).strip()


def _methods(text: str, first: str, last: str) -> str:
    """The lines of a class from method `first` up to `last`, which is left out; without the indent of the class."""
    lines = text.splitlines()
    places = {name: next(k for k, line in enumerate(lines) if f"def {name}(" in line) for name in (first, last)}
    return "\n".join(line.removeprefix("    ") for line in lines[places[first] : places[last]]).rstrip()


def _c_text(package: Any) -> str:
    """The loop over rows of the NEXT_STEP step."""
    text = make_library(functions(core_of(package, package.schema.max_episode_steps))).text
    start = next(match.start() for match in re.finditer(r"^.*\bnext_step_rows\(.*$", text, re.MULTILINE))
    return text[start : text.index("\n}\n", start) + 2]
