package account_test

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

	"comanda/internal/account"
	"comanda/internal/account/accountredis"
	"comanda/internal/account/accountsql"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// A session that ends in one process is refused by every other after its next sync, whatever Redis contains.
func TestAuthenticator_two_processes(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis, server := redisdbtest.Real(t)
		local := accounttest.Open(t, db, accountredis.New(redis))
		remote := accounttest.OpenAnother(t, db, accountredis.New(redis), local.Clock)
		local.CreateMember(t, lan)
		for _, flushed := range []bool{false, true} {
			g, other := local.MustLogin(t, lan), local.MustLogin(t, lan)
			for _, h := range []*accounttest.Env{local, remote} {
				testenv.NoError(t, errors.Join(h.Authenticate(t.Context(), g.Access), h.Authenticate(t.Context(), other.Access)))
			}
			testenv.NoError(t, local.Logout(t.Context(), g.Access, ""))
			if flushed {
				flush(t, server.Addr())
			}
			testenv.ErrorIs(t, authz.ErrInvalidToken, local.Authenticate(t.Context(), g.Access), "in the same process")
			remote.SyncRevocations(t)
			testenv.ErrorIs(t, authz.ErrInvalidToken, remote.Authenticate(t.Context(), g.Access), "elsewhere")
			third := accounttest.OpenAnother(t, db, accountredis.New(redis), local.Clock)
			testenv.ErrorIs(t, authz.ErrInvalidToken, third.Authenticate(t.Context(), g.Access), "in a new process")
			for _, h := range []*accounttest.Env{local, remote, third} {
				if err := h.Authenticate(t.Context(), other.Access); err != nil {
					t.Errorf("another session, flushed %t: %v", flushed, err)
				}
			}
		}
	})
}

func flush(t *testing.T, addr string) {
	t.Helper()
	conn := testenv.Must(net.Dial("tcp", addr))(t)
	defer conn.Close()
	testenv.Must(conn.Write([]byte("*1\r\n$8\r\nFLUSHALL\r\n")))(t)
	if reply, err := bufio.NewReader(conn).ReadString('\n'); !strings.HasPrefix(reply, "+OK") || err != nil {
		t.Fatalf("FLUSHALL: %q, %v", reply, err)
	}
}

// A process that cannot read revocations refuses every token.
func TestAuthenticator_fails_closed(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	for range 2 {
		h.Clock.Advance(5 * time.Second)
		if err := h.Authenticate(t.Context(), g.Access); err != nil {
			t.Errorf("five seconds after a sync: %v", err)
		}
		h.Clock.Advance(time.Millisecond)
		err := h.Authenticate(t.Context(), g.Access)
		testenv.ErrorIs(t, account.ErrRevocationsStale, err, "later")
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("Authenticate: error %v, want Unavailable", err)
		}
		h.SyncRevocations(t)
	}
	unsynced := account.NewAuthenticator(h.Tokens, h.Store, h.Cache, h.Clock.Now)
	_, err := unsynced.Authenticate(t.Context(), g.Access)
	testenv.ErrorIs(t, account.ErrRevocationsStale, err, "before the first sync")
}

var revocationInsert = sqldb.Load(fstest.MapFS{"put.sql": {Data: []byte(
	"INSERT INTO auth_revocation (id, kind, subject, created_at) VALUES ($1, $2, $3, $4)")}}).Must("put")

func revoke(t *testing.T, h *accounttest.Env, kind authz.RevocationKind, subject string, at time.Time) {
	t.Helper()
	testenv.Must(h.DB.Exec(t.Context(), revocationInsert, uid.New(at), string(kind), subject, at.UnixMilli()))(t)
}

