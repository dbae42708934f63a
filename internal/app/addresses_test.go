package app

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// An address that another program uses is reported with its setting, the address and what to do, each once.
func TestServe_occupied_address(t *testing.T) {
	l := testenv.Must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	dir := dataDir(t)
	for _, setting := range []string{"COMANDA_LISTEN", "COMANDA_DEBUG_LISTEN", "COMANDA_REDIS_LISTEN"} {
		values := map[string]string{"COMANDA_LISTEN": "127.0.0.1:0", "COMANDA_DATA_DIR": dir}
		values[setting] = l.Addr().String()
		err := Serve(t.Context(), testenv.Must(LoadConfig(values, nil, "", nil))(t),
			ServeOptions{Roles: []ProcessRole{API}, Out: io.Discard, Log: io.Discard})
		want := ": address already in use; stop the program that uses it, or set another address"
		if err == nil || !strings.HasPrefix(err.Error(), setting+": ") || !strings.HasSuffix(err.Error(), want) ||
			strings.Count(err.Error(), "listen tcp "+l.Addr().String()) != 1 || strings.Contains(err.Error(), "listen: ") {
			t.Errorf("%s: error %v, want the setting, the address and %q", setting, err, want)
		}
	}
}

// A data folder that cannot be created is reported with its setting, and an unreachable database with its own.
func TestOpenDatabase_errors_name_the_setting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	testenv.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct{ setting, value, want string }{
		{"COMANDA_DATA_DIR", file, "COMANDA_DATA_DIR: mkdir " + file},
		{"COMANDA_DATABASE_URL", "postgres://u:hunter2@" + testenv.FreeAddr(t) + "/d", "connection refused; check COMANDA_DATABASE_URL"},
	} {
		config := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": t.TempDir(), c.setting: c.value}, nil, "", nil))(t)
		if _, err := OpenDatabase(t.Context(), config); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: error %v, want %s", c.setting, c.value, err, c.want)
		}
	}
}
