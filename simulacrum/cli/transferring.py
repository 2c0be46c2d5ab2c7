"""`simulacrum transfer`: level 4, whether a policy plays in the batched twin as it plays in the reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulacrum.cli import terminal
from simulacrum.cli.choices import Env, Json

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage
    from simulacrum.harness.bench import Outcome
    from simulacrum.transfer.certificate import Standing
    from simulacrum.transfer.policies import Policy
    from simulacrum.transfer.statistical import Plan

STEPS, SEEDS, EPISODES, JUDGED = 50_000, 5, 1_000, 200


def transfer(
    name: Env,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", metavar="POLICY", help="A probe's name, random, path.py:function, model.zip, or checkpoint.pt "
            "of training/ppo.py (repeatable). Default: the package's probes, and policies that are trained here.",
        ),
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", min=1, help="Exact form: of each policy.")] = EPISODES,
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="Statistical form: the smallest difference of mean returns that matters."),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Statistical form: trainings in each twin.")] = SEEDS,
    alpha: Annotated[float, typer.Option("--alpha", help="Statistical form: level of each one-sided test.")] = 0.05,
    paired: Annotated[
        bool, typer.Option("--paired", help="Statistical form: the same training seeds in both twins, and their pairs.")
    ] = False,
    judged: Annotated[
        int, typer.Option("--eval-episodes", min=1, help="Statistical form: of each policy in each twin.")
    ] = JUDGED,
    force: Annotated[
        bool, typer.Option("--force-statistics", help="The statistical form for bit-identical twins too; not recorded.")
    ] = False,
    train: Annotated[
        str | None,
        typer.Option("--train", metavar="FILE:FUNCTION", help="Trains in place of the built-in PPO: "
                     "function(envs, seed, steps) gives policy(observations, mask)."),
    ] = None,
    steps: Annotated[int, typer.Option("--train-steps", min=0, help="Of each training; 0: none is trained.")] = STEPS,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the first training, and of the rows.")] = 1,
    compile: Annotated[
        str | None, typer.Option("--compile", metavar="FORM", help="Form of the batched twin. Default: the fastest.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Statistical form: plan, results and picture; a run that "
                     "was stopped goes on with them. Default: runs/transfer-ID."),
    ] = None,
    failures: Annotated[
        Path | None, typer.Option("--failures", metavar="DIR", help="Where failure files go. Default: failures/")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Statistical form: draw it here, not in --output."),
    ] = None,
    json: Json = False,
) -> None:
    """Level 4: does a policy play in the batched twin as it plays in the reference?

    Where the twins are bit-identical, the same policy plays in both, and every bit must be equal. Where the schema
    declares a tolerance, policies are trained in both twins, and their mean returns must be shown to differ by less
    than --margin, by two one-sided tests over training seeds. The margin is stated first; without it nothing runs.

    Needs a fresh report of a full run, and adds its result to it as the check policy_transfer. No gate needs that
    check; one that has failed closes it.

    Exit codes: 0 equal or equivalent, 1 different, or equivalence was not shown, 2 wrong usage.

    --json prints one JSON object a line, each with an "event":

    - `started`: version, package, env_id, folder, form (exact or statistical), batched_form, tolerances (fields),
      policies (names) or plan
    - `progress`: what, done, total
    - `policy`: name, episodes, transitions, mean_return, equal, ...; or `trained`: side, seed, batched, reference
    - `finished`: status, verdict, message, evidence, divergence (null, or the whole record), report (path or null),
      picture (path or null), seconds, gate {status, why, next_command}
    - `error`, in place of `finished`: kind, message, expected, found, where, next
    """
    from simulacrum.contract.package import load_package

    terminal.use_json(json)
    package = load_package(name)
    terminal.one_thread()
    from simulacrum.cli.transfer_view import show, view_for
    from simulacrum.transfer.certificate import standing
    from simulacrum.transfer.statistical import Plan, tolerances

    known = standing(package, compile)
    fields = tolerances(known)
    _check(package, fields, margin, force, policy, plot)
    view = view_for(known, fields, json=json)
    if fields or force:
        assert margin is not None
        plan = Plan(
            env_id=package.env_id, digest=known.report.whole, form=known.form, learner=train or "built-in PPO",
            margin=margin, alpha=alpha, seeds=seeds, first_seed=seed, steps=steps, episodes=judged, paired=paired,
        )  # fmt: skip
        folder = output or Path("runs") / ("transfer-" + package.env_id.rpartition("/")[2])
        with view:
            outcome, picture = _statistical(known, plan, train, folder, plot, view)
    else:
        with view:
            chosen = _policies(known, policy or [], train, steps, seed, view)
            outcome, picture = _exact(known, chosen, episodes, failures, seed, view), None
    show(known, outcome, picture, view, recorded=bool(fields) or not force)
    raise typer.Exit(terminal.PASSED if outcome.status == "passed" else terminal.FAILED)


def _check(
    package: EnvPackage, fields: list[str], margin: float | None, force: bool, policy: list[str] | None,
    plot: Path | None,
) -> None:
    """Refuse what would make a run say less than it seems to."""
    from simulacrum.errors import UsageError
    from simulacrum.plots import check_picture

    if (fields or force) and margin is None:
        declared = f"{package.env_id} declares a tolerance in {', '.join(fields)}"
        raise UsageError(
            f"{declared if fields else 'statistics are asked for'}, and no margin was stated",
            expected="--margin: the smallest difference of mean returns that matters, chosen before training",
            next_step=f"simulacrum transfer {terminal.spoken(package)} --margin RETURN",
        )
    if (fields or force) and policy:
        raise UsageError(
            "the statistical form trains its policies in both twins", expected="--train, or nothing",
            found=f"--policy {policy[0]}",
        )  # fmt: skip
    if margin is not None and not (fields or force):
        raise UsageError(
            f"the twins of {package.env_id} are bit-identical, so there is nothing to allow for",
            expected="no --margin: every bit must be equal",
            next_step=f"simulacrum transfer {terminal.spoken(package)}",
        )
    if plot is not None and not (fields or force):
        raise UsageError("bit-identical twins leave no interval to draw", expected="no --plot", found=f"--plot {plot}")
    check_picture(plot)


def _policies(
    known: Standing, named: list[str], train: str | None, steps: int, seed: int, view: Any
) -> list[Policy]:
    """Who plays: those that are named, else the probes and one that is trained in the batched twin."""
    from simulacrum.errors import UsageError
    from simulacrum.transfer.learner import ROWS
    from simulacrum.transfer.policies import Policy, probes_of
    from simulacrum.transfer.sides import vector_env

    if named:
        return [_named(known.package, one, seed) for one in named]
    found = probes_of(known.package)
    if steps:
        envs = vector_env(known.package, "batched", ROWS, known.form)
        view.say(f"training a policy for {steps:,} steps", 0, 0)
        about = {"kind": "trained", "learner": train or "built-in PPO", "seed": seed, "steps": steps}
        try:
            found.append(Policy("trained", batch=_learner(train)(envs, seed, steps), about=about))
        except UsageError as error:
            if not found or train is not None:
                raise
            terminal.warn(f"no policy is trained: {error.message} ({error.next_step})")
    if not found:
        raise UsageError("there is no policy to play", expected="--policy, probes in the package, or --train-steps")
    return found


def _named(package: EnvPackage, given: str, seed: int) -> Policy:
    import hashlib

    from simulacrum.cli.given_policy import load_policy
    from simulacrum.transfer.policies import at_random, of_function, probes_of

    known = {one.name: one for one in [*probes_of(package), at_random(package.schema, seed)]}
    if given in known:
        return known[given]
    file = Path(given.partition(":")[0]).expanduser()
    if file.suffix not in (".py", ".zip", ".pt"):
        from simulacrum.errors import UsageError

        raise UsageError(
            f"{package.name} has no policy {given!r}",
            expected=f"{', '.join(known)}, path.py:function, model.zip or checkpoint.pt",
        )
    act = load_policy(given, package)
    about = {"kind": "file", "file": given, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    return of_function(Path(given).name, act, about)


def _learner(given: str | None) -> Any:
    """The training function: the built-in one, or one of a file."""
    from simulacrum.cli.given_policy import function_of
    from simulacrum.errors import UsageError
    from simulacrum.transfer.learner import train

    if given is None:
        return train
    path, _, function = given.partition(":")
    file = Path(path).expanduser()
    if not file.is_file():
        raise UsageError("--train names no file", expected="path.py:function", found=given)
    return function_of(file, function, "train", "path.py:function")


def _exact(
    known: Standing, policies: list[Policy], episodes: int, failures: Path | None, seed: int, view: Any
) -> Outcome:
    from simulacrum.cli.validation import failures_folder
    from simulacrum.transfer.exact import exact

    view.started({"policies": [one.name for one in policies]})
    return exact(
        known, policies, episodes=episodes, failures=failures or failures_folder(), seed=seed, say=view.say,
        on_policy=view.played,
    )  # fmt: skip


def _statistical(
    known: Standing, plan: Plan, train: str | None, folder: Path, plot: Path | None, view: Any
) -> tuple[Outcome, Path | None]:
    from dataclasses import asdict

    from simulacrum.cli import pictures
    from simulacrum.errors import UsageError
    from simulacrum.transfer.statistical import outcome, study

    view.started({"plan": asdict(plan), "output": str(folder)})
    found = study(known, plan, _learner(train), folder, say=view.say, on_trained=view.trained)
    try:
        return outcome(found), pictures.study(plot or folder / "transfer.png", found)
    except UsageError as error:
        terminal.warn(f"no picture: {error.message} ({error.next_step})")
        return outcome(found), None
