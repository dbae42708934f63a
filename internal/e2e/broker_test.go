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

	"comanda/internal/testenv"
)

// outage is how long the broker is unreachable under load, and meanwhile the minimum number of orders until it is back.
var (
	outage    = time.Duration(testenv.Size(3, 60)) * time.Second
	meanwhile = testenv.Size(150, 1000)
)

// While the broker is unreachable, every order, payment and cancellation works (I16). Afterwards the outbox drains and
// the events arrive in the queues of other systems (I7). Each counts once in the day's report (I15), even when all of
// them are delivered a second time (I8).
func TestBrokerOutage(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		direct := shared.brokerURL(t)
		network := &testenv.Proxy{}
		through := network.StartURL(t, direct).String()
		// Only this installation has no prefix: its queues have the names that the reference documents fix (qr-ordering.md,
		// section 5).
		s := open(t, k, settings{"AMQP_URL": through, "AMQP_PREFIX": "", "LIMITS": "off"})
		d := newOrderLoad(s, 4)
		s.await(patience, func() error { return d.wantAtLeast(20) })
		network.Down(true)
		over := time.Now().Add(outage)
		s.await(outage+patience, func() error {
			if time.Now().Before(over) {
				return fmt.Errorf("the outage is not over")
			}
			return d.wantAtLeast(meanwhile)
		})
		var o outboxStatus
		if s.readJSON(&o, "outbox", "status"); o.Pending == 0 {
			t.Error("nothing has waited for the broker: there was no outage")
		}
		network.Down(false)
		before := d.count()
		s.await(patience, func() error { return d.wantAtLeast(before + 20) })
		d.end()

		s.awaitPublished()
		s.awaitReport(d.report())
		q := openQueues(t, direct)
		seen := append(q.readAll("store.order.paid", d.paid), q.readAll("store.order.canceled", d.canceled)...)
		q.republish(seen)
		s.await(patience, func() error {
			const repeated = `consumer_message_total{consumer="daybook",result="dup"}`
			if n := s.metric(repeated); n < len(seen) {
				return fmt.Errorf("%s is %d, want %d", repeated, n, len(seen))
			}
			return nil
		})
		s.awaitReport(d.report())
		s.awaitConsistent()
	}, servers)
}

// orderLoad is a load of guests who order until it ends, and in turn pay, cancel or do neither.
type orderLoad struct {
	s    *installation
	stop context.CancelFunc
	all  sync.WaitGroup

	mu       sync.Mutex
	placed   map[string]order
	paid     map[string]bool
	canceled map[string]bool
}

// pace is the time between a guest's orders. The test needs events during the outage, not many of them.
const pace = 40 * time.Millisecond

func newOrderLoad(s *installation, guests int) *orderLoad {
	ctx, stop := context.WithCancel(s.t.Context())
	d := &orderLoad{s: s, stop: stop, placed: map[string]order{}, paid: map[string]bool{}, canceled: map[string]bool{}}
	for i := range guests {
		g := s.guest(i)
		d.all.Go(func() { d.orderUntil(ctx, g) })
	}
	s.t.Cleanup(d.end)
	return d
}

func (d *orderLoad) orderUntil(ctx context.Context, g guest) {
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

func (d *orderLoad) order(g guest, n int) error {
	a := g.place(g.request(line{ItemID: phoGa, Qty: 1}))
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

func (d *orderLoad) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.placed)
}

func (d *orderLoad) wantAtLeast(n int) error {
	if c := d.count(); c < n && !d.s.t.Failed() {
		return fmt.Errorf("%d orders so far, want %d", c, n)
	}
	return nil
}

// end waits for all guests to finish.
func (d *orderLoad) end() {
	d.stop()
	d.all.Wait()
}

// report returns the expected report of the day.
func (d *orderLoad) report() day {
	sum := day{Placed: int64(len(d.placed)), Paid: int64(len(d.paid)), Canceled: int64(len(d.canceled))}
	for id := range d.paid {
		sum.Revenue += d.placed[id].Total
	}
	return sum
}

// queues is another system's connection to the broker.
type queues struct {
	t  *testing.T
	ch *amqp.Channel
}

func openQueues(t *testing.T, address string) queues {
	t.Helper()
	conn := testenv.Must(amqp.Dial(address))(t)
	t.Cleanup(func() { _ = conn.Close() })
	ch := testenv.Must(conn.Channel())(t)
	return queues{t, ch}
}

// readAll reads a queue until it has delivered the expected number of orders and is empty, and compares them. Messages
// may come twice, so it deduplicates by message id.
func (q queues) readAll(queue string, want map[string]bool) (all []amqp.Delivery) {
	q.t.Helper()
	got := map[string]bool{}
	testenv.Eventually(q.t, patience, func() bool {
		m, ok, err := q.ch.Get(queue, true)
		for ; ok && err == nil; m, ok, err = q.ch.Get(queue, true) {
			got[q.orderOf(m)] = true
			all = append(all, m)
		}
		if err != nil {
			q.t.Fatal(err)
		}
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		q.t.Errorf("%s does not have the expected events (-want +got):\n%s", queue, diff)
	}
	return all
}

func (q queues) orderOf(m amqp.Delivery) string {
	q.t.Helper()
	var event struct {
		OrderID string `json:"orderId"`
	}
	if err := json.Unmarshal(m.Body, &event); err != nil || m.MessageId == "" {
		q.t.Fatalf("a message says %q, %v", m.Body, err)
	}
	return event.OrderID
}

// republish publishes messages a second time, like a broker that redelivers after a lost acknowledgement.
func (q queues) republish(messages []amqp.Delivery) {
	q.t.Helper()
	for _, m := range messages {
		testenv.NoError(q.t, q.ch.PublishWithContext(q.t.Context(), m.Exchange, m.RoutingKey, false, false, amqp.Publishing{
			MessageId: m.MessageId, Type: m.Type, ContentType: m.ContentType, Headers: m.Headers, Body: m.Body,
			DeliveryMode: m.DeliveryMode, Timestamp: m.Timestamp,
		}))
	}
}
