package identity_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/identity/identityredis"
	"comanda/internal/identity/identitysql"
	"comanda/internal/identity/identitytest"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/uid"
)

// Who is logged out in one process is refused in every other as soon as that has heard of it, whatever Redis knows.
func TestGuard_two_processes(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis, server := redisdbtest.Real(t)
		here := identitytest.Open(t, db, identityredis.New(redis))
		there := identitytest.Beside(t, db, identityredis.New(redis), here.Clock)
		here.Join(t, lan)
		for _, flushed := range []bool{false, true} {
			g, other := here.Enter(t, lan), here.Enter(t, lan)
			for _, h := range []*identitytest.House{here, there} {
				if err := errors.Join(h.Admitted(t.Context(), g.Access), h.Admitted(t.Context(), other.Access)); err != nil {
					t.Fatal(err)
				}
			}
			if err := here.Logout(t.Context(), g.Access, ""); err != nil {
				t.Fatal(err)
			}
			if flushed {
				flush(t, server.Addr())
			}
			wantFault(t, "where it was done", here.Admitted(t.Context(), g.Access), identity.ErrToken)
			there.Follow(t)
			wantFault(t, "elsewhere", there.Admitted(t.Context(), g.Access), identity.ErrToken)
			third := identitytest.Beside(t, db, identityredis.New(redis), here.Clock)
			wantFault(t, "in a process that has just begun", third.Admitted(t.Context(), g.Access), identity.ErrToken)
			for _, h := range []*identitytest.House{here, there, third} {
				if err := h.Admitted(t.Context(), other.Access); err != nil {
					t.Errorf("another session, flushed %t: %v", flushed, err)
				}
			}
		}
	})
}

func flush(t *testing.T, addr string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("*1\r\n$8\r\nFLUSHALL\r\n")); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(conn).ReadString('\n'); !strings.HasPrefix(said, "+OK") || err != nil {
		t.Fatalf("FLUSHALL: %q, %v", said, err)
	}
}

// A process that cannot hear who was logged out admits nobody.
func TestGuard_fails_closed(t *testing.T) {
	h := inSQLite(t)
	h.Join(t, lan)
	g := h.Enter(t, lan)
	for range 2 {
		h.Clock.Advance(5 * time.Second)
		if err := h.Admitted(t.Context(), g.Access); err != nil {
			t.Errorf("five seconds after it heard: %v", err)
		}
		h.Clock.Advance(time.Millisecond)
		err := h.Admitted(t.Context(), g.Access)
		wantFault(t, "later", err, identity.ErrStale)
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%v", err)
		}
		h.Follow(t)
	}
	deaf := identity.NewGuard(h.Tokens, h.Store, h.Memory, h.Clock.Now, nil)
	_, err := deaf.Admit(t.Context(), g.Access)
	wantFault(t, "a guard that has never heard", err, identity.ErrStale)
}

var revocationInsert = sqldb.Load(fstest.MapFS{"put.sql": {Data: []byte(
	"INSERT INTO auth_revocation (id, kind, subject, created_at) VALUES ($1, $2, $3, $4)")}}).Must("put")

func revoke(t *testing.T, h *identitytest.House, kind identity.RevocationKind, subject string, at time.Time) {
	t.Helper()
	if _, err := h.DB.Exec(t.Context(), revocationInsert, uid.New(at), string(kind), subject, at.UnixMilli()); err != nil {
		t.Fatal(err)
	}
}

// A revocation of a user ends what was begun up to then and nothing that begins later.
func TestGuard_users(t *testing.T) {
	h := inSQLite(t)
	u := h.Join(t, lan)
	before := h.Enter(t, lan)
	if err := h.Admitted(t.Context(), before.Access); err != nil {
		t.Fatal(err)
	}
	revoke(t, h, identity.RevokeUser, "1", h.Clock.Now())
	h.Clock.Advance(time.Millisecond)
	after := h.Enter(t, lan)
	h.Follow(t)
	wantFault(t, "begun before", h.Admitted(t.Context(), before.Access), identity.ErrToken)
	if err := h.Admitted(t.Context(), after.Access); err != nil || u.ID != 1 {
		t.Errorf("begun after: %v", err)
	}
}

// An account that is disabled in SQL is refused by whoever looks, revocation or not.
func TestGuard_disabled(t *testing.T) {
	h := inSQLite(t)
	u := h.Join(t, lan)
	g := h.Enter(t, lan)
	h.SetStatus(t, u.ID, identity.Disabled)
	fresh := identitytest.Beside(t, h.DB, identitytest.NewMemory(), h.Clock)
	wantFault(t, "an admission from SQL", fresh.Admitted(t.Context(), g.Access), identity.ErrToken)
}

