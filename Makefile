# Every target sets itself up: it needs Python 3.11 or later, pip and make, nothing else.
# Choose an interpreter with `make test PYTHON=python3.12`.

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-all test-clusters test-first-run test-libraries lint bench bench-ops bench-input mutations record faces docs docs-site docs-serve release-check pins clean

VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
TF     := .venv-tensorflow
TFSTAMP := $(TF)/.installed
DOCSTAMP := $(VENV)/.installed-docs
RELEASE := .venv-release
PORT   ?= 8000
JOBS   ?= 2
PIP    := -m pip --disable-pip-version-check --no-input

# The first of these that runs, is 3.11 or later and can make an environment.
FIND_PYTHON = for p in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14 python; do \
	  if "$$p" -c 'import sys, venv; assert sys.version_info >= (3, 11)' >/dev/null 2>&1; then found="$$p"; break; fi; \
	done; \
	if [ -z "$$found" ]; then echo "graphgrad needs Python 3.11 or later with the venv module; name one: make PYTHON=..." >&2; exit 1; fi

# $(1): the environment. Where ensurepip is missing (Debian splits it off), the system's pip fills the environment.
MAKE_VENV = if ! $(1)/bin/python -m pip --version >/dev/null 2>&1; then \
	  rm -rf $(1); \
	  "$$found" -m venv $(1) >/dev/null 2>&1 \
	    || { rm -rf $(1); "$$found" -m venv --without-pip $(1) && "$$found" $(PIP) --python $(1)/bin/python install -q pip; }; \
	fi

help:
	@echo 'make demo    train a classifier on real data, draw its gradient graph'
	@echo 'make test    style, types, tests'
	@echo 'make test-all  these, and the tests that take long'
	@echo 'make test-libraries  programs on Keras, Probability and other libraries, compared with TensorFlow'
	@echo 'make lint    style and types alone'
	@echo 'make bench   measure import, build, gradient, first run, step, memory; TensorFlow, JAX, PyTorch alongside'
	@echo 'make bench-ops  measure single operations, in sessions and in eager mode, with TensorFlow alongside'
	@echo 'make bench-input  measure data sets, record files and feeds, with TensorFlow alongside'
	@echo 'make mutations  break what computes gradients, piece by piece; do tests notice?'
	@echo 'make faces   write the modules of tf.* from the rooms exports.txt, and the index of operations'
	@echo 'make docs    write the pages that list operations and what is not here'
	@echo 'make docs-site  build the documentation site, into build/site; make docs-serve shows it'
	@echo 'make release-check  build sdist and wheel, check them, install the wheel, run a program'
	@echo 'make record  record the values of tests/ from TensorFlow (in an environment of its own)'

$(STAMP): pyproject.toml constraints.txt
	@found=; $(FIND_PYTHON); \
	echo "Setting up $(VENV) with $$("$$found" --version) (once; about 460 MB of packages)"; \
	$(call MAKE_VENV,$(VENV))
	@$(PY) $(PIP) install -q -c constraints.txt setuptools
	@$(PY) $(PIP) install -q -c constraints.txt --no-build-isolation -e '.[demo,draw,notebook,dev]'
	@touch $@

$(TFSTAMP): constraints-tensorflow.txt
	@found=; $(FIND_PYTHON); \
	echo "Setting up $(TF) with $$("$$found" --version) (once; TensorFlow, for comparison only)"; \
	$(call MAKE_VENV,$(TF))
	@$(TF)/bin/python $(PIP) install -q -c constraints-tensorflow.txt tensorflow-cpu tf_keras scikit-learn tensorboard
	@touch $@

# The environment of $(STAMP), and what the site is built with.
$(DOCSTAMP): $(STAMP) constraints-docs.txt
	@$(PY) $(PIP) install -q -c constraints.txt -c constraints-docs.txt --no-build-isolation -e '.[docs]'
	@touch $@

venv: $(STAMP)

demo: $(STAMP)
	@$(VENV)/bin/graphgrad draw --out demo-output/gradient_graph.svg examples/demo_digits.py

test: lint
	@$(PY) -m pytest -q -n $(JOBS) --dist worksteal

# The same, and what takes too long for every change: tests that run when asked for, more of the random programs.
test-all: lint $(DOCSTAMP)
	@GRAPHGRAD_TEST_ALL=1 GRAPHGRAD_STATE_PROGRAMS=100 GRAPHGRAD_RUN_PROGRAMS=20 $(PY) -m pytest -q -n $(JOBS) --dist worksteal

