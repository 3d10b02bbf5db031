# A short front for the scripts; each target installs what it needs first.
.PHONY: setup build run test demo bench study fuzz lint format help
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

demo: build      ## a real control plane: 60 Jobs with deadlines, with and without Slackline (JOBS=20, KEEP=1)
	scripts/demo

bench:           ## latencies against a loopback echo, then rates on the real control plane
	scripts/bench

study: build     ## the figures of docs/study again, from public data in ../shared
	scripts/study/run

fuzz:            ## every decoder and whole clusters for a short while (SECONDS_EACH=20)
	scripts/fuzz $(SECONDS_EACH)

lint:            ## format, house rules, clang-tidy on changed files
	scripts/lint

format:          ## clang-format over all sources
	scripts/format