func TestGuard_roles(t *testing.T) {
	h := inSQLite(t)
	var heard []int64
	g := identity.NewGuard(h.Tokens, h.Store, h.Memory, h.Clock.Now, func(role int64) { heard = append(heard, role) })
	follow := func() {
		if err := g.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	follow()
	revoke(t, h, identity.RevokeRole, "3", h.Clock.Now())
	revoke(t, h, identity.RevokeRole, "3", h.Clock.Now())
	follow()
	follow()
	h.Clock.Advance(16 * time.Minute)
	follow()
	if d := cmp.Diff([]int64{0, 3, 3, 0}, heard); d != "" { // at the beginning, each change once, after a long silence
		t.Error(d)
	}
}

// A transaction may commit some time after the instant that it carries.
func TestGuard_hears_late_commits(t *testing.T) {
	h := inSQLite(t)
	h.Join(t, lan)
	g := h.Enter(t, lan)
	if err := h.Admitted(t.Context(), g.Access); err != nil {
		t.Fatal(err)
	}
	began := h.Clock.Now()
	h.Clock.Advance(30 * time.Second)
	h.Follow(t)
	revoke(t, h, identity.RevokeSession, g.Session.ID, began)
	h.Follow(t)
	wantFault(t, "committed after half a minute", h.Admitted(t.Context(), g.Access), identity.ErrToken)
}

// asked counts what reaches SQL.
type asked struct {
	*identitysql.Accounts

	standings atomic.Int64
	during    func() // runs before Standing answers; nil for nothing
	deaf      error  // what Seen fails with
}

func (a *asked) Standing(ctx context.Context, s string, now time.Time) (identity.Standing, bool, error) {
	a.standings.Add(1)
	st, found, err := a.Accounts.Standing(ctx, s, now)
	if a.during != nil {
		a.during()
	}
	return st, found, err
}

func (a *asked) Seen(ctx context.Context, all []identity.Sighting) error {
	if a.deaf != nil {
		return a.deaf
	}
	return a.Accounts.Seen(ctx, all)
}

func TestGuard_rarely_asks_SQL(t *testing.T) {
	h := inSQLite(t)
	h.Join(t, lan)
	access := h.Enter(t, lan).Access
	memory := identitytest.NewMemory()
	store := &asked{Accounts: h.Store}
	g := identity.NewGuard(h.Tokens, store, memory, h.Clock.Now, nil)
	admit := func(what string, want int64) {
		t.Helper()
		if err := g.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		store.standings.Store(0)
		for range 100 {
			if _, err := g.Admit(t.Context(), access); err != nil {
				t.Fatal(err)
			}
		}
		if n := store.standings.Load(); n != want {
			t.Errorf("%s: SQL was asked %d times, want %d", what, n, want)
		}
	}
	admit("nobody remembers", 1)
	if memory.Len() != 1 {
		t.Error("Redis was not told")
	}
	h.Clock.Advance(time.Minute)
	admit("from Redis", 0)
	memory.Flush()
	h.Clock.Advance(time.Minute)
	admit("after FLUSHALL", 1)
	memory.SetDown(true)
	h.Clock.Advance(time.Minute)
	admit("Redis is down", 1)
	store.standings.Store(0)
	for range 100 {
		if _, err := g.Admit(t.Context(), access+"x"); !errors.Is(err, identity.ErrToken) {
			t.Fatal(err)
		}
	}
	if n := store.standings.Load(); n != 0 {
		t.Errorf("SQL was asked %d times about a forged token", n)
	}
}

// A look at SQL that began before a logout has seen the session live; that must not be believed after it.
func TestGuard_forgets_what_a_logout_outdates(t *testing.T) {
	h := inSQLite(t)
	h.Join(t, lan)
	grant := h.Enter(t, lan)
	store := &asked{Accounts: h.Store}
	g := identity.NewGuard(h.Tokens, store, identitytest.NewMemory(), h.Clock.Now, nil)
	if err := g.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.during = func() {
		store.during = nil
		g.Revoke(identity.Revocation{Kind: identity.RevokeSession, Subject: grant.Session.ID, At: h.Clock.Now()})
	}
	for _, what := range []string{"the look itself", "the next"} {
		_, err := g.Admit(t.Context(), grant.Access)
		wantFault(t, what, err, identity.ErrToken)
	}
}

// A token that was logged out elsewhere is refused by Redis even before SQL was heard.
func TestGuard_bars(t *testing.T) {
	memory := identitytest.NewMemory()
	h := identitytest.Open(t, sqldbtest.SQLite(t), memory)
	there := identitytest.Beside(t, h.DB, memory, h.Clock)
	h.Join(t, lan)
	g := h.Enter(t, lan)
	if err := h.Logout(t.Context(), g.Access, ""); err != nil {
		t.Fatal(err)
	}
	if err := memory.Keep(t.Context(), identity.Standing{
		Session: g.Session.ID, UserID: g.User.ID, Role: identity.RoleUser, BegunAt: h.Clock.Now(), ExpiresAt: h.Clock.Now().Add(time.Hour),
	}, ""); err != nil { // as somebody writes who has read SQL a moment ago
		t.Fatal(err)
	}
	wantFault(t, "elsewhere", there.Admitted(t.Context(), g.Access), identity.ErrToken)
}

func TestGuard_refuses(t *testing.T) {
	h := inSQLite(t)
	h.Join(t, lan)
	g := h.Enter(t, lan)
	for what, token := range map[string]string{
		"nothing": "", "a word": "x", "much": strings.Repeat("a", 5000), "half": g.Access[:len(g.Access)/2], "spaces": " " + g.Access,
	} {
		wantFault(t, what, h.Admitted(t.Context(), token), identity.ErrToken)
	}
	h.Clock.Advance(identity.AccessLife + 3*time.Second)
	h.Follow(t)
	wantFault(t, "after its life", h.Admitted(t.Context(), g.Access), identity.ErrToken)
}

func TestGuard_FlushSeen_keeps_what_fails(t *testing.T) {
	h := inSQLite(t)
	h.Join(t, lan)
	grant := h.Enter(t, lan)
	store := &asked{Accounts: h.Store, deaf: errors.New("the disk is full")}
	g := identity.NewGuard(h.Tokens, store, h.Memory, h.Clock.Now, nil)
	h.Clock.Advance(time.Minute)
	if err := g.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Admit(t.Context(), grant.Access); err != nil {
		t.Fatal(err)
	}
	if err := g.FlushSeen(t.Context()); !errors.Is(err, store.deaf) {
		t.Errorf("a failure was not told: %v", err)
	}
	store.deaf = nil
	if err := g.FlushSeen(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := h.Sessions(t.Context(), identity.Actor{UserID: grant.User.ID})
	if err != nil || !all[0].LastSeenAt.Equal(h.Clock.Now()) {
		t.Errorf("%+v, %v", all, err)
	}
}

// Fifty people log in four times at once: few compute, some wait, nobody else is held up, and who is told to wait gets in.
func TestLogin_storm(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.House) {
		h.Join(t, lan)
		member := h.Enter(t, lan)
		email := func(i int) string { return fmt.Sprintf("guest%d@example.com", i%50) }
		for i := range 50 {
			h.Join(t, email(i))
		}
		var all sync.WaitGroup
		var in, busy atomic.Int64
		for i := range 200 {
			all.Go(func() {
				who := identity.Credentials{Email: email(i), Password: identitytest.Password}
				switch _, err := h.Login(t.Context(), who, identitytest.Caller()); {
				case err == nil:
					in.Add(1)
				case errors.Is(err, identity.ErrBusy):
					busy.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		if _, err := h.Me(t.Context(), identity.Actor{UserID: member.User.ID}); err != nil {
			t.Errorf("somebody else: %v", err)
		}
		all.Wait()
		s := h.Hasher.Stats()
		if s.Peak > 2 || in.Load()+busy.Load() != 200 || in.Load() == 0 || s.Refused != busy.Load() {
			t.Errorf("%d in, %d told to wait, %+v", in.Load(), busy.Load(), s)
		}
		if err := login(t, h, identitytest.Password); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func BenchmarkGuard_Admit(b *testing.B) {
	h := inSQLite(b)
	h.Join(b, lan)
	access := h.Enter(b, lan).Access
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := h.Admitted(b.Context(), access); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkAccounts_Refresh(b *testing.B) {
	h := inSQLite(b)
	h.Join(b, lan)
	token := h.Enter(b, lan).Refresh
	for b.Loop() {
		h.Clock.Advance(time.Second)
		g, err := h.Refresh(b.Context(), token)
		if err != nil {
			b.Fatal(err)
		}
		token = g.Refresh
	}
}
