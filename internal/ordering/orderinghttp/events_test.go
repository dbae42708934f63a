package orderinghttp_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

// signal is the time limit for everything that should happen immediately.
const signal = 5 * time.Second

// countingLedger counts open subscriptions and reports each one that ends.
type countingLedger struct {
	*orderingsql.Ledger

	open  atomic.Int64
	ended chan string
}

func (w *countingLedger) Subscribe(order string) (<-chan struct{}, func()) {
	wake, end := w.Ledger.Subscribe(order)
	w.open.Add(1)
	return wake, func() {
		end()
		w.open.Add(-1)
		w.ended <- order
	}
}

// wantEnded waits until the subscription to an order has ended and checks that none is left.
func (w *countingLedger) wantEnded(t *testing.T, order string) {
	t.Helper()
	select {
	case id := <-w.ended:
		if left := w.open.Load(); id != order || left != 0 {
			t.Errorf("the watch of %q has ended, want %q; %d are left", id, order, left)
		}
	case <-time.After(signal):
		t.Errorf("the watch of order %s goes on", order)
	}
}

// visitors resolves the guests of one visit until closed is set.
type visitors struct {
	guests
	closed atomic.Bool
}

func (v *visitors) ResolveForRead(ctx context.Context, token string) (visit.Guest, error) {
	if v.closed.Load() {
		return visit.Guest{}, fault.New(fault.Gone, "visit_closed", "The visit is over.")
	}
	return v.Resolve(ctx, token)
}

// streamServer is a server process with event streams of two orders, one of a guest and one of a member.
type streamServer struct {
	*boardServer

	countingLedger *countingLedger
	guests         *visitors
	streams        map[string]string // order ids by owner, "guest" or "member"
}

func openStreamServer(t *testing.T, db *sqldb.DB) *streamServer {
	t.Helper()
	now := func() time.Time { return day }
	r := orderingtest.Open(t, db, 1, stock.Unlimited, stock.Unlimited)
	l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, now)
	t.Cleanup(l.Stop)
	o := &streamServer{
		boardServer: &boardServer{Restaurant: r, ledger: l, now: now, fakeAuth: &fakeAuth{actors: map[string]authz.Actor{
			"member": {Kind: authz.Account, UserID: 7, Session: "s"},
		}}},
		countingLedger: &countingLedger{Ledger: l, ended: make(chan string, 10)}, guests: &visitors{guests: guests{r.Visit}},
	}
	orders := &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Defaults(), Methods: payment.NewMethods(payment.Sandbox)}
		},
		Ledger: l, Reader: orderingsql.NewOrders(db), Catalog: r.Catalog(t), Now: now,
	}
	s := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	orderinghttp.Register(s.API(), orders, o.guests, nil, o.countingLedger)
	s.SetAuthenticator(authzhttp.Authenticator{Tokens: o.fakeAuth, Routes: o.fakeAuth})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	o.url = server.URL

	members := r.Place("m", now(), time.Hour, stock.Line{Item: 101, Qty: 1})
	members.Order.Kind, members.Order.UserID, members.Order.VisitID = ordering.PickUp, 7, ""
	members.Order.GuestHash, members.Order.Receiver = "", ordering.Receiver{Name: "Lan", Phone: "0912345678"}
	guests := r.Place("g", now(), time.Hour, stock.Line{Item: 101, Qty: 1})
	o.streams = map[string]string{"guest": o.do(t, guests).ID, "member": o.do(t, members).ID}
	return o
}

// eachStream runs a test for the guest's and the member's stream on each engine. leave closes the visit or ends the
// session.
func eachStream(t *testing.T, test func(t *testing.T, o *streamServer, path, order string, leave func())) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		o := openStreamServer(t, db)
		t.Run("guest", func(t *testing.T) {
			test(t, o, "/cis/order/"+o.streams["guest"]+"/events", o.streams["guest"], func() { o.guests.closed.Store(true) })
		})
		t.Run("member", func(t *testing.T) {
			test(t, o, "/orders/"+o.streams["member"]+"/events", o.streams["member"], func() { o.fakeAuth.revoke("member") })
		})
	})
}

// openStream opens a stream and waits for its first event.
func (o *streamServer) openStream(t *testing.T, path string) (events *bufio.Scanner, leave func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*signal)
	t.Cleanup(cancel)
	res, err := http.DefaultClient.Do(o.request(t, "member", http.MethodGet, path, "").WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	events = bufio.NewScanner(res.Body)
	if !nextData(events) {
		t.Fatalf("%d, and the stream has no event: %v", res.StatusCode, events.Err())
	}
	return events, cancel
}

// nextData reads up to the data line of the next event. It returns false if the stream has ended.
func nextData(events *bufio.Scanner) bool {
	for events.Scan() {
		if strings.HasPrefix(events.Text(), "data: ") {
			return true
		}
	}
	return false
}

// TestEvents_watchEndsWithTheClient checks that a subscription ends with its client's connection, and that a rejected
// request leaves none open.
func TestEvents_watchEndsWithTheClient(t *testing.T) {
	eachStream(t, func(t *testing.T, o *streamServer, path, order string, _ func()) {
		_, leave := o.openStream(t, path)
		if n := o.countingLedger.open.Load(); n != 1 {
			t.Errorf("%d watches for one stream", n)
		}
		leave()
		o.countingLedger.wantEnded(t, order)

		missing := strings.Replace(path, order, "none", 1)
		o.ask(t, "member", http.MethodGet, missing, "").want(t, http.StatusNotFound, "order_not_found")
		o.countingLedger.wantEnded(t, "none")
	})
}

// TestEvents_endWithTheSessionAndTheVisit checks that a stream ends without a further event after the session or the
// visit has ended.
func TestEvents_endWithTheSessionAndTheVisit(t *testing.T) {
	eachStream(t, func(t *testing.T, o *streamServer, path, order string, leave func()) {
		events, _ := o.openStream(t, path)
		leave()
		o.do(t, orderingtest.Pay(order, o.now())) // this change wakes the stream
		if nextData(events) {
			t.Errorf("the stream goes on with %s", events.Text())
		}
		if err := events.Err(); err != nil {
			t.Errorf("the stream does not end: %v", err)
		}
		o.countingLedger.wantEnded(t, order)
	})
}

// TestEvents_endWithoutAChange checks that a stream also ends if its order does not change any more.
func TestEvents_endWithoutAChange(t *testing.T) {
	eachStream(t, func(t *testing.T, o *streamServer, path, order string, leave func()) {
		events, _ := o.openStream(t, path)
		leave()
		if nextData(events) || events.Err() != nil {
			t.Errorf("the stream goes on with %q, %v", events.Text(), events.Err())
		}
		o.countingLedger.wantEnded(t, order)
	})
}
