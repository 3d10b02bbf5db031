# A short front for the scripts; each target installs what it needs first.
.PHONY: setup build image release install run test test-quick test-lanes demo bench study fuzz verify lint format nightly help
.DEFAULT_GOAL := help
PREFIX ?= $(HOME)/.local

help:            ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## */\t/' | expand -t 10

setup:           ## install the Debian packages for building and testing
	scripts/setup test

build:           ## build build/release/slackline
	scripts/build

image: build     ## the container image as an OCI archive, without a container engine (NAME=registry.example/slackline:0.1.0)
	scripts/image $(if $(NAME),--name $(NAME))

release: build   ## what a release publishes: program, image, chart, checksums (NAME=registry.example/slackline)
	scripts/release $(if $(NAME),--name $(NAME))

install: build   ## slackline, and its names as a plug-in of kubectl, into ~/.local/bin (PREFIX=/usr/local)
	install -D -m 755 build/release/slackline $(DESTDIR)$(PREFIX)/bin/slackline
	ln -sf slackline $(DESTDIR)$(PREFIX)/bin/kubectl-slackline
	ln -sf slackline $(DESTDIR)$(PREFIX)/bin/kubectl_complete-slackline

run: build       ## start the daemon on a sample cluster, print its page's address, ask it, keep serving
	scripts/run

test:            ## everything: unit to real control plane
	scripts/test

test-quick:      ## unit, property and contract tests of a debug build: under a minute once built
	scripts/setup test
	cmake --preset dev
	cmake --build build/dev
	ctest --test-dir build/dev --output-on-failure --no-tests=error -j $$(nproc) -L 'unit|property|contract'

test-lanes: build ## the core of the end-to-end tests on the other versions of Kubernetes that are promised (LANES="1.34 1.35")
	scripts/test-lanes $(LANES)

demo: build      ## a real control plane: 60 Jobs with deadlines, with and without Slackline (JOBS=20, KEEP=1)
	scripts/demo

bench:           ## latencies against a loopback echo, then rates on the real control plane
	scripts/bench

study: build     ## the figures of docs/study again, from public data in ../shared
	scripts/study/run

fuzz:            ## every decoder and whole clusters for a short while (SECONDS_EACH=20)
	scripts/fuzz $(SECONDS_EACH)

verify:          ## CI on a fresh clone of HEAD, before a change is handed over
	scripts/verify

lint:            ## format, house rules, shellcheck, ruff, clang-tidy on changed files
	scripts/lint

format:          ## clang-format over all sources
	scripts/format

nightly: build   ## what is too long for every commit: clang-tidy on all sources, a minute of each fuzzer, answers about 300 clusters, flaky tests, 300 stops at once, a death after every write, the long comparison, other versions of Kubernetes
	LINT_ALL=1 scripts/lint
	scripts/fuzz 60
	TESTS=ON TARGETS=core_property_test scripts/build release && SLACKLINE_TRUTH_SEEDS=300 build/release/tests/property/core_property_test --gtest_filter='AnswersTruth.*'
	FLAKES=red scripts/e2e
	STOPS=300 KILLS=5 DEADLY="1 2 3 4 5 6 7" ROBUST=long COMPARISON=long scripts/e2e test_stops_at_once test_killed_stops test_robust test_comparison
	scripts/test-lanes
