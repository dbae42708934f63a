package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every order that was answered with success is there after kill -9, with the same id, number, price and lines, round
// after round; a guest who was not answered asks again and gets one order, not two (I5).
func TestCrash(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := open(t, k, limitless)
		var all []served
		for round := range 3 {
			some := crash(s, fmt.Sprint(round))
			all = append(all, some...)
			for _, v := range all {
				v.still(t)
			}
		}
		numbers := map[string]bool{}
		for _, v := range all {
			numbers[v.order.Number] = true
		}
		if n := s.traces()["orders"]; len(numbers) != len(all) || n != int64(len(all)) {
			t.Errorf("%d orders were promised, with %d numbers; there are %d", len(all), len(numbers), n)
		}
		s.agrees()
		s.drained()
		s.reports(day{Placed: int64(len(all))})
	}, embedded, servers)
}

// served is an order as it was promised to a guest.
type served struct {
	guest guest
	wish  wish
	order order
}

const (
	diners     = 24 // who order at the same time, one order after the other
	beforeKill = 60 // orders until the server is killed
)

// crash kills the server in the middle of orders and starts it again. It gives all orders that were promised, before it
// or to guests who asked again.
func crash(s *site, round string) []served {
	t := s.t
	t.Helper()
	guests := make([]guest, diners)
	for i := range guests {
		guests[i] = s.guest(i)
	}
	var mu sync.Mutex
	var promised, unknown []served
	enough := make(chan struct{})
	var all sync.WaitGroup
	for i, g := range guests {
		all.Go(func() {
			for n := int64(0); ; n++ {
				v := served{guest: g, wish: g.wish(
					line{ItemID: phoGa, Qty: n%3 + 1, Notes: fmt.Sprintf("round %s, guest %d", round, i)}, line{ItemID: phoT, Qty: 1})}
				a := g.place(v.wish)
				mu.Lock()
				if a.status != http.StatusCreated { // the server is dead
					unknown = append(unknown, v)
					mu.Unlock()
					return
				}
				v.order = a.order(t)
				if promised = append(promised, v); len(promised) == beforeKill {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	s.servers[0].kill()
	all.Wait()
	s.servers[0].start()
	for _, v := range unknown {
		v.order = v.guest.insist(v.wish, patience).order(t)
		promised = append(promised, v)
	}
	return promised
}

// still compares an order with what was promised, and with what the guest asked for at the menu's prices (I13).
func (v served) still(t *testing.T) {
	t.Helper()
	now := v.guest.get(v.order.ID).order(t)
	lines := make([]line, len(now.Items))
	for i, it := range now.Items {
		lines[i] = line{it.ItemID, it.Qty, it.Notes}
	}
	if d := cmp.Diff(v.wish.Items, lines); d != "" || now.Total != v.guest.s.price(v.wish.Items) {
		t.Errorf("order %s costs %d and is not what was asked for:\n%s", now.ID, now.Total, d)
	}
	if again := v.guest.place(v.wish).want(t, http.StatusOK, "").order(t); again.ID != v.order.ID {
		t.Errorf("asking again gives order %s instead of %s", again.ID, v.order.ID)
	}
	now.Items, now.Timeline = nil, nil
	if d := cmp.Diff(v.order, now); d != "" {
		t.Errorf("an order is no longer what it was:\n%s", d)
	}
}
