# `make` alone prints the list of targets. Longer recipes live in Scripts/.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup build build-tests test test-busy demo demo-cluster sample-store examples exports lake otlp answers look e2e hostile bench bench-check build-benchmarks bench-cluster bench-inspector bench-peers faults chaos soak stress fuzz fuzz-extremes model mutate tsan apple lint format consumer schemas docs check elsewhere install installation interop integration clickhouse faults-cluster pictures screenshots nightly clean

# What is behind traits needs macOS 15 on a Mac: see Package.swift.
ifeq ($(shell uname),Darwin)
export WAYBILL_SERVERS := 1
endif

RUNS ?= 200
SECONDS ?= 60
SAMPLE = $(or $(STORE),.build/sample.sqlite)
KILLS ?= 50
STRICT := --explicit-target-dependency-import-check error
PYTEST := Scripts/python -m pytest
INTEGRATION := Tests/IntegrationTests
# Always the same flags, so that no step has another one's work done again. `check` sets BUILT once everything is built: then there is nothing to do.
# SwiftPM hands over traits in the order of a set, which differs from process to process: without fixed hashing one new file has every module compiled again.
built = $(if $(BUILT),,SWIFT_DETERMINISTIC_HASHING=1 swift build --traits All $(1) $(STRICT) $(FLAGS))
SWIFT_SOURCES := Package.swift Sources Tests Examples Benchmarks

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing for every target (Debian); elsewhere print what is needed
	@Scripts/setup

setup-%:
	@Scripts/setup $*

build: setup-build ## Build the library alone, then everything behind the traits
	swift build --scratch-path .build-library $(STRICT)
	$(built)

build-tests: setup-test
	$(call built,--build-tests)

test: setup-test ## Run every test of every trait; SHORT=1 tries a quarter of the seeds
	@Scripts/run-tests $(STRICT) $(FLAGS)

test-busy: setup-test ## Run every test while four busy loops take the cores
	@Scripts/run-tests --busy $(STRICT) $(FLAGS)

demo: setup-build ## Run logins through client, server and collector; RUNS=200, KEEP=1 leaves the collector running
	$(if $(BUILT),,swift build --traits Collector --product LoginDemo $(STRICT))
	@RUNS=$(RUNS) KEEP=$(KEEP) .build/debug/LoginDemo

demo-cluster: setup ## Run logins through three collectors before a ClickHouse cluster, of which one and a replica are killed; RUNS=200, KEEP=1 leaves it running
	$(if $(BUILT),,$(call built,--product waybill-cli) && swift build --traits All --product LoginServer $(STRICT) $(FLAGS) && swift build --traits All --product LoginClient $(STRICT) $(FLAGS))
	@python3 Examples/Login/Cluster/demo.py --runs $(RUNS) $(if $(KEEP),--keep)

sample-store: setup-build ## Write a store of two weeks of a shop, always the same; STORE=.build/sample.sqlite, SEED=n, AT=2026-03-01T12:00:00Z or now
	$(call built,--product SampleReports)
	@mkdir -p .build && rm -f $(SAMPLE) $(SAMPLE)-wal $(SAMPLE)-shm
	@SEED=$(SEED) AT=$(AT) .build/debug/SampleReports $(SAMPLE)

examples: setup ## Run every example, and compare what it prints with its README
	$(built)
	@$(PYTEST) $(INTEGRATION)/test_examples.py

exports: setup ## Have DuckDB, SQLite, haralyzer and Chromium read the demo's exports
	$(built)
	@$(PYTEST) $(INTEGRATION)/test_exports.py $(INTEGRATION)/test_har.py

lake: setup ## Export increments into a bucket, kill runs and a Spark worker, and have DuckDB and Spark answer alike over the same lake
	$(call built,--product waybill-cli)
	@$(PYTEST) $(INTEGRATION)/test_lake.py $(INTEGRATION)/test_lake_spark.py -s

otlp: setup ## Send generated transactions and the demo's as spans to a strict OTLP receiver; TRANSACTIONS=3000, SEED=n
	$(built)
	@$(PYTEST) $(INTEGRATION)/test_otlp.py

answers: setup ## Have DuckDB answer the same questions over the exports of generated histories, and compare; SEED=n
	$(call built,--product waybill-cli)
	@$(PYTEST) $(INTEGRATION)/test_answers.py

hostile: setup ## Attack a running collector, with a table of what was tried and what held, and have schemathesis try it; EXAMPLES=100 for each operation
	$(call built,--product waybill-cli)
	@EXAMPLES=$(or $(EXAMPLES),100) $(PYTEST) $(wildcard $(INTEGRATION)/test_hostile*.py) $(INTEGRATION)/test_description.py

