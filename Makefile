# Two commands for a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test lint clean

demo: $(VENV)/ready
	rm -rf demo
	$(BIN)/dynid simulate ur10 -o demo/bag
	$(BIN)/dynid identify demo/bag --arm ur10 -o demo/result
	@echo "Open demo/result/report.html in a browser."

test: lint
	$(BIN)/python -m pytest

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) demo build install log

$(VENV)/ready: setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@
