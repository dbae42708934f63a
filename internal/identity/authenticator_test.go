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
func TestAuthenticator_two_processes(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis, server := redisdbtest.Real(t)
		here := identitytest.Open(t, db, identityredis.New(redis))
		there := identitytest.OpenAnother(t, db, identityredis.New(redis), here.Clock)
		here.CreateMember(t, lan)
		for _, flushed := range []bool{false, true} {
			g, other := here.MustLogin(t, lan), here.MustLogin(t, lan)
			for _, h := range []*identitytest.Env{here, there} {
				if err := errors.Join(h.Authenticate(t.Context(), g.Access), h.Authenticate(t.Context(), other.Access)); err != nil {
					t.Fatal(err)
				}
			}
			if err := here.Logout(t.Context(), g.Access, ""); err != nil {
				t.Fatal(err)
			}
			if flushed {
				flush(t, server.Addr())
			}
			wantFault(t, "where it was done", here.Authenticate(t.Context(), g.Access), identity.ErrInvalidToken)
			there.SyncRevocations(t)
			wantFault(t, "elsewhere", there.Authenticate(t.Context(), g.Access), identity.ErrInvalidToken)
			third := identitytest.OpenAnother(t, db, identityredis.New(redis), here.Clock)
			wantFault(t, "in a process that has just begun", third.Authenticate(t.Context(), g.Access), identity.ErrInvalidToken)
			for _, h := range []*identitytest.Env{here, there, third} {
				if err := h.Authenticate(t.Context(), other.Access); err != nil {
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
func TestAuthenticator_fails_closed(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	for range 2 {
		h.Clock.Advance(5 * time.Second)
		if err := h.Authenticate(t.Context(), g.Access); err != nil {
			t.Errorf("five seconds after it heard: %v", err)
		}
		h.Clock.Advance(time.Millisecond)
		err := h.Authenticate(t.Context(), g.Access)
		wantFault(t, "later", err, identity.ErrRevocationsStale)
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%v", err)
		}
		h.SyncRevocations(t)
	}
	deaf := identity.NewAuthenticator(h.Tokens, h.Store, h.Cache, h.Clock.Now, nil)
	_, err := deaf.Authenticate(t.Context(), g.Access)
	wantFault(t, "a guard that has never heard", err, identity.ErrRevocationsStale)
}

var revocationInsert = sqldb.Load(fstest.MapFS{"put.sql": {Data: []byte(
	"INSERT INTO auth_revocation (id, kind, subject, created_at) VALUES ($1, $2, $3, $4)")}}).Must("put")

func revoke(t *testing.T, h *identitytest.Env, kind identity.RevocationKind, subject string, at time.Time) {
	t.Helper()
	if _, err := h.DB.Exec(t.Context(), revocationInsert, uid.New(at), string(kind), subject, at.UnixMilli()); err != nil {
		t.Fatal(err)
	}
}

// A revocation of a user ends what was begun up to then and nothing that begins later.
func TestAuthenticator_user_revocations(t *testing.T) {
	h := newSQLiteEnv(t)
	u := h.CreateMember(t, lan)
	before := h.MustLogin(t, lan)
	if err := h.Authenticate(t.Context(), before.Access); err != nil {
		t.Fatal(err)
	}
	revoke(t, h, identity.RevokeUser, "1", h.Clock.Now())
	h.Clock.Advance(time.Millisecond)
	after := h.MustLogin(t, lan)
	h.SyncRevocations(t)
	wantFault(t, "begun before", h.Authenticate(t.Context(), before.Access), identity.ErrInvalidToken)
	if err := h.Authenticate(t.Context(), after.Access); err != nil || u.ID != 1 {
		t.Errorf("begun after: %v", err)
	}
}

// An account that is disabled in SQL is refused by whoever looks, revocation or not.
func TestAuthenticator_disabled_account(t *testing.T) {
	h := newSQLiteEnv(t)
	u := h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	h.SetStatus(t, u.ID, identity.Disabled)
	fresh := identitytest.OpenAnother(t, h.DB, identitytest.NewSessionCache(), h.Clock)
	wantFault(t, "an admission from SQL", fresh.Authenticate(t.Context(), g.Access), identity.ErrInvalidToken)
}

func TestAuthenticator_role_revocations(t *testing.T) {
	h := newSQLiteEnv(t)
	var heard []int64
	g := identity.NewAuthenticator(h.Tokens, h.Store, h.Cache, h.Clock.Now, func(role int64) { heard = append(heard, role) })
	follow := func() {
		if err := g.SyncRevocations(t.Context()); err != nil {
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
func TestAuthenticator_reads_late_commits(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	if err := h.Authenticate(t.Context(), g.Access); err != nil {
		t.Fatal(err)
	}
	began := h.Clock.Now()
	h.Clock.Advance(30 * time.Second)
	h.SyncRevocations(t)
	revoke(t, h, identity.RevokeSession, g.Session.ID, began)
	h.SyncRevocations(t)
	wantFault(t, "committed after half a minute", h.Authenticate(t.Context(), g.Access), identity.ErrInvalidToken)
}

// asked counts what reaches SQL.
type countingStore struct {
	*identitysql.Accounts

	standings atomic.Int64
	during    func() // runs before Standing answers; nil for nothing
	deaf      error  // what Seen fails with
}

func (a *countingStore) ActiveSession(ctx context.Context, s string, now time.Time) (identity.ActiveSession, bool, error) {
	a.standings.Add(1)
	st, found, err := a.Accounts.ActiveSession(ctx, s, now)
	if a.during != nil {
		a.during()
	}
	return st, found, err
}

func (a *countingStore) SaveLastSeen(ctx context.Context, all []identity.LastSeen) error {
	if a.deaf != nil {
		return a.deaf
	}
	return a.Accounts.SaveLastSeen(ctx, all)
}

func TestAuthenticator_rarely_queries_SQL(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	access := h.MustLogin(t, lan).Access
	memory := identitytest.NewSessionCache()
	store := &countingStore{Accounts: h.Store}
	g := identity.NewAuthenticator(h.Tokens, store, memory, h.Clock.Now, nil)
	admit := func(what string, want int64) {
		t.Helper()
		if err := g.SyncRevocations(t.Context()); err != nil {
			t.Fatal(err)
		}
		store.standings.Store(0)
		for range 100 {
			if _, err := g.Authenticate(t.Context(), access); err != nil {
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
		if _, err := g.Authenticate(t.Context(), access+"x"); !errors.Is(err, identity.ErrInvalidToken) {
			t.Fatal(err)
		}
	}
	if n := store.standings.Load(); n != 0 {
		t.Errorf("SQL was asked %d times about a forged token", n)
	}
}

// A look at SQL that began before a logout has seen the session live; that must not be believed after it.
func TestAuthenticator_drops_sessions_revoked_while_loading(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	grant := h.MustLogin(t, lan)
	store := &countingStore{Accounts: h.Store}
	g := identity.NewAuthenticator(h.Tokens, store, identitytest.NewSessionCache(), h.Clock.Now, nil)
	if err := g.SyncRevocations(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.during = func() {
		store.during = nil
		g.Revoke(identity.Revocation{Kind: identity.RevokeSession, Subject: grant.Session.ID, At: h.Clock.Now()})
	}
	for _, what := range []string{"the look itself", "the next"} {
		_, err := g.Authenticate(t.Context(), grant.Access)
		wantFault(t, what, err, identity.ErrInvalidToken)
	}
}

// A token that was logged out elsewhere is refused by Redis even before SQL was heard.
func TestAuthenticator_blocked_tokens(t *testing.T) {
	memory := identitytest.NewSessionCache()
	h := identitytest.Open(t, sqldbtest.SQLite(t), memory)
	there := identitytest.OpenAnother(t, h.DB, memory, h.Clock)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	if err := h.Logout(t.Context(), g.Access, ""); err != nil {
		t.Fatal(err)
	}
	if err := memory.Put(t.Context(), identity.ActiveSession{
		Session: g.Session.ID, UserID: g.User.ID, Role: identity.RoleUser, StartedAt: h.Clock.Now(), ExpiresAt: h.Clock.Now().Add(time.Hour),
	}, ""); err != nil { // as somebody writes who has read SQL a moment ago
		t.Fatal(err)
	}
	wantFault(t, "elsewhere", there.Authenticate(t.Context(), g.Access), identity.ErrInvalidToken)
}

func TestAuthenticator_refuses(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	for what, token := range map[string]string{
		"nothing": "", "a word": "x", "much": strings.Repeat("a", 5000), "half": g.Access[:len(g.Access)/2], "spaces": " " + g.Access,
	} {
		wantFault(t, what, h.Authenticate(t.Context(), token), identity.ErrInvalidToken)
	}
	h.Clock.Advance(identity.AccessTokenTTL + 3*time.Second)
	h.SyncRevocations(t)
	wantFault(t, "after its life", h.Authenticate(t.Context(), g.Access), identity.ErrInvalidToken)
}

func TestAuthenticator_FlushLastSeen_retries(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	grant := h.MustLogin(t, lan)
	store := &countingStore{Accounts: h.Store, deaf: errors.New("the disk is full")}
	g := identity.NewAuthenticator(h.Tokens, store, h.Cache, h.Clock.Now, nil)
	h.Clock.Advance(time.Minute)
	if err := g.SyncRevocations(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Authenticate(t.Context(), grant.Access); err != nil {
		t.Fatal(err)
	}
	if err := g.FlushLastSeen(t.Context()); !errors.Is(err, store.deaf) {
		t.Errorf("a failure was not told: %v", err)
	}
	store.deaf = nil
	if err := g.FlushLastSeen(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := h.Sessions(t.Context(), identity.Actor{UserID: grant.User.ID})
	if err != nil || !all[0].LastSeenAt.Equal(h.Clock.Now()) {
		t.Errorf("%+v, %v", all, err)
	}
}

// Fifty people log in four times at once: few compute, some wait, nobody else is held up, and who is told to wait gets in.
func TestLogin_storm(t *testing.T) {
	each(t, func(t *testing.T, h *identitytest.Env) {
		h.CreateMember(t, lan)
		member := h.MustLogin(t, lan)
		email := func(i int) string { return fmt.Sprintf("guest%d@example.com", i%50) }
		for i := range 50 {
			h.CreateMember(t, email(i))
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

func BenchmarkAuthenticator_Authenticate(b *testing.B) {
	h := newSQLiteEnv(b)
	h.CreateMember(b, lan)
	access := h.MustLogin(b, lan).Access
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := h.Authenticate(b.Context(), access); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkAccounts_Refresh(b *testing.B) {
	h := newSQLiteEnv(b)
	h.CreateMember(b, lan)
	token := h.MustLogin(b, lan).Refresh
	for b.Loop() {
		h.Clock.Advance(time.Second)
		g, err := h.Refresh(b.Context(), token)
		if err != nil {
			b.Fatal(err)
		}
		token = g.Refresh
	}
}
