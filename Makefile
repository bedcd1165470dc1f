# Everything a newcomer or a developer types. Each target sets up what it needs, once, and says so.
# Needs: Linux or macOS with python3 (3.11 or newer, with venv), make and network.

PYTHON ?= python3
VENV   := .venv
LEAN   := .venv-lean
STUDIO := .venv-studio
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LIGHT  := $(VENV)/.light
DEMO   ?= demo
JOBS   ?= 3

# Tests that need no torch: they run once more on pandas 2, as an analyst's or annotator's install has it.
LEAN_TESTS := tests/test_tables.py tests/test_schema.py tests/io/test_files.py tests/test_config.py tests/test_registry.py \
              tests/test_project.py tests/imaging tests/test_vectors_store.py tests/faults/test_killed_writers.py \
              tests/synthetic tests/images tests/suspects tests/neighbors tests/labels tests/conformance/stores \
              tests/truth tests/metrics tests/analysis tests/test_without_torch.py

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Tests run side by side already: threads of their small products would only wait for each other.
test test-lean coverage: export OPENBLAS_NUM_THREADS := 1
test test-lean coverage: export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(LIGHT) ## Set up without torch, walk the flow on a drawn catalogue (into ./demo), open the pages where it is judged
	@$(BIN)/eds demo $(DEMO)
	@$(MAKE) --no-print-directory demo-pages

demo-full: $(READY) ## The same with torch and three networks (into ./demo-full)
	@$(BIN)/eds demo $(DEMO)-full --model hsv=descriptor:hsv --model hog=descriptor:hog \
	  --model lite0=wheel:efficientnet_lite0 --model lite1=wheel:efficientnet_lite1 --model lite2=wheel:efficientnet_lite2
	@$(MAKE) --no-print-directory demo-pages DEMO=$(DEMO)-full

demo-pages:
	@if [ -t 1 ]; then $(BIN)/eds labels serve --demo --project $(DEMO); else \
	  echo "To judge pairs, and to see what was judged, start the pages; they tell the address and how to sign in:"; \
	  echo "  $(BIN)/eds labels serve --demo --project $(DEMO)"; fi

test: $(READY) $(STUDIO)/.ready browser lint ## Set up, then run every check and test
	@echo "Tests, with every extra:"
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal
	@$(MAKE) --no-print-directory test-lean

test-lean: $(LEAN)/.ready ## Run the tests that need no torch on pandas 2, without it
	@echo "Tests, without torch, on pandas 2:"
	@$(LEAN)/bin/python -m pytest -q -n $(JOBS) --dist worksteal --hypothesis-profile few $(LEAN_TESTS)

# Not part of `make test`: counting lines takes 45 % more of the processor's time.
coverage: $(READY) $(STUDIO)/.ready browser ## Run the tests and say which lines they do not reach
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --cov --cov-report=term --cov-fail-under=90

lint: $(READY) ## Check style, types and who imports whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache > $(VENV)/imports.txt || { cat $(VENV)/imports.txt; exit 1; }
	@echo "Style, types and import contracts hold."

format: $(READY) ## Put the code into its form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

