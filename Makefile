# Two commands for a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test lint clean

demo: $(VENV)/ready
	rm -rf demo
	$(BIN)/dynid demo -o demo

# Tests that move an arm need the processors for themselves.
MOTION = test/motion test/demo test/launch test/embedded/test_interoperation.py

test: lint
	$(BIN)/python -m pytest $(MOTION)
	# Cyclone DDS says on stderr what it refuses, and that would hide why a test failed.
	$(BIN)/python -m pytest -n 3 --dist worksteal --show-capture=stdout $(MOTION:%=--ignore=%)

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) demo build install log

$(VENV)/ready: setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@
