# Every target sets up what it needs; a fresh machine has to bring Python 3.11 or later and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: venv docs docs-check demo test test-fast browser-tools postgres-tools browser check format slow audit crashes leaks bench bench-full load load-full collect-load utility regression monotone expected-loss importances updates family local parties papers papers-quick flower cluster java spark fuzz fuzz-guided lock wheel-check clean

# What is locked, and privet itself, in the environment that the target is the mark of.
define locked-environment
$(PYTHON) -m venv $(@D)
$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
endef

venv: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "privet needs Python 3.11 or later; say which with: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	$(locked-environment)
	@touch $(READY)

demo: venv
	$(BIN)/privet demo

# Two processes take both cores: a second thread of BLAS in each would wait for them, and take time doing so.
ONE_THREAD = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

test: venv
	$(ONE_THREAD) $(BIN)/python -m pytest -m "not slow and not browser and not site and not cluster and not spark and not wheel" -n 2 --dist worksteal

# What to run after each change: the library by subject, and what every verb of the command line shares. It leaves out
# the contracts over every method, crashes, hostile files, leaks, papers, the README, benchmarks, real data and the verbs
# one by one (run those that you change: `pytest tests/cli/test_fit.py`). `make test` runs them all.
FAST = $(filter-out tests/test_readme.py,$(wildcard tests/test_*.py)) tests/schema tests/tree tests/privacy \
	tests/counting tests/central tests/local tests/partitioned tests/attack tests/datasets tests/report \
	$(addprefix tests/cli/test_,help.py program.py output.py)

test-fast: venv
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2 \
		-m "not slow and not browser and not site and not cluster and not spark and not wheel and not real_data" $(FAST)

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

# PostgreSQL's server programs, which `make test` starts on a socket of its own. Where they are missing, Debian's package
# is installed.
postgres-tools:
	@if ! command -v postgres >/dev/null && ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then \
		command -v apt-get >/dev/null || { echo "the tests need PostgreSQL; install it and run this again"; exit 1; }; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q postgresql; \
	fi

# The report and exported JavaScript in a real browser.
browser: venv browser-tools
	$(BIN)/python -m pytest -m browser

# Statistical tests with many draws.
slow: venv
	$(BIN)/python -m pytest -m slow

# Every method attacked on tables made for it, and planted faults, which must be caught: a line each.
audit: venv
	$(BIN)/python -m pytest -m slow -s -q tests/statistical/test_audits.py tests/statistical/test_audits_of_faults.py \
		tests/statistical/test_private_forest_release.py
	$(BIN)/python -m pytest -s -q tests/statistical/test_audits_of_answers.py

# Every place where a value or an exact count of a row might show, what was searched there, and what was found.
leaks: venv
	$(BIN)/python -m tests.leaks

# Every command struck at every point at which it writes: a line each, with what was violated. Some twenty minutes.
crashes: venv
	$(BIN)/python -m pytest -m "slow or not slow" -q tests/crashes tests/statistical/test_ledger_under_kill.py

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
	$(locked-environment)
	.venv-spark/bin/python -m pip install --quiet --disable-pip-version-check "pyspark==4.3.0"
	@touch .venv-spark/.ready

spark: java .venv-spark/.ready
	.venv-spark/bin/python -m pytest -m spark tests/counting/test_on_spark.py

# A million hostile files of every kind: only privet's own errors may come out. What fails is in build/fuzz.
fuzz: venv
	$(BIN)/python -m tests.hostile.fuzz --cases 1000000 --jobs 2

# The same files, chosen by atheris for the lines of privet that they reach; it needs an environment of its own.
.venv-fuzz/.ready: requirements.lock pyproject.toml
	$(locked-environment)
	.venv-fuzz/bin/python -m pip install --quiet --disable-pip-version-check "atheris==3.0.0"
	@touch .venv-fuzz/.ready

fuzz-guided: .venv-fuzz/.ready
	.venv-fuzz/bin/python -m tests.hostile.fuzz --coverage-guided --seconds 600

# The wheel: built, looked into, installed with pip in a clean environment of each Python from 3.11 to 3.14 that is here,
# and run there; it prints sizes and seconds.
wheel-check: venv
	$(BIN)/python -m pytest -m "wheel or not wheel" -s -q tests/packaging

