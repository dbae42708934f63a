# Comanda. `make` alone lists what there is to make.

LINTER_VERSION := v2.15.0
LINTER         := bin/golangci-lint-$(LINTER_VERSION)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
STAMP   := $(shell git rev-parse --verify --quiet HEAD >/dev/null 2>&1 && echo true || echo false)

# The revision is stamped where there is one to be read; a source archive, or a clone that belongs to somebody else,
# builds as well.
GOBUILD := go build -trimpath -buildvcs=$(STAMP) -ldflags '-s -w -X comanda/internal/telemetry.version=$(VERSION)'
export GOFLAGS := $(GOFLAGS) -buildvcs=false

# One document per line of `comanda docs`.
DOCUMENTS := openapi=openapi.yaml events=events.md keys=keyspace.md configuration=configuration.md

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build ## run everything in one process with a demo restaurant; data in ./data
	@./bin/comanda serve --demo

.PHONY: build
build: ## build bin/comanda
	@mkdir -p bin
	$(GOBUILD) -o bin/comanda ./cmd/comanda

.PHONY: test
test: ## run all tests; needs nothing but Go, tests of services that are not there are skipped
	go test $(TESTFLAGS) ./...

# One package at a time: the detector makes everything several times slower, and tests with deadlines then need the
# machine for themselves. The tests of the binary are left out, because it runs in processes of its own.
.PHONY: test-race
test-race: ## run the tests under the race detector; needs a C compiler
	CGO_ENABLED=1 go test -race -p 1 $(TESTFLAGS) $$(go list ./... | grep -v '/internal/e2e$$')

.PHONY: bench
bench: ## run the packages' benchmarks; `bin/comanda bench` measures the whole
	go test -run '^$$' -bench . -benchmem $(BENCHFLAGS) ./...

.PHONY: lint
lint: $(LINTER) ## check formatting, vet and lint
	@test -z "$$(gofmt -l cmd internal)" || { echo 'not formatted:'; gofmt -l cmd internal; exit 1; }
	go vet ./...
	$(LINTER) run ./...

# Installed under its version, so that another version here is another file and nothing is ever stale.
$(LINTER):
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin/linter go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTER_VERSION)
	@mv bin/linter/golangci-lint $@ && rmdir bin/linter

.PHONY: generate
generate: build ## write the documents that are made from the code
	@set -e; for d in $(DOCUMENTS); do ./bin/comanda docs $${d%=*} > bin/document; mv bin/document docs/$${d#*=}; done

.PHONY: verify
verify: build ## check that the generated documents and go.mod are those of the code
	@set -e; for d in $(DOCUMENTS); do \
		./bin/comanda docs $${d%=*} > bin/document; \
		diff -u docs/$${d#*=} bin/document || { echo "docs/$${d#*=} is not up to date: make generate"; exit 1; }; \
	done; rm bin/document
	go mod verify
	go mod tidy -diff

.PHONY: clean
clean: ## remove what was built; the data folder stays
	rm -rf bin coverage.out coverage.html