// A revocation of a user ends the sessions that started up to then, and no later ones.
func TestAuthenticator_user_revocations(t *testing.T) {
	h := newSQLiteEnv(t)
	u := h.CreateMember(t, lan)
	before := h.MustLogin(t, lan)
	testenv.NoError(t, h.Authenticate(t.Context(), before.Access))
	revoke(t, h, authz.RevokeUser, "1", h.Clock.Now())
	h.Clock.Advance(time.Millisecond)
	after := h.MustLogin(t, lan)
	h.SyncRevocations(t)
	testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), before.Access), "begun before")
	if err := h.Authenticate(t.Context(), after.Access); err != nil || u.ID != 1 {
		t.Errorf("begun after: %v", err)
	}
}

// An account that is disabled in SQL is refused even without a revocation.
func TestAuthenticator_disabled_account(t *testing.T) {
	h := newSQLiteEnv(t)
	u := h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	h.SetStatus(t, u.ID, account.Disabled)
	fresh := accounttest.OpenAnother(t, h.DB, accounttest.NewSessionCache(), h.Clock)
	testenv.ErrorIs(t, authz.ErrInvalidToken, fresh.Authenticate(t.Context(), g.Access), "a session read from SQL")
}

// A transaction may commit some time after the timestamp of its revocation.
func TestAuthenticator_reads_late_commits(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	testenv.NoError(t, h.Authenticate(t.Context(), g.Access))
	began := h.Clock.Now()
	h.Clock.Advance(30 * time.Second)
	h.SyncRevocations(t)
	revoke(t, h, authz.RevokeSession, g.Session.ID, began)
	h.SyncRevocations(t)
	testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), g.Access), "committed after half a minute")
}

// countingStore counts the sessions that are read from SQL.
type countingStore struct {
	*accountsql.Accounts

	standings atomic.Int64
	during    func() // called before ActiveSession returns; may be nil
	failure   error  // returned by SaveLastSeen
}

func (a *countingStore) ActiveSession(ctx context.Context, s string, now time.Time) (account.ActiveSession, bool, error) {
	a.standings.Add(1)
	st, found, err := a.Accounts.ActiveSession(ctx, s, now)
	if a.during != nil {
		a.during()
	}
	return st, found, err
}

func (a *countingStore) SaveLastSeen(ctx context.Context, all []account.LastSeen) error {
	if a.failure != nil {
		return a.failure
	}
	return a.Accounts.SaveLastSeen(ctx, all)
}

func TestAuthenticator_rarely_queries_SQL(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	access := h.MustLogin(t, lan).Access
	cache := accounttest.NewSessionCache()
	store := &countingStore{Accounts: h.Store}
	g := account.NewAuthenticator(h.Tokens, store, cache, h.Clock.Now)
	admit := func(what string, want int64) {
		t.Helper()
		testenv.NoError(t, g.SyncRevocations(t.Context()))
		store.standings.Store(0)
		for range 100 {
			testenv.Must(g.Authenticate(t.Context(), access))(t)
		}
		if n := store.standings.Load(); n != want {
			t.Errorf("%s: %d queries, want %d", what, n, want)
		}
	}
	admit("nothing cached", 1)
	if cache.Len() != 1 {
		t.Error("the session was not cached in Redis")
	}
	h.Clock.Advance(time.Minute)
	admit("from Redis", 0)
	cache.Flush()
	h.Clock.Advance(time.Minute)
	admit("after FLUSHALL", 1)
	cache.SetDown(true)
	h.Clock.Advance(time.Minute)
	admit("Redis is down", 1)
	h.Clock.Advance(-time.Second)
	admit("the clock was set back", 1)
	store.standings.Store(0)
	for range 100 {
		testenv.ErrorIs(t, authz.ErrInvalidToken, testenv.Err(g.Authenticate(t.Context(), access+"x")))
	}
	if n := store.standings.Load(); n != 0 {
		t.Errorf("%d queries for a forged token", n)
	}
}

