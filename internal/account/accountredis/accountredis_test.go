package accountredis_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/account"
	"comanda/internal/account/accountredis"
	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

func TestSessionCache(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		sessionCacheSuite(t, func(*testing.T) account.SessionCache { return accountredis.New(db) }) // ids are new each time
	})
}

func TestSessionCache_in_memory(t *testing.T) {
	sessionCacheSuite(t, func(*testing.T) account.SessionCache { return accounttest.NewSessionCache() })
}

// sessionCacheSuite is the conformance suite of account.SessionCache. empty returns an empty cache.
func sessionCacheSuite(t *testing.T, empty func(t *testing.T) account.SessionCache) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	standing := func() account.ActiveSession {
		return account.ActiveSession{
			Session: uid.New(now), UserID: 7, RoleID: 3, Role: authz.RoleCashier, Branches: []int64{1, 2},
			StartedAt: now, ExpiresAt: now.Add(time.Hour), Address: "2001:db8::1",
		}
	}
	finds := func(t *testing.T, m account.SessionCache, want account.ActiveSession, token string, wantFound, wantBarred bool) {
		t.Helper()
		got, found, barred, err := m.Get(t.Context(), want.Session, token)
		if err != nil || found != wantFound || barred != wantBarred || found && !reflect.DeepEqual(got, want) {
			t.Errorf("found %+v, %t, barred %t, %v", got, found, barred, err)
		}
	}

	t.Run("a session is found until it is deleted", func(t *testing.T) {
		m, s, other := empty(t), standing(), standing()
		finds(t, m, s, "a", false, false)
		testenv.NoError(t, m.Put(t.Context(), s, account.TokenHash("x")))
		testenv.NoError(t, m.Put(t.Context(), other, ""))
		finds(t, m, s, "a", true, false)
		for range 2 { // the second call changes nothing
			testenv.NoError(t, m.Delete(t.Context(), []string{s.Session}))
			finds(t, m, s, "a", false, false)
		}
		finds(t, m, other, "a", true, false)
		testenv.NoError(t, m.Delete(t.Context(), nil))
	})
	t.Run("a blocked token is reported with and without its session", func(t *testing.T) {
		m, s, token := empty(t), standing(), uid.New(now)
		testenv.NoError(t, m.BlockToken(t.Context(), token, time.Minute))
		finds(t, m, s, token, false, true)
		testenv.NoError(t, m.Put(t.Context(), s, ""))
		finds(t, m, s, token, true, true)
		finds(t, m, s, token+"0", true, false)
	})
	t.Run("an expired token is not blocked", func(t *testing.T) {
		m, s, token := empty(t), standing(), uid.New(now)
		testenv.NoError(t, m.BlockToken(t.Context(), token, 0))
		testenv.NoError(t, m.BlockToken(t.Context(), token, -time.Minute))
		finds(t, m, s, token, false, false)
	})
	t.Run("a session without branches", func(t *testing.T) {
		m, s := empty(t), standing()
		s.Branches = nil
		testenv.NoError(t, m.Put(t.Context(), s, ""))
		finds(t, m, s, "a", true, false)
	})
	t.Run("codes are recorded and deleted", func(t *testing.T) {
		m := empty(t)
		testenv.NoError(t, m.PutCode(t.Context(), account.Verify, 7, now))
		testenv.NoError(t, m.PutCode(t.Context(), account.Reset, 7, now))
		testenv.NoError(t, m.DeleteCode(t.Context(), account.Verify, 7))
	})
}

var now = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)

func activeSession() account.ActiveSession {
	return account.ActiveSession{
		Session: uid.New(time.Now()), UserID: 7, RoleID: 4, Role: "CASHIER", Branches: []int64{1, 2}, StartedAt: now,
		ExpiresAt: now.Add(12 * time.Hour), Address: "192.0.2.7",
	}
}

