"""A new environment package from the template: complete, and passing the battery before anybody edits it."""

from __future__ import annotations

import keyword
import os
import re
import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from simulacrum.contract.declared import ID_PATTERN
from simulacrum.contract.package import EnvPackage, find_packages
from simulacrum.errors import PackageError, UsageError

_SUFFIX = ".template"
# What to do to the written files, in the order in which it goes well; the first words are the file.
CHECKLIST = (
    ("spec.md", "say the rules in words; the numbers R1, R2, ... bind everything else"),
    ("schema.json", "fields, bounds, draws, parameters and the time limit of those rules"),
    ("__init__.py", "the constants of the spec"),
    ("reference.py", "the rules, one instance, plain Python"),
    ("fast.py", "the rules again, from the spec, on tensors [N]"),
    ("probes.py", "policies whose return you can compute or have measured"),
    ("render.py", "a drawing of one state"),
)


@dataclass(frozen=True)
class Written:
    """A new package: its id, its folder, the files in it by name."""

    env_id: str
    folder: Path
    files: tuple[str, ...]


def write_package(name: str, into: str | Path = ".", *, env_id: str | None = None) -> Written:
    """Write a package called `name` into the folder `into` / `name`, whole or not at all.

    Args:
        name: a Python name in lower case; the folder's name and the middle of the id.
        into: the folder above it; made if missing.
        env_id: NAMESPACE/NAME-vNUMBER with `name` in its middle; "simulacrum/NAME-v0" by default.

    Raises:
        UsageError: the name or the id cannot be used; a name that can is suggested.
        PackageError: something stands at that place already, the id is taken, or the folder cannot be
            written. Nothing was changed then.
    """
    check_name(name)
    chosen = f"simulacrum/{name}-v0" if env_id is None else env_id
    check_id(chosen, name)
    target = Path(into).expanduser() / name
    check_free(chosen, target)
    texts = {file: _filled(text, name, chosen) for file, text in _template().items()}
    write_texts(target, texts)
    return Written(chosen, Path(os.path.abspath(target)), tuple(texts))


def check_name(name: str) -> None:
    """Raise UsageError unless `name` is a Python name in lower case, with the nearest one that is."""
    if re.fullmatch(r"[a-z][a-z0-9_]*", name) and not keyword.iskeyword(name):
        return
    near = suggested_name(name)
    raise UsageError(
        f"{name!r} cannot be the name of an environment",
        expected="a Python name in lower case, such as toywalk or two_doors",
        found=name,
        next_step=f"did you mean {near!r}?" if near else None,
    )


def suggested_name(name: str) -> str | None:
    """The nearest usable name, or None where nothing is left of it: "My-Env 2" gives "my_env_2"."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    plain = re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")
    plain = re.sub(r"^[0-9_]+", "", plain)
    return f"{plain}_env" if keyword.iskeyword(plain) else plain or None


def check_id(env_id: str, name: str) -> None:
    """Raise UsageError unless the id is NAMESPACE/NAME-vNUMBER with this name."""
    match = ID_PATTERN.fullmatch(env_id)
    if match is not None and match["name"] == name:
        return
    namespace = re.sub(r"[^A-Za-z0-9_-]+", "-", env_id.partition("/")[0]).strip("-") or "lab"
    raise UsageError(
        "this is not an id for the environment",
        expected=f"NAMESPACE/{name}-vNUMBER",
        found=env_id,
        next_step=f"did you mean {f'{namespace}/{name}-v0'!r}?",
    )


def check_free(env_id: str, target: Path) -> None:
    """Raise PackageError where something stands at that place, or the id is another package's."""
    if os.path.lexists(target):
        raise PackageError(
            "there is something at that place already; nothing was touched",
            expected="a place where nothing stands",
            found="a folder" if target.is_dir() else "a file",
            where=target,
            next_step="choose another name, or another folder with --into",
        )
    for package in find_packages():
        if isinstance(package, EnvPackage) and package.env_id == env_id:
            raise PackageError(
                f"the id {env_id} is already taken",
                expected="an id of its own for each environment",
                found=package.folder,
                next_step=f"choose another name, or an id of your own: --id lab/{package.name}-v0",
            )


def _template() -> dict[str, str]:
    folder = files("simulacrum.scaffold").joinpath("template")
    found = {
        entry.name: entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith(_SUFFIX)
    }
    order = [f"{file}{_SUFFIX}" for file, _ in CHECKLIST]
    return {name.removesuffix(_SUFFIX): found[name] for name in order}


def _filled(text: str, name: str, env_id: str) -> str:
    kind = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    for mark, value in (("{{name}}", name), ("{{id}}", env_id), ("{{Class}}", kind)):
        text = text.replace(mark, value)
    return text


def write_texts(target: Path, texts: dict[str, str]) -> None:
    """Write a folder with these files, whole or not at all. Raises PackageError."""
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        partial.mkdir(parents=True)
        for file, text in texts.items():
            (partial / file).write_text(text, encoding="utf-8", newline="\n")
        partial.rename(target)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise PackageError(
            f"the package could not be written: {error.strerror or error}",
            where=target,
            next_step="make the folder above it writable, or name another with --into",
        ) from error
