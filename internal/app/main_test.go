package app

import (
	"os"
	"path/filepath"
	"testing"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) {
	account.DefaultArgon2Params = accounttest.FastParams // package account tests the real cost of a password
	// Set once, because a test that sets a variable cannot run in parallel.
	if err := os.Setenv("COMANDA_DEMO_PASSWORD", matrixPassword); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// dataDir returns a data folder whose database is migrated.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := testenv.MemoryDir(t)
	sqldbtest.WriteSQLite(t, filepath.Join(dir, "comanda.db"))
	return dir
}
