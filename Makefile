# Chores. On a fresh machine call `./dev TARGET`: it installs what the system lacks, then runs make.
# Every target builds what it needs first, and only what changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
IN_VENV := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV)

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
# The page and the module for browsers are in the package, too, where they are built.
PACKAGE := pyproject.toml $(shell find python -type f -not -name '*.so' -not -name '*.pyc') \
	$(shell find web -type f -not -path 'web/tests/*')

REQUIREMENTS := $(VENV)/.requirements
INSTALLED := $(VENV)/.installed
OPTIMISED := $(VENV)/.optimised
WHEEL := target/wheels/.built
WEB := web/module/.built
SUITES := $(shell find python/ackclock/suites -type f -not -name '*.pyc')

# Outside the workspace, so that s2n-quic-core is built for its tests alone.
S2N := crates/ackclock-s2n/Cargo.toml

FUZZ_SECONDS ?= 600
FUZZ := -max_total_time=$(FUZZ_SECONDS)

# Random tests draw the same for every mutant, and do not look for the smallest input that fails.
MUTANTS := PROPTEST_RNG_SEED=1 PROPTEST_MAX_SHRINK_ITERS=0 PROPTEST_DISABLE_FAILURE_PERSISTENCE=true cargo mutants
# The unit tests that do not take seconds, and those that can notice a mutant.
FAST_TESTS := $(addprefix --skip ,tcp::fuzz model:: variation:: sim::source link:: contract::diagnosis exchange::fuzz)
# cargo-mutants ends with 2 or 3 where tests miss a mutant or never end.
SOME_SURVIVE := || case $$? in 2|3) ;; *) exit 1 ;; esac

# Every package that is installed has the hash that is written down.
PIP := --quiet --disable-pip-version-check --require-hashes
LOCK := target/lock/bin/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
	--custom-compile-command "make lock"

