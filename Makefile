# MindCone. `make help` lists what there is.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
STAMP_DEV := $(VENV)/.installed-dev
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: help install dev run demo test test-slow lint types imports migrations check lock clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

install: $(STAMP) ## Make .venv with the mindcone command

dev: $(STAMP_DEV) ## The same, with what tests and checks need

run: $(STAMP) ## Start everything: database, API, worker; the sample vault on the first start
	@$(BIN)/mindcone run

demo: $(STAMP) ## Import the sample, ask one question per level, print the answers, exit
	@$(BIN)/mindcone demo

test: $(STAMP_DEV) ## The test suite, on a real embedded PostgreSQL
	$(PYTEST) -m "not slow"

test-slow: $(STAMP_DEV) ## The long suites: kill loops, 100k chunks, BGE-M3
	$(BIN)/python -m pytest -m slow

lint: $(STAMP_DEV) ## ruff, format included
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(STAMP_DEV) ## mypy, strict
	$(BIN)/mypy

imports: $(STAMP_DEV) ## import-linter: imports only fall
	$(BIN)/lint-imports

migrations: $(STAMP_DEV) ## One head, and the tables are what the migrations build
	$(BIN)/python -m pytest -q tests/test_migrations.py

check: lint types imports migrations ## All static checks

lock: ## Renew constraints.txt from what pyproject.toml allows
	rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet ".[dev]"
	$(VENV)-lock/bin/python -m pip freeze --exclude mindcone | grep -v ' @ ' > constraints.txt
	rm -rf $(VENV)-lock

clean: ## Remove .venv and caches (never the data directory)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache build *.egg-info

$(STAMP): pyproject.toml constraints.txt
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(STAMP_DEV): pyproject.toml constraints.txt
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@ $(STAMP)
