package catalog

import (
	"testing"
	"testing/synctest"
	"time"
)

func woken(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// After a pause onlookers are woken at once; under a storm as often as they would look; and the last change is not missed.
func TestBoards_Changed(t *testing.T) {
	onBoard(t, func(t *testing.T, _ *shelf, c *counters, b *Boards) {
		b.Changed(1) // nobody looks on
		here, end := b.Watch(1)
		there, endThere := b.Watch(2)
		defer endThere()
		board(t, b)
		c.set(map[int64]int64{11: 3}, nil)
		b.Changed(1)
		if left, _ := board(t, b).Left(11); !woken(here) || left != 3 {
			t.Errorf("after the first change nobody is woken, or finds %d left", left)
		}
		times := 0
		for range 1000 { // a second of orders
			b.Changed(1)
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if woken(here) {
				times++
			}
		}
		if times < 3 || times > 4 {
			t.Errorf("woken %d times in a second", times)
		}
		b.Changed(1)
		time.Sleep(boardRest)
		synctest.Wait()
		if !woken(here) {
			t.Error("the last change of a storm wakes nobody")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if woken(here) || woken(there) {
			t.Error("woken for nothing")
		}
		end()
		b.Changed(1)
		if woken(here) || len(b.wakes.of) != 1 {
			t.Error("who has gone is remembered")
		}
	})
}

// A new menu wakes at once, however lately something else did, and is what onlookers find; and so does not knowing what
// has changed.
func TestBoards_Renewed(t *testing.T) {
	onBoard(t, func(t *testing.T, s *shelf, _ *counters, b *Boards) {
		here, end := b.Watch(1)
		defer end()
		there, endThere := b.Watch(2)
		defer endThere()
		b.Renewed(3) // nobody looks on
		for i, c := range []struct {
			act         func()
			here, there bool
		}{
			{func() { b.Changed(1) }, true, false},
			{func() { b.Renewed(1) }, true, false},
			{func() { b.Renewed(1) }, true, false},
			{b.RenewedAll, true, true},
		} {
			board(t, b)
			s.change(func() { s.revision++ })
			c.act()
			if woken(here) != c.here || woken(there) != c.there {
				t.Errorf("%d: the wrong onlookers are woken", i)
			}
			if got := board(t, b).Branch.Revision; i > 0 && got != s.revision {
				t.Errorf("%d: onlookers find revision %d of %d", i, got, s.revision)
			}
		}
	})
}

// What this process has changed is told to others; what it was told is not, or it would go round for ever.
func TestMenus_Told(t *testing.T) {
	var told []int64
	m := NewMenus(&shelf{revision: 1, price: 100}, Alone{}, time.Now)
	m.Told = func(branch int64) { told = append(told, branch) }
	m.Forget(1)
	m.Invalidate(t.Context(), 2)
	if len(told) != 1 || told[0] != 2 {
		t.Errorf("told of %v", told)
	}
}
