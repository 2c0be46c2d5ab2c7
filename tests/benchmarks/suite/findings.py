"""The page of findings: what each rule saw in whose environment, and where that may be a matter of taste."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from simulacrum.conformance.catalog import RULES

# What is to be said for the other side: by (library, rule), or by rule for all libraries.
NOTES: dict[tuple[str, str] | str, str] = {
    "aliasing.options": "The documentation does not say whose the dict is. Used a second time, it means a full reset.",
    "close.step_after": "The documentation does not say what a step after `close` does.",
    "close.closed": "`close` is overridden here, so the flag of the base class stays as it was.",
    "seeding.seed_list": "`VectorEnv.reset` documents an integer alone; lists are what `SyncVectorEnv` takes.",
    "seeding.row_seed": "One generator for all rows is a design of its own. A row cannot be played again alone then.",
    "rows.number": "One generator for all rows is a design of its own.",
    "rows.later_episodes": "One generator for all rows is a design of its own.",
    "partial_reset.others_stay": "A mask is documented for DISABLED alone. What may surprise is that nothing is said.",
    "partial_reset.refuses": "Which masks are refused is documented for Gymnasium's own environments alone.",
    "partial_reset.seeds": "How seeds go with a mask is documented for Gymnasium's own environments alone.",
    "step.reward_is_float": "Whole numbers are what the game pays; trainers convert them.",
    "step.before_reset": "The documentation demands a reset first, and not that a step without it is refused.",
    "disabled.no_autoreset": "The documentation leaves it to the caller; `SyncVectorEnv` refuses.",
    "seeding.unseeded_differ": "A fixed default seed makes runs repeatable. Two environments need two seeds.",
    ("gymnasium", "wrappers.record_episode_statistics"): "The mask was taken out of the dict (`aliasing.options`), and "
    "the wrapper, which looks for it afterwards, takes the call for a full reset.",
    ("gymnasium", "partial_reset.refuses"): "Options that it does not know are ignored here, this one too.",
    ("envpool", "seeding.reseeded"): "Documented by EnvPool: seeds are given to `make`, and `reset(seed=...)` warns.",
    ("envpool", "seeding.seed_matters"): "Documented by EnvPool: seeds are given to `make`.",
    ("envpool", "seeding.row_seed"): "Documented by EnvPool: seeds are given to `make`.",
    ("envpool", "spaces.batched"): "EnvPool gives the space of one row under both names, as its older interface does.",
    ("envpool", "spaces.equal"): "As `spaces.batched`.",
    ("envpool", "observations.form"): "As `spaces.batched`.",
    ("envpool", "observations.one_row"): "As `spaces.batched`.",
    ("envpool", "spaces.samples"): "A sample of the space it gives is one action; int32 is asked for.",
    ("envpool", "render.frames"): "EnvPool draws the rows that its keyword `render_env_id` names.",
    ("envpool", "partial_reset.others_stay"): "EnvPool returns the rows that were reset, and no others.",
    ("envpool", "step.wrong_number_of_actions"): "It is refused, by a check in C++ that ends the process.",
    ("ale-py", "render.modes"): "It does not draw; an absent list may be read as an empty one.",
    ("ale-py", "same_step.final_obs_mask"): "A dense batch: rows that did not end hold their observation as it is.",
    ("ale-py", "same_step.final_info"): "The infos are those of the frame, whatever the mode.",
}
WORDS = {"failed": {"error": "**error**", "warning": "warning"}, "passed": "holds", "skipped": "not judged"}


def write_page(page: Path, runs: list[dict[str, Any]]) -> None:
    """Put the tables between their marks; the text around them is written by hand."""
    text = page.read_text(encoding="utf-8")
    for name, made in (("rules", rule_table()), ("findings", findings(runs))):
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        text = re.sub(f"{begin}.*{end}", lambda _, b=begin, m=made, e=end: f"{b}\n\n{m}\n\n{e}", text, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")


def rule_table() -> str:
    """All rules, as the catalogue has them."""
    lines = ["| Rule | Severity | A pass shows that | Source |", "|---|---|---|---|"]
    lines += [f"| `{one.name}` | {one.severity} | {_cell(one.claim)} | {_cell(one.source)} |" for one in RULES.values()]
    return "\n".join(lines)


def findings(runs: list[dict[str, Any]]) -> str:
    """How many rules hold for whom, then each finding with what was seen."""
    return "\n".join([*_summary(runs), "", *_each(runs)])


def _summary(runs: list[dict[str, Any]]) -> list[str]:
    lines = ["| Environment | Class | Mode | Versions | Hold | Errors | Warnings | Not judged |",
             "|---|---|---|---|--:|--:|--:|--:|"]  # fmt: skip
    for one in runs:
        if "missing" in one:
            lines.append(f"| {one['title']} | not installed | | | | | | |")
            continue
        results = one["results"]
        failed = [r["severity"] for r in results if r["status"] == "failed"]
        counts = [sum(r["status"] == "passed" for r in results), failed.count("error"), failed.count("warning"),
                  sum(r["status"] == "skipped" for r in results)]  # fmt: skip
        versions = ", ".join(f"{name} {version}" for name, version in one["versions"].items() if name != "numpy")
        cells = [one["title"], f"`{one['class']}`", one["mode"] or "none", versions, *map(str, counts)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _each(runs: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for one in runs:
        failed = [r for r in one.get("results", ()) if r["status"] == "failed"]
        if not failed:
            continue
        lines += [f"### {one['title']}", "", "<!-- not executed: it is somebody else's -->", "```bash", one["command"],
                  "```", "", "| Rule | | What was seen | To be said for it |", "|---|---|---|---|"]  # fmt: skip
        for r in failed:
            note = NOTES.get((one["library"], r["rule"]), NOTES.get(r["rule"], ""))
            lines.append(f"| `{r['rule']}` | {WORDS['failed'][r['severity']]} | {_cell(_seen(r))} | {note} |")
        lines.append("")
    return lines[:-1]


def _seen(result: dict[str, Any]) -> str:
    names = ("step", "row", "field", "found", "expected")
    told = ", ".join(f"{name} {result[name]}" for name in names if result[name] is not None)
    return f"{result['message']} ({told})" if told else result["message"]


def _cell(text: str) -> str:
    text = re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "&lt;")
    text = re.sub(r"__(\w+)__", r"\\_\\_\1\\_\\_", text)  # would be bold
    text = text.replace("][", "]\\[")  # `x[0][1]` would be a link
    return text if len(text) <= 220 else text[:217] + "..."
