# make demo   the main job on the embedded default: train, translate, score, draw
# make test   format, lint, types, documentation, tests
# make check  the same without the tests
# make docs   the documentation as a site, in build/site
# make install / make install-dev   what the above need, into .venv; called by them
#
# Another Python: make demo PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What an install compiles or reads: a change of it means another install.
SETUP := pyproject.toml hatch_build.py $(wildcard src/attendo/native/build.py src/attendo/native/*.cpp src/attendo/native/*.h)

.PHONY: demo test check docs install install-dev clean

demo: $(VENV)/.installed
	$(BIN)/attendo demo

test: $(VENV)/.installed-dev
	scripts/check

check: $(VENV)/.installed-dev
	scripts/check static

docs: $(VENV)/.installed-docs
	scripts/docs
	@echo "The first page is build/site/index.html."

install: $(VENV)/.installed

install-dev: $(VENV)/.installed-dev

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "attendo needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V); try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(SETUP) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[train]'
	@touch $@

$(VENV)/.installed-dev: $(SETUP) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-docs

$(VENV)/.installed-docs: $(SETUP) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
