package analytics_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticsmemory"
	"comanda/internal/analytics/analyticsredis"
	"comanda/internal/analytics/analyticssql"
	"comanda/internal/analytics/analyticstest"
	"comanda/internal/authz"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// newActivity returns a service as one process has it. Dates are those of UTC.
func newActivity(store analytics.ActivityStore, c analytics.ActivityCache, clock *testenv.Clock) *analytics.Activity {
	return &analytics.Activity{
		Store: store, Cache: c, Now: clock.Now,
		Date: func(_ context.Context, at time.Time) (string, error) { return at.UTC().Format(time.DateOnly), nil },
	}
}

// The figures of bitmaps are those of SQL, even after Redis was emptied.
func TestActivity_figures_equal_a_recount(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis, server := redisdbtest.Real(t)
		store, clock := analyticssql.New(db), testenv.NewClock()
		first := clock.Now().UTC()
		a := newActivity(store, analyticsredis.NewLoginStore(redis), clock)
		random := rand.New(rand.NewPCG(3, 4))
		for range 40 {
			for range random.IntN(60) {
				a.MemberSeen(1+random.Int64N(200), clock.Now())
			}
			testenv.NoError(t, a.Flush(t.Context()))
			clock.Advance(24 * time.Hour)
		}
		clock.Advance(-24 * time.Hour)
		check := func() {
			t.Helper()
			days := testenv.Must(a.Members(t.Context(), first.AddDate(0, 0, 30).Format(time.DateOnly), "2999-01-01"))(t)
			if len(days) != 10 {
				t.Fatalf("%d dates until today, want 10", len(days))
			}
			for _, d := range days {
				day := testenv.Must(time.Parse(time.DateOnly, d.Date))(t)
				want := testenv.Must(store.CountActive(t.Context(), analyticstest.Dates(day)))(t)
				if testenv.Equal(t, want, d.ActiveMembers); want.Returning == 0 || want.Weekly <= want.Daily {
					t.Errorf("%s: the figures %+v prove nothing", d.Date, want)
				}
			}
		}
		check()
		server.Say("FLUSHALL")
		check()
		date := clock.Now().UTC().Format(time.DateOnly)
		if n := testenv.Must(redis.Do(t.Context(), "BITCOUNT", keyspace.LoginDay(date)).Int())(t); n == 0 {
			t.Error("the reader has not restored the bitmap")
		}
		server.Kill()
		check()
	})
}

// broken is a store that fails.
type broken struct {
	*analyticssql.Store

	err error
}

func (b *broken) AddActive(ctx context.Context, all []analytics.ActiveDay) error {
	if b.err != nil {
		return b.err
	}
	return b.Store.AddActive(ctx, all)
}

// A date that cannot be stored is stored later, and one that is stored is not stored again.
func TestActivity_keeps_dates_until_they_are_stored(t *testing.T) {
	store, clock := &broken{Store: analyticssql.New(sqldbtest.SQLite(t))}, testenv.NewClock()
	a := newActivity(store, analyticsmemory.NewLoginStore(), clock)
	date := clock.Now().UTC().Format(time.DateOnly)
	store.err = errors.New("the disk is full")
	a.MemberSeen(7, clock.Now())
	testenv.ErrorIs(t, store.err, a.Flush(t.Context()))
	store.err = nil
	testenv.NoError(t, a.Flush(t.Context()))
	testenv.Equal(t, []int64{7}, testenv.Must(store.ActiveOn(t.Context(), date))(t))
	store.err = errors.New("stored twice")
	clock.Advance(2 * time.Minute)
	a.MemberSeen(7, clock.Now())
	testenv.NoError(t, a.Flush(t.Context()))
	store.err = nil
	clock.Advance(24 * time.Hour)
	a.MemberSeen(7, clock.Now())
	testenv.NoError(t, a.Flush(t.Context()))
	if n := len(testenv.Must(store.ActiveOn(t.Context(), clock.Now().UTC().Format(time.DateOnly)))(t)); n != 1 {
		t.Errorf("%d members on the next date, want 1", n)
	}
}

// unmarked is a cache that cannot be written for a while.
type unmarked struct {
	*analyticsmemory.LoginStore
	err error
}

func (u *unmarked) MarkActive(ctx context.Context, date string, users []int64) error {
	if u.err != nil {
		return u.err
	}
	return u.LoginStore.MarkActive(ctx, date, users)
}

func (u *unmarked) RestoreDay(ctx context.Context, date string, users []int64) error {
	if u.err != nil {
		return u.err
	}
	return u.LoginStore.RestoreDay(ctx, date, users)
}

