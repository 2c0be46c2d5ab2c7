"""The process in which an environment is judged: a request on stdin, one JSON object a line as answer.

    {"target": ..., "num_envs": 4, "kwargs": {...}, "vectorization_mode": null,
     "steps": 500, "seconds": 30, "rules": [...]}

Answers, each with an "event": `made` (what it is), `begin` (a rule's name), `result`, `error` (it cannot be made) and
`done`.
What the environment prints goes to stderr, so that it is never taken for an answer.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO


def main() -> int:
    """Answer one request."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    from simulacrum.errors import SimulacrumError

    try:
        _judge(request, answers)
    except SimulacrumError as error:
        parts = {"expected": error.expected, "found": error.found, "where": error.where, "next_step": error.next_step}
        told = {name: None if value is None else str(value) for name, value in parts.items()}
        _say(answers, {"event": "error", "message": error.message, **told})
        return 2
    _say(answers, {"event": "done"})
    return 0


def _judge(request: dict[str, Any], answers: TextIO) -> None:
    import gymnasium
    import numpy as np

    from simulacrum.conformance.catalog import RULES, chosen
    from simulacrum.conformance.runner import judge
    from simulacrum.conformance.target import subject_of

    subject = subject_of(
        request["target"],
        num_envs=request["num_envs"],
        kwargs=request["kwargs"],
        vectorization_mode=request["vectorization_mode"],
        steps=request["steps"],
    )
    versions = {"gymnasium": gymnasium.__version__, "numpy": np.__version__}
    mode = subject.declared
    _say(answers, {"event": "made", "class": subject.class_name, "mode": mode.name if mode else None,
                   "num_envs": subject.num_envs, "versions": versions})  # fmt: skip
    for name in chosen(request["rules"]):
        _say(answers, {"event": "begin", "rule": name})
        result = judge(subject, RULES[name], request["seconds"])
        _say(answers, {"event": "result", **result.to_json()})


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    answers.write(json.dumps(what, ensure_ascii=True) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
