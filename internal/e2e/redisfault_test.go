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
	on(t, func(t *testing.T, k kind) {
		e := newEvening(open(t, k, limited))
		f.begin(e.s.redis)
		for _, c := range redisFaultCells {
			t.Run(c.name, func(t *testing.T) { c.check(e.in(t), f) })
		}
		f.end(e.s.redis)
		e.afterwards()
	}, pair)
}

// inTime is ten times the promised response time while Redis fails, because tests share the machine. It is still far
// shorter than the failure.
const inTime = 3 * time.Second

// revokedWithin is how soon a logout counts in another process, with a margin.
const revokedWithin = 5*time.Second + inTime

// evening is the accounts and objects that exist before Redis fails.
type evening struct {
	s        *site
	diner    guest
	member   patron
	loggedIn patron // will log out during the failure
	out      patron // logged out before
	guessed  patron // had three wrong guesses at the password before
	newcomer patron // with an unused code
	target   patron // will have its code guessed
	codes    map[string]string
}

func newEvening(s *site) *evening {
	e := &evening{s: s, diner: s.guest(0), codes: map[string]string{}}
	e.newcomer, e.target = s.registered("newcomer"), s.registered("target")
	e.member, e.loggedIn, e.out, e.guessed = s.patron("member"), s.patron("leaver"), s.patron("left"), s.patron("guessed")
	for _, p := range []patron{e.newcomer, e.target} {
		e.codes[p.email] = p.code()
	}
	for _, v := range s.servers {
		for _, p := range []patron{e.member, e.loggedIn, e.out} {
			p.me(v).want(s.t, http.StatusOK, "")
		}
	}
	e.out.logout(s.servers[0]).want(s.t, http.StatusNoContent, "")
	for range 3 {
		e.guessed.login(s.servers[0], "a wrong password").want(s.t, http.StatusUnauthorized, "login_failed")
	}
	s.agrees()
	return e
}

// in returns the evening with failures reported to a subtest.
func (e *evening) in(t *testing.T) *evening {
	t.Helper()
	s, inside := e.s, *e
	old := s.t
	s.t = t
	t.Cleanup(func() { s.t = old })
	return &inside
}

// soon expects a response within inTime.
func (e *evening) soon(ask func() answer) answer {
	e.s.t.Helper()
	begun := time.Now()
	a := ask()
	if took := time.Since(begun); took > inTime {
		e.s.t.Errorf("answered after %v: %v", took, a)
	}
	return a
}

// everywhere sends the request to every process, and expects the same status of each.
func (e *evening) everywhere(status int, ask func(v *server) answer) {
	e.s.t.Helper()
	for _, v := range e.s.servers {
		e.soon(func() answer { return ask(v) }).want(e.s.t, status, "")
	}
}

var redisFaultCells = []struct {
	name  string
	check func(e *evening, f redisFault)
}{
	{"scan", (*evening).scan},
	{"menu", (*evening).eats},
	{"order", (*evening).order},
	{"session", (*evening).session},
	{"login", (*evening).login},
	{"login limit", (*evening).guessPasswords},
	{"one-time codes", (*evening).guessCodes},
	{"order limit", (*evening).orderWithoutEnd},
	{"scan limit", (*evening).guessTables},
	{"probes", (*evening).probes},
}

// scan joins the former visit at a table, and opens one at another.
func (e *evening) scan(redisFault) {
	visits := map[int]string{0: e.diner.visit}
	for _, table := range []int{0, 1, 1, 0} {
		var g guest
		e.soon(func() (a answer) { g, a = e.s.land(table); return a }).want(e.s.t, http.StatusOK, "")
		if was, known := visits[table]; known && was != g.visit {
			e.s.t.Errorf("table %d is in visit %s and was in %s", table, g.visit, was)
		}
		visits[table] = g.visit
	}
}

func (e *evening) eats(redisFault) {
	e.everywhere(http.StatusOK, func(v *server) answer {
		a := e.s.sendTo(v.addr, http.MethodPost, "/cis/menu/active", map[string]string{"branchId": firstBranch})
		var m menu
		if a.into(e.s.t, &m); m.dish(pho).Name == "" {
			e.s.t.Errorf("the menu is %v", a)
		}
		return a
	})
}

// order places orders as a former and as a new guest.
func (e *evening) order(redisFault) {
	for _, g := range []guest{e.diner, e.s.guest(2)} {
		e.soon(func() answer { return g.place(g.wish(line{ItemID: pho, Qty: 1})) }).want(e.s.t, http.StatusCreated, "")
	}
}

