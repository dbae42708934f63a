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

// previous returns the command of the previous release, which compat/previous names by its commit. It is built once per
// machine and kept in the user's cache.
func (l *sharedResources) previous(t testing.TB) string {
	t.Helper()
	return l.former.get(func() string {
		name := testenv.Must(os.ReadFile("../../compat/previous"))(t)
		commit := strings.TrimSpace(string(name))
		cache := testenv.Must(os.UserCacheDir())(t)
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
		if err := os.Rename(path+".new", path); err != nil { // atomic
			t.Fatal(err)
		}
		return path
	})
}

// The previous release runs on the schema of this one, beside it and alone. Each shows and accepts payments for the
// other's orders, and in the end all stores agree.
func TestPrevious_release(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := prepare(t, k, nil)
		old := s.first()
		old.binary = shared.previous(t)
		s.startDemo()
		g := s.guest(0)
		var orders []order
		for range 2 * len(s.servers) { // requests alternate between the servers
			orders = append(orders, g.insist(g.request(line{ItemID: phoGa, Qty: 1}), 4*time.Second).
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
		s.awaitConsistent()
	}, pair)
}
