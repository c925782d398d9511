# Each target sets up .venv by itself. `make demo` and `make test` are all there is to know.
.DEFAULT_GOAL := help
.PHONY: help demo test check clean vectors
BIN := .venv/bin
NODE := $(BIN)/node-for-deniable
ROOMS := protocol client server analysis

help:  ## Show this help
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: .venv/ready-all  ## Run a whole survey: 2,000 respondents, server, report (Ctrl-C ends it)
	$(BIN)/python examples/affairs/demo.py $(DEMO_OPTIONS)

test: check  ## Check the code, then run every test
	$(NODE) --test tests/js/*.test.mjs
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

check: .venv/ready-dev  ## Format, lint, types and import directions, in Python and JavaScript
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(NODE) node_modules/typescript/bin/tsc --project tsconfig.json

vectors: .venv/ready-dev  ## Write the vectors that Python and JavaScript share
	$(BIN)/python -m tests.vectors.make

clean:  ## Remove everything that make has made
	rm -rf .venv node_modules demo-output build dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -exec rm -rf {} +

.venv/ready-all: pyproject.toml scripts/setup
	scripts/setup all
	@touch $@

.venv/ready-dev: pyproject.toml package-lock.json scripts/setup
	scripts/setup dev
	@touch $@ .venv/ready-all
