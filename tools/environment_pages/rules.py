"""spec.md as a part of a page: headings one level lower, an anchor at every rule, a link at every mention of one."""

from __future__ import annotations

import re

_RULE = re.compile(r"^(?P<bullet>\s*[-*] )\*\*(?P<name>R\d+)\*\*")
_MENTION = re.compile(r"(?<![\w`#\[/])R(\d+)(?![\w\]])")
_HEADING = re.compile(r"^(#{1,5}) (?P<text>.+)$")
_FENCE = re.compile(r"^\s*```")
_CODE = re.compile(r"(`+[^`]*`+)")


def purpose(text: str) -> str:
    """What stands under "Purpose", with links to the rules that it mentions."""
    return linked(_sections(text).get("Purpose", ""), text).strip()


def rules(text: str) -> str:
    """All else of the spec, its headings one level lower."""
    parts = [f"## {name}\n{body}" for name, body in _sections(text).items() if name != "Purpose"]
    return linked(_lower("\n".join(parts)), text).strip()


def names(text: str) -> list[str]:
    """The rules of a spec, in its order."""
    return [found["name"] for line in text.splitlines() if (found := _RULE.match(line))]


def linked(part: str, whole: str) -> str:
    """`part` with an anchor where a rule of `whole` is stated, and a link where one is mentioned."""
    known, lines, fenced = set(names(whole)), [], False
    for line in part.splitlines():
        fenced ^= bool(_FENCE.match(line))
        if fenced or _FENCE.match(line):
            lines.append(line)
            continue
        stated = _RULE.match(line)
        head = ""
        if stated:
            name = stated["name"]
            head = f"{stated['bullet']}[**{name}**](#{name.lower()}){{ #{name.lower()} .env-rule }}"
            line = line[stated.end() :]
        lines.append(head + _mentions(line, known))
    return "\n".join(lines)


def _mentions(line: str, known: set[str]) -> str:
    """Links in a line, not inside `code`."""
    parts = _CODE.split(line)
    for place in range(0, len(parts), 2):
        parts[place] = _MENTION.sub(
            lambda found: f"[{found[0]}](#{found[0].lower()})" if found[0] in known else found[0], parts[place]
        )
    return "".join(parts)


def _sections(text: str) -> dict[str, str]:
    """The text under each heading of level 2, by name, in order."""
    found: dict[str, list[str]] = {}
    name, fenced = "", False
    for line in text.splitlines():
        fenced ^= bool(_FENCE.match(line))
        if not fenced and line.startswith("## "):
            name = line[3:].strip()
            found[name] = []
        elif name:
            found[name].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def _lower(text: str) -> str:
    lines, fenced = [], False
    for line in text.splitlines():
        fenced ^= bool(_FENCE.match(line))
        lines.append(f"#{line}" if not fenced and _HEADING.match(line) else line)
    return "\n".join(lines)
