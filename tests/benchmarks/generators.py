"""What a random word costs: five counter-based generators in eager torch and in a vectorised C loop.

    python tests/benchmarks/generators.py            print the table
    python tests/benchmarks/generators.py --write    and put it into docs/draws.md
    python tests/benchmarks/generators.py --check    only compare with the known answers

Every generator is first checked against known answers, in both forms. The C form needs the `ziglang` wheel
(extra `bench`), whose clang is the same everywhere; without it the C columns stay empty. One thread, best of
many: on a busy machine run it again and trust the lowest figures.
"""

from __future__ import annotations

import argparse
import ctypes
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from contenders import GENERATORS, LOW, Generator
from torch import Tensor

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "draws.md"
BEGIN, END = "<!-- generators: begin -->", "<!-- generators: end -->"
FLAGS = ["-O3", "-march=native", "-fwrapv", "-ffp-contract=off", "-fno-math-errno"]
ROWS = (1024, 8192)


def build(folder: Path) -> ctypes.CDLL | None:
    """generators.c as a library, built with zig's clang; None where that is not installed."""
    library = folder / "generators.so"
    command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-shared", "-fPIC", "-o", str(library)]
    done = subprocess.run([*command, str(HERE / "generators.c")], capture_output=True, text=True, check=False)
    if done.returncode:
        if "No module named ziglang" in done.stderr:
            return None
        raise SystemExit(f"generators.c does not build:\n{done.stderr}")
    return ctypes.CDLL(str(library))


