"""Coverage by rule: how much of what carries out each rule of the spec a run has exercised."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simulacrum.plots.style import BLUE, INK, MUTED, VERMILLION, bare, picture

WIDTH = 64  # characters of a rule's text beside its bar
LETTER = 0.0135  # the share of the axis that a letter behind a bar takes


@dataclass(frozen=True)
class Rule:
    """One rule: how many statements of the reference carry it out, how many of them ran, and what else never came up.

    name, text: as the spec has them. never: outcomes of conditions in those statements that never came up.
    batched: whether the batched twin carried it out; None where it names the rule nowhere.
    """

    name: str
    text: str
    statements: int
    ran: int
    never: int = 0
    batched: bool | None = None


def coverage_by_rule(path: Path, rules: Sequence[Rule], *, title: str) -> None:
    """Draw a bar for each rule, in the order given: its statements that ran, and behind them those that did not.

    Raises:
        UsageError: as `check_picture`.
    """
    with picture(path, 9.6, 1.5 + 0.32 * len(rules)) as figure:
        from matplotlib.ticker import MaxNLocator

        axes = figure.subplots()
        places, most = range(len(rules)), max(rule.statements for rule in rules)
        ran, rest = [rule.ran for rule in rules], [rule.statements - rule.ran for rule in rules]
        axes.barh(places, ran, color=BLUE, height=0.62, label="statements of the reference that ran")
        axes.barh(places, rest, left=ran, color=VERMILLION, hatch="//", height=0.62, label="that never ran")
        for y, rule in enumerate(rules):
            whole = rule.ran == rule.statements and not rule.never and rule.batched is not False
            axes.text(
                rule.statements + 0.02 * most, y, _said(rule), va="center", fontsize=8.5, color=MUTED if whole else INK
            )
        names = [f"{_short(rule.text)}  {rule.name}" for rule in rules]
        axes.set_yticks(places, names, fontsize=8.5)
        axes.set_ylabel("rules of the spec")
        axes.set_xlabel("statements that carry the rule out")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        longest = max(len(_said(rule)) for rule in rules)
        axes.set_xlim(0, most / (1 - min(0.75, 0.03 + LETTER * longest)))
        axes.invert_yaxis()
        axes.grid(visible=False)
        bare(axes, "left")
        axes.set_title(title, x=0.0)
        if any(rest):
            figure.legend(loc="outside lower right", ncols=2)


def _short(text: str) -> str:
    """As much of a rule as has room."""
    return textwrap.shorten(text.replace("`", ""), WIDTH, placeholder=" …")


def _said(rule: Rule) -> str:
    """What is told beside a bar."""
    parts = [f"{rule.ran} of {rule.statements}"]
    if rule.never:
        parts.append(f"{rule.never} outcome{'s' if rule.never > 1 else ''} never came up")
    if rule.batched is False:
        parts.append("never in the batched twin")
    return ", ".join(parts)
