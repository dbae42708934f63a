package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// previous returns the command of the release before this one, which compat/previous names by its commit. It is built once
// on a machine and kept in the user's cache.
func (l *lasting) previous(t testing.TB) string {
	t.Helper()
	return l.release.get(func() string {
		name, err := os.ReadFile("../../compat/previous")
		if err != nil {
			t.Fatal(err)
		}
		commit := strings.TrimSpace(string(name))
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(cache, "comanda", "previous", commit)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		testenv.History(t, commit)
		source := t.TempDir()
		unpack := exec.Command("sh", "-c", `git -C "$(git rev-parse --show-toplevel)" archive "$1" | tar -x -C "$2"`, "-", commit, source)
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path+".new", "./cmd/comanda")
		build.Dir = source
		for _, step := range []*exec.Cmd{unpack, build} {
			if out, err := step.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		if err := os.Rename(path+".new", path); err != nil { // whole or not at all
			t.Fatal(err)
		}
		return path
	})
}

// The previous release runs on the schema of this one, beside it and alone: orders that one takes the other shows, and is
// paid for, and in the end everything agrees.
func TestPrevious_release(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := prepare(t, k, nil)
		old := s.first()
		old.binary = atEnd.previous(t)
		s.begin()
		g := s.guest(0)
		var orders []order
		for range 2 * len(s.servers) { // they take turns
			orders = append(orders, g.insist(g.wish(line{ItemID: phoGa, Qty: 1}), 4*time.Second).
				want(t, http.StatusCreated, "").order(t))
		}
		for _, o := range orders {
			s.paid(o.ID)
		}
		for range s.servers {
			for _, o := range orders {
				if now := g.get(o.ID).order(t); now.PaymentStatus != "PAID" {
					t.Errorf("order %s is %s/%s", o.ID, now.Status, now.PaymentStatus)
				}
			}
		}
		s.agrees()
	}, pair)
}
