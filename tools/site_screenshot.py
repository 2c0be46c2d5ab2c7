"""The picture of a failure's page in docs/checks.md: this writes docs/assets/failure-page.png.

    python tools/site_screenshot.py

The failure is the one that page tells how to make: forager with a turn that stops at west. Needs Chromium and the extra
`browser`; takes some seconds.
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
PICTURE = ROOT / "docs" / "assets" / "failure-page.png"
WAS, IS = "gust.to(torch.int32)) % 4", "gust.to(torch.int32)).clamp(max=WEST)"
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
WIDTH, HEIGHT = 1400, 1500


def failed(folder: Path) -> Path:
    """Plant the mistake in a copy of forager, let the battery find it, and return the page that it wrote."""
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
    command = [sys.executable, "-m", "simulacrum", "validate", "./forager", "-k", "differential.rollouts"]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "NO_COLOR": "1"}
    done = subprocess.run([*command, "--quick", "--compile", "eager"], cwd=folder, env=environment, capture_output=True)
    pages = sorted((folder / "failures").glob("*.html"))
    if done.returncode != 1 or not pages:
        raise SystemExit(f"the planted mistake was not found:\n{done.stdout.decode()}{done.stderr.decode()}")
    # The commands on the page name the folder, which is of no interest here.
    pages[0].write_text(pages[0].read_text("utf-8").replace(str(folder), "/home/me"), encoding="utf-8")
    return pages[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PICTURE, help="the picture to write")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = next(
        (path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None
    )
    if chromium is None:
        raise SystemExit("no Chromium on the PATH: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address = failed(Path(folder)).as_uri()
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(address)
        page.wait_for_timeout(500)
        page.screenshot(path=options.out)
        browser.close()
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
