# make book    the website, from the committed notebooks     (nothing is trained, nothing is downloaded but packages)
# make test    every check
# make help    the other targets

PYTHON ?= python3
BIN    := .venv/bin
STAMP  := .venv/installed
SITE   := _build/html
BOOK   := $(BIN)/jupyter-book build . --toc book/_toc.yml -W --keep-going --quiet

.DEFAULT_GOAL := help
.PHONY: help book test serve notebooks run bench picture address clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## */\t/' | expand -t 12

# The environment: made again whenever the requirements change.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer, please: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[book,test]'
	@touch $@

book: $(STAMP)  ## build the website, warnings are errors
	$(BOOK)
	@echo "Open $(CURDIR)/$(SITE)/index.html, or run 'make serve' and open http://localhost:8000"

# One thread for each of the two workers: they share the cores, and numbers depend on the thread count in the last digits.
test: export OMP_NUM_THREADS ?= 1
test: $(STAMP)  ## lint, unit, property, notebook, papermill, book and browser tests
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n 2 --dist loadfile tests notebooks \
	  --nbval-lax --nbval-current-env --nbval-cell-timeout=600

serve: book  ## serve the website on http://localhost:8000
	$(BIN)/python -m http.server -d $(SITE) 8000 --bind 127.0.0.1

notebooks: $(STAMP)  ## execute the notebooks in place: N='notebooks/05_spirals.ipynb' for one
	PYTHONWARNINGS=ignore $(BIN)/jupyter nbconvert --to notebook --execute --inplace --log-level=WARN \
	  --ExecutePreprocessor.record_timing=False --ExecutePreprocessor.timeout=1200 $(or $(N),notebooks/*.ipynb)

run: $(STAMP)  ## re-do the recorded runs that are missing: BUDGET=60m
	$(BIN)/python -m romae_lite campaign --budget $(or $(BUDGET),60m)

bench: $(STAMP)  ## speed and memory, as ratios
	$(BIN)/python -m benchmarks

picture: book  ## take the README's picture of the site again (needs Chromium)
	$(BIN)/python book/_ext/picture.py $(SITE) book/_static/site.png

address:  ## set the repository's public address everywhere: URL=https://github.com/owner/name
	$(PYTHON) book/_ext/address.py $(URL)

clean:  ## remove what was built; the environment stays
	rm -rf _build build *.egg-info .pytest_cache .ruff_cache .hypothesis
