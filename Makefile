# On a fresh machine with Python (3.11 or newer), pip and make: `make demo`, `make test`.
# Both do all their own set-up, in the folder .venv beside this file.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

LOWEST := .lowest

# A worker has neighbouring tests, which share what they set up, and takes from the other when it has
# no more. The tests start many processes: what these import is compiled once and kept.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: help demo test check tools docs soak spark lowest bench reproduce clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   study, randomise, estimate: a table next to the truth, and a picture"
	@echo "make test   every check: format, lint, types, tests, documents"
	@echo "make docs   the documentation as a site, docs/_build/html/index.html"
	@echo "make soak   an hour of random faults for each store of the collector (SOAK_MINUTES=10: shorter)"
	@echo "make spark  counting in Spark (if there is Java) and over Spark Connect; installs both"
	@echo "make lowest the tests with the oldest versions that pyproject.toml allows"
	@echo "make bench  speed beside other packages, as ratios, and accuracy on data, in one run"
	@echo "make reproduce  the paper's tables and figures, docs/reproduction.md (QUICK=1: minutes)"
	@echo "make clean  remove the environment and what was built"

# Some systems ship Python without ensurepip; there pip fills the environment from outside.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "castell needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.12" % v[:2])'
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || \
	  { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(VENV)/bin/python install --quiet pip; }

# A use needs less than a test: the demo installs no test tools.
$(VENV)/.use: pyproject.toml | $(BIN)/python
	@echo "setting up: installing castell[all] into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "setting up: installing castell[all,dev] into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]'
	@touch $@ $(VENV)/.use

demo: $(VENV)/.use
	@$(BIN)/castell demo

test: check tools
	$(PYTEST) --ignore tests/browser
	$(PYTEST) tests/browser

# Playwright keeps an event loop running in its process, which other tests cannot bear; hence two runs.
# A browser, a database server, web servers and a tracer, where they are missing and may be installed.
tools: $(VENV)/.dev
	@$(BIN)/python -m tests.collector.tools
	@$(BIN)/python -m tests.deploy.programs
	@$(BIN)/python -m tests.browser.chromium

# Warnings are errors. Everything is written anew, and nothing is loaded from elsewhere.
docs: $(VENV)/.dev
	$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Random faults for each store, one after the other; then more of the killing and the fuzzing.
SOAK_MINUTES ?= 60
soak: check tools
	$(BIN)/python -m tests.collector.soak --minutes $(SOAK_MINUTES)
	CASTELL_SOAK=10 $(BIN)/python -m pytest tests/collector/test_killing.py tests/collector/test_fuzz.py

# Sail is a Spark Connect server that needs no Java. Both are too large for `make test`. Sail 0.7 refuses
# a client of Spark 4.3.
spark: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[spark]' 'pyspark<4.3' 'pysail>=0.7'
	$(BIN)/python -m pytest tests/counting/test_spark.py tests/counting/test_spark_connect.py

# The oldest versions that pyproject.toml allows, in an environment that is made anew each time: a lower
# bound that is too low shows here. uv alone resolves downwards. Old versions may warn of what is to
# come, of each other and of Python; that they work is what counts. TESTS="tests/linear" runs fewer.
lowest:
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip compile --quiet pyproject.toml --extra all --extra dev --resolution lowest-direct \
	  --python $(LOWEST)/bin/python --output-file $(LOWEST)/requirements.txt
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python -r $(LOWEST)/requirements.txt
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --no-deps -e .
	$(LOWEST)/bin/python -m pytest -n auto -W ignore::DeprecationWarning -W ignore::FutureWarning \
	  $(or $(TESTS),--ignore tests/browser)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python -m benchmarks

# The paper's tables and figures, with real noise and with its own model, on all cores (JOBS=1: on
# one). What is kept in docs/reproduction/numbers and of this code is not computed again. QUICK=1:
# fewer repeats, sets and points, minutes.
reproduce: $(VENV)/.dev
	$(BIN)/python -m experiments all $(if $(QUICK),--quick) $(if $(JOBS),--jobs $(JOBS))

clean:
	rm -rf $(VENV) $(LOWEST) docs/_build build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
