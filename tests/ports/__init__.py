"""Popular ports of known environments beside the programs that they port: `python tests/ports/compare.py`."""
