package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// While Redis is dead, hung or empty, scans, menus, orders, logins and codes are answered from SQL, in time. No limit
// opens, no revoked token becomes valid again, and no code can be guessed more often than allowed.
func TestRedisFault_down(t *testing.T) {
	redisFault{(*testenv.Server).Kill, (*testenv.Server).Restart, true}.test(t)
}

func TestRedisFault_hung(t *testing.T) {
	redisFault{(*testenv.Server).Pause, (*testenv.Server).Resume, true}.test(t)
}

func TestRedisFault_emptied(t *testing.T) {
	redisFault{func(r *testenv.Server) { r.Say("FLUSHALL") }, func(*testenv.Server) {}, false}.test(t)
}

// redisFault is a failure of Redis, with its repair.
type redisFault struct {
	begin, end func(*testenv.Server)
	lasts      bool // until the repair
}

func (f redisFault) test(t *testing.T) {
	t.Helper()
	onInstallations(t, func(t *testing.T, k kind) {
		e := newRedisFaultTest(open(t, k, limited))
		f.begin(e.s.redis)
		for _, c := range redisFaultCells {
			t.Run(c.name, func(t *testing.T) { c.check(e.reportTo(t), f) })
		}
		f.end(e.s.redis)
		e.repaired()
	}, pair)
}

// inTime is ten times the promised response time while Redis fails, because tests share the machine. It is still far
// shorter than the failure.
const inTime = 3 * time.Second

// revokedWithin is the time within which a logout reaches another process, with a margin.
const revokedWithin = 5*time.Second + inTime

// redisFaultTest holds the accounts and objects that exist before Redis fails.
type redisFaultTest struct {
	s        *installation
	diner    guest
	member   person
	loggedIn person // will log out during the failure
	out      person // logged out before
	guessed  person // had three wrong guesses at the password before
	newcomer person // with an unused code
	target   person // will have its code guessed
	codes    map[string]string
}

func newRedisFaultTest(s *installation) *redisFaultTest {
	e := &redisFaultTest{s: s, diner: s.guest(0), codes: map[string]string{}}
	e.newcomer, e.target = s.registerPerson("newcomer"), s.registerPerson("target")
	e.member, e.loggedIn, e.out, e.guessed = s.newPerson("member"), s.newPerson("leaver"), s.newPerson("left"), s.newPerson("guessed")
	for _, p := range []person{e.newcomer, e.target} {
		e.codes[p.email] = p.code()
	}
	for _, v := range s.servers {
		for _, p := range []person{e.member, e.loggedIn, e.out} {
			p.me(v).want(s.t, http.StatusOK, "")
		}
	}
	e.out.logout(s.servers[0]).want(s.t, http.StatusNoContent, "")
	for range 3 {
		e.guessed.login(s.servers[0], "a wrong password").want(s.t, http.StatusUnauthorized, "login_failed")
	}
	s.awaitConsistent()
	return e
}

// reportTo returns the case with failures reported to a subtest.
func (e *redisFaultTest) reportTo(t *testing.T) *redisFaultTest {
	t.Helper()
	s, inside := e.s, *e
	old := s.t
	s.t = t
	t.Cleanup(func() { s.t = old })
	return &inside
}

// answered expects a response within inTime.
func (e *redisFaultTest) answered(ask func() answer) answer {
	e.s.t.Helper()
	begun := time.Now()
	a := ask()
	if took := time.Since(begun); took > inTime {
		e.s.t.Errorf("answered after %v: %v", took, a)
	}
	return a
}

// toEveryServer sends the request to every process, and expects the same status of each.
func (e *redisFaultTest) toEveryServer(status int, ask func(v *server) answer) {
	e.s.t.Helper()
	for _, v := range e.s.servers {
		e.answered(func() answer { return ask(v) }).want(e.s.t, status, "")
	}
}

var redisFaultCells = []struct {
	name  string
	check func(e *redisFaultTest, f redisFault)
}{
	{"scan", (*redisFaultTest).scan},
	{"menu", (*redisFaultTest).menu},
	{"order", (*redisFaultTest).order},
	{"session", (*redisFaultTest).session},
	{"login", (*redisFaultTest).login},
	{"login limit", (*redisFaultTest).guessPasswords},
	{"one-time codes", (*redisFaultTest).guessCodes},
	{"order limit", (*redisFaultTest).orderWithoutEnd},
	{"scan limit", (*redisFaultTest).guessTables},
	{"probes", (*redisFaultTest).probes},
}

// scan joins an existing visit at a table, and opens one at another table.
func (e *redisFaultTest) scan(redisFault) {
	visits := map[int]string{0: e.diner.visit}
	for _, table := range []int{0, 1, 1, 0} {
		var g guest
		e.answered(func() (a answer) { g, a = e.s.scan(table); return a }).want(e.s.t, http.StatusOK, "")
		if before, known := visits[table]; known && before != g.visit {
			e.s.t.Errorf("table %d is in visit %s and was in %s", table, g.visit, before)
		}
		visits[table] = g.visit
	}
}

func (e *redisFaultTest) menu(redisFault) {
	e.toEveryServer(http.StatusOK, func(v *server) answer {
		a := e.s.sendTo(v.addr, http.MethodPost, "/cis/menu/active", map[string]string{"branchId": firstBranch})
		var m menu
		if a.into(e.s.t, &m); m.dish(pho).Name == "" {
			e.s.t.Errorf("the menu is %v", a)
		}
		return a
	})
}

