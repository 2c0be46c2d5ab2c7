# The commands a person types. `make` alone lists them.
#
# The first one that needs it makes a virtual environment in .venv and installs into it; nothing else on the machine
# is touched. Later runs start at once, until pyproject.toml or constraints.txt changes.

PYTHON ?= python3
VENV ?= .venv
# More for pip (an index with CPU builds of torch, say) and for venv (--system-site-packages, say).
PIP_ARGS ?=
VENV_ARGS ?=
# More for pytest or the demo's training: `make test ARGS="tests/rng -x"`, `make demo ARGS="--seed 2"`.
ARGS ?=

# Test processes side by side. Files stay whole, since their tests share what is dear to make.
JOBS ?= 2
# One thread of arithmetic per process. torch with more threads than free cores slows down many times over, and the
# batches here are too small to gain from a second one. `OMP_NUM_THREADS=4 make demo` overrides.
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= $(OMP_NUM_THREADS)
# The tools' own advertisements are not warnings about this project.
export PYRIGHT_PYTHON_IGNORE_WARNINGS = 1
export NO_MKDOCS_2_WARNING = true

BIN := $(VENV)/bin
READY := $(VENV)/ready-dev
# Whoever develops has all that training needs; a newcomer installs that part alone.
READY_TO_TRAIN := $(or $(wildcard $(READY)),$(VENV)/ready-train)

.DEFAULT_GOAL := help
SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-fast test-long test-browser test-oldest test-libraries test-envs test-all coverage lint types layers docs docs-serve article bench bench-docs bench-environments sizes wheel clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## install everything for development into .venv

demo: $(READY_TO_TRAIN) ## validate forager, train PPO on it, draw the learning curve
	@echo "== 1 of 2: validate forager: both twins, bit for bit"
	$(BIN)/simulacrum validate forager
	@echo "== 2 of 2: train PPO on the twin that passed"
	$(BIN)/python training/ppo.py $(ARGS)
	@echo "== the curve is the curve.png named above; all runs beside each other: $(BIN)/tensorboard --logdir runs"

test: $(READY) ## all tests but those of test-long
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --durations=15 -m "not long and not browser" $(ARGS)

test-long: $(READY) ## the tests that take longer: planted faults, each environment, pages, generated programs, WebAssembly, CUDA source
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup --durations=5 -m long $(ARGS)

test-fast: $(READY) ## the tests that are not marked slow
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile -m "not slow and not long and not browser" $(ARGS)

test-browser: $(READY) $(VENV)/ready-browser ## the tests that click through pages, in Chromium
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } || { \
	  echo "make: these tests need Chromium (on Debian and Ubuntu: apt install chromium)"; exit 1; }
	SIMULACRUM_BROWSER=1 $(BIN)/python -m pytest -q --durations=5 -m browser $(or $(ARGS),tests/browser)

# An older Gymnasium is laid over the installed one, for these tests alone.
OLDEST_GYMNASIUM := 1.2.2
test-oldest: $(READY) ## the Gymnasium-facing tests on the oldest Gymnasium that is supported
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --upgrade \
	  --target $(VENV)/oldest gymnasium==$(OLDEST_GYMNASIUM)
	PYTHONPATH=$(abspath $(VENV)/oldest) $(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile -m "not slow" -p no:cacheprovider \
	  tests/engine tests/cases tests/wrappers tests/test_registry.py $(ARGS)

# Training libraries, each in an environment of its own over .venv (tools/library_env.py), made at first use.
LIBS ?= sb3-contrib rllib torchrl skrl rsl-rl tianshou pufferlib minari gymnasium-2048
test-libraries: $(READY) ## adapters and environments beside the real libraries; LIBS="rllib skrl"
	@failed=""; for library in $(LIBS); do echo "== $$library"; \
	  $(BIN)/python tools/library_env.py $$library --test $(ARGS) || failed="$$failed $$library"; done; \
	  if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

test-envs: $(READY) ## validate every environment in full; ARGS="cartpole pong" for some
	$(BIN)/python tools/validate_environments.py --jobs $(JOBS) $(ARGS)

test-all: test test-long test-browser test-oldest test-libraries test-envs ## every test there is

coverage: $(READY) ## all tests, then the lines they did not reach
	$(BIN)/coverage run -m pytest -q $(ARGS)
	$(BIN)/coverage report

lint: $(READY) ## style (ruff)
	$(BIN)/ruff check .

types: $(READY) ## types (pyright, strict in simulacrum/)
	$(BIN)/pyright --pythonpath $(BIN)/python

layers: $(READY) ## which room may import which (import-linter)
	$(BIN)/lint-imports

docs: $(READY) ## build the site into site/, warnings as errors
	@# `--quiet` would silence the warnings that `--strict` counts; what is left out here are the lines that say nothing.
	@set -o pipefail; $(BIN)/mkdocs build --strict --clean 2>&1 | sed '/^INFO /d'
	@echo "the site is in site/index.html"

article: $(READY) ## build the interactive article into build/article (needs npm)
	@$(BIN)/python docs/article/build.py

docs-serve: $(READY) ## serve the site on this machine and rebuild on change
	$(BIN)/mkdocs serve

# Other libraries to measure beside: each gets a virtual environment of its own in .venv-bench/NAME at first use.
PEERS ?=
bench: $(READY) ## steps per second, side by side; PEERS="envpool gymnax pufferlib numba", ARGS=--full
	$(BIN)/python tests/benchmarks/bench.py --peers $(PEERS) $(ARGS)

bench-docs: $(READY) ## tables and pictures in the docs, from the last run of bench
	$(BIN)/python tests/benchmarks/report.py $(ARGS)

bench-environments: $(READY) ## steps per second of every environment beside its original; PEERS, ARGS
	$(BIN)/python tests/benchmarks/environments.py --peers $(PEERS) $(ARGS)

sizes: ## lines per file and the longest functions
	@$(PYTHON) tools/sizes.py

wheel: $(READY) ## build the wheel into dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

clean: ## remove what commands made, except virtual environments and reports
	rm -rf build dist site .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -not -path './$(VENV)/*' -not -path './.venv-bench/*' -prune -exec rm -rf {} +

# --- set-up -----------------------------------------------------------------------------------------------------------

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "make: no '$(PYTHON)' on the PATH. Install Python 3.10 or newer, or name one: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "make: simulacrum needs Python 3.10 or newer, '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "make: '$(PYTHON)' has no venv module (on Debian and Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(VENV_ARGS) $(VENV)

# The stamp is written only after pip succeeded, so an interrupted set-up starts again.
$(VENV)/ready-%: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "== set-up ($*): the first time this downloads torch and takes some minutes"
	$(BIN)/python -m pip install --disable-pip-version-check $(PIP_ARGS) -c constraints.txt -e '.[$*]'
	@touch $@
