# Trimus on one machine. `make run` needs Python 3.11 or newer and nothing else.

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
PORT ?=
ARGS ?=

BIN := .venv/bin
# Made anew when what it was made from changes.
RUNTIME := .venv/runtime.stamp
DEVELOPMENT := .venv/development.stamp

PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet
PIP_FAILED := { echo "The packages could not be installed; pip says why above. Where it tried to compile one:" \
	"apt-get install gcc python3-dev" >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help env run test bench lint screenshots docs faults fuzz

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

env: $(RUNTIME) ## make .venv with what Trimus runs on

run: $(RUNTIME) ## start everything on this machine (PORT=8000, ARGS="--demo --no-browser")
	@exec $(BIN)/python manage.py up $(if $(PORT),--port $(PORT)) $(ARGS)

test: $(DEVELOPMENT) ## run every test this machine can; TRIMUS_REQUIRE=browser,postgres,redis,rabbitmq,own_servers fails without
	@$(BIN)/python -m tests $(ARGS)

lint: $(DEVELOPMENT) ## style, types, layers, missing migrations, generated pages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy trimus issues agents engine
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py docs --check

docs: $(RUNTIME) ## write the generated pages of docs/ anew
	$(BIN)/python manage.py docs

bench: $(DEVELOPMENT) ## measure, print tables, write benchmarks/results/*.json
	@$(BIN)/python -m benchmarks $(ARGS)

screenshots: $(DEVELOPMENT) ## take docs/screenshots/ anew
	@$(BIN)/python -m tests.browser.screenshots $(ARGS)

faults: $(DEVELOPMENT) ## kill each part in the middle of its work, at length
	@TRIMUS_FAULTS=long $(BIN)/python -m pytest tests/faults $(ARGS)

fuzz: $(DEVELOPMENT) ## feed parsers, renderer and prompts with far more random texts than the tests do
	@$(BIN)/python -m pytest tests -m hypothesis --hypothesis-profile long $(ARGS)

$(RUNTIME): requirements.txt
	@$(MAKE) --no-print-directory .venv/bin/python
	$(PIP) --requirement requirements.txt || $(PIP_FAILED)
	@touch $@

$(DEVELOPMENT): requirements.txt requirements-dev.txt
	@$(MAKE) --no-print-directory .venv/bin/python
	$(PIP) --requirement requirements-dev.txt || $(PIP_FAILED)
	@touch $@ $(RUNTIME)

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Trimus needs Python 3.11 or newer, and this machine has" \
		"$$(python3 --version 2>/dev/null || echo none). On Debian or Ubuntu:" \
		"apt-get install python3 python3-venv; elsewhere https://www.python.org/downloads/." \
		"Another interpreter: make run PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments." \
		"On Debian or Ubuntu: apt-get install python3-venv (with another interpreter its own, as" \
		"python3.12-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
