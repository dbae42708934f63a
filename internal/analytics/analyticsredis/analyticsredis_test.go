package analyticsredis_test

import (
	"testing"

	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticsredis"
	"comanda/internal/analytics/analyticstest"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

func TestStore(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) { analyticstest.Cache(t, analyticsredis.New(db)) })
}

func TestActivity(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) { analyticstest.Activity(t, analyticsredis.NewLoginStore(db)) })
}

// redis-key-naming (001-C4): every key of the analytics has the TTL of its declaration.
func TestStore_keys_expire(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		s, scope := analyticsredis.New(db), analytics.BranchDay{Branch: 7, Date: "2026-02-26"}
		v := analytics.Views{Viewed: []int64{1}, Opened: []int64{1}, User: 9}
		scores := []analytics.Score{{Dish: 1, N: 1}}
		testenv.NoError(t,
			s.SetSeen(t.Context(), 9, []analytics.Seen{{Dish: 1, At: analyticstest.At}}),
			s.Add(t.Context(), scope, v, analyticstest.At),
			s.SetRank(t.Context(), analytics.Sold, 7, analytics.DayOf(scope.Date), scores),
			s.SetRank(t.Context(), analytics.Viewed, 7, analytics.WeekOf(scope.Date), scores),
			s.AppendSearches(t.Context(), scope.Date, []analytics.SearchEvent{{Branch: 7, Text: "pho"}}),
		)
		a, seen := analyticsredis.NewLoginStore(db), []analytics.VisitorSeen{{Visitor: "1", At: analyticstest.At}}
		testenv.NoError(t,
			a.MarkActive(t.Context(), "2026-02-25", []int64{1}), a.RestoreDay(t.Context(), "2026-02-26", []int64{1}),
			a.SaveLastSeen(t.Context(), 7, seen), a.SaveLastSeen(t.Context(), analytics.MembersBranch, seen),
		)
		_, _, err := s.Take(t.Context(), scope, "taken")
		testenv.NoError(t, err, s.Add(t.Context(), scope, v, analyticstest.At))
		for _, k := range []keyspace.Key{
			keyspace.ViewCounts(7, scope.Date), keyspace.TakenViews(7, scope.Date), keyspace.MemberViews(9),
			keyspace.SoldRank(7, "d-2026-02-26"), keyspace.ViewedRank(7, "w-2026-02-26"),
			keyspace.Searches(scope.Date),
			keyspace.LoginDay("2026-02-25"), keyspace.LoginDay("2026-02-26"), keyspace.OnlineGuests(7), keyspace.OnlineMembers(),
		} {
			ttl, err := db.Do(t.Context(), "PTTL", k).Int()
			if most := k.Decl().TTL.Max.Milliseconds(); err != nil || ttl <= 0 || ttl > most {
				t.Errorf("%s lives %d ms, at most %d, %v", k, ttl, most, err)
			}
		}
	})
}
