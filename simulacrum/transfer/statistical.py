"""The statistical form: policies trained in each twin, and a margin within which their mean returns must agree.

For twins with a declared tolerance. Everything that decides is stated in a plan before the first training, and the plan
is written down; there is no looking at the outcome and training on. The unit is a training seed: the episodes of one
policy say much about that policy and little about training.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from simulacrum.attest.atomic import replace_file
from simulacrum.errors import UsageError
from simulacrum.harness.bench import Outcome, failed, inconclusive, passed
from simulacrum.harness.frames import frame_fields
from simulacrum.transfer.certificate import Standing
from simulacrum.transfer.learner import ROWS, Train
from simulacrum.transfer.policies import Policy
from simulacrum.transfer.sides import SIDES, Side, returns, vector_env
from simulacrum.transfer.tost import Tost, Verdict, tost

FEWEST_SEEDS = 3
PLAN, RESULTS = "plan.json", "results.json"
Say = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plan:
    """What is decided before anything is trained.

    env_id, digest: what is judged, and the hash of it all. form: of the batched twin. learner: what trains.
    margin: the smallest difference of mean returns that matters. alpha: the level of each one-sided test.
    seeds: trainings in each twin. first_seed: of the first; each twin has seeds of its own unless `paired`.
    steps: of each training. episodes: of each policy in each twin, averaged. paired: the same seeds in both twins, and
    a test of the differences.
    """

    env_id: str
    digest: str
    form: str
    learner: str
    margin: float
    alpha: float
    seeds: int
    first_seed: int
    steps: int
    episodes: int
    paired: bool

    def __post_init__(self) -> None:
        if self.seeds < FEWEST_SEEDS:
            raise UsageError("too few trainings to see a spread", expected=f"{FEWEST_SEEDS} or more", found=self.seeds)
        tost([0.0, 0.0], [0.0, 0.0], margin=self.margin, alpha=self.alpha)  # a margin or level that cannot be

    def seeds_of(self, side: Side) -> range:
        """The training seeds in one twin; in the other one others, unless paired: samples are independent."""
        first = self.first_seed + (self.seeds if side == "reference" and not self.paired else 0)
        return range(first, first + self.seeds)


@dataclass(frozen=True)
class Trained:
    """One training: in which twin, its seed, and the policy's mean return in each twin."""

    side: Side
    seed: int
    batched: float
    reference: float


@dataclass(frozen=True)
class Study:
    """All trainings of a plan, and what they show in two tests.

    trained: policies trained in the batched twin against those trained in the reference, all judged in the reference.
    judged: the policies trained in the batched twin, as it judges them against as the reference does; pairs.
    """

    plan: Plan
    trainings: tuple[Trained, ...]

    def means(self, side: Side, judge: Side) -> list[float]:
        """Mean returns of the policies trained in `side`, in `judge`; one a seed."""
        return [getattr(one, judge) for one in self.trainings if one.side == side]

    @cached_property
    def tests(self) -> dict[str, Tost]:
        """Both comparisons by name."""
        plan, judged = self.plan, self.means("batched", "reference")
        learned = self.means("reference", "reference")
        return {
            "trained": tost(judged, learned, margin=plan.margin, alpha=plan.alpha, paired=plan.paired),
            "judged": tost(
                self.means("batched", "batched"), judged, margin=plan.margin, alpha=plan.alpha, paired=True
            ),
        }

    @property
    def verdict(self) -> Verdict:
        """Equivalent where both are: that both must be makes it no easier, so the level needs no correction."""
        found = [one.verdict for one in self.tests.values()]
        if "different" in found:
            return "different"
        return "equivalent" if set(found) == {"equivalent"} else "not shown"


def tolerances(standing: Standing) -> list[str]:
    """The fields that the twins may differ in, by the schema; empty where they are bit-identical."""
    return [name for name, field in frame_fields(standing.package.schema).items() if field.tolerance is not None]


def study(
    standing: Standing, plan: Plan, train: Train, folder: Path, *, say: Say,
    on_trained: Callable[[Trained], None] = lambda trained: None,
) -> Study:  # fmt: skip
    """Train and judge all that the plan names; what `folder` has of this very plan already is taken from there.

    Raises:
        UsageError: the folder holds another plan. A plan is not changed once it has results.
    """
    done = _begun(folder, plan)
    total = 2 * plan.seeds
    for number in range(plan.seeds):
        for side in SIDES:  # in turns, so that a run that was stopped has both
            seed = plan.seeds_of(side)[number]
            if any((one.side, one.seed) == (side, seed) for one in done):
                continue
            say(f"training in the {side} twin, seed {seed}", len(done), total)
            envs = vector_env(standing.package, side, ROWS, standing.form)
            policy = Policy(f"{side} {seed}", batch=train(envs, seed, plan.steps))
            envs.close()
            say(f"judging in both twins, seed {seed}", len(done), total)
            means = {
                judge: float(returns(standing.package, judge, policy, plan.episodes, standing.form).mean())
                for judge in SIDES
            }
            done.append(Trained(side, seed, means["batched"], means["reference"]))
            _write(folder / RESULTS, [asdict(one) for one in done])
            on_trained(done[-1])
    return Study(plan, tuple(done))


def outcome(found: Study) -> Outcome:
    """The study as an outcome of the battery. "Not shown" is no pass, and no failure either."""
    tests = found.tests
    evidence: dict[str, Any] = {
        "form": "statistical",
        "verdict": found.verdict,
        "plan": asdict(found.plan),
        "tests": {name: one.to_json() for name, one in tests.items()},
        "trainings": [asdict(one) for one in found.trainings],
    }
    message = "; ".join(said(name, one) for name, one in tests.items())
    kind = {"equivalent": passed, "different": failed, "not shown": inconclusive}[found.verdict]
    return kind(f"{found.verdict} within {found.plan.margin:g}: {message}", **evidence)


def said(name: str, one: Tost) -> str:
    """One comparison in a line."""
    level = round(100 * (1 - 2 * one.alpha))
    return (
        f"{name} {one.difference:+.4g}, {level} % interval {one.low:+.4g} to {one.high:+.4g} ({one.verdict}, "
        f"power {one.power:.2f})"
    )


def _begun(folder: Path, plan: Plan) -> list[Trained]:
    """The trainings of this plan that the folder has already; the plan is written into a new one."""
    folder.mkdir(parents=True, exist_ok=True)
    stated = asdict(plan)
    if not (folder / PLAN).exists():
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        _write(folder / PLAN, {**stated, "stated": now})
        return []
    there = cast("dict[str, Any]", _read(folder / PLAN))
    differs = {name: value for name, value in stated.items() if there.get(name) != value}
    changed = [f"{name}: {there.get(name)!r}, now {value!r}" for name, value in differs.items()]
    if changed:
        raise UsageError(
            "the folder holds another plan, and a plan is not changed once it was stated",
            expected="the same settings and files, or a folder of its own for another plan",
            found="; ".join(changed),
            where=folder,
            next_step="name another folder with --output",
        )
    rows: Sequence[Mapping[str, Any]] = _read(folder / RESULTS) if (folder / RESULTS).exists() else []
    return [Trained(**one) for one in rows]


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path.name} cannot be read: {error}", where=path, next_step="name another folder") from error


def _write(path: Path, value: Any) -> None:
    replace_file(path, (json.dumps(value, indent=1) + "\n").encode())