bench: setup-build ## Measure, print a table, write .build/bench.json; ROWS=log,drain runs some, ROWS=size what an app gets
ifeq ($(ROWS),size)
	@Benchmarks/Size/measure
else
	swift build -c release --traits Collector,Tracing,Logging --product Benchmarks $(STRICT)
	.build/release/Benchmarks $(if $(ROWS),--rows $(ROWS))
endif

# Without traits: what a collector links would take longer to build than all the rest.
bench-check: build-benchmarks ## Measure the rows of Benchmarks/ratios.json, and fail where one is worse by 1.3 times in the best of three; ROWS=log,encode measures some, WRITE=1 writes the file anew
	.build-library/release/Benchmarks $(if $(WRITE),--renew,--check) $(if $(ROWS),--rows $(ROWS))

build-benchmarks: setup-build
	swift build -c release --scratch-path .build-library --product Benchmarks $(STRICT) $(FLAGS)

bench-peers: setup-test ## The same logins through Waybill, swift-log, GRDB and by hand; LOGINS=100000, WRITE=1 puts the table into Figures.md; writes .build/bench-peers.json
	@Benchmarks/Peers/measure --logins $(or $(LOGINS),100000) $(if $(WRITE),--write)

stress: setup-build ## Cancel requests at any moment; no hang, no crash, every record closed; REQUESTS=8000
	$(call built,--product TestProcess)
	@Scripts/stress $(or $(REQUESTS),8000)

fuzz: setup-build ## Fuzz the decoders of sets and journals and the redactor of bodies; SECONDS=60 each, KEEP=1 keeps what it found in Tests/Corpora
	@KEEP=$(KEEP) Scripts/fuzz $(SECONDS)

fuzz-extremes: setup-build ## Put numbers of any size into sets, spans and stores, and look at them in every way; SECONDS=60, SEED=n as a crash printed it
	$(if $(BUILT),,$(call built,--build-tests))
	FUZZ_SECONDS=$(SECONDS) $(if $(SEED),FUZZ_SEED=$(SEED)) swift test --skip-build --traits All $(STRICT) $(FLAGS) --filter 'ExtremeTests/nothingThatIsReadForAWhile'

soak: setup-build ## Record at a steady rate and see whether memory, file and latency stay flat; MINUTES=10, writes .build/soak.json
	swift build -c release --traits Collector,Tracing,Logging --product Benchmarks $(STRICT)
	.build/release/Benchmarks --soak $(or $(MINUTES),10)

model: setup ## Check the protocols in Tests/Models/ with spin, and that it finds mistakes put in on purpose; MODELS=journal checks one
	@MODELS="$(MODELS)" Scripts/check-models

mutate: setup ## Apply the mutations of Tests/Mutations, one at a time, and run the tests that should notice each; NAMES="token card" tries some, AGAIN=1 also those that have a result; CHECK=1 only says whether they apply
	@FLAGS="$(FLAGS)" Scripts/mutate $(if $(CHECK),--check) $(if $(AGAIN),--again) $(NAMES)

faults: setup ## Kill processes, fill disks, flip bits, count every fact; KILLS=1000, SEED=n, CASES=kill,drain; writes .build/faults.json
	$(built)
	.build/debug/Faults run --kills $(KILLS) $(if $(SEED),--seed $(SEED)) $(if $(CASES),--cases $(CASES))

chaos: setup ## Twenty clients, a bad network, a collector killed again and again; SECONDS=60, CLIENTS=20, SEED=n
	$(built)
	.build/debug/Faults run --cases chaos,control --clients $(or $(CLIENTS),20) --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

tsan: setup-test ## Run the library's tests of what threads share under the thread sanitizer
	@Scripts/run-tests --thread-sanitizer $(FLAGS)

lint: ## Check format and style, that every test has a time limit, that no folders use each other in circles, how many types are public, the workflows, the prose and the picture of the targets
	@Scripts/check-suites
	@Scripts/check-workflow
	@Scripts/folder-graph
	@Scripts/public-types
	@Scripts/plain-english
	@Scripts/pictures --check
	swift format lint --strict --recursive --parallel $(SWIFT_SOURCES)

apple: ## Type-check what an app links as iOS, macOS, tvOS, watchOS and visionOS compile it, on Linux, and that mistakes put in on purpose are found; PLATFORMS=iOS checks one
	@Scripts/check-apple $(PLATFORMS)

format: ## Format every Swift file in place
	swift format --in-place --recursive --parallel $(SWIFT_SOURCES)

elsewhere: setup-test ## Show that a clone builds where packages have other commit IDs, as the public ones have; runs `consumer` there
	@Scripts/check-elsewhere $(FLAGS)

