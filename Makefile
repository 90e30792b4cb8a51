# make book    the website, from the committed notebooks     (nothing is trained, nothing is downloaded but packages)
# make test    every check, before a change is merged
# make help    the other targets

PYTHON ?= python3
BIN    := .venv/bin
BOOK_ENV := .venv/book-installed
TEST_ENV := .venv/test-installed
SITE   := _build/html
BOOK   := $(BIN)/jupyter-book build . --toc book/_toc.yml -W --keep-going --quiet

.DEFAULT_GOAL := help
.PHONY: help book test test-fast test-package test-full serve notebooks measure run bench gpu picture archive address clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## */\t/' | expand -t 14

# The environments, both in .venv: made again whenever the requirements change. TORCH_INDEX, if set, is where torch alone
# comes from: https://download.pytorch.org/whl/cpu has builds that are a tenth of the size.
INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer, please: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv .venv
	$(if $(TORCH_INDEX),$(INSTALL) --no-deps --index-url $(TORCH_INDEX) torch)

$(BOOK_ENV): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e '.[book]'
	@touch $@

$(TEST_ENV): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e '.[book,test]'
	@touch $@ $(BOOK_ENV)

book: $(BOOK_ENV)  ## build the website, warnings are errors
	$(BOOK)
	@echo "Open $(CURDIR)/$(SITE)/index.html, or run 'make serve' and open http://localhost:8000"

# One thread for each worker: they share the cores, and numbers depend on the thread count in the last digits.
test test-fast test-package test-full: export OMP_NUM_THREADS ?= 1
# One worker more than a small machine has cores: those that drive a browser mostly wait.
WORKERS ?= 3
CHECK = $(BIN)/ruff check . && \
  $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests -m

test: $(TEST_ENV)  ## every check of a pull request: lint, unit, property, notebook, papermill, book and browser tests
	$(CHECK) "not weekly"

test-fast: $(TEST_ENV)  ## lint and unit tests: while you work
	$(CHECK) "not weekly and not slow and not book"

test-package: $(TEST_ENV)  ## the package alone: no notebook, no browser, no book
	$(CHECK) "not weekly and not book"

test-full: $(TEST_ENV)  ## what runs weekly: also the chapters at full size, and all of them on a pretended GPU
	$(CHECK) ""

serve: book  ## serve the website on http://localhost:8000
	$(BIN)/python -m http.server -d $(SITE) 8000 --bind 127.0.0.1

notebooks: $(TEST_ENV)  ## execute the notebooks in place: N='notebooks/05_spirals.ipynb' for one
	PYTHONWARNINGS=ignore $(BIN)/jupyter nbconvert --to notebook --execute --inplace --log-level=WARN \
	  --ExecutePreprocessor.record_timing=False --ExecutePreprocessor.timeout=1200 $(or $(N),notebooks/*.ipynb)
	$(BIN)/jupyter nbconvert --coalesce-streams --to notebook --inplace --log-level=WARN $(or $(N),notebooks/*.ipynb)

measure: book  ## words, numbers and code of each chapter; weight and layout shift of each page
	$(BIN)/python book/_ext/measure.py $(SITE)

run: $(TEST_ENV)  ## re-do the recorded runs that are missing: BUDGET=60m
	$(BIN)/python -m romae_lite campaign --budget $(or $(BUDGET),60m)

bench: $(TEST_ENV)  ## speed and memory on this machine, as ratios and rates
	$(BIN)/python -m benchmarks

# PYTHON_GPU: an interpreter that has torch with CUDA, accelerate, safetensors, numpy and scipy.
gpu:  ## the same on an Nvidia GPU; says first what it will do: BUDGET=60m
	$(or $(PYTHON_GPU),$(wildcard $(BIN)/python),$(PYTHON)) -m romae_lite campaign --device cuda --budget $(or $(BUDGET),60m)

picture: book $(TEST_ENV)  ## take the README's picture of the site again (needs Chromium)
	$(BIN)/python book/_ext/picture.py $(SITE) book/_static/site.png

archive:  ## pack the commit as romae-lite.zip, for Colab while there is no public address
	git archive --format=zip --prefix=romae-lite/ -o romae-lite.zip HEAD

address:  ## set the public address everywhere: URL=https://github.com/owner/name; without one, the version in the chapters
	$(PYTHON) book/_ext/address.py $(URL)

clean:  ## remove what was built; the environment stays
	rm -rf _build build *.egg-info .pytest_cache .ruff_cache .hypothesis
