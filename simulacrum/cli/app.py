"""The commands as one program, and what becomes of everything that goes wrong in them."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from simulacrum.cli import terminal
from simulacrum.cli.agreeing import agree
from simulacrum.cli.bench import bench
from simulacrum.cli.build_wasm import build_wasm
from simulacrum.cli.checking_vec import check_vec
from simulacrum.cli.doctor import doctor
from simulacrum.cli.explaining import explain
from simulacrum.cli.listing import list_
from simulacrum.cli.mutating import mutate
from simulacrum.cli.new import new
from simulacrum.cli.packing import export_pack
from simulacrum.cli.recording import record
from simulacrum.cli.rendering import render
from simulacrum.cli.replaying import replay
from simulacrum.cli.transferring import transfer
from simulacrum.cli.validation import validate
from simulacrum.cli.viewing import view
from simulacrum.cli.watching import watch
from simulacrum.errors import GateError, PackageError, SimulacrumError

# Typer's own exceptions for wrong arguments share one base, which lives in click or in Typer by its version.
_WRONG_ARGUMENTS: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException" and issubclass(kind, Exception)
)
_PACKAGES = "simulacrum_packages"


class _PipeClosed(Exception):
    """Whoever read the output went away."""


class _Commands(typer.core.TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        """The group's options, with a default for each flag."""
        options = super().get_params(ctx)
        for option in options:
            # Typer imports pydantic to learn that a flag which nobody gave and which has no default is not set.
            if getattr(option, "is_flag", False) and option.default is None:
                option.default = False
        return options

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a pipe that somebody closed is no failed check."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Typer would end the process with 1, which here means a failed check.
            raise _PipeClosed from None


app = typer.Typer(
    cls=_Commands,
    name="simulacrum",
    help="Write an environment twice, prove the twins equal, train on the fast one.",
    epilog="Exit codes: 0 passed, 1 a check failed or the gate is closed, 2 wrong usage or a broken package.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(new)
app.command("list")(list_)
app.command()(agree)
app.command()(validate)
app.command()(mutate)
app.command()(transfer)
app.command()(watch)
app.command()(doctor)
app.command()(record)
app.command()(replay)
app.command()(explain)
app.command()(render)
app.command()(view)
app.command("export-pack")(export_pack)
app.command()(bench)
app.command("build-wasm")(build_wasm)
app.command("check-vec")(check_vec)


def _show_version(wanted: bool) -> None:
    if wanted:
        import simulacrum

        print(f"simulacrum {simulacrum.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None, *, program: str = "simulacrum") -> int:
    """Run the command line and return its exit code; no exception of a user's making comes out.

    Args:
        arguments: the words after the program's name; the process's own by default.
        program: how the program is called in messages.
    """
    terminal.use_json(False)
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks is spelled out, not an error.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # not every stream has it
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = _run(arguments, program)
        if sys.stdout:  # None where the process was started without one
            sys.stdout.flush()
    except (_PipeClosed, BrokenPipeError):
        # Python flushes stdout once more at its end; let that go nowhere.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return terminal.PIPE_CLOSED
    return code


def _run(arguments: Sequence[str] | None, program: str) -> int:
    try:
        result = typer.main.get_command(app).main(
            args=None if arguments is None else list(arguments), prog_name=program, standalone_mode=False
        )
    except SimulacrumError as error:
        terminal.print_error(error)
        return terminal.FAILED if isinstance(error, GateError) else terminal.WRONG_USE
    except _WRONG_ARGUMENTS as error:
        return _wrong_arguments(error, program)
    except (KeyboardInterrupt, typer.Abort):
        return terminal.INTERRUPTED
    except (_PipeClosed, BrokenPipeError):
        raise
    except Exception as error:
        return _unexpected(error)
    return result if isinstance(result, int) else terminal.PASSED


def _wrong_arguments(error: Any, program: str) -> int:
    """Typer's message in the form of every other error. Without any argument the message is the help itself."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return terminal.WRONG_USE
    terminal.print_usage_error(error.format_message(), context.command_path if context else program)
    return terminal.WRONG_USE


def _unexpected(error: Exception) -> int:
    """A mistake in a package's own code is told with its place; anything else is ours, with the whole traceback."""
    place = _place_in_package(error)
    if place is not None:
        message = f"the package raised {type(error).__name__}: {error}"
        terminal.print_error(PackageError(message, where=place, next_step="mend it there"))
        return terminal.WRONG_USE
    traceback.print_exception(error)
    terminal.err().print(
        "this is a fault of simulacrum, not of yours; please report it with the lines above and what "
        "`simulacrum doctor` prints",
        style="bold red",
        soft_wrap=True,
    )
    return terminal.FAULT


def _place_in_package(error: Exception) -> str | None:
    """The innermost line of a package that the error came through, or the method that was called wrongly."""
    place: str | None = None
    trace = error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__", "")).startswith(_PACKAGES):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    if place is not None or not isinstance(error, TypeError):
        return place
    # A method with other arguments than the engine gives is refused at the call: "Walk.observe() takes ...".
    told = re.match(r"(\w+)\.(\w+)\(\) takes (\d+) positional", str(error))
    if told is None:
        return None
    for name, module in reversed(list(sys.modules.items())):  # the package at hand was imported last
        method = getattr(vars(module).get(told[1]), told[2], None) if name.startswith(_PACKAGES) else None
        if getattr(getattr(method, "__code__", None), "co_argcount", None) == int(told[3]):
            return str(module.__file__)
    return None


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """Ours as one line for people; anybody else's as Python shows it."""
    if category.__module__.startswith("simulacrum"):
        terminal.warn(str(message))
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))
