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
// Without a change of what is left no subscriber is notified.
func TestLiveMenus_LevelsChanged(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, _ *source, c *counters, b *LiveMenus) {
		b.LevelsChanged(1) // no subscribers
		first, end := b.Subscribe(1)
		second, endSecond := b.Subscribe(2)
		defer endSecond()
		liveMenu(t, b)
		notified(first)
		sell := func(left int64) {
			c.set(map[int64]int64{11: left}, nil)
			b.LevelsChanged(1)
			synctest.Wait()
		}
		sell(19)
		if left, _ := liveMenu(t, b).Left(11); !notified(first) || left != 19 {
			t.Errorf("the first change did not notify, or subscribers read %d left", left)
		}
		times := 0
		for i := range int64(1000) { // a second of orders
			sell(18 - i/100)
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if notified(first) {
				times++
			}
		}
		if times < 3 || times > 4 {
			t.Errorf("notified %d times in a second", times)
		}
		sell(3)
		time.Sleep(minNotifyInterval)
		synctest.Wait()
		if left, _ := liveMenu(t, b).Left(11); !notified(first) || left != 3 {
			t.Errorf("the last change of a burst did not notify, or subscribers read %d left", left)
		}
		time.Sleep(time.Hour)
		sell(3)
		if notified(first) || notified(second) {
			t.Error("notified without a change")
		}
		end()
		sell(2)
		if notified(first) || len(b.hub.topic.Keys()) != 1 {
			t.Error("an ended subscription was notified or kept")
		}
	})
}

// A changed menu notifies at once, without minNotifyInterval, and subscribers read the new menu. AllChanged notifies
// the subscribers of all branches, changed or not.
func TestLiveMenus_MenuChanged(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, s *source, _ *counters, b *LiveMenus) {
		first, end := b.Subscribe(1)
		defer end()
		second, endSecond := b.Subscribe(2)
		defer endSecond()
		b.MenuChanged(3) // no subscribers
		liveMenu(t, b)
		notified(first)
		for i, c := range []struct {
			act           func()
			first, second bool
		}{
			{func() { b.LevelsChanged(1) }, false, false}, // the change is not one of levels
			{func() { b.MenuChanged(1) }, true, false},
			{func() { b.MenuChanged(1) }, true, false},
			{b.AllChanged, true, true},
		} {
			s.change(func() { s.revision++ })
			c.act()
			synctest.Wait()
			if got := liveMenu(t, b).Branch.Revision; i > 0 && got != s.revision {
				t.Errorf("%d: subscribers read revision %d, want %d", i, got, s.revision)
			}
			if notified(first) != c.first || notified(second) != c.second {
				t.Errorf("%d: the wrong subscribers were notified", i)
			}
		}
	})
}

// Changes without a notification reach subscribers within RefreshInterval and the age of a menu, and reading costs the same
// for any number of subscribers: those that come with time, and those after a failed read.
func TestLiveMenus_Refresh(t *testing.T) {
	withLiveMenus(t, func(t *testing.T, _ *source, c *counters, b *LiveMenus) {
		const subscribers = 1000
		all := make([]chan struct{}, subscribers)
		for i := range all {
			changed, end := b.Subscribe(1)
			defer end()
			all[i] = changed
		}
		liveMenu(t, b)
		for _, changed := range all {
			notified(changed)
		}
		rounds := func(d time.Duration) {
			for range d / RefreshInterval {
				b.Refresh()
				time.Sleep(RefreshInterval)
				synctest.Wait()
			}
		}
		wantNotified := func(what string, want bool) {
			t.Helper()
			for i, changed := range all {
				if notified(changed) != want {
					t.Fatalf("%s: subscriber %d notified is not %t", what, i, want)
				}
			}
		}
		before := c.calls
		rounds(10 * time.Second)
		if n := c.calls - before; n > 41 {
			t.Errorf("%d subscribers cost %d reads in ten seconds", subscribers, n)
		}
		wantNotified("nothing has changed", false)
		c.set(map[int64]int64{11: 7}, nil)
		rounds(2 * RefreshInterval)
		wantNotified("units sold by a program that notifies no one", true)
		c.set(nil, errDown)
		rounds(time.Second)
		wantNotified("the levels cannot be read", false)
		c.set(map[int64]int64{11: 6}, nil)
		rounds(2 * RefreshInterval)
		wantNotified("the levels can be read again", true)
		time.Sleep(21*time.Hour - 30*time.Second) // the bubble begins at midnight; the business date changes at 21:00 UTC
		rounds(time.Minute)
		wantNotified("another business date", true)
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
