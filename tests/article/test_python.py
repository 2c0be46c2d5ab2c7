"""The Python of the page: the repository's files, running where there is no NumPy and no torch, with the same bits."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile

import pytest
import torch
from builder.faults import ENV, ROOT
from builder.python import PAGE, SITE, WHEELS, archive, contents, repository_files
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import load_package
from simulacrum.engine.boundary import core_of
from simulacrum.engine.params import batch_params
from simulacrum.rng.batched import split_seed

pytestmark = pytest.mark.slow  # the first run fetches three small wheels

ROWS, STEPS = 6, 90
WHEELS_AT = ROOT / "build" / "article-cache" / "wheels"
PLAY = """
import importlib.abc, json, sys

class Nothing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "torch", "gymnasium", "markdown_it", "typer", "rich", "rpds"}:
            raise ModuleNotFoundError(f"{name} is not there", name=name)

sys.meta_path.insert(0, Nothing())
app, task = sys.argv[1], json.loads(sys.argv[2])
sys.path[:] = [app, f"{app}/site", *(path for path in sys.path if "-packages" not in path)]
import rows
play = rows.Play(f"{app}/envs/toywalk", task.get("source"), f"{app}/edited")
shown = play.rows(task["seeds"], [one for step in task["actions"] for one in step], len(task["actions"]), task["same"])
single = play.single([-5, 4], [3, 3], [1, 2], [0, 1])
first, second = play.reset(7), play.step(1)
print(json.dumps({
    "rows": {name: data.hex() for name, data in shown.items()},
    "single": {name: data.hex() for name, data in single.items()},
    "walk": [first, second], "jsonschema": sys.modules["jsonschema"].__file__,
}))
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """The archive's files, unpacked."""
    folder = tmp_path_factory.mktemp("app")
    try:
        files = list(contents(WHEELS_AT))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"pip cannot fetch what the page needs: {error}")
    for name, data in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def given():
    actions = torch.randint(0, 2, (STEPS, ROWS), generator=torch.Generator().manual_seed(8))
    return {"seeds": list(range(20, 20 + ROWS)), "actions": actions.tolist(), "same": False}


def played(app, **task):
    command = [sys.executable, "-I", "-c", PLAY, str(app), json.dumps({**given(), **task})]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def by_torch(mode):
    package = load_package(ROOT / "envs" / ENV)
    core = core_of(package, package.schema.max_episode_steps)
    params = batch_params(core.schema, None, ROWS, torch.device("cpu"))
    state = core.fresh(split_seed(given()["seeds"]), torch.zeros(ROWS, dtype=torch.int32), params)
    shown = []
    for action in torch.tensor(given()["actions"]):
        state, out = core.step(mode, state, action, params)
        final = out.observation if out.final_observation is None else out.final_observation
        shown.append((out.observation, out.reward, out.terminated, out.truncated, state.env.position, final))
    names = ("observation", "reward", "terminated", "truncated", "position", "final")
    return {
        name: torch.stack(values).numpy().tobytes().hex()
        for name, values in zip(names, zip(*shown, strict=True), strict=True)
    }


@pytest.mark.parametrize("same", [False, True])
def test_rows_have_the_bits_of_torch(app, same):
    mode = AutoresetMode.SAME_STEP if same else AutoresetMode.NEXT_STEP
    found, expected = played(app, same=same)["rows"], by_torch(mode)
    assert found == expected
    assert found["terminated"].count("01") > 2


def test_edited_reference_is_the_one_that_plays(app):
    source = (ROOT / "envs" / ENV / "reference.py").read_text("utf-8")
    edited = played(app, source=source.replace("return -move if slips else move", "return move"))
    assert edited["rows"] != by_torch(AutoresetMode.NEXT_STEP)


def test_one_step_and_single_states(app):
    found = played(app)
    first, second = found["walk"]
    assert first["t"] == 0
    assert second["t"] == 1
    assert abs(first["position"] - second["position"]) <= 1
    assert second["broken"] == []
    assert len(bytes.fromhex(found["single"]["position"])) == 2 * 4
    assert SITE in found["jsonschema"], "another jsonschema than the page's was imported"


def test_archive_holds_the_repositorys_files_as_they_are(app):
    for path in repository_files():
        assert (app / path.relative_to(ROOT)).read_bytes() == path.read_bytes()
    assert (app / "rows.py").read_bytes() == (PAGE / "rows.py").read_bytes()
    own = {str(path.relative_to(ROOT)) for path in repository_files()} | {"rows.py"}
    rest = [str(path.relative_to(app)) for path in app.rglob("*") if path.is_file() and "edited" not in path.parts]
    outside = {name for name in rest if name not in own and "__pycache__" not in name}
    assert all(name.startswith(f"{SITE}/") for name in outside)
    assert len(WHEELS) == 3


def test_same_files_give_the_same_archive(app):
    one = archive(WHEELS_AT)
    assert one == archive(WHEELS_AT)
    assert zipfile.ZipFile(io.BytesIO(one)).testzip() is None
