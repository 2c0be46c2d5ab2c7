"""Exit codes and messages of the program as a whole."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings

import pytest

from simulacrum.cli import app, main
from simulacrum.cli.terminal import FAULT, INTERRUPTED, PIPE_CLOSED
from simulacrum.errors import GateError, UsageError

COMMANDS = (
    "new",
    "list",
    "validate",
    "watch",
    "doctor",
    "record",
    "replay",
    "render",
    "export-pack",
    "bench",
    "build-wasm",
    "check-vec",
)


def test_help_names_every_command(cli):
    done = cli("--help")
    assert done.code == 0
    assert all(f" {name} " in done.out for name in COMMANDS)
    assert "Exit codes: 0 passed" in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_at_80_columns(cli, command):
    done = cli(command, "--help")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert "\x1b" not in done.out


def test_no_arguments_show_the_help_and_are_wrong_usage(cli):
    done = cli()
    assert done.code == 2
    assert "validate" in done.out + done.err


def test_version(cli):
    import simulacrum

    assert cli("--version").out == f"simulacrum {simulacrum.__version__}\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["vlidate"], "Did you mean 'validate'?"),
        (["validate"], "Missing argument"),
        (["validate", "toywalk", "--nonsense"], "No such option"),
        (["record", "toywalk"], "Missing option '--out'"),
        (["record", "toywalk", "-o", "a.json", "--episodes", "0"], "'--episodes'"),
        (["bench", "toywalk", "--num-envs", "4,x"], "these are not batch sizes"),
    ],
)
def test_wrong_usage_is_2_with_a_next_step(cli, words, told):
    done = cli(*words)
    assert done.code == 2
    assert told in done.err
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err


def test_wrong_usage_names_the_command_whose_help_to_read(cli):
    assert "  next: simulacrum record --help" in cli("record", "toywalk").err


def test_unknown_environment_names_the_nearest(cli):
    done = cli("validate", "toywlk")
    assert done.code == 2
    assert "no environment is called 'toywlk'" in done.err
    assert "did you mean 'toywalk'?" in done.err
    assert done.out == ""


def test_error_with_json_is_an_object_too(cli):
    import json

    done = cli("validate", "toywlk", "--json")
    told = json.loads(done.out)
    assert told["event"] == "error"
    assert told["kind"] == "UnknownEnvError"
    assert told["next"] == "did you mean 'toywalk'?"
    # The next call is not in JSON any more.
    assert cli("validate", "toywlk").out == ""


def raising(monkeypatch, error):
    def run(*arguments, **keywords):
        raise error

    monkeypatch.setattr(app.typer.main, "get_command", run)


@pytest.mark.parametrize(("error", "code"), [(UsageError("no"), 2), (GateError("shut"), 1)])
def test_errors_of_the_project_have_their_codes(cli, monkeypatch, error, code):
    raising(monkeypatch, error)
    done = cli("list")
    assert done.code == code
    assert done.err == f"error: {error.message}\n"


def test_unexpected_error_keeps_its_traceback_and_says_whose_it_is(cli, monkeypatch):
    raising(monkeypatch, ZeroDivisionError("gone"))
    done = cli("list")
    assert done.code == FAULT
    assert "Traceback" in done.err
    assert "this is a fault of simulacrum, not of yours" in done.err.splitlines()[-1]


def test_interrupt_is_quiet(cli, monkeypatch):
    raising(monkeypatch, KeyboardInterrupt())
    assert cli("list") == (INTERRUPTED, "", "")


def test_method_with_other_arguments_is_the_packages_mistake(cli, counter, edit):
    edit(counter / "reference.py", "def observe(self, state: Any, ctx: Context)", "def observe(self, state: Any)")
    done = cli("record", counter, "-o", "a.json")
    assert done.code == 2
    assert "the package raised TypeError: Counter.observe() takes 2 positional arguments" in done.err
    assert str(counter / "reference.py") in done.err


def test_zero_division_in_a_package_names_file_and_line(cli, counter, edit):
    edit(counter / "reference.py", "state.count + 1", "state.count // 0")
    lines = (counter / "reference.py").read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "// 0" in line)
    done = cli("record", counter, "-o", "a.json")
    assert done.code == 2
    assert "the package raised ZeroDivisionError" in done.err
    assert f"{counter / 'reference.py'}:{number}" in done.err
    assert "Traceback" not in done.err


def test_warning_of_the_project_is_one_line(cli, monkeypatch):
    from simulacrum.engine.forms import CompilerWarning

    def run(*arguments, **keywords):
        warnings.warn("no compiler", CompilerWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        monkeypatch.setattr(app.typer.main, "get_command", lambda _: type("C", (), {"main": run}))
        done = cli("list")
    assert done.err == "warning: no compiler\n"


def test_output_without_the_terminals_letters_is_spelled_out(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["list"]) == 0
    stream.flush()
    assert b"simulacrum/toywalk-v0" in stream.buffer.getvalue()


# What only the work of a command needs. (pydantic is how newer versions of Typer read the arguments.)
HEAVY = {"torch", "numpy", "gymnasium", "jsonschema", "pydantic", "simulacrum.engine", "simulacrum.harness"}


def imported(program, *words) -> set[str]:
    """Names of the modules that a fresh Python imports, as it tells them itself."""
    done = program("-X", "importtime", *words)
    assert done.code == 0, done.err
    return {line.rpartition("|")[2].strip() for line in done.err.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize(
    "words",
    [["simulacrum", "--help"], ["simulacrum", "validate", "--help"], ["simulacrum.validate", "--help"]],
    ids=" ".join,
)
def test_help_loads_nothing_heavy(program, words):
    names = imported(program, "-m", *words)
    assert "simulacrum.cli.app" in names
    assert not HEAVY & names


def test_help_of_no_command_loads_anything_heavy(program):
    code = (
        "import sys; from simulacrum.cli import main\n"
        f"for name in {COMMANDS!r}: main([name, '--help']); print('loaded', name, sorted({HEAVY!r} & set(sys.modules)))"
    )
    told = [line for line in program("-c", code).out.splitlines() if line.startswith("loaded ")]
    assert told == [f"loaded {name} []" for name in COMMANDS]


def test_version_and_list_load_neither_torch_nor_numpy_nor_gymnasium(program):
    for words in (["--version"], ["list"], ["list", "--json"]):
        assert not {"torch", "numpy", "gymnasium"} & imported(program, "-m", "simulacrum", *words)


def test_flags_are_shown_without_a_default(cli):
    assert "default" not in cli("--help").out


@pytest.mark.parametrize("module", ["simulacrum", "simulacrum.validate"])
def test_modules_are_the_program(program, module):
    words = ["validate", "toywlk"] if module == "simulacrum" else ["toywlk"]
    done = program("-m", module, *words)
    assert done.code == 2
    assert "did you mean 'toywalk'?" in done.err


def test_closed_stdin_and_stdout_are_no_obstacle(own_folders):
    command = f"{sys.executable} -m simulacrum list <&- >&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_reader_that_goes_away_is_no_traceback(own_folders):
    command = f"{sys.executable} -m simulacrum list; echo code $? >&2"
    read, write = os.pipe()
    os.close(read)  # nobody reads
    done = subprocess.run(["sh", "-c", command], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert done.stderr == f"code {PIPE_CLOSED}\n"


def test_shell_completes_names(program):
    words = {"_SIMULACRUM_COMPLETE": "complete_bash", "COMP_WORDS": "simulacrum validate toy", "COMP_CWORD": "2"}
    code = "from simulacrum.cli import main; main()"
    assert "toywalk" in program("-c", code, env=words).out.split()
    words = {**words, "COMP_WORDS": "simulacrum validate toywalk -k diff", "COMP_CWORD": "4"}
    offered = program("-c", code, env=words).out.split()
    assert offered[0] == "differential"
    assert "differential.small_model" in offered
