"""One file per check of the catalogue, named as the check; each has `run(bench) -> Outcome`."""
