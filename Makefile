# Every target makes .venv itself and leaves it alone when pyproject.toml has not changed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.made-from

# The label sets of others that the model is trained and measured on, as far as they lie beside the project.
SETS   := zh_psysuicide en_cssrs_suicidewatch_posts hn_xstest_en_zh en_openai_moderation en_vera_mh_dialogues zh_smilechat zh_cpsycound
DATA   ?= $(wildcard $(SETS:%=../shared/data/%.jsonl))

.PHONY: demo test lint check bench soak train evaluate format clean

demo: $(STAMP)
	@$(BIN)/jiezhu demo $(ARGS)

# Four at once on two cores: the promises mostly wait. One thread each, that does not spin while it waits for the others.
test: $(STAMP)
	OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m pytest -n 4 --dist loadgroup $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

bench: $(STAMP)
	$(BIN)/python -m pytest -m bench -s tests/benchmarks $(ARGS)

# The promises about delivery in their long form: hours.
soak: $(STAMP)
	PROMISES=long $(BIN)/python -m pytest -m promise tests/promises $(ARGS)

train: $(STAMP)
	$(BIN)/jiezhu train $(DATA:%=--data %) $(ARGS)

evaluate: $(STAMP)
	$(BIN)/jiezhu evaluate $(DATA:%=--data %) $(ARGS)

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "jiezhu needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[dev]'
	@cp pyproject.toml $@