// A member that SQL has and the cache has missed is added by the next call, and by Restore if the process was killed.
func TestActivity_marks_what_it_has_missed(t *testing.T) {
	store, clock := analyticssql.New(sqldbtest.SQLite(t)), testenv.NewClock()
	cache := &unmarked{LoginStore: analyticsmemory.NewLoginStore()}
	a := newActivity(store, cache, clock)
	today := clock.Now().UTC().Format(time.DateOnly)
	daily := func() int64 {
		t.Helper()
		days := testenv.Must(a.Members(t.Context(), today, today))(t)
		return days[0].Daily
	}
	a.MemberSeen(1, clock.Now())
	if testenv.NoError(t, a.Flush(t.Context())); daily() != 1 {
		t.Errorf("%d members, want 1", daily())
	}
	missed := func(a *analytics.Activity, user int64) {
		t.Helper()
		cache.err = redisdb.ErrDown
		a.MemberSeen(user, clock.Now())
		testenv.ErrorIs(t, redisdb.ErrDown, a.Flush(t.Context()), "Flush without the cache")
		cache.err = nil
		if n := daily(); n != user-1 {
			t.Errorf("%d members before member %d is marked", n, user)
		}
	}
	missed(a, 2)
	if testenv.NoError(t, a.Flush(t.Context())); daily() != 2 {
		t.Errorf("%d members after the next call, want 2", daily())
	}
	killed := newActivity(store, cache, clock)
	missed(killed, 3)
	if testenv.NoError(t, a.Restore(t.Context())); daily() != 3 {
		t.Errorf("%d members after Restore, want 3", daily())
	}
}

// Who is here: one request per visitor and minute is recorded, two processes count a visitor once, and a manager sees no branches
// of others.
func TestActivity_Online(t *testing.T) {
	r, clock := open(t, sqldbtest.Postgres(t)), testenv.NewClock()
	redis := redisdbtest.Redis(t)
	first := newActivity(r.store, analyticsredis.NewLoginStore(redis), clock)
	second := newActivity(r.store, analyticsredis.NewLoginStore(redis), clock)
	online := func(by authz.Actor) analytics.Online {
		t.Helper()
		testenv.NoError(t, first.Flush(t.Context()), second.Flush(t.Context()))
		return testenv.Must(first.Online(t.Context(), by))(t)
	}
	manager := authz.Actor{Kind: authz.Account, Role: authz.RoleManager, Branches: []int64{1}}
	hash := func(n int) string { return strconv.Itoa(n) + "23456789abcdef0123456789abcdef" }
	for _, a := range []*analytics.Activity{first, second} {
		for n := range 3 {
			a.GuestSeen(1, hash(n), clock.Now())
			a.MemberSeen(int64(n/2)+1, clock.Now())
		}
	}
	want := analytics.Online{Members: 2, Branches: []analytics.BranchOnline{{Branch: 1, Guests: 3}}}
	testenv.Equal(t, want, online(manager))
	manager.Branches = []int64{2}
	testenv.Equal(t, analytics.Online{Members: 2}, online(manager))
	manager.Branches = []int64{1}

	clock.Advance(30 * time.Second)
	first.GuestSeen(1, hash(0), clock.Now()) // within a minute: not recorded
	clock.Advance(analytics.OnlineWindow - 30*time.Second)
	first.GuestSeen(1, hash(1), clock.Now())
	testenv.Equal(t, want, online(manager))
	clock.Advance(time.Second)
	testenv.Equal(t, analytics.Online{Branches: []analytics.BranchOnline{{Branch: 1, Guests: 1}}}, online(manager))
}

// A request that is not recorded allocates nothing, and one that is recorded does no I/O.
func BenchmarkActivity_sign(b *testing.B) {
	a := newActivity(nil, nil, testenv.NewClock())
	now := time.Now()
	hash := "0123456789abcdef0123456789abcdef"
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.GuestSeen(1, hash, now)
		}
	})
	b.Run("again from all cores", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				a.GuestSeen(1, hash, now)
			}
		})
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		n := int64(0)
		for b.Loop() {
			if n++; n%50_000 == 1 {
				a = newActivity(nil, nil, testenv.NewClock())
			}
			a.MemberSeen(n, now)
		}
	})
}

// BenchmarkActivity_members measures the figures of a date for 100,000 members, of whom a third is active each day.
func BenchmarkActivity_members(b *testing.B) {
	redis, _ := redisdbtest.Real(b)
	c := analyticsredis.NewLoginStore(redis)
	dates := analyticstest.Dates(analyticstest.At)
	for i, date := range dates {
		var users []int64
		for id := int64(1 + i%3); id <= 100_000; id += 3 {
			users = append(users, id)
		}
		testenv.NoError(b, c.RestoreDay(b.Context(), date, users))
	}
	bytes := testenv.Must(redis.Do(b.Context(), "STRLEN", keyspace.LoginDay(dates[0])).Int())(b)
	for b.Loop() {
		if _, _, err := c.CountActive(b.Context(), dates); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bytes), "bytes/date")
}
