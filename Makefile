# Every target sets up what it needs; a fresh machine has to bring Python 3.11 or later and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: venv demo test browser-tools browser check format slow bench bench-full accuracy figures flower cluster java spark lock clean

venv: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "privet needs Python 3.11 or later; say which with: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

demo: venv
	$(BIN)/privet demo

test: venv
	$(BIN)/python -m pytest -m "not slow and not browser and not cluster and not spark" -n 2

# A browser for `make browser`, and node, in which `make test` runs exported code and which it otherwise skips. Where
# one is missing, Debian's packages are installed.
browser-tools:
	@missing=; for pair in chromium:chromium chromedriver:chromium-driver node:nodejs; do \
		command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair#*:}"; done; \
	if [ -n "$$missing" ]; then \
		command -v apt-get >/dev/null || { echo "the tests need$$missing; install them and run this again"; exit 1; }; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q $$missing; \
	fi

# The report and exported JavaScript in a real browser.
browser: venv browser-tools
	$(BIN)/python -m pytest -m browser

# Statistical tests with many draws.
slow: venv
	$(BIN)/python -m pytest -m slow

# A Dask cluster of two worker processes, of which six are killed during one job, and one with TLS.
cluster: venv
	$(BIN)/python -m pytest -m cluster -s tests/counting/test_on_dask_cluster.py

# A Java for Spark; where it is missing, Debian's package is installed.
java:
	@if ! command -v java >/dev/null; then \
		command -v apt-get >/dev/null || { echo "Spark needs Java 17; install it and run this again"; exit 1; }; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q default-jre-headless; \
	fi

# Spark in an environment of its own: it is large, and nothing else needs it.
.venv-spark/.ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	.venv-spark/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	.venv-spark/bin/python -m pip install --quiet --disable-pip-version-check "pyspark==4.3.0"
	@touch .venv-spark/.ready

spark: java .venv-spark/.ready
	.venv-spark/bin/python -m pytest -m spark tests/counting/test_on_spark.py

check: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: venv
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Each speed bar as a ratio measured in one run; bench-full adds the slow ones.
bench: venv
	$(BIN)/python -m benchmarks.run

bench-full: venv
	$(BIN)/python -m benchmarks.run --full

# Accuracy on UCI tables: Private-RDT as in its paper, all methods side by side, which takes some 20 minutes, and the
# recommended forest beside others.
accuracy: venv
	$(BIN)/python -m benchmarks.accuracy_private_rdt
	$(BIN)/python -m benchmarks.accuracy_methods --again
	$(BIN)/python -m benchmarks.accuracy_forest --again

# A secure sum over a real SuperLink and four SuperNodes with TLS on this machine. flwr does not fit beside what is locked.
.venv-flower/.ready: examples/flower_requirements.txt
	$(PYTHON) -m venv .venv-flower
	.venv-flower/bin/python -m pip install --quiet --disable-pip-version-check -r examples/flower_requirements.txt
	.venv-flower/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch .venv-flower/.ready

flower: .venv-flower/.ready
	.venv-flower/bin/python examples/flower_rounds.py

# The papers' figures on disturbed records, tables and pictures in papers/*/results; an hour or so.
figures: venv
	$(BIN)/python -m papers.agrawal2000.figure2
	$(BIN)/python -m papers.agrawal2000.figures5_6 --again
	$(BIN)/python -m papers.agrawal2000.verdict
	$(BIN)/python -m papers.szucs2013.figure1
	$(BIN)/python -m papers.szucs2013.figure2
	$(BIN)/python -m papers.szucs2013.figure2 --table census-income-kdd --trees 30

lock: venv
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra delta --extra onnx --extra parties --universal --generate-hashes \
		--no-emit-index-url --no-header --quiet --python-version 3.11 --output-file requirements.lock

clean:
	rm -rf .venv .venv-flower .venv-peers .venv-spark .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +
