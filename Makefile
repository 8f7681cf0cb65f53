# Chores. On a fresh machine call `./dev TARGET`: it installs what the system lacks, then runs make.
# Every target first builds its prerequisites, and only changed parts.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
IN_VENV := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV)

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
# The package also contains the page and the module for browsers, if they were built.
PACKAGE := pyproject.toml $(shell find python -type f -not -name '*.so' -not -name '*.pyc') \
	$(shell find web -type f -not -path 'web/tests/*')

REQUIREMENTS := $(VENV)/.requirements
# The command of the environment is of one of these builds, the newest.
INSTALLED := $(VENV)/.installed
RELEASED := $(VENV)/.released
OPTIMISED := $(VENV)/.optimised
WHEEL := target/wheels/.built
WEB := web/module/.built
SUITES := $(shell find python/ackclock/suites -type f -not -name '*.pyc')
# Tools of JavaScript, and those of audits.
NODE_MODULES := node_modules/.installed
AUDITORS := target/lock/.installed
# Rust sources that passed `make check`.
CHECKED_RUST := target/.checked-rust

# The crates with tests.
TESTED_CRATES := ackclock $(addprefix ackclock-,pcap scenario bpf input linux wire kernel)
# Outside the workspace, so that only its own tests build s2n-quic-core.
S2N := crates/ackclock-s2n/Cargo.toml

FUZZ_SECONDS ?= 600
FUZZ := -max_total_time=$(FUZZ_SECONDS)

# The numbers of the mutants: 0/100 is every hundredth.
MUTANTS_SHARD ?= 0/100
# Fast unit tests: those that can detect a mutant, and those of `make check`.
FAST_TESTS := $(addprefix --skip ,tcp::fuzz model:: variation:: sim::source link:: contract::diagnosis exchange::fuzz)

# pip installs only packages whose hash is recorded.
PIP := --quiet --disable-pip-version-check --require-hashes
LOCK := target/lock/bin/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
	--custom-compile-command "make lock"

