package sqldb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"comanda/internal/testenv"
)

// pool_max_conns in the address is the operator's limit. It applies unless the program sets its own.
func TestOpenPostgres_MaxConns(t *testing.T) {
	for _, c := range []struct {
		url  string
		max  int
		want int32
	}{
		{url: "postgres://127.0.0.1:1/x", want: defaultConns},
		{url: "postgres://127.0.0.1:1/x?pool_max_conns=5", want: 5},
		{url: "postgres://127.0.0.1:1/x?sslmode=disable&pool_max_conns=40", want: 40},
		{url: "postgres://127.0.0.1:1/x?pool_max_conns=5", max: 2, want: 2},
	} {
		p := testenv.Must(openPostgres(t.Context(), Config{URL: c.url, MaxConns: c.max}))(t)
		if got := p.pool.Config().MaxConns; got != c.want {
			t.Errorf("%s with %d: %d connections, want %d", c.url, c.max, got, c.want)
		}
		p.pool.Close()
	}
}

func TestLimitsTransactions(t *testing.T) {
	for version, want := range map[string]bool{
		"15.19 (Debian 15.19-0+deb12u1)": false, "16.4": false, "17.0": true, "17.2 (Ubuntu 17.2-1)": true, "18beta1": true, "18": true,
		"": false, "devel": false, "9.6.24": false,
	} {
		if got := limitsTransactions(version); got != want {
			t.Errorf("limitsTransactions(%q) = %t, want %t", version, got, want)
		}
	}
}

// Two servers on one SQLite database would both decide, whatever names they use for it.
func TestLockServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, name := filepath.Join(dir, "comanda.db"), filepath.Join(dir, "link.db")
	testenv.NoError(t, os.WriteFile(file, nil, 0o600))
	testenv.NoError(t, os.Symlink(file, name))
	unlock := testenv.Must(LockServer("sqlite:" + file))(t)
	for _, address := range []string{"sqlite:" + file, "sqlite://" + file, "sqlite:" + name} {
		if _, err := LockServer(address); !errors.Is(err, ErrServed) {
			t.Errorf("a second server locks %s: error %v, want ErrServed", address, err)
		}
	}
	unlock()
	testenv.Must(LockServer("sqlite:" + name))(t)()
	if _, err := LockServer("sqlite:" + filepath.Join(dir, "none.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing database is locked: error %v, want ErrNotExist", err)
	}
	for range 2 { // as many servers as needed
		testenv.Must(LockServer("postgres://root@127.0.0.1/comanda"))(t)
	}
}
