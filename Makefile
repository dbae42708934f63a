# Comanda. `make` alone lists what there is to make.

LINTER_VERSION := v2.15.0
LINTER         := bin/golangci-lint-$(LINTER_VERSION)
VERSION        := $(shell git describe --tags --always --dirty 2>/dev/null || echo unversioned)

# The version is handed over by name, so a build neither needs a repository nor stumbles over whose it is.
GOBUILD := go build -buildvcs=false -trimpath -ldflags '-s -w -X main.version=$(VERSION)'

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build ## run everything in one process, with a demo restaurant, data in ./data
	./bin/comanda serve --demo

.PHONY: build
build: ## build bin/comanda
	@mkdir -p bin
	$(GOBUILD) -o bin/comanda ./cmd/comanda

.PHONY: test
test: ## run all tests; those of services that are not here are skipped
	go test -buildvcs=false $(TESTFLAGS) ./...

.PHONY: test-race
test-race: ## run all tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -buildvcs=false -race $(TESTFLAGS) ./...

.PHONY: bench
bench: ## run every benchmark of the packages; `bin/comanda bench` measures the whole
	go test -buildvcs=false -run '^$$' -bench . -benchmem $(BENCHFLAGS) ./...

.PHONY: lint
lint: $(LINTER) ## check formatting, vet and lint
	@unformatted=$$(gofmt -l cmd internal); if [ -n "$$unformatted" ]; then echo "not formatted:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	$(LINTER) run ./...

# Installed under its version, so a new version here is a new file and nothing is ever stale.
$(LINTER):
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin/linter go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTER_VERSION)
	@mv bin/linter/golangci-lint $@ && rmdir bin/linter

.PHONY: generate
generate: ## write the documents that are made from the code
	go generate ./...

.PHONY: verify
verify: ## check that generated documents and go.mod are those of the code
	go mod verify
	go mod tidy -diff

.PHONY: clean
clean: ## remove what was built; the data directory stays
	rm -rf bin coverage.out coverage.html
