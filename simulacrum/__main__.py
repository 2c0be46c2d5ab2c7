"""`python -m simulacrum`: the command line."""

from __future__ import annotations

import sys

from simulacrum.cli import main

if __name__ == "__main__":
    sys.exit(main(program="python -m simulacrum"))
