# Everything runs in a virtual environment that the first target makes: `make demo` and `make test` are
# all that a fresh machine needs, besides Python 3.11 or later.

VENV ?= .venv
JOBS ?= 2
# The first of these that is new enough and can make virtual environments. Python 3.11 comes first because PyBullet has
# wheels for no later one; all else is the same with 3.12 and 3.13.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CORE_STAMP := $(VENV)/.installed-core
SITE_STAMP := $(VENV)/.installed-docs
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
SPHINX := $(BIN)/python -m sphinx --quiet
OLDEST := $(VENV)-oldest
NUMBAS := build/numba

OLDEST_TESTS := tests/contact tests/biped/simulation tests/biped/model tests/biped/disturbances \
	tests/experiments/studies/store/test_sweep.py tests/experiments/studies/store/test_folder.py

NUMBA_TESTS := $(addprefix tests/kernelcache/test_,references.py parts.py generic.py)

# The least version of everything that is always installed.
define LOWEST
import re, tomllib
for needed in tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']:
    print(re.sub('>=([0-9.]+).*', r'==\1', needed))
endef
export LOWEST

# Another Numba, with the LLVM and NumPy that it needs, before those of the virtual environment.
define with_numba
$(PIP) install --no-warn-conflicts --upgrade --target $(NUMBAS)-$(1) "$(2)" \
	&& export PYTHONPATH=$(NUMBAS)-$(1) && $(BIN)/python -c 'import numba; print("Numba", numba.__version__)' \
	&& $(PYTEST) -n $(JOBS) --dist loadfile -k "not of_others" $(NUMBA_TESTS)
endef

# Container images set it. Each process of the tests would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test slow docs site pages links browser lint format types contract jit-off check oldest oldest-numba newest-numba plain bench numbers budget modules robots films wheel clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: $(CORE_STAMP)  ## run the thrown-block experiment; says what happened and where the pictures are
	@$(BIN)/biped run thrown-block

test: $(STAMP)  ## run the tests, except the slow ones; those of pages are skipped where there is no Chromium
	@echo "Compiling the kernels that the tests need, once; some minutes"
	@$(BIN)/biped warm all
	@$(PYTEST) -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not slow"

slow: $(STAMP)  ## run the slow tests
	@$(PYTEST) -n $(JOBS) --dist loadfile -m slow

docs: $(STAMP)  ## run the examples of README.md and docs/, and check their links and commands
	@$(PYTEST) -m docs

site: $(SITE_STAMP)  ## build the documentation as a site, run its tutorials, and check its links
	@$(SPHINX) --fail-on-warning --keep-going --jobs $(JOBS) -b html docs docs/_build/site
	@echo "The site is docs/_build/site/index.html"

pages: $(SITE_STAMP)  ## build the site without what its tutorials and pictures compute; checks pages, API reference and links
	@$(SPHINX) --fail-on-warning --keep-going -D nb_execution_mode=off -b html docs docs/_build/pages

links: $(SITE_STAMP)  ## check the links of the documentation to other sites
	@$(SPHINX) -D nb_execution_mode=off -b linkcheck docs docs/_build/links

browser: $(STAMP)  ## run the tests that show pages in Chromium
	@$(PYTEST) -m browser

lint: $(STAMP)  ## check the style of code and texts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python docs/words.py

format: $(STAMP)  ## bring the code into style, as far as that is automatic
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(STAMP)  ## check the types
	@$(BIN)/mypy

contract: $(STAMP)  ## check which package imports which
	@$(BIN)/lint-imports --no-logo

jit-off: $(STAMP)  ## run some kernels' tests as plain Python
	@NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(JOBS) --dist loadfile -m "jit_off and not slow" $$(grep -rl --include='*.py' jit_off tests)

check: lint types contract jit-off test  ## all of the above but the slow tests

