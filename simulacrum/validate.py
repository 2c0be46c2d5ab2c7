"""`python -m simulacrum.validate NAME` is `simulacrum validate NAME`, also where the program is not on the PATH."""

from __future__ import annotations

import sys

from simulacrum.cli import main

if __name__ == "__main__":
    sys.exit(main(["validate", *sys.argv[1:]], program="python -m simulacrum"))
