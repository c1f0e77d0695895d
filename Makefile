# make setup | run | test | check | bench | parity: each prints what it does and sets itself up on a fresh machine.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.bench-ready

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all check bench parity

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY)  ## make the virtual environment with the pinned packages
	@echo "setup: ready in $(VENV); the command is $(BIN)/orchestrate"

$(READY): pyproject.toml constraints.txt
	@echo "setup: installing into $(VENV) with $$($(PYTHON) --version) (some minutes the first time)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "setup: Python 3.11, 3.12 or 3.13 is needed, this is %d.%d; name another: make setup PYTHON=python3.12" % sys.version_info[:2])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@echo "setup: compiling the kernel (once for these sources)"
	@$(BIN)/python -c 'from actors.spawn import warm_here; warm_here()'
	@touch $(READY)

$(BENCH_READY): $(READY)
	@echo "setup: installing the peers of the benchmarks"
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,bench]'
	@touch $(BENCH_READY)

run: $(READY)  ## a small search on this machine without a key: 3 generations of 4 candidates, and small finals
	@echo "run: 3 generations of 4 reward programs, 200 000 training steps each, evolved without an LLM, then finals"
	@$(BIN)/orchestrate --local --config examples/small_search.yaml

test: $(READY)  ## the default tests: no network, no key, no GPU
	@echo "test: pytest, default selection, two processes"
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile

test-all: $(READY)  ## the default tests and the slow ones
	@echo "test-all: pytest, slow tests too"
	@$(BIN)/python -m pytest -q -m "not gpu"

check: $(READY)  ## format, lint, types and import contracts
	@echo "check: ruff format, ruff check, mypy --strict, import-linter"
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(BENCH_READY)  ## measure against highway-env and SB3, side by side
	@echo "bench: kernel against highway-env, PPO against SB3; figures go to benchmarks/results/latest.json"
	@$(BIN)/python -m benchmarks.run

parity: $(READY)  ## prove the kernel bitwise equal to highway-env (some minutes)
	@echo "parity: kernel against highway-env, episode by episode"
	@$(BIN)/python -m benchmarks.parity