consumer: setup-test ## Build and run an app that depends on the last commit by URL and tag; nothing else may be resolved
	@Scripts/check-consumer $(FLAGS)

docs: setup ## Make a site of the documentation of all targets in .build/docs; a link that leads nowhere fails, and a public symbol without any or that API.txt does not list; RENEW_API=1 writes that file, SERVE=1 serves the pages, BASE=waybill is their path on a host
	$(built)
	@Scripts/docs $(if $(SERVE),--serve) $(if $(BASE),--base $(BASE))

schemas: setup ## Validate golden files and the OpenAPI document with independent validators
	@$(PYTEST) $(INTEGRATION)/test_schemas.py

look: setup ## Look at reports in Chromium: phone and desk, light and dark, with and without script; screenshots in .build/look
	$(built)
	@$(PYTEST) -n 2 $(INTEGRATION)/test_reports.py

e2e: setup ## Use the inspector in Chromium; screenshots in .build/e2e
	$(built)
	@$(PYTEST) -n 2 $(INTEGRATION)/inspector

integration: setup ## All of these, from schemas to e2e, side by side; EXAMPLES=3 for each operation of `hostile`; SHORT=1 attacks with less
	$(built)
	@$(PYTEST) -n 2 $(INTEGRATION) --ignore $(INTEGRATION)/interop

screenshots: setup ## Take the pictures of the inspector that README and guides show, light and dark
	$(call built,--product waybill-cli)
	$(call built,--product SampleReports)
	@Scripts/python $(INTEGRATION)/inspector/screenshots.py

pictures: ## Draw the targets and their dependencies, as Package.swift has them
	@Scripts/pictures

faults-cluster: setup ## Kill doors and replicas of a ClickHouse cluster, lose answers, count every fact; STAGE=one, folder; CASES=erasure, SCALE=1, SEED=n; writes .build/faults-cluster.json
	$(call built,--product waybill-cli)
	@python3 Tests/ClickHouse/Faults --stage $(or $(STAGE),cluster) --scale $(or $(SCALE),1) $(if $(SEED),--seed $(SEED)) $(if $(CASES),--cases "$(CASES)")

clickhouse: setup ## Try the ClickHouse engines that tests start, one process and a cluster, and play histories into a store on the cluster; installs what is missing; HISTORIES=25 QUESTIONS=14 for 500 of each kind, in an hour or two
	$(call built,--build-tests)
	@$(PYTEST) -c $(INTEGRATION)/pytest.ini --rootdir Tests/ClickHouse Tests/ClickHouse
	@WAYBILL_CLUSTER=1 $(if $(HISTORIES),WAYBILL_HISTORIES=$(HISTORIES)) $(if $(QUESTIONS),WAYBILL_QUESTIONS=$(QUESTIONS)) swift test --skip-build --traits All $(STRICT) $(FLAGS) --filter 'OnACluster$(if $(HISTORIES),|ConformanceTests/(aDatabase|threeProcesses))'

interop: setup ## Build Examples/ManyStacks, and have its five processes record: one transaction each, every cause right, nobody else told
	$(call built,--product waybill-cli)
	@Scripts/interop $(FLAGS)

bench-inspector: setup ## Measure the inspector on a store of a million transactions, made once in .build
	swift build -c release --traits Collector --product waybill-cli $(STRICT)
	@WAYBILL=$(CURDIR)/.build/release/waybill-cli Scripts/python $(INTEGRATION)/inspector/bench.py

bench-cluster: setup ## Measure questions and ingest of one ClickHouse beside SQLite, in CPU seconds and bytes an event; EVENTS=5000000, ROWS=duration,show, SHARDS=1; writes .build/bench-cluster-EVENTS.json
	swift build -c release --traits Collector,ClickHouse --product waybill-cli $(STRICT)
	swift build -c release --traits Collector,ClickHouse --product Benchmarks $(STRICT)
	@python3 Tests/ClickHouse/bench.py --events $(or $(EVENTS),1000000) $(if $(ROWS),--rows $(ROWS)) $(if $(SHARDS),--shards)

check: setup ## All that CI checks for each change; seconds of each step at the end
	@Scripts/check

nightly: setup ## What CI checks once a night: the protocols, the thread sanitizer, and five processes of other stacks
	@Scripts/check --nightly

installation: setup ## Install into a folder of its own, and try what was installed
	$(call built,--product waybill-cli)
	@$(PYTEST) $(INTEGRATION)/test_installation.py

install: setup-build ## Install the command line and the collector's unit; PREFIX=/usr/local, DESTDIR=
	Scripts/install

clean: ## Remove everything that was built
	rm -rf .build Examples/ManyStacks/.build .build-library .build-tsan .build-fuzz .build-simulator .build-tools
