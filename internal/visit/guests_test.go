package visit_test

import (
	"errors"
	"testing"
	"time"

	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/visit"
	"comanda/internal/visit/visittest"
)

func TestMemoryBindings(t *testing.T) {
	visittest.BindingsSuite(t, func(*testing.T) visit.Bindings { return visittest.NewMemoryBindings() })
}

// V2: open, then closed but readable, then nothing.
func TestGuests_Resolve(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		l := h.scan(3, "")
		g, err := h.guests.Resolve(t.Context(), l.CustomerToken)
		want := visit.Guest{
			TokenHash: visit.HashToken(l.CustomerToken), VisitID: l.VisitID, BranchID: 1, TableID: 3, VisitOpen: true,
		}
		if g != want || err != nil {
			t.Errorf("Resolve = %+v, %v, want %+v", g, err, want)
		}
		h.close(l.VisitID)
		_, err = h.guests.Resolve(t.Context(), l.CustomerToken)
		testenv.ErrorIs(t, visit.ErrClosed, err, "after the closing")
		h.clock.Advance(30 * time.Minute)
		if g, err := h.guests.ResolveForRead(t.Context(), l.CustomerToken); g.VisitOpen || g.VisitID != l.VisitID || err != nil {
			t.Errorf("reading half an hour later: %+v, %v", g, err)
		}
		h.clock.Advance(time.Second)
		_, err = h.guests.ResolveForRead(t.Context(), l.CustomerToken)
		testenv.ErrorIs(t, visit.ErrClosed, err, "reading later")
	})
}

func TestGuests_Resolve_refuses_unknown_tokens(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		l := h.scan(3, "")
		for _, token := range []string{"", "x", l.CustomerToken + "A", l.CustomerToken[:42] + "\n", visit.HashToken(l.CustomerToken)} {
			testenv.ErrorIs(t, visit.ErrToken, testenv.Err(h.guests.Resolve(t.Context(), token)), token)
		}
		before := h.store.guests.Load()
		_, err := h.guests.Resolve(t.Context(), visit.NewCustomerToken())
		testenv.ErrorIs(t, visit.ErrToken, err, "an unknown token")
		if n := h.store.guests.Load() - before; before != 0 || n != 1 {
			t.Errorf("%d queries for malformed tokens, %d for a well-formed one", before, n)
		}
	})
}

func TestGuests_Resolve_rarely_queries_SQL(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		l := h.scan(3, "")
		resolve := func(what string, want int64) {
			t.Helper()
			h.store.guests.Store(0)
			for range 100 {
				testenv.Must(h.guests.Resolve(t.Context(), l.CustomerToken))(t)
			}
			if n := h.store.guests.Load(); n != want {
				t.Errorf("%s: %d queries, want %d", what, n, want)
			}
		}
		resolve("after landing", 0)
		h.restart()
		resolve("after a restart, from Redis", 0)
		h.redis.SetDown(true)
		resolve("Redis just went down", 0)
		h.clock.Advance(6 * time.Second)
		resolve("Redis is down", 1)
		h.restart()
		resolve("Redis is down and we restarted", 1)
		h.clock.Advance(-time.Hour)
		resolve("the clock was set back", 1)
	})
}

func TestGuests_Resolve_fills_Redis_from_SQL(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		l := h.scan(3, "")
		lost := visittest.NewMemoryBindings() // as after FLUSHALL
		h.redis = lost
		h.restart()
		if _, err := h.guests.Resolve(t.Context(), l.CustomerToken); err != nil || lost.Len() != 1 {
			t.Errorf("%d guests are cached, %v", lost.Len(), err)
		}
		h.close(l.VisitID)
		h.restart()
		_, err := h.guests.Resolve(t.Context(), l.CustomerToken)
		testenv.ErrorIs(t, visit.ErrClosed, err, "after the closing")
		if lost.Len() != 0 {
			t.Error("a closed visit was written to Redis")
		}
	})
}

// A query that started before a visit was closed has read it as open, so its result must not be cached.
func TestGuests_Resolve_discards_an_outdated_read(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		l := h.scan(3, "")
		h.redis.SetDown(true)
		h.restart()
		h.store.during = func() {
			h.store.during = nil
			h.close(l.VisitID)
		}
		if _, err := h.guests.Resolve(t.Context(), l.CustomerToken); err != nil {
			t.Errorf("the query that started first: %v", err)
		}
		testenv.ErrorIs(t, visit.ErrClosed, testenv.Err(h.guests.Resolve(t.Context(), l.CustomerToken)), "the next")
	})
}

// Bindings of visits that were closed while Redis was unavailable are deleted once it is back.
func TestFloor_ClearKeys(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		l := h.scan(3, "")
		h.redis.SetDown(true)
		h.close(l.VisitID)
		if err := h.floor.RunOnce(t.Context()); err != nil {
			t.Errorf("ClearKeys failed without Redis: %v", err)
		}
		h.redis.SetDown(false)
		if h.redis.Len() != 1 {
			t.Fatal("the test is about a guest that is left in Redis")
		}
		if err := h.floor.RunOnce(t.Context()); err != nil || h.redis.Len() != 0 {
			t.Errorf("%d guests are left, %v", h.redis.Len(), err)
		}
		// A scan in another process that started before the visit was closed writes its binding late. The next rounds
		// delete that too.
		late := visit.Guest{VisitID: l.VisitID, BranchID: 1, TableID: 3, VisitOpen: true}
		testenv.NoError(t, h.redis.Bind(t.Context(), l.CustomerToken, late, time.Hour, h.clock.Now().Add(time.Hour)))
		h.clock.Advance(31 * time.Second)
		if err := h.floor.RunOnce(t.Context()); err != nil || h.redis.Len() != 0 {
			t.Errorf("%d guests are left, %v", h.redis.Len(), err)
		}
		if left, err := h.store.StaleKeys(t.Context(), 10); len(left) != 0 || err != nil {
			t.Errorf("still listed: %v, %v", left, err)
		}
	})
}

func TestGuests_FlushSeen(t *testing.T) {
	inSQLite(t, func(h *fixture) {
		l := h.scan(3, "")
		h.clock.Advance(time.Minute)
		testenv.Must(h.guests.Resolve(t.Context(), l.CustomerToken))(t)
		h.store.seenErr = errors.New("the disk is full")
		testenv.ErrorIs(t, h.store.seenErr, h.guests.FlushSeen(t.Context()), "FlushSeen returned for a failing store")
		h.store.seenErr = nil
		testenv.NoError(t, h.guests.FlushSeen(t.Context()))
		if v := h.openVisits(); !v[0].LastSeenAt.Equal(h.clock.Now()) {
			t.Errorf("last seen at %v", v[0].LastSeenAt)
		}
	})
}

func TestTokens(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		qr, customer := visit.NewQRToken(), visit.NewCustomerToken()
		if len(qr) != 22 || len(customer) != 43 || seen[qr] || seen[customer] {
			t.Fatalf("tokens = %q and %q, want new ones of 22 and 43 characters", qr, customer)
		}
		seen[qr], seen[customer] = true, true
	}
	// FIPS 180-4's example of SHA-256.
	testenv.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", visit.HashToken("abc"))
}

func BenchmarkGuests_Resolve(b *testing.B) {
	h := open(b, sqldbtest.SQLite(b))
	token := h.scan(3, "").CustomerToken
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := h.guests.Resolve(b.Context(), token); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkLanding_Scan(b *testing.B) {
	h := open(b, sqldbtest.SQLite(b))
	qr := h.qr(3)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := h.landing.Scan(b.Context(), qr, ""); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
