# Two commands for a fresh machine: `make demo` and `make test`; `make docs` builds the site.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Hundreds of processes start here; with bytecode kept, none of them compiles the package again.
export PYTHONDONTWRITEBYTECODE =

# Two processes for each of two processors, since nodes wait for each other; a file stays in one,
# which makes its recordings once. Cyclone DDS logs refused messages on stderr, which would hide the
# cause of a failed test.
PYTEST = $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder --show-capture=stdout

# An environment with the oldest versions that are allowed; PyPI has no Numba 0.58 for Python 3.12.
OLDEST_PYTHON ?= python3.11
OLDEST = .venv-oldest

.PHONY: demo test test-fast test-oldest fuzz lint docs clean

demo: $(VENV)/ready
	rm -rf demo
	$(BIN)/dynid demo -o demo

# The linters are tests, too: one run reports everything.
test: $(VENV)/ready
	$(PYTEST)

# The core, without nodes and what takes seconds: nothing waits, so a process for each processor.
test-fast: $(VENV)/ready
	$(PYTEST) -n 2 -m 'not nodes and not slow'

# The same with the oldest versions that setup.py allows, those of Ubuntu 24.04.
OLDEST_TESTS ?= test
test-oldest: $(OLDEST)/ready
	$(OLDEST)/bin/python -m pytest -n 2 --dist loadfile -m 'not nodes and not slow' $(OLDEST_TESTS)

# Mutated inputs for every command; repeats one of them with CASE=, as printed.
COUNT ?= 20000
SEED ?= 1
fuzz: $(VENV)/ready
	$(BIN)/python test/fuzz/fuzz.py --count $(COUNT) --seed $(SEED) $(if $(CASE),--case $(CASE))

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/mypy

# The site, in build/docs, from a copy of its sources, beside which the pages of commands, names and
# examples are written. Every warning counts.
docs: $(VENV)/ready
	rm -rf build/site build/docs && mkdir -p build/site && cp -R docs examples config build/site
	$(BIN)/python -m sphinx -q -W --keep-going build/site/docs build/docs

clean:
	rm -rf $(VENV) $(OLDEST) demo build install log

$(VENV)/ready: setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

$(OLDEST)/ready: setup.py constraints/ubuntu_24.04.txt constraints/pinocchio.txt
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet -r constraints/ubuntu_24.04.txt \
		mcap mujoco pytest-xdist rosbags xacro -c constraints/ubuntu_24.04.txt
	$(OLDEST)/bin/python -m pip install --quiet --no-deps -r constraints/pinocchio.txt --editable .
	touch $@
