# Everything a contributor runs; `make` alone lists it.
# Each target first sees to .venv: made once, brought up to date when pyproject.toml or
# constraints.txt change. ARGS are handed on: make test ARGS="-k pegging -x"

VENV := .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
DOCS_INSTALLED := $(VENV)/.installed-docs
BENCH_INSTALLED := $(VENV)/.installed-bench
RAY_VENV := .venv-ray
RAY_INSTALLED := $(RAY_VENV)/.installed
# Python compiles a module when it is first imported: most of PyTorch's never are.
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile \
	--constraint constraints.txt
TYPED := $(wildcard crib_env agents play training research examples tests/support/wrong_calls.py)

# PyTorch for the CPU; PyPI's build for Linux brings CUDA. TORCH_INDEX= skips it. Only the question
# what the index has is cut short: a stall of the download must not bring the CUDA build.
TORCH_INDEX := https://download.pytorch.org/whl/cpu

# Name another interpreter with: make PYTHON=/path/to/python3.12
PYTHON :=
PYTHONS := $(or $(PYTHON),python3.11 python3)

ARGS :=
# Some hundred processes start in the tests alone: where Python may keep no bytecode, each would
# compile NumPy, Numba and PyTorch again, two seconds and more a start.
unexport PYTHONDONTWRITEBYTECODE
# Workers take tests off each other as they run dry; ARGS="-n 0" runs them in one process.
# A worker whose test hangs ends with a traceback, and another goes on with the next test.
PARALLEL := --numprocesses auto --dist worksteal -o faulthandler_exit_on_timeout=true
# Which of the libraries with an environment of their own are checked: LIBRARY=torchrl
LIBRARY := *

.DEFAULT_GOAL := help
.PHONY: help demo tables test check-long check-ray check-libraries check-page lint typecheck \
	format bench perfcheck docs clean
.NOTPARALLEL:

help: ## List the targets
	@echo "Targets (ARGS=\"...\" is handed on where marked *):"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/\1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r name text; do printf '  %-15s %s\n' "$$name" "$$text"; done

demo: $(INSTALLED) ## Train two agents for about five minutes and evaluate them *
	@$(PY) -m crib_training.learn.demo $(ARGS)

tables: $(INSTALLED) ## Recompute the agents' tables, all in order, or one: ARGS=hand_pegging *
	@$(PY) -m research.tables $(ARGS)

test: $(INSTALLED) ## Run the quick tests on every core *
	@$(PY) -m pytest $(PARALLEL) $(ARGS)

check-long: $(INSTALLED) ## Run all tests, the slow ones too, on every core *
	@$(PY) -m pytest -m "slow or not slow" $(PARALLEL) $(ARGS)

check-ray: $(RAY_INSTALLED) ## Run tournaments and self-play on a local Ray cluster of two nodes *
	@$(RAY_VENV)/bin/python -m pytest -m slow tests/training/test_ray.py $(ARGS)

check-libraries: $(INSTALLED) ## Run the examples of other libraries, each in an environment of its own *
	@failed=0; report=; \
	for needs in examples/libraries/requirements/$(LIBRARY).txt; do \
		name=$$(basename $$needs .txt); home=.venv-libraries/$$name; started=$$(date +%s); \
		if [ ! -e $$home/.installed ] || [ $$needs -nt $$home/.installed ]; then \
			echo "setup: installing $$name into $$home"; \
			$(PY) -m venv $$home && $$home/bin/python -m pip install --quiet \
				--disable-pip-version-check --requirement $$needs --editable . pytest \
				&& touch $$home/.installed || exit 1; \
		fi; \
		installed=$$(date +%s); result=passed; \
		CHECKED_LIBRARY=$$name $$home/bin/python -m pytest -m "slow or not slow" -k $$name \
			tests/project/test_libraries.py tests/training/test_exploit_toy.py $(ARGS) \
			|| { result=FAILED; failed=1; }; \
		report="$$report$$(printf '%-11s %-6s set up %4d s, ran %4d s, %5d MB' $$name $$result \
			$$((installed - started)) $$(($$(date +%s) - installed)) \
			$$(du -sm $$home | cut -f 1))|"; \
	done; \
	printf %s "$$report" | tr '|' '\n'; exit $$failed

