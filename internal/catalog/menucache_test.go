package catalog

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

// source is an in-memory Source. Its fields may only be set while no load runs.
type source struct {
	mu       sync.Mutex
	revision int64
	price    int64
	off      []int64
	pause    *Pause
	err      error
	delay    time.Duration
	branches atomic.Int64 // number of reads
	contents atomic.Int64
}

func (s *source) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *source) Branch(_ context.Context, id int64) (Branch, error) {
	s.branches.Add(1)
	s.mu.Lock()
	b, err, delay := hanoi(), s.err, s.delay
	b.Revision, b.Pause = s.revision, s.pause
	s.mu.Unlock()
	time.Sleep(delay) // fake time of the bubble
	if err != nil {
		return Branch{}, err
	}
	if id != b.ID {
		return Branch{}, ErrBranch
	}
	return NewBranch(b)
}

func (s *source) Content(_ context.Context, branch int64) (Content, error) {
	s.contents.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []Item{{ID: 11, DishID: 4, CategoryID: 1, Price: s.price, Active: true}}
	edition := NewEdition(s.revision, branch, nil, items)
	return Content{Revision: s.revision, Edition: edition, Quotas: map[int64]int64{11: 20}, Off: s.off}, s.err
}

func (s *source) Edition(_ context.Context, version int64) (*Edition, error) {
	if version > 100 {
		return nil, ErrVersion
	}
	return NewEdition(version, 1+version/50, nil, []Item{{ID: 11, Price: version}}), s.err
}

func (s *source) AddCombination(context.Context, int64, []MenuPart, time.Time) error { return s.err }

var errDown = fault.New(fault.Unavailable, "unavailable", "down")

// activePrice returns the active menu's price of item 11, or 0 with an error.
func activePrice(t *testing.T, m *MenuCache) (int64, error) {
	t.Helper()
	s, err := m.Active(t.Context(), 1)
	if err != nil {
		return 0, err
	}
	it, _ := s.Item(11)
	return it.Price, nil
}

func wantPrice(t *testing.T, m *MenuCache, want int64) {
	t.Helper()
	testenv.Equal(t, want, testenv.Must(activePrice(t, m))(t))
}

func inBubble(t *testing.T, test func(t *testing.T, s *source, m *MenuCache)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &source{revision: 1, price: 100}
		test(t, s, NewMenuCache(s, NoSharedCache{}, time.Now))
		time.Sleep(readTimeout) // loads that still run end within it
	})
}

func TestMenuCache_Active_loads_once_for_all_callers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		s.delay = 100 * time.Millisecond
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { wantPrice(t, m, 100) })
		}
		wg.Wait()
		if n := s.branches.Load(); n != 1 {
			t.Errorf("50 callers caused %d loads, want 1", n)
		}
	})
}

func TestMenuCache_Active_sees_a_change_within_the_age(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		wantPrice(t, m, 100)
		s.change(func() { s.revision, s.price = 2, 200 })
		wantPrice(t, m, 100)
		time.Sleep(menuAges.fresh + time.Millisecond)
		wantPrice(t, m, 100) // the old value, while the new one is loading
		synctest.Wait()
		wantPrice(t, m, 200)
	})
}

func TestMenuCache_Active_waits_when_too_old(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		wantPrice(t, m, 100)
		s.change(func() { s.revision, s.price = 2, 200 })
		time.Sleep(menuAges.linger + time.Millisecond)
		wantPrice(t, m, 200)
	})
}

func TestMenuCache_Active_reads_the_menu_only_when_the_revision_moves(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		first, _ := m.Active(t.Context(), 1)
		for range 5 {
			time.Sleep(menuAges.linger + time.Second)
			if again, _ := m.Active(t.Context(), 1); again != first {
				t.Error("an unchanged menu has another pointer")
			}
		}
		if n := s.contents.Load(); n != 1 {
			t.Errorf("an unchanged menu was read %d times, want once", n)
		}
	})
}

func TestMenuCache_Invalidate_is_seen_at_once(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		wantPrice(t, m, 100)
		s.change(func() { s.revision, s.price = 2, 200 })
		m.Invalidate(t.Context(), 1)
		wantPrice(t, m, 200)
	})
}

