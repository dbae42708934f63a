package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// An installation loses its disk and is restored from its backup. Everything in the backup is unchanged, later orders
// are gone, Redis agrees with SQL, and service continues.
func TestBackup(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		e := newRestore(open(t, k, nil))
		e.loseData()
		if k == servers {
			e.s.flush() // as docs/backup.md requires
		}
		e.s.servers[0].start()
		e.wantBackup(t)
	}, embedded, servers)
}

// If Redis was not emptied after a restore, its documents are newer than SQL. The difference is detected, and a rebuild
// repairs it, whether or not the server has begun one by itself.
func TestBackup_redis_kept(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		e := newRestore(open(t, k, nil))
		e.loseData()
		if run := e.s.run("index", "verify"); run.code != 1 || !strings.Contains(run.out, "document_") {
			t.Errorf("index verify: exit code %d\n%s%s", run.code, run.out, run.err)
		}
		e.s.servers[0].start()
		e.s.await(patience, func() error {
			if run := e.s.run("index", "rebuild"); run.code != 0 { // the server rebuilds at the same time
				return fmt.Errorf("exit code %d: %s%s", run.code, run.out, run.err)
			}
			return nil
		})
		e.wantBackup(t)
	}, servers)
}

// restore is a case of disaster recovery: an installation with orders before and after its backup.
type restore struct {
	s      *installation
	guest  guest
	file   string
	orders map[string]string // as the staff see them, before the backup, by id
	later  order             // placed after the backup
}

func newRestore(s *installation) *restore {
	t := s.t
	t.Helper()
	e := &restore{s: s, guest: s.guest(0), file: filepath.Join(t.TempDir(), "backup"), orders: map[string]string{}}
	s.quota(pho, 10)
	paid, canceled := e.guest.mustPlace(t, line{ItemID: pho, Qty: 3}), e.guest.mustPlace(t, line{ItemID: bun, Qty: 1})
	held := e.guest.mustPlace(t, line{ItemID: pho, Qty: 2})
	s.pay(paid.ID)
	e.guest.cancel(canceled.ID).want(t, http.StatusOK, "")
	s.send(http.MethodPost, "/auth/register", map[string]string{"email": "chi@example.com", "password": "a password of a member"}).
		want(t, http.StatusCreated, "")
	for _, o := range []order{paid, canceled, held} {
		e.orders[o.ID] = e.staffOrder(o.ID)
	}
	e.backup()
	e.later = e.guest.mustPlace(t, line{ItemID: pho, Qty: 4})
	s.pay(e.later.ID)
	e.guest.cancel(held.ID).want(t, http.StatusOK, "")
	s.send(http.MethodPost, "/auth/register", map[string]string{"email": "anh@example.com", "password": "a password of a member"}).
		want(t, http.StatusCreated, "")
	s.awaitDocuments() // waits until all documents are in Redis
	return e
}

func (e *restore) staffOrder(id string) string {
	e.s.t.Helper()
	return string(e.s.staff(http.MethodGet, "/api/orders/"+id, nil).want(e.s.t, http.StatusOK, "").body)
}

// backup makes the backup while the server runs.
func (e *restore) backup() {
	e.s.t.Helper()
	if e.s.kind == embedded {
		e.s.must("backup", e.file)
		return
	}
	e.pgTool("pg_dump", "-Fc", "-f", e.file, e.s.postgres)
}

// pgTool runs one of PostgreSQL's programs.
func (e *restore) pgTool(name string, args ...string) {
	e.s.t.Helper()
	if out, err := exec.CommandContext(e.s.t.Context(), name, args...).CombinedOutput(); err != nil {
		e.s.t.Fatalf("run %s: %v\n%s", name, err, out)
	}
}

// loseData kills the server, destroys all its data, and restores the backup.
func (e *restore) loseData() {
	t, s := e.s.t, e.s
	t.Helper()
	s.servers[0].kill()
	dir := s.env["DATA_DIR"]
	testenv.NoError(t, os.RemoveAll(dir))
	if s.kind != embedded {
		s.database(func(db *sqldb.DB) error {
			for _, text := range []string{"DROP SCHEMA public CASCADE", "CREATE SCHEMA public"} {
				if _, err := db.Exec(t.Context(), statement(text)); err != nil {
					return err
				}
			}
			return nil
		})
		e.pgTool("pg_restore", "--clean", "--if-exists", "-d", s.postgres, e.file)
		return
	}
	saved, err := os.ReadFile(e.file)
	if err == nil {
		err = os.MkdirAll(dir, 0o750)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "comanda.db"), saved, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wantBackup expects the state at the time of the backup, and that the installation works.
func (e *restore) wantBackup(t *testing.T) {
	t.Helper()
	for id, before := range e.orders {
		if now := e.staffOrder(id); now != before {
			t.Errorf("an order was\n%s\nand is\n%s", before, now)
		}
	}
	e.s.staff(http.MethodGet, "/api/orders/"+e.later.ID, nil).want(t, http.StatusNotFound, "order_not_found")
	e.s.wantStock(pho, 10, 2, 3)
	e.s.awaitConsistent()
	if v := e.s.awaitDocuments(); v.Documents["order"] != len(e.orders) {
		t.Errorf("the documents are %v", v.Documents)
	}
	e.wantMembers("chi@example.com")
	e.s.must("audit", "verify")
	// New objects reuse ids and other values from after the backup, with their own data.
	e.guest.mustPlace(t, line{ItemID: pho, Qty: 5})
	wantSoldOut(t, e.guest.place(e.guest.request(line{ItemID: pho, Qty: 1})))
	e.s.send(http.MethodPost, "/auth/register", map[string]string{"email": "binh@example.com", "password": "a password of a member"}).
		want(t, http.StatusCreated, "")
	e.wantMembers("binh@example.com chi@example.com")
	e.s.awaitConsistent()
	e.s.awaitDocuments()
	e.s.wantKeysDeclared()
}

// wantMembers compares the registered members.
func (e *restore) wantMembers(want string) {
	e.s.t.Helper()
	e.s.database(func(db *sqldb.DB) error {
		emails, err := sqldb.Collect(e.s.t.Context(), db, sqldb.Value[string],
			statement("SELECT email FROM app_user WHERE email LIKE '%@example.com' ORDER BY email"))
		if got := strings.Join(emails, " "); got != want {
			e.s.t.Errorf("members are %s, want %s", got, want)
		}
		return err
	})
}
