"""The article's builder lies beside its page, in docs/article, and is imported from there."""

from __future__ import annotations

import sys
from pathlib import Path

ARTICLE = Path(__file__).resolve().parents[2] / "docs" / "article"

if str(ARTICLE) not in sys.path:
    sys.path.append(str(ARTICLE))
