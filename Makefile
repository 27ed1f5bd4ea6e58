# make demo and make test are all a newcomer needs; both make .venv if it is not there and reuse it if it is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test lint docs bench clean

demo: $(VENV)/.package
	$(BIN)/uneven demo

test: lint
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.package
	@echo "docs/index.md is the start page; each public name has its own docstring (python -m pydoc uneven)."

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/imports.py
	$(BIN)/python benchmarks/calibration.py
	$(BIN)/python benchmarks/certificates.py
	$(BIN)/python benchmarks/linear.py
	$(BIN)/python benchmarks/svm.py
	$(BIN)/python benchmarks/tuning.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.python:
	$(PYTHON) -c "import sys; sys.exit('uneven needs Python 3.11 or newer') if sys.version_info < (3, 11) else None"
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.package: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) --editable ".[plot,data]"
	touch $@

$(VENV)/.dev: $(VENV)/.package
	$(PIP) --editable ".[dev]"
	touch $@