def pointer(tensor: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def run_c(
    library: ctypes.CDLL, generator: Generator, columns: tuple[Tensor, ...], out: Tensor, repeats: int
) -> None:
    k0, k1, c0 = (pointer(column) for column in columns)
    function = getattr(library, "run_" + generator.symbol)
    function(
        k0, k1, c0, ctypes.c_uint32(1), pointer(out), ctypes.c_long(out.shape[1]), ctypes.c_long(repeats)
    )


def as_words(numbers: tuple[int, ...] | list[int]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.int64).to(torch.int32)


def wrong_answers(generator: Generator, library: ctypes.CDLL | None) -> list[str]:
    """Known answers that a form of the generator does not give, and rows on which both forms differ."""
    wrong: list[str] = []
    for key, counter, words in generator.answers:
        inputs = torch.tensor([*key, *counter]).to(generator.dtype).reshape(-1, 1).unbind()
        got = tuple(int(word) & LOW for word in generator.eager(*inputs))
        if got != words:
            wrong.append(f"{generator.title} eager, key {key}, counter {counter}: {got}")
        if library is None:
            continue
        out = torch.zeros(4, 1, dtype=torch.int32)
        if len(counter) == 4:
            whole_key, whole_counter = as_words(key), as_words(counter)
            library.one_philox4(pointer(whole_key), pointer(whole_counter), pointer(out))
        else:
            columns = [as_words([number]) for number in (*key, counter[0])]
            function = getattr(library, "run_" + generator.symbol)
            arguments = [pointer(column) for column in columns]
            function(
                *arguments, ctypes.c_uint32(counter[1]), pointer(out), ctypes.c_long(1), ctypes.c_long(1)
            )
        got = tuple(int(word) & LOW for word in out.flatten()[: generator.words])
        if got != words:
            wrong.append(f"{generator.title} C, key {key}, counter {counter}: {got}")
    if library is not None:
        columns, out = example(generator, 1000), torch.zeros(generator.words, 1000, dtype=torch.int32)
        run_c(library, generator, tuple(part.to(torch.int32) for part in columns), out, 1)
        eager = generator.eager(*columns, torch.ones(1, dtype=generator.dtype))
        if any(not torch.equal(a.to(torch.int32), b) for a, b in zip(eager, out, strict=True)):
            wrong.append(f"{generator.title}: eager and C differ")
    return wrong


def example(generator: Generator, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """k0, k1, c0 of `rows` rows, as unsigned numbers in the generator's dtype."""
    randoms = torch.Generator().manual_seed(rows)
    parts = torch.randint(0, 2**32, (3, rows), generator=randoms)
    k0, k1, c0 = parts.to(torch.int32).to(generator.dtype) if generator.dtype == torch.int32 else parts
    return k0, k1, c0


def best(function: Callable[[], object], seconds: float) -> float:
    """Least seconds of one call, over about `seconds` of calls."""
    least, stop = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < stop:
        start = time.perf_counter()
        function()
        least = min(least, time.perf_counter() - start)
    return least


def eager_ns(generator: Generator, rows: int, words: int, seconds: float) -> float:
    """Nanoseconds per row for `words` words a row, all blocks in one evaluation [rows, blocks]."""
    k0, k1, c0 = (part.unsqueeze(1) for part in example(generator, rows))
    blocks = -(-words // generator.words)
    counter = torch.arange(blocks, dtype=generator.dtype)
    return best(lambda: generator.eager(k0, k1, c0, counter), seconds) / rows * 1e9


def c_ns(library: ctypes.CDLL, generator: Generator, rows: int, seconds: float) -> float:
    """Nanoseconds per row for one block a row."""
    columns = tuple(part.to(torch.int32) for part in example(generator, rows))
    out, repeats = torch.zeros(generator.words, rows, dtype=torch.int32), 100
    return best(lambda: run_c(library, generator, columns, out, repeats), seconds) / rows / repeats * 1e9


def measured(library: ctypes.CDLL | None, seconds: float, passes: int) -> dict[str, list[float | None]]:
    """Least figures by title. Generators take turns, so that none has the quiet moments to itself."""
    least: dict[str, list[float | None]] = {}
    for _ in range(passes):
        for generator in GENERATORS:
            figures: list[float | None] = []
            for rows in ROWS:
                figures.append(eager_ns(generator, rows, generator.words, seconds))
                figures.append(eager_ns(generator, rows, 8, seconds) / 8)
            figures.append(c_ns(library, generator, ROWS[1], seconds) if library else None)
            old = least.get(generator.title, figures)
            least[generator.title] = [
                a if b is None else b if a is None else min(a, b) for a, b in zip(figures, old, strict=True)
            ]
    return least


def table(least: dict[str, list[float | None]]) -> str:
    """The figures as a Markdown table, in nanoseconds."""
    lines = [
        "| generator | words a block | eager, 1,024 rows: ns a row (one block) | ns a word (8 words) "
        "| eager, 8,192 rows: ns a row | ns a word | C, 8,192 rows: ns a row | ns a word | note |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for generator in GENERATORS:
        *eager, compiled = least[generator.title]
        cells = [f"{figure:.1f}" for figure in eager if figure is not None]
        cells += ["", ""] if compiled is None else [f"{compiled:.2f}", f"{compiled / generator.words:.2f}"]
        lines.append(
            f"| {generator.title} | {generator.words} | " + " | ".join(cells) + f" | {generator.note} |"
        )
    return "\n".join(lines)


def write(text: str) -> None:
    """Put `text` between the markers of docs/draws.md."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the table into docs/draws.md")
    parser.add_argument("--check", action="store_true", help="compare with the known answers and stop")
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each figure of each pass")
    parser.add_argument("--passes", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        wrong = [line for generator in GENERATORS for line in wrong_answers(generator, library)]
        if wrong:
            print("wrong answers:\n  " + "\n  ".join(wrong), file=sys.stderr)
            return 1
        print(
            f"known answers: all {len(GENERATORS)} generators right in {'both forms' if library else 'torch'}"
        )
        if options.check:
            return 0
        text = table(measured(library, options.seconds, options.passes))
    python = (
        f"Python {platform.python_version()}, torch {torch.__version__}, {platform.machine()}, one thread"
    )
    text = f"{text}\n\nMeasured with {python}; the least of {options.passes} passes."
    print(text)
    if options.write:
        write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
