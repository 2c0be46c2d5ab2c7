"""The end of a run in which a library trained: measured, shown and written as the other scripts do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from common.measure import Act, measure, scripted_policies, summary, table
from common.run import write_results


def finish(
    args: Any, folder: Path, package: Any, provenance: dict[str, Any], console: Console, title: str, trained: Act,
    *, seconds: float, steps: int, model: Any,
) -> dict[str, Any]:  # fmt: skip
    """Measure on the reference twin beside the scripted policies, show it, write it; returns what results.json holds.

    Args:
        args: the run's `EnvArgs` and `EvalArgs`.
        title: the library's name and the algorithm's.
        trained: the policy, for one row of the reference twin.
        seconds, steps: of training, all rows together.
        model: where the library saved it.
    """
    policies = {f"{title}, trained": trained, **scripted_policies(package)}
    measured = {name: measure(args, act) for name, act in policies.items()}
    console.print(table(args, measured))
    results = {
        "seconds": seconds,
        "steps": steps,
        "steps_per_second": steps / seconds,
        "model": Path(model).name,
        "reference": {name: summary(*numbers) for name, numbers in measured.items()},
    }
    console.print(f"trained in {seconds:.0f} s, {steps / seconds:,.0f} steps/s with the updates", highlight=False)
    console.print(f"model: {model}\nTensorBoard: tensorboard --logdir {args.runs}", soft_wrap=True)
    return write_results(folder, args, provenance, results)
