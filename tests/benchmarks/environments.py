"""Steps a second of every environment beside the one it stands for: `make bench-environments`.

    python tests/benchmarks/environments.py                             all environments below envs/
    python tests/benchmarks/environments.py cartpole --sizes 1 64       this one, with so many rows
    python tests/benchmarks/environments.py --peers envpool gymnax      and these, where they have it

The forms of the batched twin, the original in Gymnasium's SyncVectorEnv (up to 64 rows: its steps cost the same with
more), Gymnasium's own vector class where there is one, and peers take turns in one run, as in bench.py. What came of it
is kept for the environment's page, in docs/assets/environments/NAME-throughput.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from suite import gymnasiums, machine, originals, ours, plan, tables, venvs, workers
from suite.contender import Contender, ratio

from simulacrum.attest.mutation import digests
from simulacrum.contract.package import BrokenPackage, EnvPackage, packages_at

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "docs" / "assets" / "environments"
SIZES = (1, 64, 8192)
SYNC_MOST = 64
PEERS = ("envpool", "gymnax")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="environments; all of envs/ by default")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="numbers of rows N")
    parser.add_argument("--forms", nargs="+", default=ours.forms(), choices=ours.forms())
    parser.add_argument("--peers", nargs="*", default=[], choices=PEERS, help="set up at first use")
    parser.add_argument("--rounds", type=int, default=5, help="windows of each contender")
    parser.add_argument("--seconds", type=float, default=0.2, help="of each window")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the files")
    return parser.parse_args(given)


def packages(names: list[str]) -> list[EnvPackage]:
    """The environments with these names, or all of the project that can be read."""
    found = [one for one in packages_at(ROOT / "envs") if not isinstance(one, BrokenPackage)]
    unknown = sorted(set(names) - {one.name for one in found})
    if unknown:
        raise SystemExit(f"no environment {', '.join(unknown)} in envs/")
    return [one for one in found if not names or one.name in names]


def builders(
    package: EnvPackage, num_envs: int, forms: list[str], helpers: dict[str, workers.Worker]
) -> dict[str, Callable[[], Contender]]:
    """How each contender of an environment is built, by its name."""
    made: dict[str, Callable[[], Contender]] = {
        way.title: lambda way=way: ours.contender(way)(package, num_envs) for way in ours.ways(forms) if way.plain
    }
    env_id = originals.gymnasium_id(package)
    if env_id is None:
        return made
    if num_envs <= SYNC_MOST:
        made["Gymnasium SyncVectorEnv"] = lambda: gymnasiums.sync(num_envs, env_id, originals.version_of(package))
    if env_id == "CartPole-v1":
        made["Gymnasium CartPoleVectorEnv"] = lambda: gymnasiums.cartpole_vector(num_envs)
    for name, helper in helpers.items():
        theirs = originals.gymnax_id(env_id) if name == "gymnax" else env_id
        made[workers.TITLES[name]] = lambda h=helper, t=theirs: workers.contender(h, num_envs, environment=t)
    return made


def body(package: EnvPackage, groups: list[dict[str, Any]]) -> dict[str, Any]:
    """What the page shows: of each contender the median rate, and how many times as fast the native form is."""
    rows: dict[str, dict[str, Any]] = {}
    for group in groups:
        size = str(group["num_envs"])
        native = next((tables.rates(one) for one in group["contenders"] if one["name"] == "native"), None)
        for one in group["contenders"]:
            about = {key: one[key] for key in ("name", "kind", "version", "settings")}
            row = rows.setdefault(one["name"], {**about, "rates": {}, "native_is": {}})
            row["rates"][size] = float(f"{one['steps_per_second']['cpu']['median']:.4g}")
            if native is not None and one["name"] != "native":
                row["native_is"][size] = float(f"{ratio(native, tables.rates(one)):.4g}")
    here = machine.describe()
    return {
        "env_id": package.env_id,
        "sizes": [group["num_envs"] for group in groups],
        "rows": list(rows.values()),
        "machine": {key: here[key] for key in ("cpu", "cores", "cpu_capability")},
        "load": max((load[0] for group in groups for load in group["load"] if load), default=0.0),
        "with": f"{here['cpu']}, torch {here['packages']['torch'].partition('+')[0]}",
        "made": time.strftime("%Y-%m-%d", time.gmtime()),
        "package": digests(package)[0],
    }


def main(given: list[str] | None = None) -> int:
    asked = arguments(given)
    torch.set_num_threads(1)
    missing: list[dict[str, Any]] = []
    failed = venvs.ensure(asked.peers, say=lambda text: print(text, file=sys.stderr, flush=True))
    helpers = {name: workers.Worker(name) for name in asked.peers if name not in failed}
    settings = plan.Plan(rounds=asked.rounds, seconds=asked.seconds)
    asked.out.mkdir(parents=True, exist_ok=True)
    try:
        for package in packages(asked.names):
            groups = []
            for size in asked.sizes:
                made = builders(package, size, asked.forms, helpers)
                groups.append(plan.measure_group(settings, package.name, size, made, missing))
                print(f"{tables.plain(groups[-1])}\n", flush=True)
            path = asked.out / f"{package.name}-throughput.json"
            path.write_text(json.dumps(body(package, groups), indent=1) + "\n", encoding="utf-8")
    finally:
        for helper in helpers.values():
            helper.close()
    for text in sorted({f"{one['environment']}, {one['name']}: {one['why']}" for one in missing}):
        print(f"not measured: {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