# Programs on libraries on top of TensorFlow, in environments that have these and not TensorFlow.
test-libraries: $(STAMP)
	@$(PY) -m tests.libraries $(SUBJECTS)

# The same tests with every program cut into clusters of a few operations; takes about as long again.
test-clusters: $(STAMP)
	@GRAPHGRAD_WHOLE_OPS=5 $(PY) -m pytest -q -n $(JOBS) --dist worksteal --deselect tests/executor/test_executor.py

# The same tests with runs in NumPy as long as it is quick, as users have it.
test-first-run: $(STAMP)
	@GRAPHGRAD_FIRST_RUN= $(PY) -m pytest -q -n $(JOBS) --dist worksteal --deselect tests/executor/test_executor.py

lint: $(STAMP)
	@$(VENV)/bin/ruff check -q
	@$(VENV)/bin/mypy --no-error-summary

bench: $(STAMP) $(TFSTAMP)
	@$(PY) -m benchmarks --tensorflow $(TF)/bin/python $(if $(TORCH),--torch $(TORCH))

bench-ops: $(STAMP) $(TFSTAMP)
	@$(PY) -m benchmarks.ops --tensorflow $(TF)/bin/python
	@$(PY) -m benchmarks.eager --tensorflow $(TF)/bin/python

bench-input: $(STAMP) $(TFSTAMP)
	@$(PY) -m benchmarks.input --tensorflow $(TF)/bin/python

# Breaks gradient rules and the sweep, one piece at a time, and looks whether a test notices; some ten minutes.
mutations: $(STAMP)
	@$(PY) -m tests.gradients.mutations --write docs/inside/mutations.md

# The modules of tf.*, their stubs and the index of operations, from each room's exports.txt and what is registered.
faces: $(STAMP)
	@$(PY) tools/make_faces.py

# docs/reference/ops.md and the tables of docs/reference/not-here.md, from what exists.
docs: $(STAMP)
	@$(PY) -m tests.docs.op_table
	@$(PY) -m tests.docs.not_here

# The documentation site; a page or a link that is missing is an error. It needs no network, neither here nor to be read.
docs-site: $(DOCSTAMP)
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build -q --strict
	@echo "build/site/index.html"

docs-serve: docs-site
	@$(PY) -m http.server --bind 127.0.0.1 --directory build/site $(PORT)

# What is to be released: built as anybody would build it, checked, and used in an environment that has nothing else.
release-check:
	@rm -rf build/release $(RELEASE) && mkdir -p build/release
	@found=; $(FIND_PYTHON); $(call MAKE_VENV,$(RELEASE))
	@$(RELEASE)/bin/python $(PIP) install -q -c constraints-release.txt build twine
	@$(RELEASE)/bin/python -m build -o build/release . > build/release/log || { cat build/release/log; exit 1; }
	@$(RELEASE)/bin/twine check --strict build/release/*.whl build/release/*.tar.gz
	@rm -rf $(RELEASE); found=; $(FIND_PYTHON); $(call MAKE_VENV,$(RELEASE))
	@$(RELEASE)/bin/python $(PIP) install -q -c constraints.txt build/release/*.whl
	@cd build/release && ../../$(RELEASE)/bin/graphgrad run ../../examples/linear_regression.py
	@cd build/release && ../../$(RELEASE)/bin/python ../../tools/release_program.py

# Every recorder, or those named: `make record SUBJECTS='table examples'`.
record: $(TFSTAMP)
	@$(TF)/bin/python -m tests.record $(SUBJECTS)

# After a change of the dependencies: fresh pins from a fresh environment.
pins:
	@rm -rf $(VENV) && : > constraints.txt && $(MAKE) --no-print-directory venv
	@$(PY) $(PIP) freeze --all --exclude-editable --exclude pip > constraints.txt
	@: > constraints-docs.txt && $(MAKE) --no-print-directory $(DOCSTAMP)
	@$(PY) $(PIP) freeze --all --exclude-editable --exclude pip | grep -vxFf constraints.txt > constraints-docs.txt

clean:
	rm -rf $(VENV) $(TF) .venv-libraries $(RELEASE) build demo-output .pytest_cache .mypy_cache .ruff_cache