// The fields and TTLs of the keys are as documented.
func TestSessionCache_keys(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		m, s := accountredis.New(db), activeSession()
		lives := func(key keyspace.Key, want time.Duration) {
			t.Helper()
			ms, err := db.Do(t.Context(), "PTTL", key).Int()
			if got := time.Duration(ms) * time.Millisecond; err != nil || got > want || got < want-10*time.Second {
				t.Errorf("%s lives for %v, want %v, %v", key, got, want, err)
			}
		}
		testenv.NoError(t, m.Put(t.Context(), s, "a hash"))
		fields, err := db.Do(t.Context(), "HGETALL", keyspace.Session(s.Session)).Map()
		want := map[string]string{
			"seal":   db.Seal(keyspace.Session(s.Session), "7", "4", "CASHIER", "1,2", "1772082000000", "1772125200000", "192.0.2.7"),
			"userId": "7", "roleId": "4", "role": "CASHIER", "branches": "1,2", "loginAt": "1772082000000",
			"expiresAt": "1772125200000", "address": "192.0.2.7",
		}
		if d := cmp.Diff(want, fields); d != "" || err != nil {
			t.Error(d, err)
		}
		lives(keyspace.Session(s.Session), 30*time.Minute)
		if got, _, err := db.Do(t.Context(), "GET", keyspace.RefreshToken(s.Session)).Text(); got != "a hash" || err != nil {
			t.Errorf("refresh token in Redis = %q, %v, want a hash", got, err)
		}
		lives(keyspace.RefreshToken(s.Session), 7*24*time.Hour)

		testenv.NoError(t, db.Do(t.Context(), "PEXPIRE", keyspace.Session(s.Session), "60000").Err())
		if _, found, _, err := m.Get(t.Context(), s.Session, "x"); !found || err != nil {
			t.Errorf("Get: found %t, error %v, want the session", found, err)
		}
		lives(keyspace.Session(s.Session), 30*time.Minute) // sliding

		testenv.NoError(t, m.BlockToken(t.Context(), s.Session, 9*time.Minute))
		lives(keyspace.RevokedToken(s.Session), 9*time.Minute)

		testenv.NoError(t, m.PutCode(t.Context(), account.Verify, 7, now))
		lives(keyspace.OneTimeCode("verify", 7), 5*time.Minute)
		testenv.NoError(t, m.DeleteCode(t.Context(), account.Verify, 7))
		testenv.NoError(t, m.Delete(t.Context(), []string{s.Session}))
		for _, key := range []keyspace.Key{
			keyspace.OneTimeCode("verify", 7), keyspace.Session(s.Session), keyspace.RefreshToken(s.Session),
		} {
			if n, err := db.Do(t.Context(), "EXISTS", key).Int(); n != 0 || err != nil {
				t.Errorf("%s is left, %v", key, err)
			}
		}
	})
}

// A session with a missing or malformed field counts as a miss.
func TestSessionCache_Get_needs_every_field(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		m := accountredis.New(db)
		for field, bad := range map[string]string{
			"userId": "", "roleId": "x", "role": "", "branches": "1,,2", "loginAt": "", "expiresAt": "1.5", "seal": "",
		} {
			s := activeSession()
			testenv.NoError(t, m.Put(t.Context(), s, ""))
			testenv.NoError(t, db.Do(t.Context(), "HSET", keyspace.Session(s.Session), field, bad).Err())
			if _, found, _, err := m.Get(t.Context(), s.Session, "x"); found || err != nil {
				t.Errorf("%s=%q was accepted: %v", field, bad, err)
			}
		}
	})
}

// A client that can write to Redis can neither change a session nor copy another one's fields or record.
func TestSessionCache_Get_refuses_foreign_records(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		m, attackers, owners := accountredis.New(db), activeSession(), activeSession()
		owners.UserID, owners.RoleID, owners.Role, owners.Branches = 1, 1, authz.RoleOwner, nil
		for _, s := range []account.ActiveSession{attackers, owners} {
			testenv.NoError(t, m.Put(t.Context(), s, ""))
		}
		ownersFields := testenv.Must(db.Do(t.Context(), "HGETALL", keyspace.Session(owners.Session)).Map())(t)
		all := []string{}
		for field, value := range ownersFields {
			if field != "expiresAt" && field != "loginAt" && field != "address" { // alike
				testenv.NoError(t, db.Do(t.Context(), "HSET", keyspace.Session(attackers.Session), field, value).Err())
				if s, found, _, err := m.Get(t.Context(), attackers.Session, "x"); found || err != nil {
					t.Errorf("%s=%q was accepted: %+v, %v", field, value, s, err)
				}
				testenv.NoError(t, m.Put(t.Context(), attackers, ""))
			}
			all = append(all, field, value)
		}
		testenv.NoError(t, db.Do(t.Context(), "HSET", keyspace.Session(attackers.Session), all...).Err())
		if s, found, _, err := m.Get(t.Context(), attackers.Session, "x"); found || err != nil {
			t.Errorf("another session's record was accepted: %+v, %v", s, err)
		}
	})
}

func TestSessionCache_without_redis(t *testing.T) {
	db, server := redisdbtest.Real(t)
	m, s := accountredis.New(db), activeSession()
	testenv.NoError(t, m.Put(t.Context(), s, ""))
	server.Kill()
	_, found, blocked, err := m.Get(t.Context(), s.Session, "x")
	for what, err := range map[string]error{
		"Get": err, "Put": m.Put(t.Context(), s, ""), "Delete": m.Delete(t.Context(), []string{s.Session}),
		"BlockToken": m.BlockToken(t.Context(), "x", time.Minute), "PutCode": m.PutCode(t.Context(), account.Reset, 7, now),
		"DeleteCode": m.DeleteCode(t.Context(), account.Reset, 7),
	} {
		if fault.KindOf(err) != fault.Unavailable || found || blocked {
			t.Errorf("%s: error %v, want Unavailable", what, err)
		}
	}
}
