package system

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"comanda/internal/fault"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// Operators read the cause of an outage in one line, without the sentence for guests, and no names of packages.
func TestErrorText(t *testing.T) {
	cause := errors.New("failed to connect:\n\tdial tcp 127.0.0.1:1: connection refused")
	var problems fault.Problems
	problems.Addf("seats", "range", "must be at least %d", 1)
	problems.Addf("name", "missing", "must be given")
	for want, err := range map[string]error{
		"the database is unavailable: failed to connect: dial tcp 127.0.0.1:1: connection refused": fmt.Errorf(
			"sqldb: now_select: %w: %w", sqldb.ErrUnavailable, cause),
		"Redis is unavailable: failed to connect: dial tcp 127.0.0.1:1: connection refused": redisdb.ErrDown.Because(cause),
		"the database is unavailable": sqldb.ErrUnavailable,
		sqldb.ErrSchema.Error():       fmt.Errorf("sqldb: branch_list: %w: no such table", sqldb.ErrSchema),
		cause.Error():                 cause,
		"no server uses this data directory: start comanda serve": fmt.Errorf("%w: dial unix /data/redis.sock", redisdb.ErrNotRunning),
		"open x.db: file is not a database":                       errors.New("sqldb: open x.db: file is not a database"),
		"connect: connection refused":                             errors.New("outbox: rabbit: connect: connection refused"),
		"import: open x: no such file or directory":               errors.New("import: open x: no such file or directory"),
		"configuration: COMANDA_LISTEN: missing port in address":  errors.New("configuration: COMANDA_LISTEN: missing port in address"),
		"configuration: COMANDA_X: is no network":                 errors.New("configuration: COMANDA_X: httpapi: is no network"),
		"no_branch: Branch not found.":                            fault.New(fault.NotFound, "no_branch", "Branch not found."),
		`invalid: "Mars" is not a time zone.`:                     fault.New(fault.Invalid, "", `"Mars" is not a time zone.`).Because(cause),
		"invalid: seats must be at least 1. name must be given.":  problems.Err(),
	} {
		testenv.Equal(t, want, ErrorText(err))
	}
}

// The list of packages has those whose errors begin with their name, and no other.
func TestErrorText_packages(t *testing.T) {
	found := map[string]bool{}
	root := os.DirFS("..")
	testenv.NoError(t, fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name := filepath.Base(filepath.Dir(path))
		text, err := fs.ReadFile(root, path)
		if regexp.MustCompile(`(?:New|Errorf)\("` + name + `: `).Match(text) {
			found[name] = true
		}
		return err
	}))
	testenv.Equal(t, slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(packages)))
}
