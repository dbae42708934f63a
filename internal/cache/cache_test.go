package cache_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"comanda/internal/cache"
)

var start = time.UnixMilli(1000)

func TestCache_expires(t *testing.T) {
	var c cache.Cache[string, int]
	if _, ok := c.Get("a", start); ok {
		t.Error("a value was found in an empty cache")
	}
	c.PutFor("a", 1, start, time.Second)
	c.Put("b", 2)
	for _, want := range []struct {
		at   time.Duration
		a, b bool
	}{{0, true, true}, {time.Second - 1, true, true}, {time.Second, false, true}, {1000 * time.Hour, false, true}} {
		_, a := c.Get("a", start.Add(want.at))
		_, b := c.Get("b", start.Add(want.at))
		if a != want.a || b != want.b {
			t.Errorf("after %v: %t, %t", want.at, a, b)
		}
	}
	c.DeleteExpired(start.Add(time.Second))
	if n := c.Len(); n != 1 {
		t.Errorf("%d values remain", n)
	}
}

func TestCache_deletes(t *testing.T) {
	var c cache.Cache[string, int]
	all := func() (n int) {
		for _, key := range []string{"a", "b", "c"} {
			if v, ok := c.Get(key, start); ok {
				n = 10*n + v
			}
		}
		return n
	}
	fill := func() {
		c.Put("a", 9)
		c.Put("a", 1) // replaces
		c.Put("b", 2)
		c.Put("c", 3)
	}
	fill()
	if c.Delete("b", "x"); all() != 13 {
		t.Errorf("Delete: %d", all())
	}
	if c.DeleteFunc(func(v int) bool { return v == 1 }); all() != 3 {
		t.Errorf("DeleteFunc: %d", all())
	}
	fill()
	if c.Clear(); all() != 0 || c.Len() != 0 {
		t.Errorf("Clear: %d", all())
	}
}

// The cache keeps a bounded number of values, however many keys are stored. A key that is read stays.
func TestCache_is_bounded(t *testing.T) {
	const most = 1000
	c := cache.Cache[int, int]{Max: most}
	for key := range 10 * most {
		c.Put(key, key)
		if v, ok := c.Get(0, start); !ok || v != 0 {
			t.Fatalf("forgotten after %d others", key)
		}
		if n := c.Len(); n > most {
			t.Fatalf("%d values are kept", n)
		}
	}
	if _, ok := c.Get(10*most-most/2, start); !ok {
		t.Error("a recent value is forgotten")
	}
	if _, ok := c.Get(most, start); ok {
		t.Error("a value of long ago is kept")
	}
	if c.Delete(0); c.Len() > most {
		t.Error("a deleted key is kept in a generation")
	}
	if _, ok := c.Get(0, start); ok {
		t.Error("a deleted key is found in the old generation")
	}
}

// Many callers share one read. A failed read is not kept, and an expired value is read again.
func TestCache_Load(t *testing.T) {
	var c cache.Cache[string, int]
	now, reads, failure := start, 0, error(nil)
	load := func() (int, error) {
		return c.Load("a", func() time.Time { return now }, time.Second, func() (int, error) {
			reads++ // under the lock of the key
			return reads, failure
		})
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if v, err := load(); v != 1 || err != nil {
				t.Errorf("Load = %d, %v, want 1", v, err)
			}
		})
	}
	all.Wait()
	now, failure = now.Add(time.Second), errors.New("down")
	if _, err := load(); !errors.Is(err, failure) || reads != 2 {
		t.Errorf("%v after %d reads", err, reads)
	}
	failure = nil
	if v, err := load(); v != 3 || err != nil {
		t.Errorf("%d, %v after a failure", v, err)
	}
	if v, _ := load(); v != 3 {
		t.Errorf("read again: %d", v)
	}
}

// A value lives no longer than its TTL after a clock was set back.
func TestCache_Load_clock_set_back(t *testing.T) {
	var c cache.Cache[string, int]
	now, reads := start, 0
	load := func() int {
		v, _ := c.Load("a", func() time.Time { return now }, time.Second, func() (int, error) {
			reads++
			return reads, nil
		})
		return v
	}
	for _, step := range []struct {
		to   time.Time
		want int
	}{{start, 1}, {start.Add(-time.Hour), 2}, {start.Add(-time.Hour), 2}, {start.Add(time.Second - time.Hour), 3}} {
		now = step.to
		if v := load(); v != step.want {
			t.Errorf("at %v: %d, want %d", step.to, v, step.want)
		}
	}
}

// The same holds for a value that was put for a time, and not for one that never expires.
func TestCache_PutFor_clock_set_back(t *testing.T) {
	var c cache.Cache[string, int]
	c.PutFor("a", 1, start, time.Second)
	c.PutFor("over", 1, start, 0)
	c.Put("b", 2)
	for at, want := range map[time.Duration][3]bool{
		-time.Millisecond: {false, false, true}, 0: {true, false, true}, time.Second - 1: {true, false, true}, time.Second: {false, false, true},
	} {
		var got [3]bool
		for i, key := range []string{"a", "over", "b"} {
			_, got[i] = c.Get(key, start.Add(at))
		}
		if got != want {
			t.Errorf("after %v: %v, want %v", at, got, want)
		}
	}
	if c.DeleteExpired(start.Add(-time.Millisecond)); c.Len() != 1 {
		t.Errorf("%d values are left, want one", c.Len())
	}
}

// A value that is deleted while it is read is returned to the waiting callers, and not cached.
func TestCache_Load_deleted(t *testing.T) {
	var c cache.Cache[string, int]
	now := func() time.Time { return start }
	v, err := c.Load("a", now, time.Hour, func() (int, error) {
		c.Delete("a")
		return 1, nil
	})
	if v != 1 || err != nil {
		t.Errorf("Load = %d, %v, want 1", v, err)
	}
	if _, ok := c.Get("a", start); ok {
		t.Error("a read that began before the change was kept")
	}
}

// Deleting a value that was replaced does not restore the previous one.
func TestCache_deletes_every_generation(t *testing.T) {
	t.Parallel()
	c := cache.Cache[string, int]{Max: 2}
	c.Put("a", 1)
	c.Put("a", 2) // the young generation is full, so the first value is in the old one
	c.DeleteFunc(func(v int) bool { return v == 2 })
	if v, ok := c.Get("a", time.Time{}); ok {
		t.Errorf("%d is back", v)
	}
}
