"""A sweep over ppo.py with Ray Tune: `python training/tune_ppo.py --help`.

Settings are drawn once, the first being ppo.py's own; each is trained with every seed, `--cpus` trainings at a time, on
this machine or on those of a Ray cluster that is already up (`RAY_ADDRESS`). Every trial is a whole run of ppo.py: it
asks the gate in its own process, and its folder has the curve, the checkpoint and the digest of the environment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from ray import tune
from ray.tune.search.basic_variant import BasicVariantGenerator
from rich.console import Console
from rich.table import Table

from common import EnvArgs, EvalArgs, gate, new_folder, write_results
from common.cluster import started
from ppo import Args as PPOArgs
from simulacrum.plots import Setting, sweep

# What is searched, as Tune draws it: tune.loguniform, tune.choice, ... by the name that ppo.py's Args give it.
SEARCHED = {
    "learning_rate": tune.loguniform(3e-4, 1e-2),
    "entropy": tune.loguniform(1e-4, 3e-2),
    "epochs": tune.choice([3, 6, 10]),
}


@dataclass
class Args(EvalArgs, EnvArgs):
    exp: str = "tune_ppo"  # name of the experiment, a part of the sweep's folder name
    env_id: str = "simulacrum/cartpole-v1"  # id of a registered environment
    seed: int = 1  # that settings are drawn with
    settings: int = 6  # how many settings; the first is ppo.py's own
    seeds: tuple[int, ...] = (1, 2, 3)  # of the trainings with each setting
    cpus: int = 2  # trainings at a time, a processor each

    total_steps: int = 150_000  # environment steps of each training
    num_envs: int = 64  # rows of the batch
    num_steps: int = 32  # steps of every row between updates
    minibatch: int = 512  # transitions an update; divides num_envs x num_steps
    compile_policy: bool = False  # as ppo.py's; compiling pays in trainings of more than a minute


def trial(folder: Path, given: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    """What Tune runs in a process of its own for each trial: ppo.py with `given` and the trial's own setting."""
    here = str(Path(__file__).resolve().parent)

    def run(config: dict[str, Any]) -> None:  # inside, so that it travels by value: workers do not know this module
        sys.path.insert(0, here)
        import ppo

        results = ppo.main(ppo.Args(runs=folder / "trials", **given, **config))
        trained = next(iter(results["reference"].values()))
        kept = {key: results[key] for key in ("folder", "digest", "seconds", "curve")}
        tune.report({"return": trained["return"], "length": trained["length"], **kept})

    return run


def main(args: Args) -> dict[str, Any]:
    """Sweep, show, draw; returns what results.json holds."""
    _, provenance = gate(args)
    folder = new_folder(args, provenance).resolve()
    console = Console()
    console.print(f"{args.settings} settings x {len(args.seeds)} seeds, {args.cpus} at a time", highlight=False)
    mine = ("exp", "seed", "runs", "settings", "seeds", "cpus")
    given = {key: value for key, value in vars(args).items() if key not in mine}
    given["register"] = None if args.register is None else args.register.resolve()  # workers live in other folders
    with started(args.cpus):
        tuner = tune.Tuner(
            tune.with_resources(trial(folder, given), {"cpu": 1}),
            param_space={**SEARCHED, "seed": tune.grid_search(list(args.seeds))},
            tune_config=tune.TuneConfig(
                num_samples=args.settings,
                # A setting that is drawn is the same with every seed.
                search_alg=BasicVariantGenerator(
                    points_to_evaluate=[{key: getattr(PPOArgs(), key) for key in SEARCHED}],
                    constant_grid_search=True,
                    max_concurrent=args.cpus,
                    random_state=args.seed,
                ),
            ),
            run_config=tune.RunConfig(name="tune", storage_path=str(folder), verbose=0),
        )
        found = tuner.fit()
    errors = [str(error) for error in found.errors]
    if errors:
        raise SystemExit(f"{len(errors)} of {len(found)} trials failed, see {folder / 'tune'}; the first:\n{errors[0]}")
    settings = gathered([(result.config, result.metrics) for result in found])
    console.print(shown(args, settings))
    draw(folder / "sweep.png", args, settings)
    console.print(f"picture: {folder / 'sweep.png'}\nruns: {folder / 'trials'}", soft_wrap=True)
    return write_results(folder, args, provenance, {"settings": settings})


def gathered(trials: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[dict[str, Any]]:
    """A dict for each setting, best mean return first: the setting, and by seed what each training gave."""
    by_setting: dict[tuple[Any, ...], dict[str, Any]] = {}
    for config, metrics in trials:
        setting = {key: config[key] for key in SEARCHED}
        entry = by_setting.setdefault(tuple(setting.values()), {"setting": setting, "trials": []})
        kept = {key: metrics[key] for key in ("return", "length", "folder", "digest", "seconds", "curve")}
        entry["trials"].append({"seed": config["seed"], **kept})
    usual = {key: getattr(PPOArgs(), key) for key in SEARCHED}
    for entry in by_setting.values():
        entry["trials"].sort(key=lambda one: one["seed"])
        returns = np.array([one["return"] for one in entry["trials"]])
        entry["return"] = float(returns.mean())
        entry["standard_error"] = float(returns.std(ddof=1) / len(returns) ** 0.5) if len(returns) > 1 else float("nan")
        entry["usual"] = entry["setting"] == usual
    return sorted(by_setting.values(), key=lambda entry: -entry["return"])


def shown(args: Args, settings: list[dict[str, Any]]) -> Table:
    """Mean returns on the reference twin by setting."""
    size = f"{args.eval_seeds} x {args.eval_episodes} episodes each"
    rows = Table(title=f"{args.env_id}, reference twin, {len(args.seeds)} trainings a setting, {size}")
    for heading in (*SEARCHED, "mean return", "worst seed"):
        rows.add_column(heading, justify="right")
    for entry in settings:
        values = [f"{value:.2g}" if isinstance(value, float) else str(value) for value in entry["setting"].values()]
        worst = min(one["return"] for one in entry["trials"])
        mean = f"{entry['return']:.2f} ± {entry['standard_error']:.2f}"
        rows.add_row(*values, mean, f"{worst:.2f}", style="bold" if entry["usual"] else None)
    rows.caption = "bold: ppo.py's own; ± is one standard error over trainings; a best of many looks better than it is"
    return rows


def draw(path: Path, args: Args, settings: list[dict[str, Any]]) -> None:
    """Return while learning for each setting, and what each training ended with against its learning rate."""
    best, every = settings[0], []
    for entry in settings:
        name = " ".join(f"{key} {value:.2g}" for key, value in entry["setting"].items())
        called = " and ".join(["best"] * (entry is best) + ["ppo.py's own"] * entry["usual"])
        every.append(
            Setting(
                value=entry["setting"]["learning_rate"],
                label=f"{called}: {name}" if called else None,
                curves=[[(point[0], point[2]) for point in one["curve"]] for one in entry["trials"]],
                ends=[one["return"] for one in entry["trials"]],
            )
        )
    sweep(path, every, title=f"ppo.py on {args.env_id}, {len(settings)} settings", searched="learning rate")


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