speed: $(READY) ## Print the speed ratios, each measured in one run
	@for script in tests/speed/*.py; do echo "== $$script"; $(BIN)/python -m tests.speed.$$(basename $$script .py) || exit 1; done

screenshots: $(READY) browser ## Take the README's pictures of the annotator again
	@$(BIN)/python -m tests.screenshots

docs: $(READY) ## Regenerate the generated parts of the documentation
	@$(BIN)/python -m tests.generated

constraints: $(READY) ## Pin the versions that are installed now
	@{ head -n 1 constraints.txt; $(BIN)/pip freeze --exclude-editable | grep '==' | grep -viE '^(nvidia|cuda|triton|efficientnet|uv=)' | sed 's/+cpu$$//' | sort -f; } > $(VENV)/pins
	@mv $(VENV)/pins constraints.txt

clean: ## Remove the virtual environments and caches
	rm -rf $(VENV) $(LEAN) $(STUDIO) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*

python:
	@command -v $(PYTHON) > /dev/null || { echo "eds needs python3 (3.11 or newer): install it, or name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "eds needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2> /dev/null || { echo "$(PYTHON) has no venv: on Debian or Ubuntu, apt-get install python3-venv"; exit 1; }

$(LIGHT): pyproject.toml constraints.txt | python
	@echo "Setting up $(VENV): 1.2 GB without PyTorch, about a minute the first time ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q -e ".[offline,annotator]" -c constraints.txt \
	  || { echo "Packages could not be installed: see the message above; is there network and disk space?"; exit 1; }
	@touch $@

# Linux without a GPU takes PyTorch's own build for CPUs, where its index can be reached; else pip's brings CUDA (5 GB).
$(READY): pyproject.toml constraints.txt | python
	@echo "Setting up $(VENV) with PyTorch: 3 GB, or 8 GB with CUDA; some minutes the first time ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if [ "$$(uname)" = Linux ] && ! test -e /dev/nvidiactl && ! $(BIN)/python -c 'import torch' 2> /dev/null; then \
	  $(BIN)/python -m pip install -q uv && $(BIN)/uv pip install -q --python $(BIN)/python --torch-backend cpu \
	    $$(grep -E '^torch(vision)?==' constraints.txt) 2> /dev/null \
	  || echo "The index of PyTorch's builds for CPUs cannot be reached: pip takes the build with CUDA."; \
	fi
	@$(BIN)/python -m pip install -q -e ".[vision,offline,transformers,http,formats,annotator,scale,dev]" -c constraints.txt \
	  || { echo "Packages could not be installed: see the message above; is there network and disk space?"; exit 1; }
	@touch $@ $(LIGHT)

$(LEAN)/.ready: pyproject.toml constraints.txt | python
	@echo "Setting up $(LEAN): pandas 2, no torch ..."
	@test -x $(LEAN)/bin/python || $(PYTHON) -m venv $(LEAN)
	@grep -v '^pandas==' constraints.txt > $(LEAN)/constraints.txt
	@$(LEAN)/bin/python -m pip install -q -e ".[labels,offline,test]" "pandas<3" -c $(LEAN)/constraints.txt \
	  || { echo "Packages could not be installed: see the message above; is there network?"; exit 1; }
	@touch $@

$(STUDIO)/.ready: | python
	@echo "Setting up $(STUDIO): Label Studio's SDK, which judges exports and needs another numpy ..."
	@test -x $(STUDIO)/bin/python || $(PYTHON) -m venv $(STUDIO)
	@$(STUDIO)/bin/python -m pip install -q label-studio-sdk==2.1.2 \
	  || { echo "Packages could not be installed: see the message above; is there network?"; exit 1; }
	@touch $@

# What the browser tests drive: Chromium, nginx as a proxy in front, node for the pages' scripts, an OpenID provider, axe-core.
NEEDED := chromium nginx node npm systemd-analyze
NODE   := $(VENV)/node

browser: $(NODE)/.ready

$(NODE)/.ready: | $(READY)
	@missing=""; PATH="$$PATH:/usr/sbin"; \
	for name in $(NEEDED); do command -v $$name > /dev/null || missing="$$missing $$name"; done; \
	missing=$$(echo "$$missing" | sed 's/ nginx/ nginx-light/; s/ node\b/ nodejs/; s/ systemd-analyze/ systemd/'); \
	if [ -n "$$missing" ]; then \
	  as_root=""; [ "$$(id -u)" = 0 ] || as_root="sudo -n"; \
	  echo "Installing for the browser tests:$$missing ..."; \
	  { command -v apt-get > /dev/null && $$as_root apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -y -qq --no-install-recommends $$missing > /dev/null; } \
	  || { echo "The browser tests need$$missing: install them (on Debian: apt-get install$$missing), then run make test again"; exit 1; }; \
	fi
	@mkdir -p $(NODE)
	@npm install --silent --no-fund --no-audit --fetch-timeout=30000 --fetch-retries=5 --prefix $(NODE) oidc-provider@9.13.3 axe-core@4.14.0 \
	  || { echo "npm could not install oidc-provider and axe-core: is there network?"; exit 1; }
	@touch $@

.PHONY: help demo demo-full demo-pages test test-lean coverage lint format speed screenshots docs constraints clean python browser
