package sqldbtest

import (
	"testing"
	"testing/fstest"

	"comanda/internal/sqldb"
)

var later = sqldb.Load(fstest.MapFS{
	"step.sql":  {Data: []byte(`INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`)},
	"floor.sql": {Data: []byte(`INSERT INTO schema_floor (version, oldest) VALUES ($1, $2)`)},
})

// MigrateLater marks a schema as migrated to version by a later release, on which only binaries that know migration
// oldest may run.
func MigrateLater(t testing.TB, db *sqldb.DB, version, oldest int64) {
	t.Helper()
	if _, err := db.Exec(t.Context(), later.Must("step"), version); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), later.Must("floor"), version, oldest); err != nil {
		t.Fatal(err)
	}
}
