"""What the reference answered in an earlier run, for a package that has the same one.

Wrong batched twins are judged by the hundred beside one reference, which is asked the same questions each time: where
does this action lead from here, what is shown there? A run without `Answers` asks them all anew, as a validation does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from simulacrum.contract.package import EnvPackage

BATCHED = "fast.py"
MOST = 400_000  # answers kept, about a kilobyte each

Kept = dict[Hashable, tuple[Any, ...]]


class Answers:
    """Answers by question, apart for each reference: one that has another file, or another world, shares none.

    most: how many are kept; what comes after them is asked anew each time.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.size = 0
        self._of: dict[Hashable, Kept] = {}

    def of(self, package: EnvPackage, *world: Hashable) -> Book:
        """The answers of the package's reference. `world`: what else they depend on."""
        return Book(self, self._of.setdefault((_reference_digest(package), *world), {}))


class Book:
    """The answers of one reference."""

    def __init__(self, whole: Answers, kept: Kept) -> None:
        self._whole, self._kept = whole, kept

    def all(self, question: Hashable, ask: Callable[[], Iterable[Any]]) -> Iterator[Any]:
        """All answers to a question; kept only where the last one was taken and the reference did not raise."""
        kept = self._kept.get(question)
        if kept is not None:
            yield from kept
            return
        fresh: list[Any] = []
        for answer in ask():
            fresh.append(answer)
            yield answer
        if self._whole.size + len(fresh) <= self._whole.most:
            self._whole.size += len(fresh)
            self._kept[question] = tuple(fresh)

    def one(self, question: Hashable, ask: Callable[[], Any]) -> Any:
        """The one answer to a question."""
        (answer,) = self.all(question, lambda: (ask(),))
        return answer


def _reference_digest(package: EnvPackage) -> str:
    """The SHA-256 of what the reference may depend on in the package's folder: its files but for the batched twin."""
    whole = hashlib.sha256()
    for path in sorted(package.folder.rglob("*")):
        if path.is_file() and path.suffix in (".py", ".json", ".md") and path.name != BATCHED:
            whole.update(f"{path.relative_to(package.folder).as_posix()}\n".encode())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
