"""`simulacrum build-wasm`: an environment for browsers and node, from the C of its native form."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import Env

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage


def build_wasm(
    name: Env,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to write into.")],
    unvalidated: Annotated[
        bool, typer.Option("--unvalidated", help="Build it even where the gate is closed.")
    ] = False,
) -> None:
    """Write an environment as a WebAssembly module, and the JavaScript that loads and steps it.

    The C is that of the native form, so the package must have been validated. The module itself is other machine code
    and no report speaks for it: docs/webassembly-and-cuda.md says what is checked. An older module in the folder is
    replaced.
    """
    from simulacrum.attest.gate import gate_state, require_fresh_report
    from simulacrum.contract.package import load_package

    package = load_package(name)
    validated = gate_state(package).fresh
    if not unvalidated:
        require_fresh_report(package)
    terminal.one_thread()
    _build(package, out, validated=validated)


def _build(package: EnvPackage, out: Path, *, validated: bool) -> None:
    from simulacrum.engine.boundary import core_of
    from simulacrum.engine.native.web import build_module
    from simulacrum.errors import UsageError

    with terminal.err().status(f"building {package.env_id} for WebAssembly"):
        try:
            module = build_module(core_of(package, package.schema.max_episode_steps), out, validated=validated)
        except OSError as error:
            raise UsageError("the folder cannot be written", found=error.strerror, where=str(out)) from error
    console = terminal.out()
    said = "" if validated else ", which is not validated"
    text = Text.assemble("wrote ", (package.env_id, "bold"), f"{said}, into {terminal.short_path(out)}")
    console.print(text, soft_wrap=True)
    script = f'import("./{module.loader.name}").then(async ({{ Simulacrum }}) => '
    script += f'console.log((await Simulacrum.load("./{module.wasm.name}")).reset(1)))'
    terminal.facts(
        console,
        [
            ("module", f"{module.wasm.name}, {_size(module.wasm)}"),
            ("loader", f"{module.loader.name}, {_size(module.loader)}"),
            ("try", terminal.command(f"cd {terminal.quoted(out)} && node -e '{script}'")),
        ],
    )


def _size(path: Path) -> str:
    data = path.read_bytes()
    return f"{len(data) / 1000:.1f} kB ({len(gzip.compress(data, mtime=0)) / 1000:.1f} kB with gzip)"
