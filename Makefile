# A short front for the scripts; each target installs what it needs first.
.PHONY: study setup build run test demo bench fuzz lint format help
.DEFAULT_GOAL := help

help:            ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## */\t/' | expand -t 10

setup:           ## install the Debian packages for building and testing
	scripts/setup test

build:           ## build build/release/slackline
	scripts/build

run: build       ## start the daemon on the embedded cluster, ask it, keep serving
	scripts/run

test:            ## everything: unit to real control plane
	scripts/test

demo:            ## a real control plane, 4 x 4 GPUs and a few annotated Jobs (KEEP=1 leaves it running)
	scripts/demo

bench:           ## latencies against a loopback echo, in one run
	scripts/bench

study: build     ## regenerate docs/study: policies on generated and recorded traces (minutes)
	for part in scripts/study/*; do [ ! -x $$part ] || $$part || exit 1; done

fuzz:            ## every decoder for a short while (SECONDS_EACH=20)
	scripts/fuzz $(SECONDS_EACH)

lint:            ## format, house rules, clang-tidy on changed files
	scripts/lint

format:          ## clang-format over all sources
	scripts/format
