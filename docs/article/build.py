"""Build the interactive article: `python docs/article/build.py [FOLDER]`, `build/article` by default."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from builder.site import OUT, build

if __name__ == "__main__":
    folder = build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else OUT)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    spent = sum(os.times()[:4])  # of this process and of those that it has started
    print(f"the article is in {folder}, {size / 1e6:.1f} MB, made in {spent:.0f} s of processor time")
    print("open its index.html, or serve the folder:")
    print(f"  python -m http.server --directory {folder} 8000")
