package stock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// fakeRanking is a ranking store and a snapshot cache, in memory.
type fakeRanking struct {
	left    map[string]int64
	copies  map[string]stock.LevelSnapshot
	err     error // error of reading the cached copies
	queries int   // queries of SQL
	ranked  []stock.ReadCount
}

func (s *fakeRanking) Read(_ context.Context, _ int64, skus []string) (all []stock.LevelSnapshot, _ error) {
	for _, sku := range skus {
		if g, ok := s.copies[sku]; ok {
			all = append(all, g)
		}
	}
	return all, s.err
}

func (s *fakeRanking) Write(_ context.Context, snapshots []stock.LevelSnapshot) error {
	for _, g := range snapshots {
		s.copies[g.SKU] = g
	}
	return s.err
}

func (s *fakeRanking) Levels(_ context.Context, branch int64, skus []string) (all []stock.Level, _ error) {
	s.queries++
	for _, sku := range skus {
		if n, ok := s.left[sku]; ok {
			all = append(all, stock.Level{Item: stock.Item{ID: 1, Branch: branch, SKU: sku}, Available: n})
		}
	}
	return all, nil
}

func (s *fakeRanking) Top(ctx context.Context, limit int) ([]stock.Level, error) {
	return s.Levels(ctx, 1, []string{"rice", "beer"}[:min(limit, 2)])
}

func (s *fakeRanking) Rank(_ context.Context, reads []stock.ReadCount) error {
	s.ranked = reads
	return nil
}

func TestSnapshotService(t *testing.T) {
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	s := &fakeRanking{left: map[string]int64{"rice": 5, "beer": 2}, copies: map[string]stock.LevelSnapshot{}}
	w := &stock.SnapshotService{Cache: s, Store: s, Now: func() time.Time { return now }}
	all := authz.System()
	look := func(queries int, skus ...string) string {
		t.Helper()
		before := s.queries
		found, err := w.Snapshots(t.Context(), all, 1, skus)
		if err != nil || s.queries-before != queries {
			t.Errorf("%d questions to SQL, want %d; %v", s.queries-before, queries, err)
		}
		text := ""
		for _, g := range found {
			text += fmt.Sprintf("%s=%d -%v;", g.SKU, g.Available, now.Sub(g.At))
		}
		return text
	}
	wants := func(got, want string) {
		t.Helper()
		testenv.Equal(t, want, got)
	}
	wants(look(1, "beer", "none", "rice"), "beer=2 -0s;rice=5 -0s;")
	s.left["rice"] = 1
	now = now.Add(59 * time.Second)
	wants(look(0, "rice", "rice"), "rice=5 -59s;")
	now = now.Add(time.Second) // too old, whatever the TTL in Redis
	wants(look(1, "rice"), "rice=1 -0s;")
	s.left["beer"] = 9
	testenv.NoError(t, w.Warm(t.Context()))
	wants(look(0, "beer", "rice"), "beer=9 -0s;rice=1 -0s;")
	s.err, s.left["rice"] = errors.New("gone"), 7
	wants(look(1, "rice"), "rice=7 -0s;")
	testenv.NoError(t, w.FlushReads(t.Context()))
	want := []stock.ReadCount{{Branch: 1, SKU: "beer", N: 2}, {Branch: 1, SKU: "none", N: 1}, {Branch: 1, SKU: "rice", N: 6}}
	testenv.Equal(t, want, s.ranked)
	if err := w.FlushReads(t.Context()); err != nil || len(s.ranked) != 0 {
		t.Errorf("counted twice: %v, %v", s.ranked, err)
	}
	found, err := w.Snapshots(t.Context(), authz.Actor{Branches: []int64{2}}, 1, []string{"rice"})
	if err != nil || len(found) != 0 {
		t.Errorf("a foreign branch shows %v, %v", found, err)
	}
}

// The number of items that are counted is bounded, however many are requested.
func TestSnapshotService_bounds_counted_items(t *testing.T) {
	s := &fakeRanking{copies: map[string]stock.LevelSnapshot{}}
	w := &stock.SnapshotService{Cache: s, Store: s, Now: time.Now}
	for i := range 200 {
		skus := make([]string, stock.MaxSnapshots)
		for j := range skus {
			skus[j] = fmt.Sprintf("i%d-%d", i, j)
		}
		testenv.Must(w.Snapshots(t.Context(), authz.System(), 1, skus))(t)
	}
	if err := w.FlushReads(t.Context()); err != nil || len(s.ranked) != 10_000 {
		t.Errorf("%d items are counted, %v", len(s.ranked), err)
	}
}

func TestStatus_State(t *testing.T) {
	for _, s := range []stock.Status{
		stock.StatusReserved, stock.StatusConfirmed, stock.StatusCancelled, stock.StatusExpired, stock.StatusRefused, stock.StatusReturned,
	} {
		if state, reason := s.State(); stock.StatusOf(state, reason) != s {
			t.Errorf("%s is %s %s, which is converted to %s", s, state, reason, stock.StatusOf(state, reason))
		}
	}
	if state, _ := stock.Status("HELD").State(); state != "" {
		t.Errorf("a state is not a status: %s", state)
	}
}

func TestItem_Validate(t *testing.T) {
	for name, c := range map[string]struct {
		item stock.Item
		ok   bool
	}{
		"plain":           {stock.Item{SKU: "rice", LowAt: stock.NoAlarm}, true},
		"with everything": {stock.Item{SKU: "Rice.ST-25_a", Name: "Gạo", Unit: "kg", LowAt: 0}, true},
		"no name":         {stock.Item{LowAt: 0}, false},
		"a mark too low":  {stock.Item{SKU: "rice", LowAt: -2}, false},
		"a mark too high": {stock.Item{SKU: "rice", LowAt: stock.MaxAvailable + 1}, false},
		"not text":        {stock.Item{SKU: "rice", Name: "\xff"}, false},
		"a colon":         {stock.Item{SKU: "a:b"}, false},
	} {
		if err := c.item.Validate(); (err == nil) != c.ok || err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("Validate with %s: error %v, want success %t", name, err, c.ok)
		}
	}
}
