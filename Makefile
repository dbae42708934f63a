# Comanda. `make` without a target lists the targets.

SHELL := /bin/bash

LINTER_VERSION := v2.15.0
LINTER         := bin/golangci-lint-$(LINTER_VERSION)
SUMMER_VERSION := v1.13.0
SUMMER         := bin/gotestsum-$(SUMMER_VERSION)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
STAMP   := $(shell git rev-parse --verify --quiet HEAD >/dev/null 2>&1 && echo true || echo false)

# The build is stamped with the revision if Git can read it. A source archive, or a clone owned by another user, builds
# without a stamp.
GOBUILD := go build -buildvcs=$(STAMP) -ldflags '-s -w -X comanda/internal/telemetry.version=$(VERSION)'

# Every build has the same flags, so that all builds share one cache. With -trimpath, other clones share it too.
export GOFLAGS := $(GOFLAGS) -buildvcs=false -trimpath

# Without C the binary is static: it runs on every Linux of its processor, whatever C library that has.
export CGO_ENABLED ?= 0

# One document per line of `comanda docs`.
DOCUMENTS := openapi=openapi.yaml events=events.md keys=keyspace.md configuration=configuration.md

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The web apps need Node.js 20.19 or newer. Without it, everything else works.
NODE := $(shell node -e 'const [a, b] = process.versions.node.split("."); if (a > 20 || a == 20 && b >= 19) console.log("yes")' 2>/dev/null)
DIST := internal/web/dist/guest.html
NPM  := npm --prefix web --no-fund --no-audit --no-update-notifier

.PHONY: run
ifeq ($(NODE),yes)
run: $(DIST) build ## run everything in one process with a demo restaurant; data in ./data
else
run: build
	@echo 'Node.js 20.19 or newer is missing. The web apps are not built; only the API is served.'
endif
	@./bin/comanda serve --demo

# The binary embeds the web apps if they have been built.
.PHONY: build
build: ## build bin/comanda
	@mkdir -p bin
	$(GOBUILD) $$(test ! -f $(DIST) || echo -tags webapp) -o bin/comanda ./cmd/comanda

.PHONY: web
web: $(DIST) ## build the guest app and the console, if its sources have changed; needs Node.js

$(DIST): web/node_modules/.package-lock.json $(shell find web -type f -not -path '*/node_modules/*' -not -path 'web/tests/*' -not -path 'web/test-results/*' -not -path 'web/screenshots/*')
	$(NPM) run --silent build

web/node_modules/.package-lock.json: web/package-lock.json
	PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 $(NPM) ci --ignore-scripts --loglevel=error # hides warnings about engines of unused tools
	@touch $@

.PHONY: web-dev
web-dev: web/node_modules/.package-lock.json ## serve the guest app from its sources, with the API of COMANDA_SERVER
	$(NPM) run dev

.PHONY: web-test
web-test: $(DIST) ## check the web app: generated client, lint, types, tests, sizes
	@web/node_modules/.bin/openapi-typescript docs/openapi.yaml -o web/node_modules/.schema.d.ts > /dev/null 2>&1
	@diff -u web/shared/api/schema.d.ts web/node_modules/.schema.d.ts || \
		{ echo 'web/shared/api/schema.d.ts is not up to date: make generate'; exit 1; }
	$(NPM) run --silent lint
	$(NPM) run --silent typecheck
	$(NPM) run --silent test
	$(NPM) run --silent budget

.PHONY: web-e2e
web-e2e: $(DIST) build ## run the browser tests in Chromium (CHROMIUM, or /usr/bin/chromium)
	$(NPM) run --silent e2e

.PHONY: vitals
vitals: $(DIST) build ## measure how fast pages load on a slow phone; needs an idle machine
	$(NPM) run --silent vitals

.PHONY: screenshots
screenshots: $(DIST) build ## draw every screen into web/screenshots
	$(NPM) run --silent screenshots

# The race detector runs in the packages whose code or tests start or synchronize goroutines. e2e is left out, because it
# runs the binary in separate processes.
RACED = $(sort $(patsubst %/,./%,$(dir $(shell grep -rlE --include='*.go' --exclude-dir=testdata --exclude-dir=e2e \
	'^[[:space:]]+"sync(/atomic)?"$$|\bgo func|[.]Go\b|\bchan ' internal))))

# SQLite, which is C translated to Go, and the Lua interpreter are not instrumented: they are third-party code, share no
# memory with Comanda's goroutines, and would become several times slower. A package that uses sync.Map must be instrumented,
# as the driver of SQLite is: the linker may take the map's methods from any package, and with plain ones every use of a
# sync.Map in the program is reported as a race.
RACEFLAGS := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=github.com/yuin/...=-race=false

# Tests use the server's setting of the garbage collector (gcPercent in internal/app), which saves a tenth of their
# processor time. The servers of e2e set it themselves.
test check test-all test-race: export GOGC ?= 300

