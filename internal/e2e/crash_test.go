package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// Every order that was answered with success survives kill -9 with the same id, number, price and lines, round after
// round. A guest without an answer retries and gets one order, not two (I5).
func TestCrash(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		var all []served
		for round := range 3 {
			results := crash(s, fmt.Sprint(round))
			all = append(all, results...)
			for _, v := range all {
				v.unchanged(t)
			}
		}
		numbers := map[string]bool{}
		for _, v := range all {
			numbers[v.order.Number] = true
		}
		if n := s.rowCounts()["orders"]; len(numbers) != len(all) || n != int64(len(all)) {
			t.Errorf("%d orders were promised, with %d numbers; there are %d", len(all), len(numbers), n)
		}
		s.awaitConsistent()
		s.awaitPublished()
		s.awaitReport(day{Placed: int64(len(all))})
	}, embedded, servers)
}

// served is an order as the guest's response showed it.
type served struct {
	guest   guest
	request orderRequest
	order   order
}

const guestsAtOnce = 24 // number of concurrent guests, each with one order after the other

var beforeKill = testenv.Size(30, 60) // orders until the server is killed

// crash kills the server while guests order and starts it again. It returns all confirmed orders, those of retries
// included.
func crash(s *installation, round string) []served {
	t := s.t
	t.Helper()
	guests := make([]guest, guestsAtOnce)
	for i := range guests {
		guests[i] = s.guest(i)
	}
	d := orderBurst{round: round, enough: make(chan struct{})}
	for i, g := range guests {
		d.all.Go(func() { d.orderUntilKill(t, g, i) })
	}
	finished := make(chan struct{})
	go func() {
		d.all.Wait()
		close(finished)
	}()
	select {
	case <-d.enough:
	case <-finished:
		t.Fatalf("no order succeeds any more after %d orders", len(d.promised))
	}
	s.servers[0].kill()
	<-finished
	s.servers[0].start()
	for _, v := range d.unknown {
		v.order = v.guest.retry(v.request, patience).order(t)
		d.promised = append(d.promised, v)
	}
	return d.promised
}

// orderBurst is the guests' responses up to the kill.
type orderBurst struct {
	round  string
	all    sync.WaitGroup
	enough chan struct{} // closed after beforeKill confirmed orders

	mu       sync.Mutex
	promised []served
	unknown  []served // unanswered
}

// orderUntilKill orders until the server stops answering.
func (d *orderBurst) orderUntilKill(t *testing.T, g guest, seat int) {
	for n := int64(0); ; n++ {
		notes := fmt.Sprintf("round %s, seat %d", d.round, seat)
		v := served{guest: g, request: g.request(line{ItemID: phoGa, Qty: n%3 + 1, Notes: notes}, line{ItemID: bun, Qty: 1})}
		a := g.place(v.request)
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

// unchanged compares an order with its response, and with the guest's request at the menu's prices (I13).
func (v served) unchanged(t *testing.T) {
	t.Helper()
	now := v.guest.get(v.order.ID).order(t)
	lines := make([]line, len(now.Items))
	for i, it := range now.Items {
		lines[i] = line{ItemID: it.ItemID, Qty: it.Qty, Notes: it.Notes}
	}
	if d := cmp.Diff(v.request.Items, lines); d != "" || now.Total != v.guest.s.price(v.request.Items) {
		t.Errorf("order %s for %d, lines (-requested +stored):\n%s", now.ID, now.Total, d)
	}
	if again := v.guest.place(v.request).want(t, http.StatusOK, "").order(t); again.ID != v.order.ID {
		t.Errorf("a retry returned order %s instead of %s", again.ID, v.order.ID)
	}
	now.Items, now.Timeline = nil, nil
	if d := cmp.Diff(v.order, now); d != "" {
		t.Errorf("order after the restart (-before +after):\n%s", d)
	}
}

// One of two servers is killed while an order of all units has reserved them in the admission cache and waits for the
// ledger. Its provisional hold in Redis belongs to no order: the other server sells the units at the first attempt, and
// the retry of the unanswered guest is refused as sold out (I2, I5).
func TestCrash_between_cache_and_ledger(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		s.quota(pho, 10)
		lost, own := s.guest(1), s.guest(2)
		own.mustPlace(t, line{ItemID: pho, Qty: 1})
		s.awaitProvisional(pho, 1) // the scope is rebuilt; an order before would not be admitted by the cache
		w := lost.request(line{ItemID: pho, Qty: 9})
		answered := make(chan answer, 1)
		s.lockingCounters(func() {
			go func() {
				answered <- s.sendTo(s.servers[0].addr, http.MethodPost, "/cis/order/create", w, "X-Customer-Token", lost.token)
			}()
			s.awaitProvisional(pho, 10)
			s.servers[0].kill()
		})
		if a := <-answered; a.status != 0 {
			t.Fatalf("an order that was not committed is answered %v", a)
		}
		s.servers = s.servers[1:]
		own.mustPlace(t, line{ItemID: pho, Qty: 9})
		lost.place(w).want(t, http.StatusConflict, "sold_out")
		s.wantStock(pho, 10, 10, 0)
		s.awaitConsistent()
	}, pair)
}

// lockingCounters calls do while the counters are locked against changes.
func (s *installation) lockingCounters(do func()) {
	s.t.Helper()
	s.database(func(db *sqldb.DB) error {
		return db.Write(s.t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			if _, err := sqldb.Collect(ctx, tx, sqldb.Value[int64],
				statement("SELECT held_qty FROM sales_quota_counter /*pg: FOR UPDATE*/")); err != nil {
				return err
			}
			do()
			return nil
		})
	})
}

// awaitProvisional waits until the admission cache counts units of an item as held.
func (s *installation) awaitProvisional(item string, units int) {
	s.t.Helper()
	s.await(patience, func() error {
		if held := s.provisionalUnits(item); held != units {
			return fmt.Errorf("the admission cache holds %d units instead of %d", held, units)
		}
		return nil
	})
}

// provisionalUnits returns how many units of an item the admission cache counts as held.
func (s *installation) provisionalUnits(item string) (units int) {
	s.t.Helper()
	key := "q:rsv:{b" + firstBranch + "}:" + s.bill.BizDate
	reply := s.redisReply(fmt.Sprintf("*3\r\n$4\r\nHGET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(item), item))
	_, text, _ := strings.Cut(reply, "\r\n") // skips the length
	text, _, _ = strings.Cut(text, "\r\n")
	units, _ = strconv.Atoi(text) // empty before the first hold
	return units
}
