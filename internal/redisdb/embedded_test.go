package redisdb

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/testenv"
)

// start opens an embedded store in a data directory. The returned function closes it before the test ends.
func start(t *testing.T, dir string) (*DB, func()) {
	t.Helper()
	db := testenv.Must(Open(t.Context(), Config{Dir: dir}))(t)
	open := true
	end := func() {
		if open {
			open = false
			db.Close()
		}
	}
	t.Cleanup(end)
	return db, end
}

func TestEmbedded_attach(t *testing.T) {
	short := t.TempDir()
	long := filepath.Join(t.TempDir(), strings.Repeat("a-long-name/", 10))
	testenv.NoError(t, os.MkdirAll(long, 0o700))
	for name, dir := range map[string]string{"short path": short, "path beyond the kernel's limit": long} {
		t.Run(name, func(t *testing.T) {
			testenv.ErrorIs(t, ErrNotRunning, testenv.Err(Attach(t.Context(), Config{Dir: dir})), "attached to no server")
			server, end := start(t, dir)
			testenv.NoError(t, server.Do(t.Context(), "SET", keyspace.MenuActive(7), "noodles", "EX", "60").Err())
			path := testenv.Must(liveSocket(dir))(t)
			if at, err := os.Stat(path); err != nil || at.Mode().Perm() != 0o600 {
				t.Errorf("the socket is open to others: %v, %v", at.Mode(), err)
			}

			tool := testenv.Must(Attach(t.Context(), Config{Dir: dir}))(t)
			defer tool.Close()
			if s, _, err := tool.Do(t.Context(), "GET", keyspace.MenuActive(7)).Text(); s != "noodles" || err != nil {
				t.Errorf("GET = %q, %v", s, err)
			}
			ours, _ := server.Server(t.Context())
			toolsServer, err := tool.Server(t.Context())
			if err != nil || ours != toolsServer || !toolsServer.Embedded || toolsServer.RunID == "" {
				t.Errorf("Server = %+v instead of %+v, %v", toolsServer, ours, err)
			}

			end()
			if _, err := Attach(t.Context(), Config{Dir: dir}); !errors.Is(err, ErrNotRunning) {
				t.Errorf("attached to a closed store: error %v, want ErrNotRunning", err)
			}
			testenv.ErrorIs(t, os.ErrNotExist, testenv.Err(os.Lstat(path)), "the socket was left behind")
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != lockName {
				t.Errorf("left in the data directory: %v, %v", left, err)
			}
		})
	}
}

func TestEmbedded_one_server_per_directory(t *testing.T) {
	dir := t.TempDir()
	first, end := start(t, dir)
	testenv.ErrorIs(t, ErrRunning, testenv.Err(Open(t.Context(), Config{Dir: dir})), "a second server began")
	if err := first.Do(t.Context(), "SET", keyspace.MenuActive(7), "x").Err(); err != nil {
		t.Errorf("the first server suffered from the second: %v", err)
	}
	if _, err := liveSocket(dir); err != nil {
		t.Errorf("the first server's socket is gone: %v", err)
	}
	end()
	start(t, dir)
}

func TestEmbedded_replaces_a_dead_socket(t *testing.T) {
	dir := t.TempDir()
	l := testenv.Must(net.Listen("unix", filepath.Join(dir, socketName)))(t)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	testenv.NoError(t, l.Close())
	start(t, dir)
	if _, err := liveSocket(dir); err != nil {
		t.Error(err)
	}
}

func TestEmbedded_leaves_a_file_in_its_way(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, socketName)
	testenv.NoError(t, os.WriteFile(path, []byte("precious"), 0o600))
	if _, err := Open(t.Context(), Config{Dir: dir}); err == nil {
		t.Fatal("opened over a file")
	}
	testenv.Equal(t, "precious", string(testenv.Must(os.ReadFile(path))(t)))
	testenv.NoError(t, os.Remove(path))
	start(t, dir) // the failed open has released the lock
}

func TestEmbedded_listens_for_tools(t *testing.T) {
	free := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := free.Addr().String()
	_ = free.Close()
	db := testenv.Must(Open(t.Context(), Config{Listen: addr}))(t)
	t.Cleanup(db.Close)
	c := testenv.Must(net.Dial("tcp", addr))(t)
	defer c.Close()
	answer := make([]byte, 7)
	testenv.Must(c.Write([]byte("*1\r\n$4\r\nPING\r\n")))(t)
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "+PONG\r\n" {
		t.Errorf("PING = %q, %v", answer, err)
	}
}

func TestEmbedded_clock(t *testing.T) {
	db, _ := start(t, "")
	lock, menu := keyspace.MenuActiveLock(7), keyspace.MenuActive(7)
	short, long := Command("SET", lock, "x", "PX", "100"), Command("SET", menu, "x", "EX", "60")
	testenv.Must(db.DoMulti(t.Context(), short, long))(t)
	testenv.Eventually(t, 10*time.Second, func() bool {
		_, found, err := db.Do(t.Context(), "GET", lock).Text()
		return !found && err == nil
	})
	if n, err := db.Do(t.Context(), "TTL", menu).Int(); err != nil || n < 30 || n > 60 {
		t.Errorf("TTL = %d, %v", n, err)
	}
}
