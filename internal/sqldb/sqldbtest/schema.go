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

// MigrateLater makes a schema look as if a later release had migrated it, to a version on which only binaries may run that
// know at least the migration oldest.
func MigrateLater(t testing.TB, db *sqldb.DB, version, oldest int64) {
	t.Helper()
	if _, err := db.Exec(t.Context(), later.Must("step"), version); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), later.Must("floor"), version, oldest); err != nil {
		t.Fatal(err)
	}
}
