"""The page of one environment, as Markdown."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from environment_pages import rules
from environment_pages.facts import Facts, ahead, comparisons, fastest, fields, one_by_one, outside, trained
from environment_pages.pictures import Pictures
from environment_pages.words import between, cell, code, escaped, number, pairs, short, table, tiles, times
from simulacrum.contract.fields import Field, Group
from simulacrum.contract.spaces import group_space


def page(facts: Facts, pictures: Pictures | None) -> str:
    """The whole page. Paths in it are relative to docs/environments/."""
    package = facts.package
    parts = [
        f"# {package.name}",
        package.schema.description,
        _film(facts, pictures),
        tiles(headlines(facts)),
        _glance(facts),
        "## Purpose",
        rules.purpose(package.spec.text),
        "## Make it",
        _make(facts),
        "## Spaces",
        _spaces(facts),
        _speed(facts),
        _training(facts),
        _scripted(facts),
        _checked(facts),
        "## The rules",
        f"What follows is `envs/{package.folder.name}/spec.md`, from which both twins are written. "
        "Every rule can be linked to.",
        rules.rules(package.spec.text),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def headlines(facts: Facts) -> list[tuple[str, str]]:
    """The figures that one reads first: (large, what it is)."""
    found: list[tuple[str, str]] = []
    if facts.throughput is not None:
        best, lead = fastest(facts.throughput), ahead(facts.throughput)
        if best is not None:
            found.append((f"{short(best[0])}", f"steps a second on one core, {best[1]:,} rows"))
        usual = one_by_one(facts.throughput)
        leads = dict.fromkeys(one for one in (lead, usual) if one is not None)
        found += [(f"{times(factor)} x", f"as fast as {who}, {size:,} rows") for factor, who, size in leads]
    if facts.training is not None:
        found.append((trained(facts.training), f"return that {facts.training['algorithm']} learns"))
    if facts.validation is not None:
        small = facts.validation.get("small_model")
        if small and small["complete"]:
            found.append((f"{small['states']:,}", "states of the small model, each of them compared"))
        if facts.validation.get("score"):
            score = facts.validation["score"]
            found.append((f"{score['killed']} of {score['counted']}", "planted faults found"))
    return found


def _film(facts: Facts, pictures: Pictures | None) -> str:
    if pictures is None:
        return ""
    about = escaped(f"An episode of {facts.name}")
    size = f'width="{pictures.width}" height="{pictures.height}"'
    image = f'<img alt="{about}" src="../assets/environments/{facts.name}.webp" {size}>'
    caption = pictures.caption.replace("`", "<code>", 1).replace("`", "</code>", 1).replace("`", "<code>", 1)
    caption = caption.replace("`", "</code>", 1)
    return f'<figure class="env-film">{image}<figcaption>{caption}</figcaption></figure>'


def _glance(facts: Facts) -> str:
    """The few lines that tell what it is."""
    schema = facts.package.schema
    driven = outside(facts.package)
    if driven:
        source = f"carried out by {', '.join(one.text for one in driven)}; the batched twin is written from the spec"
    else:
        source = "written from the spec, like the batched twin"
    limit = f"{schema.max_episode_steps:,} steps" if schema.max_episode_steps is not None else "none"
    rows = [
        ("Id", code(schema.id)),
        ("Reference", escaped(source)),
        ("Observation", code(_space(schema.observation))),
        ("Action", code(_space(schema.action))),
        ("Reward", escaped(f"{_between(schema.reward)}: {schema.reward.description}")),
        ("Time limit", limit),
    ]
    if schema.params:
        rows.append(("Parameters", ", ".join(code(name) for name in schema.params)))
    return pairs(rows)


def _make(facts: Facts) -> str:
    env_id = facts.package.schema.id
    lines = [
        f"```bash\nsimulacrum validate {facts.package.folder.name}\n```",
        "\n".join(
            [
                "```python",
                "import gymnasium as gym",
                "import simulacrum",
                "",
                "envs = gym.make_vec(",
                f'    "{env_id}",',
                "    num_envs=1024,",
                '    vectorization_mode="vector_entry_point",',
                ")",
                "observations, infos = envs.reset(seed=0)",
                "```",
            ]
        ),
        f'`gym.make("{env_id}", render_mode="rgb_array")` is the reference, one instance, with the drawing above.',
    ]
    return "\n\n".join(lines)


def _space(group: Group) -> str:
    """A space without the numbers of every element, which make a line too long to read."""
    text = str(group_space(group))
    if len(text) <= 90:
        return text
    if group.single:
        leaf = group.leaf
        return f"{leaf.space}({_between(leaf)}, {leaf.shape}, {leaf.dtype})"
    return "Dict(" + ", ".join(f"{name}: {_space(Group(name, {'': leaf}, single=True))}" for name, leaf in group) + ")"


def _spaces(facts: Facts) -> str:
    schema = facts.package.schema
    rows = []
    for title, group in (("observation", schema.observation), ("action", schema.action), ("info", schema.info)):
        for key, field in group:
            path = f"{title}[{key!r}]" if title == "info" else f"{title}.{key}" if key else title
            rows.append(_row(path, field))
    if schema.action_mask is not None:
        rows.append(_row("info['action_mask']", schema.action_mask))
    head = ["", "dtype", "shape", "between", "meaning"]
    text = table(head, rows)
    if not schema.params:
        return text
    params = [
        [f"`{name}`", param.field.dtype, str(bool(param.default)) if param.field.is_bool else number(param.default),
         _between(param.field), cell(param.field.description)]
        for name, param in schema.params.items()
    ]  # fmt: skip
    more = "Parameters, each one value or one for each row (`params={...}`):"
    return f"{text}\n\n{more}\n\n{table(['', 'dtype', 'default', 'between', 'meaning'], params)}"


def _row(path: str, field: Field) -> list[str]:
    shape = str(list(field.shape))
    inside = _between(field) if field.space != "MultiDiscrete" else "see the schema"
    return [f"`{path}`", field.dtype, f"`{shape}`", inside, cell(field.description)]


def _between(field: Field) -> str:
    return between(field.low, field.high) if not field.is_bool else "-"


def _age(facts: Facts, part: dict[str, Any]) -> str:
    old = " The package was edited since." if facts.older(part) else ""
    return f"{part['made']}, {part['with']}.{old}"


def _speed(facts: Facts) -> str:
    part = facts.throughput
    if part is None:
        return ""
    sizes = [str(size) for size in part["sizes"]]
    rates = [[row["name"], *(_rate(row, size) for size in sizes)] for row in part["rows"]]
    heads = [f"{int(size):,} row{'s' if size != '1' else ''}" for size in sizes]
    who = "\n".join(f"- **{row['name']}**: {row['settings']} ({row['version']})" for row in part["rows"])
    compared = any(row["native_is"] for row in part["rows"])
    told = " In small print: how many times as fast the native form is in the same turns." if compared else ""
    parts = [
        "## Speed",
        "Steps a second by the processor's clock, observations and resets included, random actions, one thread; "
        f"medians of windows taken in turns.{told} {_age(facts, part)}{_busy(part)}",
        table(["steps/s", *heads], rates, figures=True),
        who,
    ]
    return "\n\n".join(parts)


def _rate(row: dict[str, Any], size: str) -> str:
    """A cell of the table of speeds."""
    if size not in row["rates"]:
        return "-"
    ahead_by = f" <small>{times(row['native_is'][size])} x</small>" if size in row["native_is"] else ""
    return f"{short(row['rates'][size])}{ahead_by}"


def _busy(part: dict[str, Any]) -> str:
    """A word where the machine had more to do than it has cores: the figures are then too low for all alike."""
    load, cores = part.get("load", 0.0), part["machine"]["cores"]
    return f" Up to {load:.0f} processes wanted its {cores} cores meanwhile." if load > cores else ""


def _training(facts: Facts) -> str:
    part = facts.training
    if part is None:
        return ""
    rows = [
        [str(run["seed"]), f"{run['steps']:,}", f"{run['seconds']:,.0f}",
         f"{run['return']:,.2f} ± {run['standard_error']:.2g}"] for run in part["runs"]
    ]  # fmt: skip
    source = f"[{part['source']}]({part['link']})" if part["link"] else part["source"]
    verdict = "It was reached" if part["reached"] else "It was **not** reached"
    return "\n\n".join(
        [
            "## Training",
            f"![Episode return against steps](../assets/environments/{facts.name}-training.png)",
            table(["seed", "steps", "seconds", "return on the reference"], rows, figures=True),
            f"The level to reach is {part['level']:g}: {source}. {verdict}, with a mean of {part['return']:,.2f}. "
            f"{_age(facts, part)}",
            f"<!-- not executed: it trains -->\n```bash\n{_lines(part['command'])}\n```",
        ]
    )


def _lines(command: str) -> str:
    """A shell command cut before some of its options, so that no line of it needs scrolling."""
    whole = re.sub(r" (?!--)", "\N{NO-BREAK SPACE}", command)  # an option stays with its value
    lines = textwrap.wrap(whole, 100, break_on_hyphens=False, break_long_words=False)
    return " \\\n  ".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _scripted(facts: Facts) -> str:
    probes = facts.package.probes()
    if probes is None or not probes.PROBES:
        return ""
    rows = [[f"`{probe.name}`", between(probe.low, probe.high), cell(probe.why)] for probe in probes.PROBES]
    return "\n\n".join(["## Scripted policies", table(["policy", "mean return", "why"], rows)])


def _checked(facts: Facts) -> str:
    """Tolerances, comparisons with the original, and the figures of the last full validation that was kept."""
    lines = []
    loose = [(field.path, field.tolerance.reason) for field in fields(facts.package) if field.tolerance is not None]
    if loose:
        lines += [f"- `{path}` may differ between the twins: {reason}" for path, reason in loose]
    else:
        lines.append("- No field has a tolerance: the twins agree in every bit.")
    for path, told in comparisons(facts.package):
        lines.append(f"- `{path}` compares the batched twin with the untouched original. {told}")
    part = facts.validation
    if part is not None:
        small, score = part.get("small_model"), part.get("score")
        if part.get("transitions"):
            lines.append(
                f"- {part['transitions']:,} transitions were compared in the rollouts, "
                f"in the forms {', '.join(part['forms'])}."
            )
        if small and small["complete"]:
            lines.append(
                f"- The small model was walked through whole: {small['states']:,} states, "
                f"{small['transitions']:,} transitions, all with the same bits."
            )
        if score:
            sampled = f", of {score['planted']:,} that were planted" if score["sampled"] < score["planted"] else ""
            found = f"{score['killed']} of {score['counted']} wrong twins found{sampled}"
            lines.append(f"- [Mutation score](../mutation.md): {found}.")
        lines.append(f"- These figures: {_age(facts, part)}")
    return "\n\n".join(["## How it was checked", "\n".join(lines), "[Checks](../checks.md) tells what that means."])
