package limitredis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/limit"
	"comanda/internal/limit/limitredis"
	"comanda/internal/limit/limittest"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

func TestStore(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) { limittest.Store(t, limitredis.New(db)) })
}

// A key expires when its subject has its whole burst again, and does not reveal the subject.
func TestStore_keys(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		s, now := limitredis.New(db), time.Now()
		for _, p := range limit.Policies() {
			if p.Local {
				continue
			}
			subject := limittest.Subject()
			key := keyspace.Rate(p.Action, subject)
			for range 3 {
				testenv.Must(s.Reserve(t.Context(), &p, subject, now))(t)
			}
			ttl, err := db.Do(t.Context(), "PTTL", key).Int()
			if want := 3 * p.Interval.Milliseconds(); err != nil || ttl > want || ttl < want-5000 {
				t.Errorf("%s: a debt of %d ms lives %d ms, %v", key, want, ttl, err)
			}
		}
	})
}

// The name of every shared policy is valid in its key, and no window is longer than the key lives.
func TestPolicies_fit_their_keys(t *testing.T) {
	for _, p := range limit.Policies() {
		k := keyspace.Rate(p.Action, "a subject")
		if !p.Local && !k.Valid() {
			t.Errorf("%s has no key", p.Name)
		}
		if p.Window() > keyspace.RateWindow {
			t.Errorf("%s outlives its key", p.Name)
		}
	}
}

func TestStore_redis_down(t *testing.T) {
	db, srv := redisdbtest.Real(t)
	s, p := limitredis.New(db), limit.Policies()[0]
	srv.Kill()
	if _, err := s.Reserve(t.Context(), &p, "a", time.Now()); !errors.Is(err, redisdb.ErrDown) {
		t.Errorf("Reserve without a server: error %v, want ErrDown", err)
	}
	l := &limit.Limiter{Local: limit.NewMemory(), Shared: s, Now: time.Now}
	granted := 0
	for range 20 {
		if _, ok := l.Allow(context.Background(), p.Name, "a"); ok {
			granted++
		}
	}
	if granted != p.Burst {
		t.Errorf("without redis %d were granted, want %d", granted, p.Burst)
	}
}

func BenchmarkLimiter_shared(b *testing.B) {
	db, _ := redisdbtest.Real(b)
	l := &limit.Limiter{Local: limit.NewMemory(), Shared: limitredis.New(db), Now: time.Now}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Allow(b.Context(), "login_ip", limittest.Subject())
		}
	})
}