# make lint and make check vet the code, which takes a tenth of the time of all tests. The short form runs each end-to-end
# test on one kind of installation instead of up to four, none on a Redis Cluster, and fewer random sequences. make
# test-all runs everything. Four packages run at a time, because some mostly wait for a broker or a child process.
.PHONY: test
test: ## run the tests in their short form; needs only Go, tests of missing services are skipped
	go test -short -vet=off -p 4 $(TESTFLAGS) ./...

# Before a commit: checks the packages that changed since HEAD, and their dependents. CHECKED names another commit.
CHECKED ?= HEAD

.PHONY: check
check: $(LINTER) verify ## check the changes since the last commit: format, lint, documents, tests; needs only Go
	@test -z "$$(gofmt -l cmd internal)" || { echo 'not formatted:'; gofmt -l cmd internal; exit 1; }
	@packages=$$(.ci/changed packages $(CHECKED)); test -z "$$packages" || $(LINTER) run $${packages//comanda/.}
	@packages=$$(.ci/changed dependents $(CHECKED)); test -z "$$packages" || go test -short -vet=off $(TESTFLAGS) $$packages

.PHONY: test-race
test-race: ## run the tests of packages with goroutines under the race detector; needs a C compiler
	CGO_ENABLED=1 go test $(RACEFLAGS) $(TESTFLAGS) $(RACED)

.PHONY: soak
soak: ## run the tests at full size, before a release: backlogs of an outage, long random searches; takes an hour
	COMANDA_TEST_SOAK=1 go test -count=1 -timeout=90m $(TESTFLAGS) ./...

# Continuous integration runs every test once, under the race detector for packages with goroutines. bin/tests*.json then
# contains the events of all tests.
.PHONY: test-all
test-all: $(SUMMER)
	CGO_ENABLED=1 $(SUMMER) --jsonfile-timing-events bin/tests-race.json -- $(RACEFLAGS) $(TESTFLAGS) $(RACED)
	$(SUMMER) --jsonfile-timing-events bin/tests.json -- $(TESTFLAGS) $(filter-out $(RACED:./%=comanda/%),$(shell go list ./...))

.PHONY: slowest
slowest: $(SUMMER) ## list the ten slowest tests of the last test-all
	@cat $(wildcard bin/tests*.json) /dev/null | $(SUMMER) tool slowest --num 10

.PHONY: mutants
mutants: ## plant seventeen bugs, and check that the tests find each of them
	go test -tags mutant -count=1 -timeout=30m -parallel=2 -run '^TestMutants' -v ./internal/mutant

.PHONY: bench
bench: ## run the packages' benchmarks; `bin/comanda bench` measures a whole server
	go test -run '^$$' -bench . -benchmem $(BENCHFLAGS) \
		$(sort $(patsubst %/,./%,$(dir $(shell grep -rl --include='*_test.go' '^func Benchmark' internal))))

# The figures depend less on the machine than times do, but other work on it falsifies them.
BUDGETED ?= COMANDA_DATABASE_URL=postgres://root@127.0.0.1:5432/postgres COMANDA_REDIS_URL=redis://127.0.0.1:6379

.PHONY: budget
budget: build ## compare the parts of an order with docs/budget.json; needs PostgreSQL, Redis and an idle machine
	$(BUDGETED) bin/comanda bench --seconds 10 --conns 256 --budget docs/budget.json

# go vet is one of the linters.
.PHONY: lint
lint: $(LINTER) ## check formatting, vet and lint
	@test -z "$$(gofmt -l cmd internal)" || { echo 'not formatted:'; gofmt -l cmd internal; exit 1; }
	$(LINTER) run ./...

# The file name contains the version, so a change of LINTER_VERSION installs another file and none is ever outdated.
$(LINTER):
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin/linter go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTER_VERSION)
	@mv bin/linter/golangci-lint $@ && rmdir bin/linter

$(SUMMER):
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin/summer go install gotest.tools/gotestsum@$(SUMMER_VERSION)
	@mv bin/summer/gotestsum $@ && rmdir bin/summer

.PHONY: generate
generate: build ## write the documents that are generated from the code
	@set -e; for d in $(DOCUMENTS); do ./bin/comanda docs $${d%=*} > bin/document; mv bin/document docs/$${d#*=}; done
	@test ! -d web/node_modules || $(NPM) run --silent generate

.PHONY: verify
verify: build ## check that the generated documents and go.mod match the code
	@set -e; for d in $(DOCUMENTS); do \
		./bin/comanda docs $${d%=*} > bin/document; \
		diff -u docs/$${d#*=} bin/document || { echo "docs/$${d#*=} is not up to date: make generate"; exit 1; }; \
	done; rm bin/document
	go mod verify
	go mod tidy -diff

.PHONY: clean
clean: ## remove all built files; the data folder stays
	rm -rf bin coverage.out coverage.html internal/web/dist web/test-results web/screenshots
