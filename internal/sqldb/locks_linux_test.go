package sqldb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// A second opening of a database in one process keeps the locks of the first. POSIX drops all of a process's locks on a
// file when it closes any descriptor of it (https://sqlite.org/howtocorrupt.html, section 2.2).
func TestOpen_keepsLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "comanda.db")
	locked := func() bool {
		info := testenv.Must(os.Stat(path))(t)
		all := testenv.Must(os.ReadFile("/proc/locks"))(t)
		file := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
		for line := range strings.Lines(string(all)) {
			if strings.Contains(line, file) && strings.Contains(line, fmt.Sprintf(" %d ", os.Getpid())) {
				return true
			}
		}
		return false
	}
	for range 2 {
		db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: "sqlite:" + path}))(t)
		t.Cleanup(db.Close)
		testenv.NoError(t, db.Migrate(t.Context()))
		testenv.Must(db.Exec(t.Context(), stmts.Must("number_add"), numbers(1)))(t)
		if !locked() {
			t.Error("the open database is not locked")
		}
	}
}
