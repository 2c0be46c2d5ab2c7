"""What the smallest case still needs: other rows, a form, a history, a reset, an episode, a time near the limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from simulacrum.harness.diagnosis.rungs import first_rung
from simulacrum.harness.diagnosis.view import Clue, View


def clues(view: View) -> Iterator[Clue]:
    """All of them."""
    yield from _rows(view)
    yield from _form(view)
    yield from _history(view)
    yield from _reset(view)
    yield from _clock(view)


def _rows(view: View) -> Iterator[Clue]:
    case, line = view.case, view.line
    if case.num_envs == 1:
        return
    if len(case.lines) > 1:
        other = case.lines[1].row
        equal = view.right != view.wrong and view.wrong == view.at(view.crowd, other)
        why = f"row {line.row} needs row {other} beside it, with other values"
        yield Clue("K02", 11, why + (": it has that row's value" if equal else ""))
        yield Clue("K01", 9, why + ": an axis too many meets the batch's")
        if view.resetting:
            yield Clue("K09", 10, why + ", in a reset: it reaches the wrong rows")
        return
    first = view.still(replace(case, lines=(replace(line, row=0),)))
    last = view.still(replace(case, lines=(replace(line, row=case.num_envs - 1),)))
    why = f"it differs among {case.num_envs} copies of one row"
    if first and last:
        yield Clue("K23", 11, why + ": only the size of the batch matters")
    else:
        place = "only the first row" if first else "only the last row" if last else f"row {line.row}, not the first"
        yield Clue("K23", 8, f"{why}: {place}")
    yield Clue("K01", 9 if not first else 6, f"{why}: {'not in row 0' if not first else 'their place is no matter'}")
    yield Clue("K02", 5, why)


def _form(view: View) -> Iterator[Clue]:
    if view.case.form == "eager":
        return
    why = f"the eager form is right, the {view.case.form} form is not"
    rung = first_rung(view)
    yield Clue("K23", 11, f"{why}{rung}")
    if isinstance(view.right, float):
        yield Clue("K13", 8, why)
    yield Clue("K12", 5 if isinstance(view.right, int) else 3, f"{why}: casts wrap in eager and saturate when compiled")


def _history(view: View) -> Iterator[Clue]:
    if view.case.steps > 1 and view.step > 0:
        why = f"no single step shows it, {view.case.steps} steps do: something is kept outside the state"
        yield Clue("K19", 11, why)
        yield Clue("K09", 10, why)
        yield Clue("K24", 4, why)


def _reset(view: View) -> Iterator[Clue]:
    if view.kind in ("final_obs", "final_info"):
        yield Clue("K08", 11, "what is wrong is shown of the end of an episode")
    if not view.resetting:
        return
    why = "it starts an episode"
    if view.previous is not None and view.wrong == view.previous != view.right:
        yield Clue("K09", 12, f"the reset left {view.wrong}, the value before it")
    if view.line.ended or view.by_hand:
        how = "a reset by hand" if view.by_hand else "the auto-reset"
        yield Clue("K08", 7, f"{how} shows it, a reset of a seed does not")
        yield Clue("K09", 7, f"{how} shows it, a reset of a seed does not")
    if view.kind == "state":
        yield Clue("K10", 4, f"{why}: its state comes from the draws")
        yield Clue("K11", 3, f"{why}: its state comes from the draws")


def _clock(view: View) -> Iterator[Clue]:
    line, limit = view.line, view.case.max_episode_steps
    if view.kind in ("t", "episode", "episode_length"):
        yield Clue("K06", 9, f"{view.kind} is a counter of the engine")
        yield Clue("K08", 6, f"{view.kind} changes at an episode's boundary")
    if view.kind == "episode_return":
        yield Clue("K24", 9, "the return is a running sum")
        yield Clue("K09", 7, "the return must begin at nothing")
    if line.episode > 0 and view.step >= 0:
        yield Clue("K11", 5, f"only in episode {line.episode}, not in episode 0")
    if limit is not None and view.step >= 0 and limit - 1 <= line.t + view.step + 1 <= limit + 1 and line.t > 0:
        yield Clue("K06", 8, f"only at t = {line.t + view.step}, beside the limit of {limit}")
        yield Clue("K07", 5, f"only at t = {line.t + view.step}, beside the limit of {limit}")
    if line.t > 0 and line.start is not None and view.step >= 0 and view.case.num_envs == 1:
        early = replace(view.case, lines=(replace(line, t=0),))
        if not view.still(early):
            why = f"at t = {line.t + view.step}, and not at the episode's first step from the same state"
            yield Clue("K06", 7, why)
            yield Clue("K11", 3, why)
    yield from _other_times(view)


def _other_times(view: View) -> Iterator[Clue]:
    """Whether everything that differs is as it should be at another t."""
    line = view.line
    for ahead in (1, -1):
        moved = "one step later" if ahead > 0 else "one step earlier"
        if line.start is None and view.step < 0 < ahead:
            frame, t = view.other(start=view.standing, t=1), 1
        else:
            t = line.t + ahead
            frame = view.other(t=t) if t >= 0 and line.start is not None else None
        if view.explains(frame):
            drawn = view.kind in ("state", "reward", "terminated")
            yield Clue("K11" if drawn else "K06", 11, f"the values are those of t = {t}: {moved}")