// session expects a former session to continue, and an ended one to stay ended.
func (e *evening) session(redisFault) {
	e.everywhere(http.StatusOK, e.member.me)
	e.gone(e.out)
	e.soon(func() answer { return e.out.spend(e.out.refresh) }).want(e.s.t, http.StatusUnauthorized, "")
	fresh := e.member
	fresh.take(e.soon(func() answer { return fresh.spend(fresh.refresh) }))
	e.everywhere(http.StatusOK, fresh.me)
}

// gone waits until every process refuses a session that was logged out.
func (e *evening) gone(p patron) {
	e.s.t.Helper()
	e.s.await(revokedWithin, func() error {
		for _, v := range e.s.servers {
			if a := e.soon(func() answer { return p.me(v) }); a.status != http.StatusUnauthorized {
				return fmt.Errorf("%s has logged out and is answered %v", p.email, a)
			}
		}
		return nil
	})
}

// login begins a session; a logout ends one everywhere.
func (e *evening) login(redisFault) {
	p, here, there := e.loggedIn, e.s.servers[0], e.s.servers[1]
	p.take(e.soon(func() answer { return p.login(there, patronPassword) }))
	e.everywhere(http.StatusOK, p.me)
	e.soon(func() answer { return p.logout(here) }).want(e.s.t, http.StatusNoContent, "")
	p.me(here).want(e.s.t, http.StatusUnauthorized, "")
	e.gone(p)
}

// guessPasswords has two of five guesses left. After them even the right password is refused.
func (e *evening) guessPasswords(redisFault) {
	heard := 0
	for range 6 {
		a := e.soon(func() answer { return e.guessed.login(e.s.servers[0], "a wrong password") })
		if a.status == http.StatusUnauthorized {
			heard++
			continue
		}
		a.want(e.s.t, http.StatusTooManyRequests, "rate_limited")
	}
	if heard != 2 {
		e.s.t.Errorf("%d guesses were compared after three, want 2", heard)
	}
	e.guessed.login(e.s.servers[0], patronPassword).want(e.s.t, http.StatusTooManyRequests, "rate_limited")
}

// guessCodes has five tries, after which the right code is refused. Another account can still verify its address.
func (e *evening) guessCodes(redisFault) {
	right := e.codes[e.target.email]
	wrong := "000000"
	if right == wrong {
		wrong = "111111"
	}
	for range 5 {
		e.soon(func() answer { return e.target.verify(wrong) }).want(e.s.t, http.StatusUnprocessableEntity, "code_invalid")
	}
	e.target.verify(right).want(e.s.t, http.StatusUnprocessableEntity, "code_invalid")
	p := e.newcomer
	e.soon(func() answer { return p.verify(e.codes[p.email]) }).want(e.s.t, http.StatusOK, "")
	p.verify(e.codes[p.email]).want(e.s.t, http.StatusUnprocessableEntity, "code_invalid")
}

func (e *evening) guessTables(redisFault) {
	const nobodys = "/cis/landing?qr=0123456789012345678901234567890123456789012"
	refused := 0
	for range 25 {
		a := e.soon(func() answer { return e.s.sendTo(e.s.servers[0].addr, http.MethodGet, nobodys, nil) })
		if a.status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 3 {
		e.s.t.Errorf("%d of 25 guesses are refused", refused)
	}
}

// orderWithoutEnd is limited by each process, at the latest when it has granted the whole allowance.
func (e *evening) orderWithoutEnd(redisFault) {
	g, refused := e.s.guest(3), 0
	for range 10 {
		a := e.soon(func() answer { return g.place(g.wish(line{ItemID: phoGa, Qty: 1})) })
		if a.status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 2 {
		e.s.t.Errorf("%d of 10 orders in a row are refused", refused)
	}
}

// probes expect liveness, and readiness to report a failing Redis.
func (e *evening) probes(f redisFault) {
	for _, v := range e.s.servers {
		ask := func(path string) answer {
			return e.soon(func() answer { return e.s.sendTo(v.addr, http.MethodGet, path, nil) })
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

// afterwards expects Redis to equal SQL again, and all open sessions to be accepted.
func (e *evening) afterwards() {
	e.s.t.Helper()
	e.s.whole()
	for _, v := range e.s.servers {
		e.out.me(v).want(e.s.t, http.StatusUnauthorized, "")
		e.member.me(v).want(e.s.t, http.StatusOK, "")
	}
}

// verified waits until the documents equal SQL.
func (s *site) verified() {
	s.t.Helper()
	s.awaitCommand(patience, func() error {
		if r := s.run("index", "verify"); r.code != 0 {
			return fmt.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
		}
		return nil
	})
}