check: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: venv
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Each speed bar as a ratio measured in one run, and how time and memory grow. bench-full adds the slow ones, takes some
# 20 minutes, and writes benchmarks/speed/results and the README's picture.
bench: venv
	$(BIN)/python -m benchmarks.speed.run

bench-full: venv
	$(BIN)/python -m benchmarks.speed.run --full --page

# Many rows, many fits, many threads, each in a process of its own. load-full takes 1e8 rows and 10,000 fits, some 15
# minutes, and writes benchmarks/load/results.
load: venv
	$(BIN)/python -m benchmarks.load.run

load-full: venv
	$(BIN)/python -m benchmarks.load.run --full

# Ten thousand simulated people at a collecting server, then those who mean harm; some minutes.
collect-load: venv
	$(BIN)/python -m benchmarks.load.collecting

# How good the models are: every method and its peers on public tables, some 70 minutes; goes on where it stopped.
utility: venv
	$(BIN)/python -m benchmarks.utility.run
	$(BIN)/python -m benchmarks.utility.page

# How well a number is predicted, beside peers, on six public tables, some 15 minutes; goes on where it stopped.
regression: venv
	$(BIN)/python -m benchmarks.regression.run
	$(BIN)/python -m benchmarks.regression.page

# Whether more epsilon ever costs the recommended forest accuracy, at seven epsilons, some 25 minutes more; goes on
# where it stopped.
monotone: venv
	$(BIN)/python -m benchmarks.utility.monotone
	$(BIN)/python -m benchmarks.utility.page

# What noise costs on public tables, some 20 minutes; goes on where it stopped. Then the curve that plans state is fitted.
expected-loss: venv
	$(BIN)/python -m benchmarks.advice.measure_loss
	$(BIN)/python -m benchmarks.advice.fit_loss

# How well importances agree with what attributes are worth, on six UCI tables.
importances: venv
	$(BIN)/python -m benchmarks.advice.importances

# What a year of monthly updates of the recommended forest costs against one fit, on two UCI tables; some minutes.
updates: venv
	$(BIN)/python -m benchmarks.updates.year

# Every method, the papers' forms and the sound ones, on six UCI tables at the same epsilons, and what attacks on each show;
# some 20 minutes, and it goes on where it stopped. It writes docs/family.md.
family: venv
	$(BIN)/python -m benchmarks.family.run

# Methods of disturbed answers at local epsilons, on six UCI tables, some 15 minutes; goes on where it stopped.
local: venv
	$(BIN)/python -m benchmarks.local.accuracy
	$(BIN)/python -m benchmarks.local.page

# What several holders of rows get together, on six UCI tables, some 15 minutes; goes on where it stopped.
parties: venv
	$(BIN)/python -m benchmarks.parties.run

# A secure sum over a real SuperLink and four SuperNodes with TLS on this machine. flwr does not fit beside what is locked.
.venv-flower/.ready: examples/flower_requirements.txt
	$(PYTHON) -m venv .venv-flower
	.venv-flower/bin/python -m pip install --quiet --disable-pip-version-check -r examples/flower_requirements.txt
	.venv-flower/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch .venv-flower/.ready

flower: .venv-flower/.ready
	.venv-flower/bin/python examples/flower_rounds.py

# The five papers: claims, figures and measurements in papers/*/results; hours, and it goes on where it stopped. The quick
# form takes minutes, and leaves its results in papers-quick.
papers: venv
	$(BIN)/privet papers run all --full --output papers

papers-quick: venv
	$(BIN)/privet papers run all --quick

# The documentation, in build/site: open its index.html, no server is needed. Its tools have an environment of their own.
.venv-docs/.ready: docs/requirements.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	@touch .venv-docs/.ready

docs: venv .venv-docs/.ready
	$(BIN)/python -m docs.tools.gallery build/docs
	$(BIN)/python -m docs.tools.commands build/docs
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict --quiet

# Every link, anchor and picture of it, and a walk through in Chromium, as wide as a desk and as a phone.
docs-check: docs browser-tools
	$(BIN)/python -m docs.tools.check_links build/site
	$(BIN)/python -m pytest -m site tests/browser/test_site_in_browser.py

lock: venv
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra plot --extra delta --extra onnx --extra parties --extra serve --extra postgres --universal --generate-hashes \
		--no-emit-index-url --no-header --quiet --python-version 3.11 --output-file requirements.lock

clean:
	rm -rf .venv .venv-docs .venv-flower .venv-fuzz .venv-peers .venv-spark .venv-synthetic .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +
