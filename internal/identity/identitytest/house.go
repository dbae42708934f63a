// Package identitytest helps to test what needs accounts: a house with people in it on a database, a clock to turn,
// the letters that were sent, and what Redis remembers as a map with the suite that every such memory passes.
package identitytest

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/identity"
	"comanda/internal/identity/identityjwt"
	"comanda/internal/identity/identitysql"
	"comanda/internal/sqldb"
)

// Clock is a clock that a test turns. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock that stands on a Thursday at noon in Hà Nội.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)} }

// Now reads the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance turns it forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Tally counts what an identity.Observer hears. It is safe for concurrent use.
type Tally struct {
	mu sync.Mutex
	of map[string]int
}

// Of tells how often something was heard: login.ok, code.compared, reused.
func (c *Tally) Of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[what]
}

func (c *Tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[what]++
}

// Light is an effort that costs a test nothing; with it the tests are about everything but argon2.
var Light = identity.Effort{Memory: 16, Time: 1, Threads: 1}

// Password is the password of everybody whom a House has made.
const Password = "correct horse battery staple"

// House is the identity room of one process on a database.
type House struct {
	*identity.Accounts

	DB    *sqldb.DB
	Store *identitysql.Accounts
	Clock *Clock
	Heard *Tally
}

var (
	stmts = sqldb.Load(fstest.MapFS{
		"role.sql":   {Data: []byte("INSERT INTO role (name, created_at, updated_at) VALUES ($1, 0, 0) ON CONFLICT (name) DO NOTHING")},
		"letter.sql": {Data: []byte("SELECT template, locale, fields, expires_at FROM mail_outbox WHERE recipient = $1 ORDER BY id")},
		"role_of.sql": {Data: []byte(
			"UPDATE app_user SET role_id = (SELECT id FROM role WHERE name = $2) WHERE id = $1")},
		"status.sql": {Data: []byte("UPDATE app_user SET status = $2 WHERE id = $1")},
	})
	roleInsert   = stmts.Must("role")
	letterSelect = stmts.Must("letter")
	roleOf       = stmts.Must("role_of")
	statusSet    = stmts.Must("status")
)

// Open makes a house on an empty database with the delivered roles.
func Open(t testing.TB, db *sqldb.DB, memory identity.Memory) *House {
	t.Helper()
	for _, r := range identity.Delivered() {
		if _, err := db.Exec(t.Context(), roleInsert, r.Name); err != nil {
			t.Fatal(err)
		}
	}
	return Beside(t, db, memory, NewClock())
}

// Beside makes the identity room of another process on the stores of a house.
func Beside(t testing.TB, db *sqldb.DB, memory identity.Memory, clock *Clock) *House {
	t.Helper()
	keys, err := identitysql.Keys(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := identityjwt.New(keys.Token)
	if err != nil {
		t.Fatal(err)
	}
	store, heard := identitysql.NewAccounts(db), &Tally{of: map[string]int{}}
	h := &House{DB: db, Store: store, Clock: clock, Heard: heard, Accounts: &identity.Accounts{
		Registry: store, Logins: store, Pins: store, Codes: store, Hasher: identity.NewHasher(Light, 2), Tokens: tokens, Keys: keys,
		Memory: memory, Now: clock.Now, Log: slog.New(slog.DiscardHandler),
		Guard: identity.NewGuard(tokens, store, memory, clock.Now, nil),
		Observer: identity.Observer{
			Login: func(r string) { heard.add("login." + r) }, Code: func(e string) { heard.add("code." + e) },
			Reused: func() { heard.add("reused") },
		},
	}}
	h.Devices.Use(keys.Token.Derive("a test's devices"))
	h.Follow(t)
	return h
}

// Follow lets the guard hear what was revoked.
func (h *House) Follow(t testing.TB) {
	t.Helper()
	if err := h.Guard.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Caller is where requests of tests come from.
func Caller() identity.Caller {
	return identity.Caller{Address: "192.0.2.7", Network: "192.0.2.7", Device: "a test", Locale: "en"}
}

// Join makes a member: registered, and the e-mail address proved.
func (h *House) Join(t testing.TB, email string) identity.User {
	t.Helper()
	u, err := h.Register(t.Context(), identity.Registration{
		Profile: identity.Profile{Email: email}, Password: Password,
	}, Caller())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.VerifyEmail(t.Context(), email, h.Code(t, email), Caller()); err != nil {
		t.Fatal(err)
	}
	return u
}

// Hire makes somebody of the staff.
func (h *House) Hire(t testing.TB, email, role string) identity.User {
	t.Helper()
	u := h.Join(t, email)
	h.SetRole(t, u.ID, role)
	return u
}

// SetRole changes an account's role and nothing else.
func (h *House) SetRole(t testing.TB, user int64, role string) {
	t.Helper()
	if _, err := h.DB.Exec(t.Context(), roleOf, user, role); err != nil {
		t.Fatal(err)
	}
}

// Number asks the database for one.
func (h *House) Number(t testing.TB, q *sqldb.Stmt, args ...any) int64 {
	t.Helper()
	rows, err := h.DB.Query(t.Context(), q, args...)
	n, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// SetStatus changes an account's status and nothing else.
func (h *House) SetStatus(t testing.TB, user int64, s identity.Status) {
	t.Helper()
	if _, err := h.DB.Exec(t.Context(), statusSet, user, string(s)); err != nil {
		t.Fatal(err)
	}
}

// Enter logs somebody in.
func (h *House) Enter(t testing.TB, email string) identity.Grant {
	t.Helper()
	g, err := h.Login(t.Context(), identity.Credentials{Email: email, Password: Password}, Caller())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Admitted asks the guard about an access token.
func (h *House) Admitted(ctx context.Context, access string) error {
	_, err := h.Guard.Admit(ctx, access)
	return err
}

// Letters gives what was sent to an address, the oldest first.
func (h *House) Letters(t testing.TB, email string) []identity.Letter {
	t.Helper()
	rows, err := h.DB.Query(t.Context(), letterSelect, email)
	all, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (l identity.Letter, err error) {
		var fields string
		var expires int64
		if err = r.Scan(&l.Template, &l.Locale, &fields, &expires); err == nil {
			err = json.Unmarshal([]byte(fields), &l.Fields)
		}
		l.To, l.Expires = email, time.UnixMilli(expires).UTC()
		return l, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Code gives the code that was sent to an address last.
func (h *House) Code(t testing.TB, email string) string {
	t.Helper()
	for _, l := range slices.Backward(h.Letters(t, email)) {
		if l.Fields[identity.FieldCode] != "" {
			open, err := h.Keys.OpenFields(l.Fields)
			if err != nil {
				t.Fatal(err)
			}
			return open[identity.FieldCode]
		}
	}
	t.Fatalf("no code was sent to %s", email)
	return ""
}
