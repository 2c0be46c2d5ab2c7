"""Train every environment to the level that is known for it: `python training/published.py cartpole --seeds 3`.

One row of `TABLE` says for an environment which script trains it, with which arguments, and what return others have
reached or is the best there is. The command runs the script once for each seed and measures on the reference twin. It
leaves a picture and a JSON file for the environment's page, and says whether the level was reached.

    python training/published.py cartpole taxi      these
    python training/published.py --missing          all of the table that have no results yet
    python training/published.py frozenlake --quick a twentieth of the steps, one seed, nothing is written
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import torch
import tyro

import curves
from settings import TABLE, Settings
from simulacrum.attest.mutation import digests
from simulacrum.contract.package import find_packages, load_package
from simulacrum.errors import GateError

OUT = Path(__file__).resolve().parents[1] / "docs" / "assets" / "environments"
QUICK = 20  # times fewer steps


@dataclass
class Args:
    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()  # environments of the table
    all: bool = False  # every environment of the table that is installed
    missing: bool = False  # those of them without results in `out`
    seeds: int | None = None  # runs of each; as the table says by default
    quick: bool = False  # a look whether it runs: a twentieth of the steps, one seed, nothing is written
    out: Path = OUT  # folder of the picture and the JSON file
    runs: Path = Path("runs")  # where the runs' folders are made


def chosen(args: Args) -> list[str]:
    """The environments to train.

    Raises:
        SystemExit: a name that is not in the table, or none at all.
    """
    unknown = [name for name in args.names if name not in TABLE]
    if unknown:
        raise SystemExit(f"no settings for {', '.join(unknown)} in training/settings.py; known: {', '.join(TABLE)}")
    names = list(args.names)
    if args.all or args.missing:
        installed = {package.name for package in find_packages()}
        names += [name for name in TABLE if name in installed and name not in names]
    if args.missing:
        names = [name for name in names if not (args.out / f"{name}-training.json").is_file()]
    if not names and not args.missing:
        raise SystemExit(f"name an environment, or --all, or --missing; known: {', '.join(TABLE)}")
    return names


def train(name: str, settings: Settings, seeds: int, runs: Path) -> list[dict[str, Any]]:
    """What results.json holds, of one run for each seed.

    Raises:
        GateError: the environment is not validated; the message names the command that mends it.
    """
    module = importlib.import_module(settings.script)
    env_id = load_package(name).env_id
    given = {"env_id": env_id, "runs": runs, "exp": "published", **settings.arguments}
    return [module.main(module.Args(seed=seed, **given)) for seed in range(1, seeds + 1)]


def summary(name: str, settings: Settings, results: list[dict[str, Any]]) -> dict[str, Any]:
    """What the page shows: how it was trained, what came of it, and whether the level was reached."""
    package = load_package(name)
    trained = [next(iter(result["reference"].values())) for result in results]
    mean = sum(run["return"] for run in trained) / len(trained)
    runs = [
        {"seed": result["args"]["seed"], "steps": result["steps"], "seconds": round(result["seconds"], 1), **measured}
        for result, measured in zip(results, trained, strict=True)
    ]
    reference = results[0]["reference"]
    others = {who: measured["return"] for who, measured in reference.items() if who.endswith(", scripted")}
    return {
        "env_id": package.env_id,
        "algorithm": next(iter(reference)).removesuffix(", trained"),
        "command": command(name, settings),
        "level": settings.level,
        "source": settings.source,
        "link": settings.link,
        "return": mean,
        "reached": mean >= settings.level,
        "runs": runs,
        "scripted": others,
        "package": digests(package)[0],
        "with": f"torch {torch.__version__.partition('+')[0]}, gymnasium {gym.__version__}",
        "made": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def command(name: str, settings: Settings) -> str:
    """The same training by the script itself, as one types it."""
    words = [f"python training/{settings.script}.py --env-id {load_package(name).env_id}"]
    for key, value in settings.arguments.items():
        option = key.replace("_", "-")
        if isinstance(value, dict):
            words.append(" ".join([f"--{option}", *(f"{one} {number}" for one, number in value.items())]))
        elif isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words.append(f"--{option} {value:,}".replace(",", "_") if isinstance(value, int) else f"--{option} {value}")
    return " ".join(words)


def keep(name: str, settings: Settings, results: list[dict[str, Any]], out: Path) -> dict[str, Any]:
    """Draw the picture and write the JSON file; returns what it holds."""
    body = summary(name, settings, results)
    out.mkdir(parents=True, exist_ok=True)
    title = f"{body['algorithm']} on {body['env_id']}"
    told = settings.source.replace("`", "")  # code on the page is words in a picture
    given = curves.Args(folders=(), title=title, level=settings.level, level_name=told)
    curves.draw(curves.together(results), given, out / f"{name}-training.png")
    (out / f"{name}-training.json").write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return body


def main(args: Args) -> int:
    """Train what is asked for; 0 where every level was reached, 1 otherwise (a closed gate is no end of the others)."""
    lines, missed = [], 0
    for name in chosen(args):
        settings = TABLE[name]
        if args.quick:
            fewer = {"total_steps": settings.arguments["total_steps"] // QUICK, "eval_episodes": 5, "eval_seeds": 1}
            settings = replace(settings, arguments={**settings.arguments, **fewer})
        try:
            results = train(name, settings, args.seeds or (1 if args.quick else settings.seeds), args.runs)
        except GateError as closed:  # the others can be trained all the same
            missed += 1
            lines.append(f"{name:24} not trained: {closed.message}; {closed.next_step}")
            continue
        body = summary(name, settings, results) if args.quick else keep(name, settings, results, args.out)
        missed += not body["reached"]
        ends = ", ".join(f"{run['return']:.2f}" for run in body["runs"])
        verdict = "reached" if body["reached"] else "not reached"
        lines.append(f"{name:24} {body['algorithm']:8} {ends:32} {settings.level:g} ({settings.source}): {verdict}")
    print("\n".join(lines))
    return 1 if missed and not args.quick else 0


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Args, description=__doc__)))
