package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
				t.Fatalf("build the previous release: %v\n%s", err, out)
			}
		}
		if err := os.Rename(path+".new", path); err != nil { // atomic
			t.Fatal(err)
		}
		return path
	})
}

// migrateBefore takes the migrations from this number on back.
func (s *installation) migrateBefore(number int) {
	s.t.Helper()
	for s.migrations()[number-1] {
		s.must("migrate", "down")
	}
}

// This release takes over the database and the Redis of the previous one: orders of both can be paid, repeated and
// cancelled, and in the end all stores agree. The previous release runs on the schema before migration 34, which the
// command of this one restores.
func TestPrevious_release(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := prepare(t, k, nil)
		s.migrateBefore(34)
		s.first().binary = shared.previous(t)
		s.startDemo()
		g := s.guest(0)
		var requests []orderRequest
		var orders []order
		place := func() {
			w := g.request(line{ItemID: phoGa, Qty: 1}, line{ItemID: pho, Qty: 2})
			requests = append(requests, w)
			orders = append(orders, g.place(w).want(t, http.StatusCreated, "").order(t))
		}
		for range 3 {
			place()
		}
		s.pay(orders[0].ID)
		s.first().stop()
		s.first().binary = ""
		s.first().start()
		s.pay(orders[1].ID)
		g.cancel(orders[2].ID).want(t, http.StatusOK, "")
		place()
		s.pay(orders[3].ID)
		for i, want := range []string{"PAID", "PAID", "CANCELED", "PAID"} {
			again := g.place(requests[i]).want(t, http.StatusOK, "").order(t)
			if again.ID != orders[i].ID || again.PaymentStatus != want {
				t.Errorf("order %s is %s, and its request returns %s", orders[i].ID, again.PaymentStatus, again.ID)
			}
		}
		requests[0].Items[0].Qty++
		g.place(requests[0]).want(t, http.StatusUnprocessableEntity, "idempotency_mismatch")
		s.awaitConsistent()
		// Back to the previous release: the attempt of an unpaid order gets its row.
		place()
		s.first().stop()
		s.migrateBefore(34)
		s.first().binary = shared.previous(t)
		s.first().start()
		s.pay(orders[4].ID)
		if again := g.place(requests[4]).want(t, http.StatusOK, "").order(t); again.ID != orders[4].ID || again.PaymentStatus != "PAID" {
			t.Errorf("the previous release returns order %s as %s", again.ID, again.PaymentStatus)
		}
	}, embedded, servers)
}
