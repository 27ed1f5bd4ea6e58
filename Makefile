# make demo and make test are all a newcomer needs; both make .venv if it is not there and reuse it if it is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo check test test-zoo zoo lint browser docs licences release bench clean

demo: $(VENV)/.package
	$(BIN)/uneven demo

# Two processes, each with one half of the tests in their order, so that files share what they have made; whoever is
# ready first takes from the other.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

# All checks and the fast tests, in less than two minutes: before each commit. `make test` is the whole, before a merge.
check: lint
	$(PYTEST) -m "not slow"

test: lint browser
	$(PYTEST)

# Compares the formulas of the zoo with the own functions of the libraries, in an environment of its own.
test-zoo: $(VENV)-zoo/.ready
	KERAS_BACKEND=torch $(VENV)-zoo/bin/python -m pytest -n 0 tests/zoo/test_zoo_truth.py

zoo: $(VENV)/.dev
	$(BIN)/python -m uneven.zoo.certificates --page docs/losses-assume.md

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports

# The explorer is tested in a real browser: Debian's chromium, or the one that UNEVEN_CHROMIUM names.
browser:
	@if [ -x "$${UNEVEN_CHROMIUM:-/usr/bin/chromium}" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		echo "Installing chromium, which the tests of the explorer need."; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium > /dev/null && exit 0; \
	fi; \
	echo "There is no chromium here, so the tests of the explorer in a browser are skipped."; \
	echo "To run them: apt-get install chromium (as root), or set UNEVEN_CHROMIUM to a chromium or chrome."

docs: $(VENV)/.docs
	$(BIN)/python website/build.py

# Reads what the packages say about themselves, so all extras are installed.
licences: $(VENV)/.all
	$(BIN)/python website/licences.py docs/licences.md

release: $(VENV)/.release
	$(BIN)/python release/make.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/imports.py
	$(BIN)/python benchmarks/calibration.py
	$(BIN)/python benchmarks/certificates.py
	$(BIN)/python benchmarks/linear.py
	$(BIN)/python benchmarks/svm.py
	$(BIN)/python benchmarks/tuning.py
	$(BIN)/python benchmarks/trees.py speed
	$(BIN)/python benchmarks/boosting.py
	$(BIN)/python benchmarks/explorer_load.py
	$(BIN)/python benchmarks/explorer_redraw.py
	$(BIN)/python benchmarks/frameworks.py

clean:
	rm -rf $(VENV) $(VENV)-zoo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

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

$(VENV)/.docs: $(VENV)/.package
	$(PIP) --editable ".[docs]"
	touch $@

$(VENV)/.all: $(VENV)/.package
	$(PIP) --editable ".[bench,boost,dask,data,dev,docs,explorer,export,jax,plot,release,torch]"
	touch $@

$(VENV)/.release: $(VENV)/.package
	$(PIP) --editable ".[release]"
	touch $@

# Losses need little of what their packages need: the packages are installed without their dependencies.
$(VENV)-zoo/.ready: tests/zoo/libraries.txt tests/zoo/needs.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)-zoo
	$(VENV)-zoo/bin/python -m pip --disable-pip-version-check install --quiet --editable . --requirement tests/zoo/needs.txt
	$(VENV)-zoo/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --requirement tests/zoo/libraries.txt
	touch $@
