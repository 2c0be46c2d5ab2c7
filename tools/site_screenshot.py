"""Pictures of pages in the docs: docs/assets/failure-page.png, in docs/checks.md, and viewer.png, in docs/viewer.md.

    python tools/site_screenshot.py
    python tools/site_screenshot.py viewer

The failure is the one that both pages tell how to make: forager with a turn that stops at west. Needs Chromium and the
extra `browser`; takes some seconds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "docs" / "assets"
WAS, IS = "gust.to(torch.int32)) % 4", "gust.to(torch.int32)).clamp(max=WEST)"
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
SIZES = {"failure-page": (1400, 1500), "viewer": (1400, 900)}


def planted(folder: Path) -> Path:
    """A copy of forager with the mistake in it."""
    shutil.copytree(
        ROOT / "envs" / "forager", folder / "forager", ignore=shutil.ignore_patterns("native-*", "__pycache__")
    )
    twin = folder / "forager" / "fast.py"
    text = twin.read_text(encoding="utf-8")
    if text.count(WAS) != 1:
        raise SystemExit(
            f"{twin.name} of forager has no single `{WAS}` to break: see docs/checks.md, A failure explained"
        )
    twin.write_text(text.replace(WAS, IS), encoding="utf-8")
    return folder / "forager"


def simulacrum(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """A command in that folder."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "simulacrum", *words], cwd=folder, env=environment, capture_output=True
    )


def failed(folder: Path) -> Path:
    """Let the battery find the mistake, and return the page that it wrote."""
    planted(folder)
    done = simulacrum(folder, "validate", "./forager", "-k", "differential.rollouts", "--quick", "--compile", "eager")
    pages = sorted((folder / "failures").glob("*.html"))
    if done.returncode != 1 or not pages:
        raise SystemExit(f"the planted mistake was not found:\n{done.stdout.decode()}{done.stderr.decode()}")
    # The commands on the page name the folder, which is of no interest here.
    pages[0].write_text(pages[0].read_text("utf-8").replace(str(folder), "/home/me"), encoding="utf-8")
    return pages[0]


def viewed(folder: Path) -> Path:
    """The viewer's page of an episode in which the mistake shows."""
    planted(folder)
    done = simulacrum(folder, "view", "./forager", "--max-steps", "120", "--out", "viewer.html")
    if done.returncode != 0:
        raise SystemExit(f"the viewer wrote no page:\n{done.stdout.decode()}{done.stderr.decode()}")
    return folder / "viewer.html"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", nargs="?", choices=SIZES, default="failure-page", help="which picture")
    parser.add_argument("--out", type=Path, help="the picture to write, in place of that in docs/assets")
    options = parser.parse_args()
    out, (width, height) = options.out or ASSETS / f"{options.picture}.png", SIZES[options.picture]
    from playwright.sync_api import sync_playwright

    chromium = next(
        (path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None
    )
    if chromium is None:
        raise SystemExit("no Chromium on the PATH: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address = (viewed if options.picture == "viewer" else failed)(Path(folder)).as_uri()
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(address)
        page.wait_for_timeout(500)
        page.screenshot(path=out)
        browser.close()
    print(f"wrote {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
