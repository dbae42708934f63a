package catalog

import (
	"testing"
	"testing/synctest"
	"time"
)

func notified(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// The first change notifies at once, a burst notifies once per minNotifyInterval, and the last change is not lost.
func TestLiveMenus_LevelsChanged(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, _ *source, c *counters, b *LiveMenus) {
		b.LevelsChanged(1) // no subscribers
		first, end := b.Subscribe(1)
		second, endSecond := b.Subscribe(2)
		defer endSecond()
		liveMenu(t, b)
		c.set(map[int64]int64{11: 3}, nil)
		b.LevelsChanged(1)
		if left, _ := liveMenu(t, b).Left(11); !notified(first) || left != 3 {
			t.Errorf("the first change did not notify, or subscribers read %d left", left)
		}
		times := 0
		for range 1000 { // a second of orders
			b.LevelsChanged(1)
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if notified(first) {
				times++
			}
		}
		if times < 3 || times > 4 {
			t.Errorf("notified %d times in a second", times)
		}
		b.LevelsChanged(1)
		time.Sleep(minNotifyInterval)
		synctest.Wait()
		if !notified(first) {
			t.Error("the last change of a burst did not notify")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if notified(first) || notified(second) {
			t.Error("notified without a change")
		}
		end()
		b.LevelsChanged(1)
		if notified(first) || len(b.hub.topic.Keys()) != 1 {
			t.Error("an ended subscription was notified or kept")
		}
	})
}

// A changed menu notifies at once, without minNotifyInterval, and subscribers read the new menu. AllChanged does the
// same for all branches.
func TestLiveMenus_MenuChanged(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, s *source, _ *counters, b *LiveMenus) {
		first, end := b.Subscribe(1)
		defer end()
		second, endSecond := b.Subscribe(2)
		defer endSecond()
		b.MenuChanged(3) // no subscribers
		for i, c := range []struct {
			act           func()
			first, second bool
		}{
			{func() { b.LevelsChanged(1) }, true, false},
			{func() { b.MenuChanged(1) }, true, false},
			{func() { b.MenuChanged(1) }, true, false},
			{b.AllChanged, true, true},
		} {
			liveMenu(t, b)
			s.change(func() { s.revision++ })
			c.act()
			if notified(first) != c.first || notified(second) != c.second {
				t.Errorf("%d: the wrong subscribers were notified", i)
			}
			if got := liveMenu(t, b).Branch.Revision; i > 0 && got != s.revision {
				t.Errorf("%d: subscribers read revision %d, want %d", i, got, s.revision)
			}
		}
	})
}

// OnChange is not called for changes of other processes, or two processes would notify each other endlessly.
func TestMenuCache_OnChange(t *testing.T) {
	var changed []int64
	m := NewMenuCache(&source{revision: 1, price: 100}, NoSharedCache{}, time.Now)
	m.OnChange = func(branch int64) { changed = append(changed, branch) }
	m.InvalidateLocal(1)
	m.Invalidate(t.Context(), 2)
	if len(changed) != 1 || changed[0] != 2 {
		t.Errorf("OnChange was called with %v", changed)
	}
}
