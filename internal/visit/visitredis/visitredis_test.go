package visitredis_test

import (
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/uid"
	"comanda/internal/visit"
	"comanda/internal/visit/visitredis"
	"comanda/internal/visit/visittest"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

func TestBindings(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		visittest.Bindings(t, func(*testing.T) visit.Bindings { return visitredis.New(db) }) // tokens are new each time
	})
}

func hour(int64) time.Duration { return time.Hour }

func guest() visit.Guest {
	return visit.Guest{VisitID: uid.New(time.Now()), BranchID: 1, TableID: 3, VisitOpen: true}
}

func TestBindings_keys(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		b, token, g := visitredis.New(db), visit.NewCustomerToken(), guest()
		if err := b.Bind(t.Context(), token, g, time.Minute); err != nil {
			t.Fatal(err)
		}
		byCustomer, party := keyspace.VisitByCustomer(token), keyspace.VisitCustomers(g.VisitID)
		if got, _, err := db.Do(t.Context(), "GET", byCustomer).Text(); got != g.VisitID+"|1|3" || err != nil {
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
		if _, found, err := b.Find(t.Context(), token, hour); !found || err != nil {
			t.Errorf("%t, %v", found, err)
		}
		lives(byCustomer, time.Hour) // it slides
	})
}

func TestBindings_Find_needs_both_keys(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		b, token, g := visitredis.New(db), visit.NewCustomerToken(), guest()
		for _, value := range []string{"", "x", "a|b|c", g.VisitID + "|1", g.VisitID + "|1|x", g.VisitID + "|1|3"} {
			if err := db.Do(t.Context(), "SET", keyspace.VisitByCustomer(token), value, "PX", "60000").Err(); err != nil {
				t.Fatal(err)
			}
			if _, found, err := b.Find(t.Context(), token, hour); found || err != nil {
				t.Errorf("%q was believed: %t, %v", value, found, err)
			}
		}
	})
}

func TestBindings_without_Redis(t *testing.T) {
	db, server := redisdbtest.Real(t)
	b, token, g := visitredis.New(db), visit.NewCustomerToken(), guest()
	if err := b.Bind(t.Context(), token, g, time.Hour); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	_, found, err := b.Find(t.Context(), token, hour)
	for what, err := range map[string]error{
		"Find": err, "Bind": b.Bind(t.Context(), token, g, time.Hour), "Unbind": b.Unbind(t.Context(), []string{g.VisitID}),
	} {
		if fault.KindOf(err) != fault.Unavailable || found {
			t.Errorf("%s: %v", what, err)
		}
	}
}
