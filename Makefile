# `make demo` and `make test` set up everything they need in .venv and are quick when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal --durations 10
# Most tests spend their time compiling. Without optimisation, and with the compiler's older code
# for fused operations, a program compiles in less than half the time. `make test-all` runs the same
# tests optimised, as users' programs are.
UNOPTIMISED := XLA_FLAGS="--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
# The theme greets every build with a note on its successor: docs/decisions/0009-site.md.
# No --quiet: with it --strict finds nothing.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs
# Whole programs and environments beside their originals; documents and pages; all others are the core.
BROWSER_TESTS := tests/viewing/test_watch_browser.py
SYSTEM_TESTS := tests/cli tests/fuzz tests/runs tests/studies tests/viewing tests/config/test_presets_train.py \
  tests/envs/adapters tests/envs/box_jump tests/envs/cooking tests/envs/test_registered.py
DOCS_TESTS := tests/docs tests/examples $(BROWSER_TESTS)
# The last line says whether pages were tested in a real browser.
SAY_SKIPPED := $(BIN)/python tests/support/browser.py

.PHONY: help demo test test-core test-system test-docs test-package test-all lint types layers docs docs-serve benchmark notebooks gallery tables figures format constraints clean
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: $(VENV)/.user  ## watch a tower of boxes grow, in about two minutes
	$(BIN)/pairvdn demo

# One session: three would start, import and wait for their last test three times.
test: lint types layers $(VENV)/.dev  ## the gate: everything but the slow tests
	$(UNOPTIMISED) $(PYTEST)
	@$(SAY_SKIPPED)

test-core: lint types layers $(VENV)/.dev  ## format, lint, types, layers, unit and learning tests
	$(UNOPTIMISED) $(PYTEST) $(foreach path,$(SYSTEM_TESTS) $(DOCS_TESTS),--ignore $(path))

test-system: $(VENV)/.dev  ## commands, run folders, studies, films, presets, environments beside their originals
	$(UNOPTIMISED) $(PYTEST) $(SYSTEM_TESTS) --ignore $(BROWSER_TESTS)

test-docs: $(VENV)/.dev  ## the site, the docs' code and commands, the watch page in a browser
	$(UNOPTIMISED) $(PYTEST) $(DOCS_TESTS)
	@$(SAY_SKIPPED)

test-package: $(VENV)/.dev  ## install the wheel and the sdist in fresh environments and use them
	$(BIN)/python -m pytest -m slow tests/packaging

test-all: lint types layers  ## all tests, slow ones too, compiled as users' programs are, and the coverage
	$(PYTEST) -m "" --hypothesis-profile thorough --cov --cov-report=term
	@$(SAY_SKIPPED)

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

docs: $(VENV)/.docs  ## build the documentation in site/; a dead link is an error
	$(MKDOCS) build --strict

docs-serve: $(VENV)/.docs  ## show the documentation, and every change of it, on port 8000
	$(MKDOCS) serve --watch src --watch README.md

notebooks: $(VENV)/.dev  ## run examples/notebooks and store their outputs
	$(BIN)/python examples/notebooks/run.py

gallery: $(VENV)/.dev  ## train the runs of docs/gallery, if need be, and draw them
	$(BIN)/pairvdn study run gallery
	$(BIN)/python docs/gallery/make.py

tables: $(VENV)/.dev  ## fill the tables of README and docs from results/*.json
	$(BIN)/pairvdn study table --write README.md docs --results results

FIGURE := $(BIN)/pairvdn study figure --results results --to docs/results/figures
figures: $(VENV)/.dev  ## draw the figures of docs/results from results/*.json
	$(FIGURE) box-jump --only bars
	$(FIGURE) cooking --only bars curves
	$(FIGURE) coordination-untuned --only bars
	$(FIGURE) paper-curves --only curves
	$(FIGURE) paper-table --only bars curves
	$(FIGURE) simple-spread --only bars
	rm docs/results/figures/*.png

format: $(VENV)/.dev  ## let ruff format and mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

benchmark: $(VENV)/.dev  ## print every speed that the docs quote
	for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

# The stamps say which set of packages .venv holds and when; a change of either file installs again.
$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pairvdn needs Python 3.11 or newer; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.user: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[view]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(VENV)/.user $(VENV)/.docs $@

# The site reads the package without importing it, so only the packages of the extra are needed.
$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -c 'import tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; print(*extras["docs"])' \
	  | xargs $(PIP) install --quiet --constraint constraints.txt
	@touch $@

constraints:  ## pin what a fresh environment with every extra resolves to today
	rm -rf $(VENV)-constraints && $(PYTHON) -m venv $(VENV)-constraints
	$(VENV)-constraints/bin/python -m pip install --quiet --editable '.[view,tune,jaxmarl,logging,docs,dev]'
	{ echo '# What was tested together. Made by `make constraints`.'; \
	  $(VENV)-constraints/bin/python -m pip freeze --exclude-editable; } > constraints.txt
	rm -rf $(VENV)-constraints

clean:  ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .jax_cache .import_linter_cache .coverage* site