// order places orders as an existing and as a new guest.
func (e *redisFaultTest) order(redisFault) {
	for _, g := range []guest{e.diner, e.s.guest(2)} {
		e.answered(func() answer { return g.place(g.request(line{ItemID: pho, Qty: 1})) }).want(e.s.t, http.StatusCreated, "")
	}
}

// session expects an existing session to continue, and an ended one to stay ended.
func (e *redisFaultTest) session(redisFault) {
	e.toEveryServer(http.StatusOK, e.member.me)
	e.awaitLoggedOut(e.out)
	e.answered(func() answer { return e.out.spendRefreshToken(e.out.refresh) }).want(e.s.t, http.StatusUnauthorized, "")
	fresh := e.member
	fresh.storeTokens(e.answered(func() answer { return fresh.spendRefreshToken(fresh.refresh) }))
	e.toEveryServer(http.StatusOK, fresh.me)
}

// awaitLoggedOut waits until every process refuses a session that was logged out.
func (e *redisFaultTest) awaitLoggedOut(p person) {
	e.s.t.Helper()
	e.s.await(revokedWithin, func() error {
		for _, v := range e.s.servers {
			if a := e.answered(func() answer { return p.me(v) }); a.status != http.StatusUnauthorized {
				return fmt.Errorf("%s has logged out and is answered %v", p.email, a)
			}
		}
		return nil
	})
}

// login begins a session; a logout ends one everywhere.
func (e *redisFaultTest) login(redisFault) {
	p, first, second := e.loggedIn, e.s.servers[0], e.s.servers[1]
	p.storeTokens(e.answered(func() answer { return p.login(second, personPassword) }))
	e.toEveryServer(http.StatusOK, p.me)
	e.answered(func() answer { return p.logout(first) }).want(e.s.t, http.StatusNoContent, "")
	p.me(first).want(e.s.t, http.StatusUnauthorized, "")
	e.awaitLoggedOut(p)
}

// guessPasswords expects that two guesses are left of five. Afterwards even the right password must be refused.
func (e *redisFaultTest) guessPasswords(redisFault) {
	compared := 0
	for range 6 {
		a := e.answered(func() answer { return e.guessed.login(e.s.servers[0], "a wrong password") })
		if a.status == http.StatusUnauthorized {
			compared++
			continue
		}
		a.want(e.s.t, http.StatusTooManyRequests, "rate_limited")
	}
	if compared != 2 {
		e.s.t.Errorf("%d guesses were compared after three, want 2", compared)
	}
	e.guessed.login(e.s.servers[0], personPassword).want(e.s.t, http.StatusTooManyRequests, "rate_limited")
}

// guessCodes uses up five attempts, after which the right code must be refused. Another account can still verify its
// address.
func (e *redisFaultTest) guessCodes(redisFault) {
	right := e.codes[e.target.email]
	wrong := "000000"
	if right == wrong {
		wrong = "111111"
	}
	for range 5 {
		e.answered(func() answer { return e.target.verify(wrong) }).want(e.s.t, http.StatusUnprocessableEntity, "code_invalid")
	}
	e.target.verify(right).want(e.s.t, http.StatusUnprocessableEntity, "code_invalid")
	p := e.newcomer
	e.answered(func() answer { return p.verify(e.codes[p.email]) }).want(e.s.t, http.StatusOK, "")
	p.verify(e.codes[p.email]).want(e.s.t, http.StatusUnprocessableEntity, "code_invalid")
}

func (e *redisFaultTest) guessTables(redisFault) {
	const unknownTable = "/cis/landing?qr=0123456789012345678901234567890123456789012"
	refused := 0
	for range 25 {
		a := e.answered(func() answer { return e.s.sendTo(e.s.servers[0].addr, http.MethodGet, unknownTable, nil) })
		if a.status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 3 {
		e.s.t.Errorf("%d of 25 guesses are refused", refused)
	}
}

// orderWithoutEnd orders repeatedly and expects refusals: each process limits a guest, at the latest after granting the
// whole allowance.
func (e *redisFaultTest) orderWithoutEnd(redisFault) {
	g, refused := e.s.guest(3), 0
	for range 10 {
		a := e.answered(func() answer { return g.place(g.request(line{ItemID: phoGa, Qty: 1})) })
		if a.status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 2 {
		e.s.t.Errorf("%d of 10 orders in a row are refused", refused)
	}
}

// probes expects liveness, and readiness that reports a failing Redis.
func (e *redisFaultTest) probes(f redisFault) {
	for _, v := range e.s.servers {
		ask := func(path string) answer {
			return e.answered(func() answer { return e.s.sendTo(v.addr, http.MethodGet, path, nil) })
		}
		ask("/livez").want(e.s.t, http.StatusOK, "")
		a := ask("/readyz").want(e.s.t, http.StatusOK, "")
		var r struct {
			Status string `json:"status"`
		}
		if err := json.Unmarshal(a.body, &r); err != nil || f.lasts && r.Status != "degraded" {
			e.s.t.Errorf("readiness is %v", a)
		}
	}
}

// repaired expects Redis to equal SQL again, and all open sessions to be accepted.
func (e *redisFaultTest) repaired() {
	e.s.t.Helper()
	e.s.awaitRepaired()
	for _, v := range e.s.servers {
		e.out.me(v).want(e.s.t, http.StatusUnauthorized, "")
		e.member.me(v).want(e.s.t, http.StatusOK, "")
	}
}
