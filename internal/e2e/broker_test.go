package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
)

// outage is how long the broker is out of reach. Ten seconds are several rounds of every back-off on the way, so that a
// longer one would show nothing more.
const outage = 10 * time.Second

// While the broker is out of reach every order, payment and cancellation goes on (I16). Afterwards the outbox drains,
// the events arrive in the queues that other systems read (I7), and each has counted once in the day's report (I15).
func TestBrokerOutage(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		direct := atEnd.brokerURL(t)
		network, through := newProxy(t, direct)
		// This site alone has no prefix: its queues have the names that the reference fixes (qr-ordering.md, section 5).
		s := open(t, k, settings{"AMQP_URL": through, "AMQP_PREFIX": "", "LIMITS": "off"})
		d := newDinner(s, 4)
		s.await(patience, func() error { return d.atLeast(20) })
		network.cut()
		over := time.Now().Add(outage)
		s.await(outage+patience, func() error {
			if time.Now().Before(over) {
				return fmt.Errorf("the outage is not over")
			}
			return d.atLeast(100)
		})
		var o outboxStatus
		if s.read(&o, "outbox", "status"); o.Pending == 0 {
			t.Error("nothing has waited for the broker: there was no outage")
		}
		network.mend()
		before := d.count()
		s.await(patience, func() error { return d.atLeast(before + 20) })
		d.end()

		s.drained()
		s.reports(d.day())
		wantMessages(t, direct, "store.order.paid", d.paid)
		wantMessages(t, direct, "store.order.canceled", d.canceled)
		s.agrees()
	}, servers)
}

// dinner is guests who order, and who by turns pay, cancel and do neither, until it ends.
type dinner struct {
	s    *site
	stop context.CancelFunc
	all  sync.WaitGroup

	mu       sync.Mutex
	placed   map[string]order
	paid     map[string]bool
	canceled map[string]bool
}

// pace is how long a guest takes for an order: what matters here is that things happen during the outage, not how many.
const pace = 40 * time.Millisecond

func newDinner(s *site, guests int) *dinner {
	ctx, stop := context.WithCancel(s.t.Context())
	d := &dinner{s: s, stop: stop, placed: map[string]order{}, paid: map[string]bool{}, canceled: map[string]bool{}}
	for i := range guests {
		g := s.guest(i)
		d.all.Go(func() { d.eat(ctx, g) })
	}
	s.t.Cleanup(d.end)
	return d
}

func (d *dinner) eat(ctx context.Context, g guest) {
	next := time.NewTicker(pace)
	defer next.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		if err := d.order(g, n); err != nil {
			d.s.t.Errorf("during the outage: %v", err)
			return
		}
	}
}

func (d *dinner) order(g guest, n int) error {
	a := g.place(g.wish(line{ItemID: phoGa, Qty: 1}))
	var o order
	if err := json.Unmarshal(a.body, &o); err != nil || a.status != http.StatusCreated {
		return fmt.Errorf("an order is answered %v", a)
	}
	fate, ended := map[string]bool(nil), answer{status: http.StatusOK}
	switch n % 3 {
	case 0:
		fate, ended = d.paid, d.s.gateway(o.ID, "SUCCESS")
	case 1:
		fate, ended = d.canceled, g.cancel(o.ID)
	}
	if ended.status != http.StatusOK {
		return fmt.Errorf("its payment or cancellation is answered %v", ended)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.placed[o.ID] = o
	if fate != nil {
		fate[o.ID] = true
	}
	return nil
}

func (d *dinner) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.placed)
}

func (d *dinner) atLeast(n int) error {
	if c := d.count(); c < n && !d.s.t.Failed() {
		return fmt.Errorf("%d orders so far, want %d", c, n)
	}
	return nil
}

// end lets everybody finish.
func (d *dinner) end() {
	d.stop()
	d.all.Wait()
}

// day is what the day's report has to say.
func (d *dinner) day() day {
	sum := day{Placed: int64(len(d.placed)), Paid: int64(len(d.paid)), Canceled: int64(len(d.canceled))}
	for id := range d.paid {
		sum.Revenue += d.placed[id].Total
	}
	return sum
}

// wantMessages reads a queue until it is empty, and compares the orders that its messages are about. A message may come
// twice: who reads a queue looks at message ids.
func wantMessages(t *testing.T, address, queue string, want map[string]bool) {
	t.Helper()
	conn, err := amqp.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for {
		m, ok, err := ch.Get(queue, true)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		var event struct {
			OrderID string `json:"orderId"`
		}
		if err := json.Unmarshal(m.Body, &event); err != nil || m.MessageId == "" {
			t.Fatalf("%s holds %q, %v", queue, m.Body, err)
		}
		got[event.OrderID] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s does not tell what happened:\n%s", queue, diff)
	}
}