# Installs a Debian package, or prints the name of the missing one.
INSTALL = { [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null \
	&& apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $(1); } \
	|| { echo "$(1) is missing; install as root: apt-get install $(1)" >&2; exit 1; }

WHEEL_TARGETS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu

# A tool of the compiler merges execution profiles.
PROFDATA = ls "$$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-profdata >/dev/null 2>&1 || rustup component add llvm-tools

# Debian's wasm-opt enables none of the features that the compiler uses.
WASM_OPT = wasm-opt -O3 --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals \
	--enable-reference-types --enable-multivalue

# The standard library of WebAssembly is installed, or is installed now.
HAS_WASM = [ -d "$$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ] || rustup target add wasm32-unknown-unknown

CLANG ?= clang-19
STRIP ?= llvm-strip-19
BPF_FLAGS := -O2 -g -Wall -Wextra -Wno-unused-parameter -target bpf -mcpu=v3

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: check lint lint-rust lint-python lint-web durations release web web-where-possible firefox packetdrill validate-linux compare-kernel compare-ns3 help demo test build pgo test-rust test-wheel test-python bench bench-quick bench-own bench-queue instructions golden compare-ns2 environments-ns2 drr-ns2 linux-agent-ns2 verify-ns2 ns2 ns2-examples valgrind comparison-tools other-simulators panels fuzz miri lock audit mutants kills papers evidence-metrics evidence-statistics evidence-attacks evidence evidence-slice site wheel wheels bpf clang kernel kernel-where-possible docs clean

help: ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: ## Build the command, then compare CUBIC with BBRv3
	@tools/quietly.sh target/demo-build.log "Building ackclock, a few minutes the first time" $(MAKE) --no-print-directory build
	@$(BIN)/ackclock evaluate cubic --against bbr3 --quick > target/demo.txt
	@sed -n '/^VERDICT/,$$p' target/demo.txt
	@tools/quietly.sh target/demo-web.log "Building the live page for browsers" $(MAKE) --no-print-directory web \
		|| echo "The command 'ackclock play' is not available: the live page was not built." >&2
	@echo "Next: source .venv/bin/activate && ackclock run examples/two-flows.toml"

check: $(CHECKED_RUST) build lint-python lint-web ## Format, lints, types and fast tests, in a minute: run it before each commit
	$(BIN)/pytest --fast --numprocesses=logical --dist=loadfile

# From nothing, builds without incremental parts take less time. Runs of one unit per crate are a third faster.
test: export CARGO_INCREMENTAL := 0
test: export CARGO_PROFILE_DEVELOP_OPT_LEVEL := 3
test: export CARGO_PROFILE_DEVELOP_CODEGEN_UNITS := 1
test: lint audit kernel-where-possible test-rust test-wheel comparison-tools test-python site evidence-slice ## Everything that continuous integration runs

lint: lint-rust lint-python lint-web ## Format, lints and types of all languages

web: $(WEB) ## Build ackclock for browsers and Node, in web/

# Without the standard library of WebAssembly the module is not built. Commands that need it print a message.
web-where-possible:
	@if $(HAS_WASM); then \
		$(MAKE) --no-print-directory web; \
		command -v node >/dev/null || ($(call INSTALL,nodejs)) || true; \
	else \
		echo "SKIPPED: ackclock for browsers; 'rustup target add wasm32-unknown-unknown' failed" >&2; \
	fi

build: $(INSTALLED) ## Build the command .venv/bin/ackclock, without link-time optimisation

release: $(RELEASED) ## Build the command as wheels contain it

pgo: $(OPTIMISED) ## Build with profile guidance (PGO): slower to build, a tenth faster to run

lint-rust:
	@cargo fmt --version >/dev/null && cargo clippy --version >/dev/null || rustup component add rustfmt clippy
	cargo fmt --all --check
	cargo fmt --manifest-path $(S2N) --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

lint-python: $(REQUIREMENTS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Without npm the sources of JavaScript are not checked.
lint-web:
	@command -v npm >/dev/null || ($(call INSTALL,npm)) || true
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory $(NODE_MODULES) \
			&& node_modules/.bin/biome ci --error-on-warnings && node_modules/.bin/tsc; \
	else \
		echo "SKIPPED: format, lints and types of JavaScript, which need npm" >&2; \
	fi

$(NODE_MODULES): package.json package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund
	touch $@

# The unit tests of all crates. Tests of whole runs are in `make test`.
$(CHECKED_RUST): $(RUST) | lint-rust
	cargo test --workspace --exclude ackclock-python --lib --locked --quiet -- $(FAST_TESTS)
	touch $@

test-rust: ## Documentation and tests of the crates
	RUSTDOCFLAGS="-D warnings" cargo doc --package ackclock --package ackclock-pcap --package ackclock-scenario --no-deps --locked --quiet
	cargo test $(addprefix --package ,$(TESTED_CRATES)) --locked --quiet
	cargo test --manifest-path $(S2N) --target-dir target/s2n --locked --quiet

# A second make finds the files of the module for browsers.
test-wheel: web-where-possible ## Install a wheel without Rust, and run a scenario
	@$(MAKE) --no-print-directory $(WHEEL)
	sh tools/check_wheel.sh $(PYTHON) target/wheels/*.whl

test-python: build ## Tests of Python
	$(BIN)/pytest --numprocesses=logical --dist=loadfile

durations: build ## Measure the CPU time of the tests of Python, and list the fast files for `make check`
	$(BIN)/pytest -p no:xdist --write-durations

bench: pgo other-simulators ## Measure the speed of all workloads, those of AIMD also in ns-2 and ns-3
	$(BIN)/python tools/bench/speed.py

bench-quick: pgo other-simulators ## Measure the speed of five workloads
	$(BIN)/python tools/bench/speed.py --quick

bench-own: pgo ## Measure the speed of rules, Python classes and shared objects
	$(BIN)/python tools/bench/own.py

bench-queue: ## Measure the cost of a packet in each queue
	cargo bench --package ackclock --bench queue --locked

instructions: release valgrind ## Count the instructions per packet
	$(BIN)/python tools/bench/instructions.py

golden: build ## Write the hashes of results that tests compare
	$(BIN)/python tools/bench/golden.py --write

compare-ns2: build ns2 ## Compare with ns-2 on the same scenarios
	$(BIN)/python tools/ns2/compare.py

environments-ns2: build ns2 ## Compare with ns-2 under cross traffic of varying rate
	$(BIN)/python tools/ns2/environments.py

drr-ns2: build ns2 ## Compare with ns-2 under DRR
	$(BIN)/python tools/ns2/drr.py

linux-agent-ns2: build ns2 ## Compare with ns-2's Agent/TCP/Linux, which follows Linux 2.6.22
	$(BIN)/python tools/ns2/linux_agent.py

compare-ns3: build other-simulators ## Compare queues and senders with ns-3.44
	$(BIN)/python tools/ns3/aqm.py
	$(BIN)/python tools/ns3/behind_tcp.py
	$(BIN)/python tools/ns3/senders.py

validate-linux: build ## Compare the simulator with a Linux kernel in virtual time
	$(BIN)/python tools/linux/validate.py --write
	$(BIN)/python tools/linux/shares.py --write
	$(BIN)/python tools/linux/newcomer.py --write
	$(BIN)/python tools/linux/slow_start.py --write
	$(BIN)/python tools/docs/generate.py

compare-kernel: build ## Compare the token bucket with the running kernel (root)
	$(BIN)/python tools/kernel/tbf.py

packetdrill: build ## Run packetdrill's public scripts that concern a sender: make packetdrill FOLDER=packetdrill/gtests/net/tcp
	@test -n "$(FOLDER)" || { echo "make packetdrill needs a folder and downloads nothing: git clone https://github.com/google/packetdrill && make packetdrill FOLDER=packetdrill/gtests/net/tcp" >&2; exit 2; }
	$(BIN)/python tools/packetdrill/packetdrill.py $(FOLDER)

verify-ns2: build ns2 ns2-examples ## Compare packet by packet with ns-2's validation suites
	$(BIN)/python tools/ns2/verify.py

ns2:
	@command -v ns >/dev/null || $(call INSTALL,ns2)

ns2-examples:
	@test -d /usr/share/doc/ns2/examples/tcl/test || $(call INSTALL,ns2-examples)

valgrind:
	@command -v valgrind >/dev/null || $(call INSTALL,valgrind)

# Packages that cannot be installed are skipped. Comparisons that need them print a message.
comparison-tools: $(INSTALLED)
	@command -v ns >/dev/null || ($(call INSTALL,ns2)) || true
	@test -d /usr/share/doc/ns2/examples/tcl/test || ($(call INSTALL,ns2-examples)) || true
	@command -v valgrind >/dev/null || ($(call INSTALL,valgrind)) || true
	@test -e /usr/include/ns3/traffic-control-module.h || ($(call INSTALL,libns3-dev)) || true
	@command -v tc >/dev/null || ($(call INSTALL,iproute2)) || true
	@command -v $(CLANG) >/dev/null || ($(call INSTALL,clang-19 llvm-19)) || true
	@command -v tshark >/dev/null || ($(call INSTALL,tshark)) || true
	@command -v chromium >/dev/null || ($(call INSTALL,chromium)) || true
	@command -v firefox-esr >/dev/null || ($(call INSTALL,firefox-esr)) || true
	@$(BIN)/python tools/ns3/senders.py --install || true

other-simulators:
	@command -v ns >/dev/null || ($(call INSTALL,ns2)) || true
	@test -e /usr/include/ns3/internet-module.h || ($(call INSTALL,libns3-dev)) || true

# Objects are translated to native code, so that AddressSanitizer watches the reader and the translation.
fuzz: build ## Fuzz parsers, TCP state and user-supplied files, FUZZ_SECONDS each
	@command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked --quiet
	cd fuzz && mkdir -p corpus/scenario corpus/exchange corpus/rule corpus/receiver corpus/scoreboard corpus/rack corpus/quic \
		corpus/objects corpus/engines
	cd fuzz && cargo fuzz run --sanitizer none scenario corpus/scenario ../examples -- $(FUZZ)
	cd fuzz && cargo fuzz run --sanitizer none exchange corpus/exchange ../tests/exchange -- $(FUZZ)
	cd fuzz && cargo fuzz run --sanitizer none rule corpus/rule -- $(FUZZ)
	cd fuzz && cargo fuzz run --sanitizer none receiver -- $(FUZZ)
	cd fuzz && cargo fuzz run --sanitizer none scoreboard -- $(FUZZ)
	cd fuzz && cargo fuzz run --sanitizer none rack -- $(FUZZ)
	cd fuzz && cargo fuzz run --sanitizer none quic -- $(FUZZ)
	cd fuzz && cargo +nightly fuzz run --sanitizer address objects corpus/objects -- $(FUZZ)
	cd fuzz && cargo +nightly fuzz run --sanitizer address engines corpus/engines -- $(FUZZ)
	GENERATED_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest -p no:xdist tests/test_generated_input.py

# Miri cannot interpret native code.
miri: ## Run the tests of the eBPF interpreter, its verifier and the readers of ELF and BTF under Miri
	rustup toolchain install nightly --profile minimal --component miri,rust-src
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --package ackclock-bpf --lib -- \
		--skip native --skip machine::fuzz fuzz:: interpreter:: verify:: memory:: call:: btf:: relocate:: insn::

lock: $(AUDITORS) ## Pin packages of Python and JavaScript with hashes
	for name in audit wheel; do $(LOCK) requirements/$$name.in --output-file requirements/$$name.txt || exit 1; done
	$(LOCK) --all-extras pyproject.toml requirements/dev.in --output-file requirements/dev.txt
	$(LOCK) pyproject.toml --constraint requirements/dev.txt --output-file requirements/run.txt
	npm install --package-lock-only --ignore-scripts --no-audit --no-fund

# cargo-deny reads the crates of all platforms, and a build downloads those of its own.
# A report of pip-audit that names no finding and no success comes from a machine without a network.
audit: $(AUDITORS) ## Check licences, sources and, with a network, advisories of all dependencies
	cargo fetch --locked --quiet
	target/lock/bin/cargo-deny --locked --offline check bans licenses sources
	if target/lock/bin/cargo-deny --locked fetch db; then \
		target/lock/bin/cargo-deny --locked --offline check --disable-fetch advisories; \
	else \
		echo "SKIPPED: advisories on crates, which need the network" >&2; \
	fi
	for name in dev wheel audit ns3; do \
		target/lock/bin/pip-audit --disable-pip --require-hashes --requirement requirements/$$name.txt --progress-spinner off \
			> target/lock/$$name.txt 2>&1 || ! grep "^Found" target/lock/$$name.txt || exit 1; \
		grep -q "^No known" target/lock/$$name.txt || echo "SKIPPED: advisories on packages of $$name.txt, which need the network" >&2; \
	done

$(AUDITORS): requirements/audit.txt
	$(PYTHON) -m venv target/lock
	target/lock/bin/python -m pip install $(PIP) --requirement $<
	touch $@

mutants: ## Mutate the core in a hundred of ten thousand places, and list the undetected changes
	@command -v cargo-mutants >/dev/null || cargo install cargo-mutants --locked --quiet
	$(PYTHON) tools/mutants/sample.py --shard $(MUTANTS_SHARD) --least 85

firefox: build web comparison-tools ## Test the live page, figures and evaluations in Firefox
	ACKCLOCK_BROWSER=firefox-esr $(BIN)/pytest -q tests/test_play.py tests/test_figures.py tests/test_evaluate_on_web.py

kills: build ## Kill a study a hundred times, and compare the results
	ACKCLOCK_KILLS=100 $(BIN)/pytest -q tests/test_campaign.py -k killed

papers: build ## Reproduce all papers under each interpretation, and write their pages
	$(BIN)/python tools/docs/papers.py
	$(BIN)/python tools/docs/generate.py

panels: build ## Write the stored scores of all suites, a few minutes on an idle machine
	for panel in python/ackclock/suites/*/panel.json; do $(BIN)/ackclock panel --suite "$$(basename "$$(dirname "$$panel")")" || exit 1; done

evidence-metrics: build ## Compare each metric with an independent computation from packet traces
	$(BIN)/python tools/evidence/metrics_evidence.py

evidence-statistics: build ## Check the statistics with equal algorithms, drawn networks and a simulation, about 2 hours
	$(BIN)/python tools/evidence/null_pairs.py
	$(BIN)/python tools/evidence/interval_coverage.py
	$(BIN)/python tools/evidence/method_simulation.py

evidence-attacks: build ## Search for the weaknesses of algorithms that the literature describes, about 25 minutes
	$(BIN)/python tools/evidence/known_attacks.py
	$(BIN)/python tools/evidence/worst_ratio.py

evidence: release comparison-tools ## Run every row of the validation overview in full, about 17 hours, and write the page
	$(BIN)/python tools/evidence/evidence_full.py

evidence-slice: build comparison-tools ## Run a short slice of each row of the validation overview
	$(BIN)/python tools/evidence/evidence_slice.py

site: build web-where-possible ## Build the documentation site, in site/
	$(BIN)/python tools/docs/site.py target/site-pages
	$(BIN)/zensical build --strict --clean
	$(BIN)/python tools/docs/site.py --live site

wheel: $(REQUIREMENTS) web-where-possible ## Build a wheel for any Linux from glibc 2.17 on, in dist/
	$(BIN)/python -m pip install $(PIP) --requirement requirements/wheel.txt
	PATH="$(CURDIR)/$(BIN):$$PATH" maturin build --release --locked --quiet --zig --compatibility manylinux2014 \
		--target $(shell uname -m)-unknown-linux-gnu --out dist
	sh tools/check_wheel.sh $(PYTHON) dist/*manylinux2014*.whl

wheels: $(REQUIREMENTS) web-where-possible ## Build wheels for Linux on x86-64 and ARM, in dist/
	$(BIN)/python -m pip install $(PIP) --requirement requirements/wheel.txt
	rustup target add $(WHEEL_TARGETS)
	for target in $(WHEEL_TARGETS); do \
		PATH="$(CURDIR)/$(BIN):$$PATH" maturin build --release --locked --quiet --zig --compatibility manylinux2014 \
			--target $$target --out dist || exit 1; \
	done

# Objects are committed, because users of the package need no clang.
bpf: clang ## Compile the algorithms for the kernel
	@command -v $(CLANG) >/dev/null || { echo "$(CLANG) is missing; install as root: apt-get install clang-19 llvm-19, or set CLANG and STRIP" >&2; exit 1; }
	cd bpf && for source in *.bpf.c; do object=../python/ackclock/kernel/objects/$${source%.c}.o \
		&& $(CLANG) $(BPF_FLAGS) -c $$source -o $$object && $(STRIP) -g $$object || exit 1; done

clang:
	@command -v $(CLANG) >/dev/null || $(call INSTALL,clang-19 llvm-19)

# Without the kernel its tests are skipped, and print that.
kernel-where-possible:
	@if [ "$$(uname -sm)" = "Linux x86_64" ]; then \
		$(MAKE) --no-print-directory kernel || echo "SKIPPED: runs of a kernel in virtual time; 'make kernel' failed" >&2; \
	else \
		echo "SKIPPED: runs of a kernel in virtual time, which need Linux on x86-64" >&2; \
	fi

# Parts of the kernel that are built already are not built again.
kernel: build ## Build the kernel for runs in virtual time: 5 minutes of CPU, 2 GB in ~/.cache
	@{ test -e /usr/src/linux-source-6.12.tar.xz && command -v flex && command -v bison && command -v bc && test -e /usr/include/libelf.h; } >/dev/null \
		|| $(call INSTALL,linux-source-6.12 flex bison bc libelf-dev gcc make libc6-dev)
	$(BIN)/ackclock kernel build 6.12

docs: build ## Write the generated parts of the documentation
	$(BIN)/python tools/docs/generate.py

clean: ## Remove all built files
	rm -rf $(VENV) target dist node_modules

$(REQUIREMENTS): requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP) --requirement $<
	touch $@

# Writes stdin to a file, whose time of change stays if it holds the same already.
KEEP = cat > $(1).new && { cmp -s $(1).new $(1) && rm $(1).new || mv $(1).new $(1); }

# Writes a compiled module, optimised by wasm-opt if installed, and its JavaScript to web/module, unless they are newer.
# The last written file is the module compressed for pages.
BINDINGS = module=target/wasm32-unknown-unknown/web/$(1).wasm; \
	[ web/module/$(2)_bg.wasm.gz -nt $$module ] || { \
		if command -v wasm-opt >/dev/null; then $(WASM_OPT) $$module --output target/$(1).wasm; else cp $$module target/$(1).wasm; fi; \
		cargo run --manifest-path tools/web/bindings/Cargo.toml --target-dir target/bindings --locked --quiet \
			target/$(1).wasm web/module $(2); }

# The native engine supplies the schema, the metrics and the suites as data.
$(WEB): $(INSTALLED) tools/web/bindings/Cargo.lock tools/web/bindings/src/main.rs tools/web/schema_on_web.py tools/web/suites_on_web.py $(SUITES) $(RUST)
	@$(HAS_WASM)
	$(BIN)/python tools/web/schema_on_web.py | $(call KEEP,target/schema.json)
	$(BIN)/python -c 'from ackclock import _core; print(_core.metrics_json())' | $(call KEEP,target/metrics.json)
	ACKCLOCK_SCHEMA=$(CURDIR)/target/schema.json ACKCLOCK_METRICS=$(CURDIR)/target/metrics.json \
		cargo build --package ackclock-wasm --package ackclock-wasm-score --features ackclock-wasm/stored \
		--profile web --target wasm32-unknown-unknown --locked --quiet
	@command -v wasm-opt >/dev/null || ($(call INSTALL,binaryen)) \
		|| echo "SKIPPED: wasm-opt; the modules for browsers are some percent slower and larger" >&2
	$(call BINDINGS,ackclock_wasm,ackclock)
	$(call BINDINGS,ackclock_wasm_score,score)
	$(BIN)/python tools/web/suites_on_web.py web/module/suites
	touch $@

$(INSTALLED): $(REQUIREMENTS) pyproject.toml $(RUST)
	$(IN_VENV) $(BIN)/maturin develop --profile develop --locked --quiet
	touch $@

$(RELEASED): $(INSTALLED)
	$(IN_VENV) $(BIN)/maturin develop --release --locked --quiet
	rm -f $(OPTIMISED)
	touch $@

$(OPTIMISED): $(INSTALLED) tools/bench/train.py
	@$(PROFDATA)
	$(IN_VENV) $(BIN)/maturin develop --pgo --locked --quiet
	rm -f $(RELEASED)
	touch $@

# The packaging is that of releases, the profile that of tests.
$(WHEEL): $(REQUIREMENTS) $(PACKAGE) $(RUST)
	rm -rf target/wheels
	$(BIN)/maturin build --profile develop --locked --quiet --out target/wheels
	touch $@
