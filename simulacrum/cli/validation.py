"""`simulacrum validate`: run the battery on one environment, watch it, and learn what the gate says afterwards."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from simulacrum.cli import terminal
from simulacrum.cli.choices import Checks, Device, Env, FormsToValidate, Json

if TYPE_CHECKING:
    from simulacrum.cli.progress import Plan, View
    from simulacrum.contract.package import EnvPackage
    from simulacrum.harness.battery import BatteryResult

TRANSFER = 4  # the level that is about policies
COVERING = "differential"  # the check that looks at what its rollouts exercise, and the level where it does


def validate(
    name: Env,
    check: Checks = None,
    level: Annotated[
        int | None,
        typer.Option("--level", min=1, max=4, help="1 rules; 2 their interactions, too; 3 rollouts, too. No report. "
                     "4: policies, as `simulacrum transfer` (needs a report)."),
    ] = None,
    compile: FormsToValidate = None,
    device: Device = "cpu",
    quick: Annotated[bool, typer.Option("--quick", help="A fraction of the work, for a first look.")] = False,
    failures: Annotated[
        Path | None, typer.Option("--failures", metavar="DIR", help="Where failure files go. Default: failures/")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="FILE", help="Also compare episodes that this policy plays: path.py:function "
                     "of (observation, state, t), or model.zip of Stable-Baselines3."),
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop after the first failed check.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw how much of each rule the rollouts exercised.")
    ] = None,
    json: Json = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show all evidence and progress.")] = False,
) -> None:
    """Validate an environment: both twins side by side, bit for bit.

    A full run writes the report that the gate reads. A run with -k, --level or --quick is partial: it grants
    nothing and revokes nothing. Exit codes: 0 passed, 1 a check failed, 2 wrong usage or a broken package.

    --json prints one JSON object a line, each with an "event" (`simulacrum/cli/events.schema.json` states them):

    - `started`: version, package, env_id, folder, checks, forms, device, quick, full, level
    - `progress`, where nothing else was printed for some seconds: name, what, done, total
    - `check`, as each one ends: name, status, seconds, message, evidence, parts (its sub-checks), divergence (null, or
      the whole record), explanation (null, or what `simulacrum explain --json` prints of it)
    - `finished`: passed, full, seconds, failed, inconclusive (names), report (path or null), note (text or null: why a
      full run gave no full report), gate {status, why, next_command}
    - `error`, in place of `finished`: kind, message, expected, found, where, next
    """
    from simulacrum.cli import outcome, pictures, progress
    from simulacrum.cli.given_policy import load_policy
    from simulacrum.contract.package import load_package
    from simulacrum.errors import UsageError

    terminal.use_json(json)
    package = load_package(name)
    terminal.one_thread()
    if level == TRANSFER:
        _policies(name, check, quick, compile, policy, failures, plot, json=json)
    plan = _plan(package, check, compile, device, quick, level)
    _check_plot(plot, plan)
    act = load_policy(policy, package) if policy is not None else None
    view = progress.view_for(plan, json=json, verbose=verbose)
    began = time.perf_counter()
    result = _run(
        plan, view, check or None, device, failures or failures_folder(), policy=act, keep_going=not fail_fast
    )
    outcome.show(plan, result, time.perf_counter() - began, json=json, verbose=verbose)
    if plot is not None:
        try:
            pictures.rules(plot, package, result.outcomes[COVERING].evidence.get("coverage"))
        except UsageError as error:
            terminal.warn(f"no picture: {error.message}")
    raise typer.Exit(terminal.PASSED if result.passed else terminal.FAILED)


def _policies(
    name: str, check: list[str] | None, quick: bool, compile: list[str] | None, policy: str | None,
    failures: Path | None, plot: Path | None, *, json: bool,
) -> NoReturn:  # fmt: skip
    """Level 4: the levels below it are what the report speaks of, so `transfer` alone is left to run."""
    from simulacrum.cli.transferring import transfer
    from simulacrum.errors import UsageError

    if check or quick or len(compile or ()) > 1:
        raise UsageError(
            "level 4 is one check, and takes neither -k nor --quick nor several forms",
            next_step=f"simulacrum transfer {name} --help",
        )
    form = compile[0] if compile else None
    transfer(name, policy=[policy] if policy else None, compile=form, failures=failures, plot=plot, json=json)
    raise AssertionError("transfer ends by an exit")


def _check_plot(plot: Path | None, plan: Plan) -> None:
    """Refuse a picture that could not be drawn in the end."""
    from simulacrum.errors import UsageError
    from simulacrum.plots import check_picture

    check_picture(plot)
    if plot is not None and (COVERING not in plan.checks or plan.level in (1, 2)):
        raise UsageError(
            f"the coverage that --plot draws is seen by {COVERING}, at level 3",
            expected=f"a run with {COVERING}",
            found="a run without it" if plan.level is None else f"--level {plan.level}",
        )


def _run(
    plan: Plan, view: View, checks: list[str] | None, device: str, failures: Path, *, policy: Any, keep_going: bool
) -> BatteryResult:
    from simulacrum.harness.battery import run_battery

    with view:
        return run_battery(
            plan.package,
            checks=checks,
            level=plan.level,
            forms=plan.forms if plan.named else None,
            device=device,
            quick=plan.quick,
            failures=failures,
            progress=view.progress,
            on_check=view.ended,
            policy=policy,
            keep_going=keep_going,
        )


def _plan(
    package: EnvPackage,
    check: list[str] | None,
    compile: list[str] | None,
    device: str,
    quick: bool,
    level: int | None = None,
) -> Plan:
    from simulacrum.cli.progress import Plan
    from simulacrum.engine.forms import resolve_form, standard_forms
    from simulacrum.engine.modes import check_device
    from simulacrum.harness.battery import at_level, chosen_checks

    place = check_device(device)
    forms = standard_forms(place) if level is None or level > 2 else ("eager",)
    if level is None and compile is None and forms == ("eager",):
        terminal.warn("no compiler was found, so only the eager form is validated (`simulacrum doctor` says more)")
    for form in compile or ():
        resolve_form(form, place, warn=False)
    return Plan(
        package=package,
        checks=tuple(chosen_checks((check or None) if level is None else at_level(level, check or None))),
        forms=tuple(dict.fromkeys(["eager", *compile])) if compile else forms,
        named=bool(compile),
        device=str(place),
        quick=quick,
        full=not check and not quick and level is None,
        level=level,
    )


def failures_folder() -> Path:
    """`failures` in the working directory or, where that cannot be written, in the user's state directory."""
    from simulacrum.attest.report import state_folder

    here = Path("failures")
    with contextlib.suppress(OSError):
        if os.access(here if here.exists() else Path.cwd(), os.W_OK | os.X_OK):
            return here
    return state_folder() / "failures"
