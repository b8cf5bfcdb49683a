# `make` alone lists the targets.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
SPARK := .venv/spark

.PHONY: help setup demo docs test soak lint homes bench tools audit clean

help:
	@echo "make demo    set up, load the bundled sample, open the dashboard on http://127.0.0.1:8501"
	@echo "make test    set up, lint, check the types, run the tests (the browser's too)"
	@echo "make soak    the long tests that \`make test\` leaves out: kills, load, every view in every theme and width"
	@echo "make setup   .venv with everything for use and tests"
	@echo "make lint    ruff and mypy"
	@echo "make bench   speed and memory as ratios; BENCH=name,name runs some"
	@echo "make docs    the documentation as a site in build/site, with notebooks and references"
	@echo "make audit   known vulnerabilities of the pinned packages (.ci/audit: 0 none, 1 some, 3 not checked)"
	@echo "make clean   remove .venv and build"

setup: $(READY)

$(READY): pyproject.toml .ci/constraints.txt .ci/venv
	@bash .ci/venv "$(PYTHON)"
	@touch $@

demo: $(READY)
	@exec $(BIN)/workprof demo

lint: $(READY)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

# Spark is large, and only the tests of `workprof pull` run it.
$(SPARK): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint .ci/constraints.txt --editable '.[test,spark]'
	@touch $@

docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint .ci/constraints.txt --editable '.[docs]'
	$(BIN)/python docs/build.py

tools:
	@bash .ci/tools

# Three processes on two cores, as some wait for a browser: one thread each, and what is imported is compiled once for all processes that follow.
test soak: export OMP_NUM_THREADS = 1
test soak bench: export PYTHONDONTWRITEBYTECODE =
test: export WORKPROF_TEST_HOMES = $(CURDIR)/build/homes
SPREAD := -n 3 --dist loadfile --no-loadscope-reorder

test: $(READY) tools
	@rm -rf build/homes && mkdir -p build/homes
	@$(MAKE) --no-print-directory --jobs=2 lint homes
	$(BIN)/pytest -m "not soak" $(SPREAD)

# What many tests copy, made while another core checks the types.
homes: $(READY)
	@$(BIN)/python -m tests.made_once >/dev/null

soak: $(SPARK)
	@bash .ci/tools soak
	$(BIN)/pytest -m soak $(SPREAD)

bench: $(READY)
	$(BIN)/python -m tests.benchmarks

audit: $(READY)
	$(BIN)/python .ci/audit

clean:
	rm -rf .venv build dist
