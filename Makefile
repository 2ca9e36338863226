.DEFAULT_GOAL := help
PYTHON ?= python3
WORLDS ?= 1000
BENCH ?= 2000000
SOAK ?= 10
VENV := .venv
BIN := $(VENV)/bin
LOCK := $(VENV)/tools/bin/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-header

.PHONY: help setup dev demo test check types pure truth bench soak site lock sbom audit clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(VENV)/.runtime  ## install into .venv; leaves .venv/bin/doubletake

dev: $(VENV)/.dev  ## setup, plus what the tests need

demo: $(VENV)/.runtime  ## play an incident on an embedded AWS and show it in the browser
	$(BIN)/doubletake demo

test check: export PYTHONDONTWRITEBYTECODE =  # tests start hundreds of processes: each would compile everything again
test: $(VENV)/.dev  ## run every test
	$(BIN)/python -m tests.processes 3

check: $(VENV)/.dev  ## format, lint, types and the pure tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs 2 types pure

types:  # beside the tests: without its cache it keeps one core for a quarter of the time, and the other had nothing to do
	$(BIN)/mypy

pure:
	$(BIN)/python -m tests.processes 2 -m "not spark and not emulator and not browser and not page and not process and not slow and not lake"

truth: $(VENV)/.dev  ## judge findings against simulated worlds whose truth is known
	$(BIN)/python -m tests.oracle --worlds $(WORLDS)

bench: $(VENV)/.dev  ## measure correlation beside the same answers in DuckDB (BENCH=10000000 lines)
	$(BIN)/python -m tests.bench --lines $(BENCH)

site: $(VENV)/.tools  ## build the documentation as a site in build/site
	$(VENV)/tools/bin/zensical build --clean

lock: $(VENV)/.tools  ## write every package with its hashes to requirements.lock and requirements-dev.lock
	$(LOCK) requirements.txt --output-file requirements.lock
	$(LOCK) requirements-dev.txt --output-file requirements-dev.lock

sbom: $(VENV)/.tools  ## list every package it runs on in build/sbom.json (CycloneDX)
	@mkdir -p build
	$(VENV)/tools/bin/cyclonedx-py requirements requirements.lock --output-file build/sbom.json

audit: $(VENV)/.tools  ## ask the advisory database about every locked package
	$(PYTHON) docs/audit.py $(VENV)/tools/bin/pip-audit

soak: $(VENV)/.dev  ## attack lakes with kills, full disks and spoilt replies, and judge worlds that no test has drawn (SOAK=60 minutes)
	DOUBLETAKE_WATCH_RUNS=500 $(BIN)/python -m pytest tests/cli/test_watch_for_long.py
	$(BIN)/python -m tests.soak --minutes $(SOAK)
	DOUBLETAKE_DRAWS_OTHERS=yes $(BIN)/python -m tests.processes 2 -m slow

clean:  ## remove what setup made
	rm -rf $(VENV) *.egg-info

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Doubletake needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.txt pyproject.toml hatch_build.py | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	$(BIN)/python -m cli.java_classes
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(VENV)/.tools: requirements-tools.txt | $(VENV)/bin/python
	$(BIN)/python -m venv $(VENV)/tools
	$(VENV)/tools/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-tools.txt
	@touch $@