# Installs a Debian package, or says which one is missing.
INSTALL = { [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null \
	&& apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $(1); } \
	|| { echo "$(1) is missing; install as root: apt-get install $(1)" >&2; exit 1; }

WHEEL_TARGETS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu

# Profiles of what an engine did are merged by a tool of the compiler's.
PROFDATA = ls "$$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-profdata >/dev/null 2>&1 || rustup component add llvm-tools

# Debian's wasm-opt assumes no features that the compiler uses.
WASM_OPT = wasm-opt -O3 --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals \
	--enable-reference-types --enable-multivalue

# The standard library of WebAssembly is there, or can be installed.
HAS_WASM = [ -d "$$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ] || rustup target add wasm32-unknown-unknown

CLANG ?= clang-19
STRIP ?= llvm-strip-19
BPF_FLAGS := -O2 -g -Wall -Wextra -Wno-unused-parameter -target bpf -mcpu=v3

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: web web-where-possible firefox packetdrill validate-linux compare-kernel compare-ns3 help demo test build pgo test-rust test-wheel test-python bench bench-quick bench-own bench-queue instructions golden compare-ns2 environments-ns2 drr-ns2 linux-agent-ns2 verify-ns2 ns2 ns2-examples valgrind beside rivals panels fuzz miri lock audit mutants kills papers evidence-metrics evidence-statistics evidence evidence-slice site wheel wheels bpf clang docs clean

help: ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: ## Build the command, then compare CUBIC with BBRv3
	@tools/quietly.sh target/demo-build.log "Building ackclock, a few minutes the first time" $(MAKE) --no-print-directory build
	@$(BIN)/ackclock evaluate cubic --against bbr3 --quick
	@tools/quietly.sh target/demo-web.log "Building the live page for browsers" $(MAKE) --no-print-directory web \
		|| echo "The command 'ackclock play' is not available: the live page was not built." >&2
	@echo "Next: source .venv/bin/activate && ackclock run examples/two-flows.toml"

test: test-rust test-wheel beside test-python site evidence-slice ## Everything that continuous integration runs

web: $(WEB) ## Build ackclock for browsers and Node, in web/

# Without the standard library of WebAssembly it is left out: what needs it says so.
web-where-possible:
	@if $(HAS_WASM); then \
		$(MAKE) --no-print-directory web; \
		command -v node >/dev/null || ($(call INSTALL,nodejs)) || true; \
	else \
		echo "SKIPPED: ackclock for browsers; 'rustup target add wasm32-unknown-unknown' failed" >&2; \
	fi

build: $(INSTALLED) ## Build the command .venv/bin/ackclock

pgo: $(OPTIMISED) ## The same as a profile-guided build (PGO): slower to build, and a tenth faster

test-rust: ## Format, lints, documentation and tests of the crates
	@cargo fmt --version >/dev/null && cargo clippy --version >/dev/null || rustup component add rustfmt clippy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --package ackclock --package ackclock-pcap --package ackclock-scenario --no-deps --locked --quiet
	cargo test --package ackclock --package ackclock-pcap --package ackclock-scenario --package ackclock-bpf --package ackclock-input --package ackclock-linux --locked --quiet
	cargo test --package ackclock --locked --quiet --release --test theory
	cargo fmt --manifest-path $(S2N) --check
	cargo test --manifest-path $(S2N) --target-dir target/s2n --locked --quiet

# Make looks anew for what is in the package after the module for browsers was built.
test-wheel: web-where-possible ## Install the wheel where there is no Rust, and run a scenario
	@$(MAKE) --no-print-directory $(WHEEL)
	sh tools/check_wheel.sh $(PYTHON) target/wheels/*.whl

test-python: build ## Format, lints, types and tests of the Python half
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	MYPYPATH=tools/ns2:tools/ns3:tools/kernel:tools/bench:tools/docs:tools/evidence:tools/web $(BIN)/mypy --strict tools
	$(BIN)/pytest --numprocesses=logical --dist=loadfile

bench: pgo rivals ## Speed of all workloads, with ns-2 and ns-3 beside it
	$(BIN)/python tools/bench/speed.py

bench-quick: pgo rivals ## The same of three workloads
	$(BIN)/python tools/bench/speed.py --quick

bench-own: pgo ## Speed of algorithms of one's own: rule text, Python, a shared object
	$(BIN)/python tools/bench/own.py

bench-queue: ## What a packet costs in each queue, the queue alone
	cargo bench --package ackclock --bench queue --locked

instructions: build valgrind ## Count the instructions that a packet takes
	$(BIN)/python tools/bench/instructions.py

golden: build ## Write the hashes of results anew that tests compare with
	$(BIN)/python tools/bench/golden.py --write

compare-ns2: build ns2 ## Compare with ns-2, side by side
	$(BIN)/python tools/ns2/compare.py

environments-ns2: build ns2 ## The same beside cross traffic whose rate changes
	$(BIN)/python tools/ns2/environments.py

drr-ns2: build ns2 ## The same behind DRR
	$(BIN)/python tools/ns2/drr.py

linux-agent-ns2: build ns2 ## The same with the rules of Linux 2.6.22, in ns-2's Agent/TCP/Linux
	$(BIN)/python tools/ns2/linux_agent.py

compare-ns3: build rivals ## Compare queues with ns-3's, on the same arrivals and behind TCP, and senders with those of ns-3.44
	$(BIN)/python tools/ns3/aqm.py
	$(BIN)/python tools/ns3/behind_tcp.py
	$(BIN)/python tools/ns3/senders.py

validate-linux: build ## Compare the simulator with the running kernel, cell by cell; as root, an hour
	$(BIN)/python tools/linux/validate.py --write
	$(BIN)/python tools/linux/shares.py --write
	$(BIN)/python tools/docs/generate.py

compare-kernel: build ## Compare the token bucket with that of the running kernel; as root
	$(BIN)/python tools/kernel/tbf.py

packetdrill: build ## Run packetdrill's public scripts that concern a sender: make packetdrill FOLDER=packetdrill/gtests/net/tcp
	@test -n "$(FOLDER)" || { echo "make packetdrill takes a folder, for nothing is downloaded: git clone https://github.com/google/packetdrill && make packetdrill FOLDER=packetdrill/gtests/net/tcp" >&2; exit 2; }
	$(BIN)/python tools/packetdrill/packetdrill.py $(FOLDER)

verify-ns2: build ns2 ns2-examples ## Compare packet by packet with ns-2's validation suites
	$(BIN)/python tools/ns2/verify.py

ns2:
	@command -v ns >/dev/null || $(call INSTALL,ns2)

ns2-examples:
	@test -d /usr/share/doc/ns2/examples/tcl/test || $(call INSTALL,ns2-examples)

valgrind:
	@command -v valgrind >/dev/null || $(call INSTALL,valgrind)

# What cannot be installed is left out: what needs it says so.
beside: $(INSTALLED)
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

rivals:
	@command -v ns >/dev/null || ($(call INSTALL,ns2)) || true
	@test -e /usr/include/ns3/internet-module.h || ($(call INSTALL,libns3-dev)) || true

# Objects become code of the processor, so that the sanitizer of addresses watches what reads and runs them.
fuzz: build ## Fuzz the parsers, what segments touch, and what users hand in, FUZZ_SECONDS each
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

# Code of the processor cannot be interpreted, and the reader of ELF needs aligned bytes, which Miri does not promise.
miri: ## Interpret the tests of the eBPF interpreter, its check, and the reader of BTF with Miri
	rustup toolchain install nightly --profile minimal --component miri,rust-src
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --package ackclock-bpf --lib -- \
		--skip native interpreter:: verify:: memory:: call:: btf:: relocate:: insn::

lock: ## Pin Python packages anew, with hashes
	$(PYTHON) -m venv target/lock
	target/lock/bin/python -m pip install $(PIP) --requirement requirements/audit.txt
	for name in audit wheel; do $(LOCK) requirements/$$name.in --output-file requirements/$$name.txt || exit 1; done
	$(LOCK) --all-extras pyproject.toml requirements/dev.in --output-file requirements/dev.txt
	$(LOCK) pyproject.toml --constraint requirements/dev.txt --output-file requirements/run.txt

audit: ## Check licences, sources and known faults of what ackclock is built with; without a network the last is left out
	@command -v cargo-deny >/dev/null || cargo install cargo-deny --locked --quiet
	cargo deny --locked --offline check bans licenses sources
	if cargo deny --locked fetch db; then cargo deny --locked --offline check --disable-fetch advisories; \
		else echo "SKIPPED: advisories on crates, which need a network" >&2; fi
	$(PYTHON) -m venv target/lock
	target/lock/bin/python -m pip install $(PIP) --requirement requirements/audit.txt
	for name in dev wheel audit ns3; do \
		target/lock/bin/pip-audit --disable-pip --require-hashes --requirement requirements/$$name.txt --progress-spinner off \
			> target/lock/$$name.txt 2>&1 || ! grep "^Found" target/lock/$$name.txt || exit 1; \
		grep -q "^No known" target/lock/$$name.txt || echo "SKIPPED: advisories on packages of $$name.txt, which need a network" >&2; \
	done

mutants: ## Change the core in a thousand places, and list the changes that no test notices
	@command -v cargo-mutants >/dev/null || cargo install cargo-mutants --locked --quiet
	$(MUTANTS) --shuffle --cargo-arg=--lib -- -- $(FAST_TESTS) $(SOME_SURVIVE)
	CARGO_PROFILE_MUTANTS_OPT_LEVEL=1 $(MUTANTS) --iterate --minimum-test-timeout=240 --cargo-arg=--test=integration \
		-- -- contract network exchange ecn queues stepping traces $(SOME_SURVIVE)
	$(PYTHON) tools/mutants/table.py --least 98

firefox: build web beside ## Use the live page, figures and evaluations by clicks in Firefox; make test does a slice of it
	ACKCLOCK_BROWSER=firefox-esr $(BIN)/pytest -q tests/test_play.py tests/test_figures.py tests/test_evaluate_on_web.py

kills: build ## Kill a study a hundred times, and compare what is left
	ACKCLOCK_KILLS=100 $(BIN)/pytest -q tests/test_campaign.py -k killed

papers: build ## Reproduce all papers over readings, and write what the documentation says of them
	$(BIN)/python tools/docs/papers.py
	$(BIN)/python tools/docs/generate.py

panels: build ## Write the stored scores of every suite that has them, some minutes on an idle machine
	for panel in python/ackclock/suites/*/panel.json; do $(BIN)/ackclock panel --suite "$$(basename "$$(dirname "$$panel")")" || exit 1; done

evidence-metrics: build ## Compare each metric with what an independent reader finds in packet traces
	$(BIN)/python tools/evidence/metrics_evidence.py

evidence-statistics: build ## Check the statistics: 400 pairs of equal algorithms, and intervals over 1,000 drawn networks
	$(BIN)/python tools/evidence/null_pairs.py
	$(BIN)/python tools/evidence/interval_coverage.py

evidence: build beside ## Run every row of "Why believe it" at full length, some six hours, and write docs/validation/README.md
	$(BIN)/python tools/evidence/evidence_full.py

evidence-slice: build beside ## Run a small slice of each row
	$(BIN)/python tools/evidence/evidence_slice.py

site: build web-where-possible ## Build the documentation as a site, in site/
	$(BIN)/python tools/docs/site.py target/site-pages
	$(BIN)/zensical build --strict --clean
	$(BIN)/python tools/docs/site.py --live site

wheel: $(REQUIREMENTS) web-where-possible ## Build a wheel for any Linux since glibc 2.17, in dist/
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

# Objects are committed, as users of the package have no clang.
bpf: clang ## Compile the algorithms for the kernel anew
	@command -v $(CLANG) >/dev/null || { echo "$(CLANG) is missing; install as root: apt-get install clang-19 llvm-19, or set CLANG and STRIP" >&2; exit 1; }
	cd bpf && for source in *.bpf.c; do object=../python/ackclock/kernel/objects/$${source%.c}.o \
		&& $(CLANG) $(BPF_FLAGS) -c $$source -o $$object && $(STRIP) -g $$object || exit 1; done

clang:
	@command -v $(CLANG) >/dev/null || $(call INSTALL,clang-19 llvm-19)

docs: build ## Write the generated tables of the documentation
	$(BIN)/python tools/docs/generate.py

clean: ## Remove everything that was built
	rm -rf $(VENV) target dist

$(REQUIREMENTS): requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP) --requirement $<
	touch $@

# A compiled module, through wasm-opt where there is one, with its JavaScript in web/module.
BINDINGS = module=target/wasm32-unknown-unknown/web/$(1).wasm; \
	if command -v wasm-opt >/dev/null; then $(WASM_OPT) $$module --output target/$(1).wasm; else cp $$module target/$(1).wasm; fi; \
	cargo run --manifest-path tools/web/bindings/Cargo.toml --target-dir target/bindings --locked --quiet \
		target/$(1).wasm web/module $(2)

# Its schema of scenarios and its metrics are those of the native engine, as data; so are the suites.
$(WEB): $(INSTALLED) tools/web/bindings/Cargo.lock tools/web/bindings/src/main.rs tools/web/schema_on_web.py tools/web/suites_on_web.py $(SUITES) $(RUST)
	@$(HAS_WASM)
	$(BIN)/python tools/web/schema_on_web.py > target/schema.json
	$(BIN)/python -c 'from ackclock import _core; print(_core.metrics_json())' > target/metrics.json
	ACKCLOCK_SCHEMA=$(CURDIR)/target/schema.json ACKCLOCK_METRICS=$(CURDIR)/target/metrics.json \
		cargo build --package ackclock-wasm --features stored --profile web --target wasm32-unknown-unknown --locked --quiet
	cargo build --package ackclock-wasm-score --profile web --target wasm32-unknown-unknown --locked --quiet
	@command -v wasm-opt >/dev/null || ($(call INSTALL,binaryen)) \
		|| echo "SKIPPED: wasm-opt; the modules for browsers are some percent slower and larger" >&2
	$(call BINDINGS,ackclock_wasm,ackclock)
	$(call BINDINGS,ackclock_wasm_score,score)
	$(BIN)/python tools/web/suites_on_web.py web/module/suites
	touch $@

$(INSTALLED): $(REQUIREMENTS) pyproject.toml $(RUST)
	$(IN_VENV) $(BIN)/maturin develop --release --locked --quiet
	touch $@

$(OPTIMISED): $(INSTALLED) tools/bench/train.py
	@$(PROFDATA)
	$(IN_VENV) $(BIN)/maturin develop --pgo --locked --quiet
	touch $@

$(WHEEL): $(REQUIREMENTS) $(PACKAGE) $(RUST)
	rm -rf target/wheels
	$(BIN)/maturin build --release --locked --quiet --out target/wheels
	touch $@