// A load that started before an invalidation may have read the old state, so its result must not be cached.
func TestMenuCache_Invalidate_discards_a_running_load(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		s.delay = 100 * time.Millisecond
		early := make(chan error)
		go func() {
			_, err := m.Branch(t.Context(), 1)
			early <- err
		}()
		synctest.Wait() // the load has read its state and sleeps
		s.change(func() { s.revision = 2 })
		m.Invalidate(t.Context(), 1)
		b, err := m.Branch(t.Context(), 1)
		if b.Revision != 2 || err != nil {
			t.Errorf("revision after the invalidation = %d, %v, want 2", b.Revision, err)
		}
		testenv.NoError(t, <-early)
		if b, _ := m.Branch(t.Context(), 1); b.Revision != 2 {
			t.Errorf("revision = %d, want 2: the outdated load must not be cached", b.Revision)
		}
	})
}

func TestMenuCache_Active_while_the_source_is_down(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		wantPrice(t, m, 100)
		s.change(func() { s.err = errDown })
		time.Sleep(4 * time.Minute)
		before := s.branches.Load()
		for range 100 {
			wantPrice(t, m, 100)
		}
		if n := s.branches.Load() - before; n != 1 {
			t.Errorf("100 callers caused %d loads of a failing source, want 1", n)
		}
		m.Invalidate(t.Context(), 1)
		wantPrice(t, m, 100)
		time.Sleep(time.Minute + time.Second)
		testenv.ErrorIs(t, errDown, testenv.Err(activePrice(t, m)), "after five minutes")
		s.change(func() { s.err, s.revision, s.price = nil, 2, 200 })
		time.Sleep(menuAges.fresh)
		wantPrice(t, m, 200)
	})
}

func TestMenuCache_Active_while_the_source_is_slow(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		wantPrice(t, m, 100)
		s.change(func() { s.delay, s.revision, s.price = 2*time.Second, 2, 200 })
		time.Sleep(time.Minute)
		start := time.Now()
		wantPrice(t, m, 100)
		if waited := time.Since(start); waited > maxLoadWait {
			t.Errorf("a caller waited %v for a cached menu, want at most the maximum of a load", waited)
		}
		time.Sleep(2 * time.Second)
		wantPrice(t, m, 200)
	})
}

func TestMenuCache_Active_ends_with_its_caller(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		s.delay = time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		testenv.ErrorIs(t, context.DeadlineExceeded, testenv.Err(m.Active(ctx, 1)), "a caller whose context ended")
		wantPrice(t, m, 100)
		testenv.Equal(t, 1, s.branches.Load())
	})
}

func TestMenuCache_unknown_branch_is_not_cached(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *source, m *MenuCache) {
		for id := int64(2); id < 50; id++ {
			if _, err := m.Active(t.Context(), id); !errors.Is(err, ErrBranch) {
				t.Errorf("branch %d: error %v, want ErrBranch", id, err)
			}
		}
		m.menus.entries.Range(func(id, _ any) bool {
			t.Errorf("the unknown branch %v is cached", id)
			return true
		})
	})
}

func TestMenuCache_Version(t *testing.T) {
	inBubble(t, func(t *testing.T, s *source, m *MenuCache) {
		s.revision = 3
		for version, want := range map[int64]int64{3: 100, 2: 2, 1: 1} {
			got := testenv.Must(m.Version(t.Context(), 1, version))(t)
			if it, _ := got.Item(11); it.Price != want {
				t.Errorf("version %d has the price %d, want %d", version, it.Price, want)
			}
			if q, limited := got.Quota(11); q != 20 || !limited {
				t.Errorf("quota of version %d = %d, %t, want 20", version, q, limited)
			}
		}
		for _, version := range []int64{60, 101} { // another branch's, unknown
			if _, err := m.Version(t.Context(), 1, version); !errors.Is(err, ErrVersion) {
				t.Errorf("version %d: error %v, want ErrVersion", version, err)
			}
		}
		s.err = errDown
		if _, err := m.Version(t.Context(), 1, 2); err != nil {
			t.Errorf("Version of a cached version: %v", err)
		}
	})
}

func BenchmarkMenus_Active(b *testing.B) {
	m := NewMenuCache(&source{revision: 1}, NoSharedCache{}, time.Now)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := m.Active(b.Context(), 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A clock that is set back does not make a loaded value fresh for the length of the step.
func TestReadThrough_clock_set_back(t *testing.T) {
	now, reads := time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC), 0
	k := newReadThrough(liveMenuAges, func() time.Time { return now }, func(context.Context, int64, *int) (int, error) {
		reads++
		return reads, nil
	})
	for _, want := range []int{1, 1} {
		testenv.Equal(t, want, testenv.Must(k.get(t.Context(), 1))(t))
	}
	now = now.Add(-time.Hour)
	for _, want := range []int{2, 2} {
		testenv.Equal(t, want, testenv.Must(k.get(t.Context(), 1))(t))
	}
}
