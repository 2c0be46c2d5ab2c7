"""The README's picture, made of a real run: `python tools/front_picture.py` writes docs/assets/front.gif and front.png.

A copy of forager gets one change in its batched twin that moves a rounding. 64 rows of it are then stepped beside
their references by the battery's own lockstep, with random actions, until the bits of something differ. The picture has
a frame for each step. All that it tells of the divergence is what the record says. The PNG is the last frame, for who
has asked for less motion.

Needs the extras `plots` and `video`; takes some seconds.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from simulacrum.contract.package import load_package
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.lockstep import Lockstep
from simulacrum.plots import style
from simulacrum.trace.divergence import Divergence

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "assets" / "front.gif"
ENV, ROWS, SEED, MOST = "forager", 64, 1, 80
BEFORE, AFTER = "state.energy - STEP_ENERGY + gain", "state.energy + (gain - STEP_ENERGY)"
WIDTH, HEIGHT, ACROSS, BOARD, GAP = 1000, 470, 8, 37, 4  # pixels; boards in a row of rows, and between them
STEP, FIRST, LAST = 700, 1400, 9000  # milliseconds of a frame
GRID = (slice(64, 352), slice(16, 304))  # of the package's drawing: the meadow without its meters


@dataclass(frozen=True)
class Moment:
    """Both twins after a step: the states of all rows, and the names of what was compared."""

    step: int
    reference: list[Any]
    batched: list[Any]
    fields: int


@dataclass(frozen=True)
class Story:
    """A run from its reset to the first divergence, and the rows that differ there."""

    moments: list[Moment]
    divergence: Divergence
    apart: list[int]
    render: Any


def story(folder: Path) -> Story:
    """Plant the change in a copy of the package below `folder`, and step both twins until they part.

    Raises:
        SystemExit: they did not part, or the line to be changed is no longer there once.
    """
    source, copy = ROOT / "envs" / ENV, folder / ENV
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "validation_report.json", "native-*"))
    text = (copy / "fast.py").read_text(encoding="utf-8")
    if text.count(BEFORE) != 1:
        raise SystemExit(f"{source / 'fast.py'} has {BEFORE!r} {text.count(BEFORE)} times; it is to be there once")
    (copy / "fast.py").write_text(text.replace(BEFORE, AFTER), encoding="utf-8")
    package = load_package(copy)
    bench = Bench(package, failures=folder / "failures")
    lock = Lockstep(bench, bench.env(ROWS))
    actions = np.random.default_rng(SEED)
    found, moments = lock.reset(seeds_for(ROWS, SEED)), []
    for step in range(MOST):
        moments.append(_moment(lock, step))
        if found is not None:
            return Story(moments, found, _apart(lock, found), package.render())
        found = lock.step(actions.integers(0, 4, ROWS))
    raise SystemExit(f"the twins did not part within {MOST} steps")


def _moment(lock: Lockstep, step: int) -> Moment:
    reference, batched = lock.frames[-1]
    return Moment(step, _states(reference), _states(batched), len(lock.fields))


def _states(frame: dict[str, Any]) -> list[Any]:
    """A state for each row, as `render.py` takes it."""
    fields = {name.removeprefix("state."): values for name, values in frame.items() if name.startswith("state.")}
    return [_State({name: values[row] for name, values in fields.items()}) for row in range(ROWS)]


class _State:
    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


def _apart(lock: Lockstep, found: Divergence) -> list[int]:
    """The rows whose bits differ in the field of the record."""
    path = f"{found.difference.kind}.{found.difference.field}".rstrip(".")
    reference, batched = (np.asarray(frame[path]).reshape(ROWS, -1) for frame in lock.frames[-1])
    differ = reference.view(np.uint8) != batched.view(np.uint8)
    return [int(row) for row in np.flatnonzero(differ.reshape(ROWS, -1).any(axis=1))]


def pictures(told: Story) -> list[Image.Image]:
    """A frame for each moment, `WIDTH` x `HEIGHT`."""
    import matplotlib.style

    with matplotlib.style.context(style.RC, after_reset=True):
        return [_picture(told, moment, last=moment is told.moments[-1]) for moment in told.moments]


def _picture(told: Story, moment: Moment, *, last: bool) -> Image.Image:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100)
    canvas, row = FigureCanvasAgg(figure), told.divergence.row
    _image(figure, 24, 62, 260, 299, told.render.rgb(moment.reference[row]))
    side = ACROSS * (BOARD + GAP) - GAP
    _image(figure, WIDTH - 24 - side, 62, side, side, _boards(told, moment, last=last))
    say = _writer(figure)
    say(24, 22, "reference.py", weight="bold", size=12)
    say(24, 42, f"row {row}, readable Python", color=style.MUTED)
    say(WIDTH - 24 - side, 22, "fast.py", weight="bold", size=12)
    say(WIDTH - 24 - side, 42, f"{ROWS} rows at once in torch", color=style.MUTED)
    _middle(say, figure, told, moment, last=last)
    _verdict(say, told, moment, last=last)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def _writer(figure: Any) -> Any:
    """Writes text at pixels from the upper left corner."""

    def say(x: float, y: float, text: str, *, size: float = 9, color: str = style.INK, **more: Any) -> None:
        figure.text(x / WIDTH, 1 - y / HEIGHT, text, fontsize=size, color=color, va="center", **more)

    return say


def _image(figure: Any, x: float, y: float, width: float, height: float, pixels: Any) -> None:
    axes = figure.add_axes((x / WIDTH, 1 - (y + height) / HEIGHT, width / WIDTH, height / HEIGHT))
    axes.imshow(np.asarray(pixels), aspect="auto", interpolation="antialiased")
    axes.set_axis_off()


def _boards(told: Story, moment: Moment, *, last: bool) -> Image.Image:
    """All rows of the batched twin; what differs has a broad frame, and the row at the left a thin one."""
    scale, edge = 2, 6  # drawn twice as large, and made smaller with the whole
    step, side = (BOARD + GAP) * scale, BOARD * scale
    whole = Image.new("RGB", (ACROSS * step - GAP * scale + 2 * edge,) * 2, style.PAPER)
    for row, state in enumerate(moment.batched):
        x, y = edge + row % ACROSS * step, edge + row // ACROSS * step
        board = Image.fromarray(told.render.rgb(state)[GRID]).resize((side, side), Image.Resampling.LANCZOS)
        color = style.VERMILLION if last and row in told.apart else style.BLUE if row == told.divergence.row else None
        if color is not None:
            whole.paste(color, (x - edge, y - edge, x + side + edge, y + side + edge))
        whole.paste(board, (x, y))
    return whole


def _middle(say: Any, figure: Any, told: Story, moment: Moment, *, last: bool) -> None:
    """The planted change, and the bits of the field in both twins."""
    row, field = told.divergence.row, told.divergence.difference.field
    say(312, 76, "changed in fast.py: one rounding moved", color=style.MUTED)
    say(312, 98, f"- {BEFORE}", family="monospace", color=style.CRIMSON)
    say(312, 116, f"+ {AFTER}", family="monospace", color=style.GREEN)
    values = [np.float32(getattr(states[row], field)) for states in (moment.reference, moment.batched)]
    bits = [f"{int(value.view(np.uint32)):032b}" for value in values]
    say(312, 158, f"{field} of row {row}", weight="bold")
    for name, value, pattern, y in zip(("reference", "batched"), values, bits, (182, 232), strict=True):
        say(312, y, name, color=style.MUTED)
        say(638, y, f"{value!s:>10}  0x{int(pattern, 2):08x}", ha="right", family="monospace")
        _bits(figure, 312, y + 12, pattern, bits)
    same = bits[0] == bits[1]
    say(476, 296, "=" if same else "≠", size=34, ha="center", color=style.GREEN if same else style.VERMILLION)
    count = sum(a != b for a, b in zip(*bits, strict=True))
    text = "the same bits" if same else f"{count} bit{'s differ' if count > 1 else ' differs'}"
    say(476, 328, text, ha="center", color=style.MUTED)


def _bits(figure: Any, x: float, y: float, pattern: str, both: list[str]) -> None:
    """32 squares, filled for a 1; where both patterns differ they are vermillion."""
    from matplotlib.patches import Rectangle

    for place, bit in enumerate(pattern):
        differs = both[0][place] != both[1][place]
        color = style.VERMILLION if differs else style.MUTED
        figure.add_artist(
            Rectangle(
                ((x + 10.25 * place) / WIDTH, 1 - (y + 14) / HEIGHT), 8 / WIDTH, 14 / HEIGHT,
                facecolor=color if bit == "1" else style.PAPER, edgecolor=color, linewidth=2.0 if differs else 0.8,
            )
        )  # fmt: skip


def _verdict(say: Any, told: Story, moment: Moment, *, last: bool) -> None:
    """What was compared, and what the record says in the end."""
    if not last:
        compared = f"step {moment.step}: {ROWS} rows, {moment.fields} fields each, every bit equal"
        say(24, 412, compared, size=12, weight="bold", color=style.GREEN)
        return
    found = told.divergence
    rule, words = (found.rule.id, found.rule.text) if found.rule is not None else ("", "")
    where = f"DIVERGENCE  step {moment.step}, row {found.row}, {found.difference.path}, {found.difference.ulp} ulp"
    say(24, 398, where, size=12, weight="bold", color=style.VERMILLION)
    say(24, 420, f"{rule}: {words.partition('. ')[0].replace('`', '')}.", size=9.5)
    also = f"{len(told.apart)} of {ROWS} rows differ. The gate stays closed until fast.py is as the spec says."
    say(24, 442, also, size=9.5, color=style.MUTED)


def write(frames: list[Image.Image], path: Path) -> None:
    """One GIF that goes round, with the same colours in all frames: those of `style` as they are, and 246 more.

    Beside it the last frame alone, as a PNG of the same name.
    """
    own = [style.PAPER, style.INK, style.MUTED, *style.SERIES]
    exact = [int(color[place : place + 2], 16) for color in own for place in (1, 3, 5)]
    colors = np.array(exact + frames[-1].quantize(246).getpalette()[: 3 * 246]).reshape(-1, 3)
    flat = [_nearest(frame, colors) for frame in frames]
    lasts = [FIRST, *[STEP] * (len(flat) - 2), LAST]
    flat[0].save(path, save_all=True, append_images=flat[1:], duration=lasts, loop=0, optimize=True)
    flat[-1].save(path.with_suffix(".png"), optimize=True)


def _nearest(frame: Image.Image, colors: Any) -> Image.Image:
    """The frame in these colours `[C, 3]`, each pixel in the nearest; Pillow's own search is not exact."""
    seen, where = np.unique(np.asarray(frame).reshape(-1, 3), axis=0, return_inverse=True)
    nearest = ((seen[:, None].astype(int) - colors) ** 2).sum(axis=-1).argmin(axis=1).astype(np.uint8)
    flat = Image.fromarray(nearest[where.reshape(-1)].reshape(frame.height, frame.width))
    flat.putpalette(colors.astype(np.uint8).tobytes())
    return flat


def main(words: list[str] | None = None) -> int:
    """Make the picture; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT, help="the GIF to write")
    args = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        told = story(Path(folder))
        write(pictures(told), args.out)
    found = told.divergence
    print(f"{args.out}: {len(told.moments)} frames; row {found.row}, step {found.step}, {found.difference.path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
