# Everything a developer runs. `make` alone lists the targets.
# Needs Python >= 3.11, git and make; the rest is installed into .venv.

# The first interpreter on the PATH that is new enough; `make PYTHON=/path/to/python test` overrides it.
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)
BIN := .venv/bin
# Rewritten after each install, so that nothing is installed again until pyproject.toml changes.
INSTALLED := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help install demo test lint format docs images bench wheels fuzz accidents clean

help: ## List the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

install: $(INSTALLED) ## Install the tool and what its tests need into .venv

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python >= 3.11 on the PATH"; \
	  echo "hint: install one, or name it: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; } >&2
	$(PYTHON) -m venv .venv
	@# setuptools warns at every editable install that a folder may hide a package; no folder here does.
	PYTHONWARNINGS=ignore::UserWarning \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(INSTALLED) ## The whole story on the sample profiles, into demo_out/
	@$(BIN)/npu-roofline demo --folder demo_out

# A file stays with one process, because fixtures that ingest a capture serve all tests of their file.
# Hundreds of tests start the tool: without kept byte code each of them compiles it anew.
test: $(INSTALLED) ## Run all tests, on all cores
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --numprocesses auto --dist loadfile

lint: $(INSTALLED) ## Check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: $(INSTALLED) ## Rewrite the sources in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED) ## Write the generated pages of docs/ anew
	$(BIN)/python docs/generate.py

images: $(INSTALLED) ## Take the pictures of docs/ anew, with Chromium
	$(BIN)/python docs/screenshots.py

bench: $(INSTALLED) ## Speed and memory on input that it makes itself, as ratios within one run
	$(BIN)/python -m bench

# Outside the checkout: the wheels are large, and not ours to pass on.
WHEELS ?= $(HOME)/.cache/npu-roofline/wheels
wheels: $(INSTALLED) ## Download the torch_npu wheels that some tests read, into WHEELS
	mkdir -p $(WHEELS)
	$(BIN)/python -m pip download --quiet --no-deps --only-binary=:all: --python-version 310 \
	  --platform manylinux_2_28_x86_64 --dest $(WHEELS) torch_npu==2.14.0
	$(BIN)/python -m pip download --quiet --no-deps --only-binary=:all: --python-version 310 \
	  --platform manylinux2014_x86_64 --dest $(WHEELS) torch_npu==2.1.0.post8

fuzz: $(INSTALLED) ## Mutated exports in quantity; a fixed few hundred of them are part of the tests
	$(BIN)/python -m tests.fuzz

accidents: $(INSTALLED) ## Ingests killed at fifty random moments; six of them are part of the tests
	$(BIN)/python -m tests.accidents

clean: ## Remove what the targets made, .venv too
	rm -rf .venv build dist demo_out bench_out .pytest_cache .ruff_cache .hypothesis *.egg-info
