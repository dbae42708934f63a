package sqldb

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"comanda/internal/fault"
)

// ErrSchemaNewer means that a later release migrated the database and this binary is too old for the schema. The
// release directly before the latest can always run: a migration removes only what that release no longer uses.
var ErrSchemaNewer = &fault.Error{
	Kind: fault.Unavailable, Code: "schema_newer", Detail: "This server is older than its database. Try again in a moment.",
	RetryAfter: 10 * time.Second,
}

// Schema is the migration state of a database, as seen by this binary.
type Schema struct {
	Version int64 // the newest applied migration
	Oldest  int64 // the newest migration that a binary must know to run on the schema
	Known   int64 // the newest migration that this binary knows
}

// Newer reports whether a later release has migrated the database.
func (s Schema) Newer() bool { return s.Version > s.Known }

// Check returns ErrSchemaNewer if this binary must not run on the schema. It passes on a newer schema as long as the
// floor permits it (decision 41): the previous release runs on while processes are replaced.
func (s Schema) Check() error {
	if s.Oldest > s.Known {
		return ErrSchemaNewer.Because(fmt.Errorf(
			"the schema is at migration %d and needs a binary that knows %d; this one knows %d", s.Version, s.Oldest, s.Known))
	}
	return nil
}

var schemaState = must("schema_state", `SELECT
	(SELECT coalesce(max(g.version_id), 0) FROM goose_db_version g WHERE g.is_applied),
	(SELECT coalesce(max(f.oldest), 0) FROM schema_floor f)`)

// Schema reads the migration state. It needs a migrated database: after Migrate, Version is at least Known.
func (db *DB) Schema(ctx context.Context) (Schema, error) {
	pair, _, err := One(ctx, db, Pair, schemaState)
	return Schema{pair[0], pair[1], newestMigration()}, err
}

// newestMigration returns the number of the last migration file.
func newestMigration() int64 {
	names, _ := fs.Glob(migrationFiles, "migrations/*.sql") // the pattern is valid, and the names are sorted
	number, _, _ := strings.Cut(strings.TrimPrefix(names[len(names)-1], "migrations/"), "_")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(err) // the files are embedded
	}
	return n
}
