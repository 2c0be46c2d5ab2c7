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

COMMANDS = ("new", "list", "validate", "doctor", "record", "replay", "render", "export-pack", "bench")


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


def test_help_is_quick_and_imports_no_torch(program):
    code = (
        "import sys, time; began = time.process_time()\n"
        "from simulacrum.cli import main\n"
        "main(sys.argv[1:]); print(time.process_time() - began, 'torch' in sys.modules)\n"
    )
    for words in (["--help"], ["list"]):
        last = [program("-c", code, *words).out.splitlines()[-1].split() for _ in range(2)]
        assert {loaded for _, loaded in last} == {"False"}
        assert min(float(seconds) for seconds, _ in last) < 1.0


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
    assert program("-c", code, env=words).out.split() == ["differential"]
