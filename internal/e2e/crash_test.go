package e2e

import (
	"encoding/json"
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
	d := lunch{round: round, enough: make(chan struct{})}
	for i, g := range guests {
		d.all.Go(func() { d.eat(t, g, i) })
	}
	finished := make(chan struct{})
	go func() {
		d.all.Wait()
		close(finished)
	}()
	select {
	case <-d.enough:
	case <-finished:
		t.Fatalf("nobody is served any more after %d orders", len(d.promised))
	}
	s.servers[0].kill()
	<-finished
	s.servers[0].start()
	for _, v := range d.unknown {
		v.order = v.guest.insist(v.wish, patience).order(t)
		d.promised = append(d.promised, v)
	}
	return d.promised
}

// lunch is what guests know of their orders when the server dies.
type lunch struct {
	round  string
	all    sync.WaitGroup
	enough chan struct{} // closed when enough orders were promised

	mu       sync.Mutex
	promised []served
	unknown  []served // not answered
}

// eat orders until there is no answer any more.
func (d *lunch) eat(t *testing.T, g guest, seat int) {
	for n := int64(0); ; n++ {
		notes := fmt.Sprintf("round %s, seat %d", d.round, seat)
		v := served{guest: g, wish: g.wish(line{ItemID: phoGa, Qty: n%3 + 1, Notes: notes}, line{ItemID: bun, Qty: 1})}
		a := g.place(v.wish)
		d.mu.Lock()
		if a.status == http.StatusCreated && json.Unmarshal(a.body, &v.order) == nil {
			if d.promised = append(d.promised, v); len(d.promised) == beforeKill {
				close(d.enough)
			}
			d.mu.Unlock()
			continue
		}
		d.unknown = append(d.unknown, v)
		d.mu.Unlock()
		if a.err == nil {
			t.Errorf("an order is answered %v", a)
		}
		return
	}
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