check-page: $(INSTALLED) ## Play whole games through the pages of crib web and of replays in Chromium *
	@test -x /usr/bin/chromium || { echo "check-page needs Chromium: apt-get install chromium" >&2; exit 1; }
	@$(PY) -m pytest -m slow tests/play/test_page.py tests/play/test_replay.py $(ARGS)

lint: $(INSTALLED) ## Check style, formatting and which way imports go
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(VENV)/bin/lint-imports --no-logo --no-cache

typecheck: $(INSTALLED) ## Check types
	@$(PY) -m mypy $(TYPED)

format: $(INSTALLED) ## Format the code and mend what can be mended
	@$(PY) -m ruff check --fix --quiet . || true
	@$(PY) -m ruff format .

bench: $(BENCH_INSTALLED) ## Measure speed *
	@$(PY) -m benchmarks $(ARGS)

perfcheck: $(INSTALLED) ## Compare speeds with those of a commit: ARGS="--against COMMIT" *
	@$(PY) -m benchmarks.perfcheck $(ARGS)

docs: $(DOCS_INSTALLED) ## Build the documentation into docs/_build/html *
	@echo "docs: building the site; the first time takes some minutes, most of it for two notebooks"
	@$(PY) -m sphinx --fail-on-warning -b html $(ARGS) docs docs/_build/html
	@echo "docs: open docs/_build/html/index.html"

clean: ## Remove caches and built files (.venv and runs/ stay)
	@rm -rf build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@for python in $(PYTHONS); do \
		if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
			2>/dev/null; then \
			echo "setup: making $(VENV) with $$($$python --version)"; \
			exec $$python -m venv $(VENV); \
		fi; \
	done; \
	echo "setup: none of '$(PYTHONS)' is Python 3.11 or newer with its venv module." >&2; \
	echo "setup: install one, or name it: make PYTHON=/path/to/python3.12" >&2; \
	exit 1

$(INSTALLED): pyproject.toml constraints.txt | $(PY)
	@echo "setup: installing crib-env[train,play,web,render,dev] into $(VENV) (a minute or two the first time)"
	@torch=$$(sed -n 's/^torch==/&/p' constraints.txt); \
	if $(PY) -c "from importlib.metadata import version as v; \
		raise SystemExit('torch==' + v('torch').partition('+')[0] != '$$torch')" 2>/dev/null; then :; \
	elif [ -n "$(TORCH_INDEX)" ] && $(PY) -m pip index versions torch --index-url $(TORCH_INDEX) \
		--retries 0 --timeout 10 2>/dev/null | grep -qF "$${torch#torch==}"; then \
		$(INSTALL) --no-deps --index-url $(TORCH_INDEX) "$$torch" || { \
			echo "setup: the download of $$torch from $(TORCH_INDEX) failed; run make again," \
				"or take the build of pip's own index: make TORCH_INDEX=" >&2; exit 1; }; \
		echo "setup: $$torch from $(TORCH_INDEX) ($$($(PY) -m pip show torch | grep ^Version))"; \
	else \
		echo "setup: $$torch from pip's own index, as $(or $(TORCH_INDEX),TORCH_INDEX) has none:" \
			"PyPI's build for Linux brings 5.9 GB of CUDA packages"; \
	fi
	@$(INSTALL) --editable ".[train,play,web,render,dev]"
	@touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	@echo "setup: installing crib-env[docs] into $(VENV)"
	@$(INSTALL) --editable ".[docs]"
	@touch $@

# Ray is large and few need it, so it stays out of .venv.
$(RAY_INSTALLED): pyproject.toml constraints.txt | $(PY)
	@echo "setup: installing crib-env[train,cluster,data] into $(RAY_VENV)"
	@$(PY) -m venv $(RAY_VENV)
	@$(RAY_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable ".[train,cluster,data]" pytest
	@touch $@

$(BENCH_INSTALLED): $(INSTALLED)
	@echo "setup: installing crib-env[bench] into $(VENV)"
	@$(INSTALL) --editable ".[bench]"
	@touch $@
