"""The study of false acceptance: its planted effects are what it says, and its test is the package's own."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
SCRIPT = Path(__file__).with_name("transfer.py")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("benchmark_transfer", SCRIPT)
    module = sys.modules["benchmark_transfer"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["benchmark_transfer"]


def test_effects_of_the_planted_faults(script):
    means = {name: np.array(found) for name, found in script.made_pool(3, 1024, 32).means.items()}
    fall = means["honest"] - means["cost"]
    np.testing.assert_allclose(means["honest"] - means["double cost"], 2 * fall, rtol=1e-6)
    assert (fall > 0.125 * 3).all()  # a start is three steps from the goal, or more; the last one costs nothing
    assert (fall < 0.125 * 60).all()
    pool = script.Pool({name: found.tolist() for name, found in means.items()})
    np.testing.assert_allclose(pool.of_cost(float(fall.mean())), means["cost"], rtol=1e-6)
    np.testing.assert_allclose(pool.of_cost(1.5).mean(), means["honest"].mean() - 1.5)


def test_all_rows_at_once_are_the_test_of_the_package(script):
    from simulacrum.transfer.tost import tost

    generator = np.random.default_rng(3)
    x, y = generator.normal(0.2, 1.0, (60, 6)), generator.normal(0.0, 2.0, (60, 6))
    wanted = [tost(a, b, margin=1.7).verdict == "equivalent" for a, b in zip(x, y, strict=True)]
    assert script.accepted(x, y, 1.7).tolist() == wanted
    assert 0 < sum(wanted) < 60


def test_tables_of_a_pool_that_is_there(tmp_path):
    generator = np.random.default_rng(0)
    honest = generator.normal(5.0, 1.0, 200)
    means = {"honest": honest, "cost": honest - 1.0, "double cost": honest - 2.0, "slip": honest - 0.5}
    pool, figures = tmp_path / "pool.json", tmp_path / "figures.json"
    pool.write_text(json.dumps({name: found.tolist() for name, found in means.items()}))
    command = [sys.executable, str(SCRIPT), "--pool", str(pool), "--json", str(figures), "--repetitions", "2000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("200 policies, mean return")
    rates = {(row["n"], row["share"]): row for row in json.loads(figures.read_text())["curves"]}
    for n in (5, 10, 20, 40):
        assert rates[n, 1.0]["real"] == pytest.approx(rates[n, 1.0]["normal"], abs=0.02)
        assert rates[n, 1.0]["real"] <= 0.07
        assert rates[n, 1.5]["real"] <= 0.02
    assert rates[40, 0.0]["real"] > 0.99


def test_a_pool_needs_policies():
    done = subprocess.run([sys.executable, str(SCRIPT), "--policies", "2"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "at least 3" in done.stderr
