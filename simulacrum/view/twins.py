"""Two trajectories of one row as a story: paired by time, the first difference marked."""

from __future__ import annotations

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.page.story import Story
from simulacrum.trace.compare import first_difference
from simulacrum.trace.divergence import Divergence
from simulacrum.trace.trajectory import Trajectory
from simulacrum.view.tolerance import forgiven_all

NOWHERE = (-1, -1)  # the place of a difference that there is not


def twins(
    package: EnvPackage, reference: Trajectory, batched: Trajectory, *, note: str = ""
) -> tuple[Story, Divergence | None]:
    """The story of two trajectories, and their first difference: in any bit, or where a field declares a tolerance,
    beyond it (None: there is none).

    Args:
        package: whose schema both fit.
        reference, batched: one row each, of the same seed and the same actions.
        note: what is missing, and why; a page shows it.

    Raises:
        TraceError: a trajectory does not fit the schema.
    """
    kept = forgiven_all(reference, batched, package.schema)
    found = first_difference(reference, kept, package.schema, check="view")
    here = NOWHERE if found is None else (found.episode, found.t if found.step >= 0 else -1)
    return Story(reference, batched, here, (_spoken(reference), _spoken(batched)), note=note), found


def _spoken(given: Trajectory) -> str:
    return "reference.py" if given.form == "reference" else f"fast.py, {given.form}"
