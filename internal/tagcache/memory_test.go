package tagcache_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/tagcache"
	"comanda/internal/tagcache/tagcachetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	tagcachetest.Store(t, func(*testing.T) tagcache.Store { return tagcache.NewMemory(time.Now) })
}

func entry(parts ...string) tagcache.Entry {
	return tagcache.NewEntry(tagcache.Dishes, tagcache.List, 0, tagcache.DateRange{}, parts...)
}

// A value lives no longer than its TTL after the clock was set back.
func TestMemory_clock_set_back(t *testing.T) {
	now := time.Date(2026, 2, 26, 12, 0, 0, 0, time.UTC)
	c := &tagcache.Cache{Store: tagcache.NewMemory(func() time.Time { return now })}
	e := tagcache.NewEntry(tagcache.Orders, tagcache.Count, 1, tagcache.OnlyExpires, "x")
	for _, step := range []struct {
		by          time.Duration
		value, want int64
	}{{0, 1, 1}, {time.Second, 2, 1}, {-time.Hour, 3, 3}, {time.Second, 4, 3}} {
		now = now.Add(step.by)
		got, err := tagcache.Value(t.Context(), c, e, 2*time.Second, func(context.Context) (int64, error) { return step.value, nil })
		if got != step.want || err != nil {
			t.Errorf("at %v: %d, %v, want %d", now, got, err, step.want)
		}
	}
}

// Values beyond the memory that the store may use are computed. Once older ones have expired they are stored again.
func TestMemory_is_bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &tagcache.Cache{Store: tagcache.NewMemory(time.Now)}
		load := func(name string) bool {
			computed := false
			_, err := c.Load(t.Context(), entry(name), time.Minute, func(context.Context) ([]byte, error) {
				computed = true
				return make([]byte, tagcache.MaxValue), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return computed
		}
		stored := 0
		for i := range 64 {
			load(strconv.Itoa(i))
			if !load(strconv.Itoa(i)) {
				stored++
			}
		}
		if stored != 32 {
			t.Errorf("%d values of 1 MiB are stored, want 32", stored)
		}
		time.Sleep(2 * time.Minute) // of the bubble: everything has expired
		load("late")
		if load("late") {
			t.Error("the store is still full")
		}
	})
}

// Readers wait for a computation of another reader, and compute themselves if it takes too long.
func TestCache_Load_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := tagcache.NewMemory(time.Now)
		c := &tagcache.Cache{Store: store}
		done := make(chan string)
		go func() {
			v, err := c.Load(t.Context(), entry("slow"), time.Minute, func(context.Context) ([]byte, error) {
				time.Sleep(time.Second)
				return []byte("first"), nil
			})
			done <- string(v) + errorText(err)
		}()
		synctest.Wait()
		v, err := c.Load(t.Context(), entry("slow"), time.Minute, func(context.Context) ([]byte, error) {
			return []byte("second"), nil
		})
		if string(v) != "first" || err != nil || <-done != "first" {
			t.Errorf("a waiting reader received %q, %v, want the value of the first", v, err)
		}

		// The process that has the lease was killed.
		if _, o, err := store.Lookup(t.Context(), entry("dead"), "killed"); o != tagcache.Leased || err != nil {
			t.Fatalf("Lookup = %d, %v", o, err)
		}
		begun := time.Now()
		v, err = c.Load(t.Context(), entry("dead"), time.Minute, func(context.Context) ([]byte, error) {
			return []byte("own"), nil
		})
		if took := time.Since(begun); string(v) != "own" || err != nil || took != 5*time.Second {
			t.Errorf("after %s a reader received %q, %v, want its own value after 5s", took, v, err)
		}
	})
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestValue(t *testing.T) {
	type figures struct{ Sold int64 }
	c := &tagcache.Cache{Store: tagcache.NewMemory(time.Now)}
	load := func(c *tagcache.Cache, n int64) int64 {
		t.Helper()
		v, err := tagcache.Value(t.Context(), c, entry("v"), time.Minute, func(context.Context) (figures, error) {
			return figures{n}, nil
		})
		if err != nil {
			t.Error(err)
		}
		return v.Sold
	}
	if first, second, none := load(c, 1), load(c, 2), load(nil, 3); first != 1 || second != 1 || none != 3 {
		t.Errorf("values %d, %d and without a cache %d, want 1, 1 and 3", first, second, none)
	}
	// A value that cannot be read is computed again.
	if _, err := c.Load(t.Context(), entry("old"), time.Minute, func(context.Context) ([]byte, error) {
		return []byte(`{"Sold":"many"}`), nil
	}); err != nil {
		t.Fatal(err)
	}
	v, err := tagcache.Value(t.Context(), c, entry("old"), time.Minute, func(context.Context) (figures, error) {
		return figures{7}, nil
	})
	if v.Sold != 7 || err != nil {
		t.Errorf("Value = %d, %v for an unreadable value, want 7", v.Sold, err)
	}
}
