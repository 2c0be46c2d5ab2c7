"""The docs' tables and pictures come from the figures of a run, and the page is what the kept run gives."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import report
from suite import cost, plots, roofline, tables, text

SCRIPT = Path(report.__file__)


def contender(name: str, speed: float, num_envs: int) -> dict[str, Any]:
    """A contender that takes `speed` steps a CPU-second, half of that by the clock, in rounds of 1, 1.1 and 0.9."""
    windows = [[100, 200 * num_envs / (speed * slow), 100 * num_envs / (speed * slow)] for slow in (1.0, 1.1, 0.9)]
    return {
        "name": name,
        "kind": "form",
        "version": "1",
        "settings": "none",
        "steps_per_call": num_envs,
        "windows": windows,
        "steps_per_second": {
            "cpu": {"best": 1.1 * speed, "median": speed},
            "wall": {"best": 0.55 * speed, "median": speed / 2},
        },
    }


def group(environment: str, num_envs: int, speeds: dict[str, float]) -> dict[str, Any]:
    contenders = [contender(name, speed, num_envs) for name, speed in speeds.items()]
    return {"environment": environment, "num_envs": num_envs, "load": [[1.0], [2.0]], "contenders": contenders}


@pytest.fixture
def result() -> dict[str, Any]:
    names = ("eager", "C by hand", cost.COPY_TITLE)
    quick, slow = dict(zip(names, (1e6, 2e7, 1e8), strict=True)), dict(zip(names, (5e5, 2e7, 4e7), strict=True))
    row = {"state": 37, "params": 4, "outputs": 40, "action": 8, "moved": 126}
    variants = [{**group("forager", 8, quick), "berries": n, "size": 8, "bytes_moved": 9} for n in (1, 6)]
    return {
        "made": "2026-01-02T03:04:05+00:00",
        "arguments": ["--full"],
        "rounds": 3,
        "window_seconds": 0.1,
        "machine": {
            "cpu": "a processor", "cores": 2, "cpu_capability": "AVX2", "python": "3.11.0",
            "caches": {"L1d": "48K", "L2": "2M"}, "packages": {"torch": "2.6", "ziglang": None},
        },
        "groups": [group("toywalk", 64, quick), group("toywalk", 8, slow)],
        "missing": [{"name": "EnvPool", "why": "not set up"}],
        "growth": {
            "costs": {"toywalk": {"forms": {"eager": row}, "moved": 126, "numbers_per_row": 325.2}},
            "rows": [group("toywalk", 1024, quick), group("toywalk", 16384, slow)],
            "berries": variants,
            "grids": variants,
        },
    }  # fmt: skip


def test_a_rate_is_the_median_and_the_best(result: dict[str, Any]) -> None:
    groups = tables.by_environment(result)["toywalk"]
    assert [each["num_envs"] for each in groups] == [8, 64]
    assert "| eager | 500 k (550 k) | 1 M (1.1 M) |" in tables.rate_table(groups)
    assert "| C by hand | 0.025 | 0.05 |" in tables.ratio_table(groups, "eager")


def test_a_share_is_of_the_copy_in_the_same_round(result: dict[str, Any]) -> None:
    found = roofline.shares(result["growth"]["rows"][0])
    assert found == pytest.approx({"eager": 0.01, "C by hand": 0.2, cost.COPY_TITLE: 1.0})
    assert roofline.copy_rate(result["growth"]["rows"][0], 126) == pytest.approx(1.26e10)
    assert roofline.caches(result["machine"]) == {"L1d": 48 * 1024, "L2": 2 * 1024**2}


def test_a_bend_is_told_with_what_the_copy_did(result: dict[str, Any]) -> None:
    said = text.whole(result)
    assert "toywalk, eager: cheapest at N = 1,024, dearer by N = 16,384" in said
    assert "from 12.6 to 5.0 GB/s" in said
    steady = [group("toywalk", size, {"eager": 1e6, cost.COPY_TITLE: 1e8}) for size in (1024, 16384)]
    assert roofline.bend(steady, "eager") is None


def test_the_text_names_machine_versions_and_what_is_missing(result: dict[str, Any]) -> None:
    said = text.whole(result)
    assert "bench.py --full`: a processor, 2 cores" in said
    assert "torch 2.6, one thread" in said
    assert "- EnvPool: not set up" in said


def test_the_script_writes_page_data_and_pictures(result: dict[str, Any], tmp_path: Path) -> None:
    run, page, assets = tmp_path / "run.json", tmp_path / "page.md", tmp_path / "assets"
    run.write_text(json.dumps(result), encoding="utf-8")
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", encoding="utf-8")
    command = [sys.executable, SCRIPT, run, "--page", page, "--assets", assets]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    written = page.read_text(encoding="utf-8")
    assert written == f"before\n{report.BEGIN}\n\n{text.whole(result)}\n\n{report.END}\nafter\n"
    assert json.loads((assets / "benchmarks.json").read_text(encoding="utf-8")) == result
    for picture in ("bench-speed", "bench-rows", "bench-roofline", "bench-forager"):
        assert (assets / f"{picture}.png").stat().st_size > 10_000


def test_equal_figures_make_equal_pictures(result: dict[str, Any], tmp_path: Path) -> None:
    result["growth"] = None
    once, again = (plots.all_of(result, tmp_path / name)[0].read_bytes() for name in ("one", "two"))
    assert once == again


def test_the_page_is_what_the_kept_run_gives() -> None:
    page, data = report.PAGE.read_text(encoding="utf-8"), report.ASSETS / "benchmarks.json"
    shown = page.split(report.BEGIN)[1].split(report.END)[0].strip()
    if not data.exists():
        assert shown == ""
        return
    expected = text.whole(json.loads(data.read_text(encoding="utf-8")))
    assert shown == expected, "run: python tests/benchmarks/report.py --table"
    pictures = re.findall(r"\(assets/(bench-\w+\.png)\)", shown)
    assert "bench-speed.png" in pictures
    assert [name for name in pictures if not (report.ASSETS / name).is_file()] == []