oldest: $(BIN)/pip  ## run some tests with the oldest versions that pyproject.toml allows (Python 3.11)
	@$(BIN)/python -m venv $(OLDEST)
	@$(BIN)/python -c "$$LOWEST" > $(OLDEST)/constraints.txt
	@$(OLDEST)/bin/python -m pip -qq --disable-pip-version-check install -c $(OLDEST)/constraints.txt -e . hypothesis pytest pytest-xdist
	@$(OLDEST)/bin/python -m pytest -n $(JOBS) --dist loadfile -m "not slow and not browser" $(OLDEST_TESTS)

oldest-numba: $(STAMP)  ## run the compiler's tests with the oldest Numba that pyproject.toml allows
	@$(call with_numba,oldest,$$($(BIN)/python -c "$$LOWEST" | grep '^numba'))

newest-numba: $(STAMP)  ## run the compiler's tests with the newest Numba
	@$(call with_numba,newest,numba)

plain: $(STAMP)  ## run the compiler's tests with stock Numba; `make slow` compares a run too
	@BIPED_PLAIN_NUMBA=1 $(PYTEST) -n $(JOBS) --dist loadfile -k "not of_others" $(NUMBA_TESTS)

bench: $(STAMP)  ## measure the speed, beside MuJoCo
	@$(BIN)/biped bench

numbers: $(STAMP)  ## write the numbers of the last benchmark into docs/results.md
	@$(BIN)/python docs/numbers.py

budget: $(STAMP)  ## measure lines, compile time, test time and memory; fails above the limits in docs/budget.py
	@$(BIN)/python docs/budget.py

modules: $(STAMP)  ## write the table of public modules in docs/api.md
	@$(BIN)/python docs/modules.py

robots: $(STAMP)  ## compare the robots' files of installed packages with MuJoCo and Pinocchio; writes docs/robots-checked.md
	@$(BIN)/python -m tests.robot_files

films: $(STAMP)  ## draw the films of docs/films.md anew, by the commands on it, with Chromium; a few minutes
	@folder=$$(mktemp -d) && sed -n '/^```sh/,/^```/{s/^biped render.*/& || exit/p;/^biped run/p}' docs/films.md > $$folder/commands \
		&& (cd $$folder && PATH="$(abspath $(BIN)):$$PATH" sh -x commands) && cp $$folder/*.gif docs/figures/ && rm -r $$folder

wheel: $(STAMP)  ## build a wheel with compiled kernels, for this version of Python and every processor of the fixed target
	@BIPED_CACHE_DIR=build/kernels $(BIN)/biped warm all
	@BIPED_COMPILED=$$PWD/build/kernels/biped-kernels $(PIP) wheel --no-deps -w dist .

clean:  ## remove the virtual environment, results and caches
	rm -rf $(VENV) $(OLDEST) docs/_build docs/api build dist *.egg-info results .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find biped contact controllers experiments formulations kernelcache tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 or later with the modules venv and ensurepip was found; install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "make: $(PYTHON) is missing or older than Python 3.11; name another: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Making a virtual environment in $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV) || { echo "make: $(PYTHON) cannot make a virtual environment; is its venv package (such as python3-venv) installed?" >&2; exit 1; }

# Bytecode is written here, on all cores: pip would use one, and where PYTHONDONTWRITEBYTECODE is set, as in most
# containers, each later command would compile all that it imports. Packages ship some files that are no Python.
define BYTECODE
$(BIN)/python -m compileall -qq -j 0 -x 'site-packages/.*/tests?/' $(VENV)/lib biped contact controllers experiments formulations kernelcache || true
endef

$(CORE_STAMP): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing biped-balance into $(VENV), once; a minute with a slow network"
	@$(PIP) install --no-compile -c constraints.txt -e .
	@$(BYTECODE)
	@touch $@

$(STAMP): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing biped-balance and its tools into $(VENV), once; a few minutes with a slow network"
	@$(PIP) install --no-compile -c constraints.txt -e '.[dev]'
	@$(BYTECODE)
	@touch $(CORE_STAMP) $@

$(SITE_STAMP): $(STAMP)
	@$(PIP) install --no-compile -c constraints.txt -e '.[docs]'
	@touch $@
