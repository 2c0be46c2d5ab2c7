"""What the sub-checks of one run of `differential` share: what they have exercised, reached and recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass, field

from simulacrum.harness.bench import Bench
from simulacrum.harness.coverage import Coverage
from simulacrum.harness.drivers.reached import Reached
from simulacrum.harness.drivers.replayed import Tape


@dataclass
class Campaign:
    """coverage: which code has run. reached: what each driver has come to. tapes: what rows did, to be replayed."""

    coverage: Coverage
    reached: Reached
    tapes: list[Tape] = field(default_factory=list[Tape])

    @classmethod
    def of(cls, bench: Bench) -> Campaign:
        """A new one for the bench's package; what `bench.watching()` sees counts in it."""
        bench.coverage = Coverage(bench.package)
        return cls(bench.coverage, Reached(bench.schema))

    @contextlib.contextmanager
    def watching(self) -> Generator[None, None, None]:
        """Note which code runs meanwhile, as long as there is something to learn."""
        if self.coverage.complete:
            yield
            return
        with self.coverage.watching():
            yield
