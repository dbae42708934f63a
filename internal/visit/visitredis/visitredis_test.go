package visitredis_test

import (
	"strings"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
	"comanda/internal/uid"
	"comanda/internal/visit"
	"comanda/internal/visit/visitredis"
	"comanda/internal/visit/visittest"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

func TestBindings(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		visittest.BindingsSuite(t, func(*testing.T) visit.Bindings { return visitredis.New(db) }) // tokens are new each time
	})
}

func hour(int64) time.Duration { return time.Hour }

var (
	now  = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	soon = now.Add(30 * time.Minute)
)

func guest() visit.Guest {
	return visit.Guest{VisitID: uid.New(time.Now()), BranchID: 1, TableID: 3, VisitOpen: true}
}

func TestBindings_keys(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		b, token, g := visitredis.New(db), visit.NewCustomerToken(), guest()
		testenv.NoError(t, b.Bind(t.Context(), token, g, time.Minute, soon))
		byCustomer, party := keyspace.VisitByCustomer(token), keyspace.VisitCustomers(g.VisitID)
		got, _, err := db.Do(t.Context(), "GET", byCustomer).Text()
		want := g.VisitID + "|1|3|1772083800000"
		if want += "|" + db.Seal(byCustomer, want); got != want || err != nil {
			t.Errorf("the binding is %q, %v", got, err)
		}
		lives := func(key keyspace.Key, want time.Duration) {
			t.Helper()
			ms, err := db.Do(t.Context(), "PTTL", key).Int()
			if got := time.Duration(ms) * time.Millisecond; err != nil || got > want || got < want-10*time.Second {
				t.Errorf("%s lives for %v, want %v, %v", key, got, want, err)
			}
		}
		lives(byCustomer, time.Minute)
		lives(party, 8*time.Hour)
		if _, found, err := b.Find(t.Context(), token, now, hour); !found || err != nil {
			t.Errorf("Find: found %t, error %v, want the guest", found, err)
		}
		lives(byCustomer, time.Hour) // Find renews the TTL
	})
}

// Write access to Redis does not create a guest: not with a new value, not with the value of another token, and not by
// changing one.
func TestBindings_Find_accepts_only_sealed_values(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		b, ownToken, otherToken := visitredis.New(db), visit.NewCustomerToken(), visit.NewCustomerToken()
		g, other := guest(), guest()
		for token, g := range map[string]visit.Guest{ownToken: g, otherToken: other} {
			testenv.NoError(t, b.Bind(t.Context(), token, g, time.Hour, soon))
		}
		testenv.NoError(t, db.Do(t.Context(), "SADD", keyspace.VisitCustomers(other.VisitID), keyspace.Secret(ownToken)).Err())
		own, _, _ := db.Do(t.Context(), "GET", keyspace.VisitByCustomer(ownToken)).Text()
		otherValue, _, _ := db.Do(t.Context(), "GET", keyspace.VisitByCustomer(otherToken)).Text()
		for _, value := range []string{
			otherValue, strings.Replace(own, g.VisitID, other.VisitID, 1), strings.Replace(own, "|1|3|", "|2|3|", 1),
			strings.Replace(own, "|17", "|27", 1), other.VisitID + "|1|3", other.VisitID + "|1|3|1772083800000|", own + "A",
		} {
			testenv.NoError(t, db.Do(t.Context(), "SET", keyspace.VisitByCustomer(ownToken), value).Err())
			if _, found, err := b.Find(t.Context(), ownToken, now, hour); found || err != nil {
				t.Errorf("%q was accepted: %t, %v", value, found, err)
			}
		}
		testenv.NoError(t, db.Do(t.Context(), "SET", keyspace.VisitByCustomer(ownToken), own).Err())
		if got, found, err := b.Find(t.Context(), ownToken, now, hour); !found || got.VisitID != g.VisitID || err != nil {
			t.Errorf("its own value: %+v, %t, %v", got, found, err)
		}
	})
}

func TestBindings_Find_needs_both_keys(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		b, token, g := visitredis.New(db), visit.NewCustomerToken(), guest()
		sealed := func(value string) string { return value + "|" + db.Seal(keyspace.VisitByCustomer(token), value) }
		for _, value := range []string{
			"", "x", "|", "a|b|c", sealed(g.VisitID + "|1"), sealed(g.VisitID + "|1|x|1772083800000"), sealed("x|1|3|1772083800000"),
			sealed(g.VisitID + "|1|3|1772083800000"),
		} {
			testenv.NoError(t, db.Do(t.Context(), "SET", keyspace.VisitByCustomer(token), value, "PX", "60000").Err())
			if _, found, err := b.Find(t.Context(), token, now, hour); found || err != nil {
				t.Errorf("%q was accepted: %t, %v", value, found, err)
			}
		}
	})
}

func TestBindings_without_Redis(t *testing.T) {
	db, server := redisdbtest.Real(t)
	b, token, g := visitredis.New(db), visit.NewCustomerToken(), guest()
	testenv.NoError(t, b.Bind(t.Context(), token, g, time.Hour, soon))
	server.Kill()
	_, found, err := b.Find(t.Context(), token, now, hour)
	for what, err := range map[string]error{
		"Find": err, "Bind": b.Bind(t.Context(), token, g, time.Hour, soon), "Unbind": b.Unbind(t.Context(), []string{g.VisitID}),
	} {
		if fault.KindOf(err) != fault.Unavailable || found {
			t.Errorf("%s without Redis: error %v, want Unavailable", what, err)
		}
	}
}