// A session that was read before a logout and returned after it is not cached as valid.
func TestAuthenticator_drops_sessions_revoked_while_loading(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	grant := h.MustLogin(t, lan)
	store := &countingStore{Accounts: h.Store}
	g := account.NewAuthenticator(h.Tokens, store, accounttest.NewSessionCache(), h.Clock.Now)
	testenv.NoError(t, g.SyncRevocations(t.Context()))
	store.during = func() {
		store.during = nil
		g.Revoke(authz.Revocation{Kind: authz.RevokeSession, Subject: grant.Session.ID, At: h.Clock.Now()})
	}
	for _, what := range []string{"the reading request", "the next one"} {
		testenv.ErrorIs(t, authz.ErrInvalidToken, testenv.Err(g.Authenticate(t.Context(), grant.Access)), what)
	}
}

// A token that was logged out in another process is refused through Redis, even before the next sync.
func TestAuthenticator_blocked_tokens(t *testing.T) {
	memory := accounttest.NewSessionCache()
	h := accounttest.Open(t, sqldbtest.SQLite(t), memory)
	remote := accounttest.OpenAnother(t, h.DB, memory, h.Clock)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	testenv.NoError(t, h.Logout(t.Context(), g.Access, ""))
	if err := memory.Put(t.Context(), account.ActiveSession{
		Session: g.Session.ID, UserID: g.User.ID, Role: authz.RoleUser, StartedAt: h.Clock.Now(), ExpiresAt: h.Clock.Now().Add(time.Hour),
	}, ""); err != nil { // like a process that has just read SQL
		t.Fatal(err)
	}
	testenv.ErrorIs(t, authz.ErrInvalidToken, remote.Authenticate(t.Context(), g.Access), "elsewhere")
}

func TestAuthenticator_refuses(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	g := h.MustLogin(t, lan)
	for what, token := range map[string]string{
		"nothing": "", "a word": "x", "much": strings.Repeat("a", 5000), "half": g.Access[:len(g.Access)/2], "spaces": " " + g.Access,
	} {
		testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), token), what)
	}
	h.Clock.Advance(account.AccessTokenTTL + 3*time.Second)
	h.SyncRevocations(t)
	testenv.ErrorIs(t, authz.ErrInvalidToken, h.Authenticate(t.Context(), g.Access), "after its life")
}

func TestAuthenticator_FlushLastSeen_retries(t *testing.T) {
	h := newSQLiteEnv(t)
	h.CreateMember(t, lan)
	grant := h.MustLogin(t, lan)
	store := &countingStore{Accounts: h.Store, failure: errors.New("the disk is full")}
	g := account.NewAuthenticator(h.Tokens, store, h.Cache, h.Clock.Now)
	h.Clock.Advance(time.Minute)
	testenv.NoError(t, g.SyncRevocations(t.Context()))
	testenv.Must(g.Authenticate(t.Context(), grant.Access))(t)
	testenv.ErrorIs(t, store.failure, g.FlushLastSeen(t.Context()))
	store.failure = nil
	testenv.NoError(t, g.FlushLastSeen(t.Context()))
	all, err := h.Sessions(t.Context(), authz.Actor{UserID: grant.User.ID})
	if err != nil || !all[0].LastSeenAt.Equal(h.Clock.Now()) {
		t.Errorf("Sessions = %+v, %v, want lastSeenAt %v", all, err, h.Clock.Now())
	}
}

// Fifty users log in four times each at once: hashing stays bounded, other requests are not delayed, and refused logins
// succeed later.
func TestLogin_storm(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
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
				credentials := account.Credentials{Email: email(i), Password: accounttest.Password}
				switch _, err := h.Login(t.Context(), credentials, accounttest.Caller()); {
				case err == nil:
					in.Add(1)
				case errors.Is(err, account.ErrBusy):
					busy.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		if _, err := h.Me(t.Context(), authz.Actor{UserID: member.User.ID}); err != nil {
			t.Errorf("another request: %v", err)
		}
		all.Wait()
		s := h.Hasher.Stats()
		if s.Peak > 2 || in.Load()+busy.Load() != 200 || in.Load() == 0 || s.Refused != busy.Load() {
			t.Errorf("%d logged in, %d busy, %+v", in.Load(), busy.Load(), s)
		}
		if err := login(t, h, accounttest.Password); err != nil {
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
