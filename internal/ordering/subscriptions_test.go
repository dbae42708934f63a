package ordering

import (
	"slices"
	"sync"
	"testing"

	"comanda/internal/testenv"

	"comanda/internal/stock"
)

func awake(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// changed returns the results of commands on orders of branch 1.
func changed(orders ...string) []Result {
	all := make([]Result, len(orders))
	for i, id := range orders {
		all[i] = Result{Order: Order{ID: id, Scope: stock.Scope{Branch: 1}}}
	}
	return all
}

func TestSubscriptions(t *testing.T) {
	var w Subscriptions
	w.Changed(changed("a")) // without a subscriber
	first, endFirst := w.Subscribe("a")
	second, endSecond := w.Subscribe("a")
	other, endOther := w.Subscribe("b")
	for range 3 { // changes in quick succession share a value, and none blocks
		w.Changed(changed("x", "a"))
	}
	if !awake(first) || !awake(second) || awake(first) || awake(other) {
		t.Error("each subscriber of the order, and no other, is notified once")
	}
	endFirst()
	w.Changed(changed("a", "b"))
	if awake(first) || !awake(second) || !awake(other) {
		t.Error("a watch that has ended still wakes, or has ended others")
	}
	endSecond()
	endOther()
	if len(w.orders.Keys()) != 0 {
		t.Errorf("%d orders without subscribers are kept", len(w.orders.Keys()))
	}
}

func TestSubscriptions_branch(t *testing.T) {
	var w Subscriptions
	first, end := w.SubscribeBranch(1)
	second, endSecond := w.SubscribeBranch(2)
	order, endOrder := w.Subscribe("a")
	for name, c := range map[string]struct {
		act                  func()
		first, second, order bool
	}{
		"a change of ours":        {func() { w.Changed(changed("a", "b")) }, true, false, true},
		"a change of another's":   {func() { w.Notify(2, "a") }, false, true, true},
		"a branch alone":          {func() { w.Notify(1) }, true, false, false},
		"unknown":                 {w.NotifyAll, true, true, true},
		"a refusal":               {func() { w.Changed([]Result{{}}) }, false, false, false},
		"an order without access": {func() { w.Notify(3, "z") }, false, false, false},
		"nothing at all changed":  {func() { w.Changed(nil) }, false, false, false},
	} {
		c.act()
		if got := [3]bool{awake(first), awake(second), awake(order)}; got != [3]bool{c.first, c.second, c.order} {
			t.Errorf("%s wakes %v", name, got)
		}
	}
	end()
	endSecond()
	endOrder()
	if len(w.branches.Keys())+len(w.orders.Keys()) != 0 {
		t.Error("a branch or an order without subscribers is kept")
	}
}

// Changes of this process are passed on to others. Changes received from others are not, or they would circulate
// forever.
func TestSubscriptions_OnChange(t *testing.T) {
	var notified []string
	w := Subscriptions{OnChange: func(branch int64, orders []string) {
		testenv.Equal(t, 1, branch)
		notified = append(notified, orders...)
	}}
	w.Changed(changed("a", "b"))
	w.Notify(1, "c")
	w.NotifyAll()
	if !slices.Equal(notified, []string{"a", "b"}) {
		t.Errorf("notified of %v", notified)
	}
}

// Subscribers that come, leave or do not receive never block a change.
func TestSubscriptions_at_once(t *testing.T) {
	var w Subscriptions
	_, end := w.SubscribeBranch(1) // never receives
	defer end()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				wake, end := w.Subscribe("a")
				w.Changed(changed("a"))
				<-wake
				end()
				w.NotifyAll()
			}
		})
	}
	wg.Wait()
	testenv.Equal(t, 0, len(w.orders.Keys()))
}
