package e2e

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// live is a client of a stream of server-sent events.
type live struct {
	t    *testing.T
	text *bufio.Scanner
	stop func() error
	last string // id of the last event
}

// follow opens a stream on one server. after is the id of the last event received before.
func (g guest) follow(v *server, path, after string) *live {
	return g.s.follow(v, path, after, "X-Customer-Token", g.token)
}

func (s *installation) follow(v *server, path, after, header, token string) *live {
	t := s.t
	t.Helper()
	r := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.addr+path, nil))(t)
	r.Header.Set(header, token)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	res, err := (&http.Client{Transport: s.http.Transport}).Do(r) // without the time-out of requests
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s is answered %d %v", path, res.StatusCode, res.Header)
	}
	return &live{t: t, text: bufio.NewScanner(res.Body), stop: res.Body.Close, last: after}
}

// next decodes the data of the next event.
func (l *live) next(name string, data any) {
	l.t.Helper()
	defer time.AfterFunc(patience, func() { _ = l.stop() }).Stop() // ends a stream that stays silent
	id, event := "", ""
	for l.text.Scan() {
		field, value, _ := strings.Cut(l.text.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			if event != name || id == "" || id == l.last {
				l.t.Fatalf("event %q with id %q after %q, want a new %s", event, id, l.last, name)
			}
			l.last = id
			testenv.NoError(l.t, json.Unmarshal([]byte(value), data))
			return
		}
	}
	l.t.Fatalf("the stream has ended, no %s has come: %v", name, l.text.Err())
}

// Two guests of a table follow an order on different servers, from placing to payment. After reconnecting, a client
// receives what has changed meanwhile, and nothing twice. For another table the order does not exist.
func TestLive_order(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		g, stranger := s.guest(0), s.guest(1)
		o := g.mustPlace(t, line{ItemID: phoGa, Qty: 1})
		path := "/cis/order/" + o.ID + "/events"
		stranger.send(http.MethodGet, path, nil).want(t, http.StatusNotFound, "order_not_found")
		s.send(http.MethodGet, path, nil).want(t, http.StatusUnauthorized, "customer_token_invalid")

		var seen order
		var all []*live
		for _, v := range s.servers {
			l := g.follow(v, path, "")
			if l.next("order", &seen); seen.ID != o.ID || seen.PaymentStatus != "UNPAID" || len(seen.Items) != 1 {
				t.Errorf("first of all the order is %+v", seen)
			}
			all = append(all, l)
		}
		away := all[0].last
		s.pay(o.ID)
		for _, l := range append(all, g.follow(s.servers[0], path, away)) {
			if l.next("order", &seen); seen.PaymentStatus != "PAID" || seen.when("PAID").IsZero() {
				t.Errorf("after its payment the order is %+v", seen)
			}
		}
		again := g.follow(s.servers[0], path, all[0].last)
		s.servers[0].stop()
		if again.text.Scan(); !strings.HasPrefix(again.text.Text(), "retry:") {
			t.Errorf("an up-to-date client receives %q", again.text.Text())
		}
		for again.text.Scan() {
			if line := again.text.Text(); line != "" {
				t.Errorf("an up-to-date client receives %q", line)
			}
		}
		s.servers[0].start()
	}, embedded, pair)
}

// A member follows an order of their own on each server. No other account can, and neither can the member after a
// logout.
func TestLive_memberOrder(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		m, stranger := s.newMember("lan"), s.newMember("minh")
		m.addToCart(pho, 1).want(t, http.StatusCreated, "")
		o := m.checkOut("first").want(t, http.StatusCreated, "").checkedOut(t)
		path := "/orders/" + o.OrderID + "/events"
		stranger.send(http.MethodGet, path, nil).want(t, http.StatusNotFound, "order_not_found")
		s.send(http.MethodGet, path, nil).want(t, http.StatusUnauthorized, "unauthenticated")

		var all []*live
		var seen struct {
			order

			Receiver struct{ Name string }
		}
		for _, v := range s.servers {
			l := s.follow(v, path, "", "Authorization", "Bearer "+m.token)
			if l.next("order", &seen); seen.ID != o.OrderID || seen.PaymentStatus != "UNPAID" || seen.Receiver.Name != "Lan" {
				t.Errorf("first of all the order is %+v", seen)
			}
			all = append(all, l)
		}
		s.pay(o.OrderID)
		for _, l := range all {
			if l.next("order", &seen); seen.PaymentStatus != "PAID" {
				t.Errorf("after its payment the order is %+v", seen)
			}
		}
		m.send(http.MethodPost, "/auth/logout", map[string]string{"refreshToken": m.refresh}).want(t, http.StatusNoContent, "")
		for _, l := range all {
			for l.text.Scan() { // to its end
				if strings.HasPrefix(l.text.Text(), "data:") {
					t.Errorf("a logged-out client receives %q", l.text.Text())
				}
			}
		}
	}, embedded, pair)
}

// A guest sees the remaining quantity change as others order and cancel and as the kitchen takes a dish off. The
// stream of another branch is not found.
func TestLive_availability(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		s.quota(pho, 3)
		g, other := s.guest(0), s.guest(1)
		path := "/cis/branch/" + firstBranch + "/availability/events"
		g.send(http.MethodGet, "/cis/branch/2/availability/events", nil).want(t, http.StatusNotFound, "branch_not_found")

		l := g.follow(s.servers[0], path, "")
		var whole availability
		l.next("availability", &whole)
		if n := len(s.bill.items()); !whole.Complete || len(whole.Items) != n || whole.Version != s.bill.Version {
			t.Fatalf("%d of %d items are in the first event: %+v", len(whole.Items), n, whole)
		}
		if !whole.is(3, false) { // the quota was set a moment ago
			l.awaitAvailability(3, false)
		}
		o := other.mustPlace(t, line{ItemID: pho, Qty: 2})
		l.awaitAvailability(1, false)
		other.mustPlace(t, line{ItemID: pho, Qty: 1})
		l.awaitAvailability(0, true)
		other.cancel(o.ID).want(t, http.StatusOK, "")
		l.awaitAvailability(2, false)
	}, embedded, pair)
}

// availability is the data of an event.
type availability struct {
	Version  string `json:"menuVersionId"`
	Complete bool   `json:"complete"`
	Items    []dish `json:"items"`
}

// awaitAvailability waits until the stream has shown the state. An event has only what has changed: the dish, and the
// lunch set when the dish, which is one of its options, sells out or is back.
func (l *live) awaitAvailability(left int64, soldOut bool) {
	l.t.Helper()
	for {
		var a availability
		l.next("availability", &a)
		others := slices.DeleteFunc(slices.Clone(a.Items), func(d dish) bool { return d.ItemID == pho || d.ItemID == lunchSet })
		if len(a.Items) == 0 || len(others) > 0 || a.Complete {
			l.t.Errorf("the dish has changed, the event has: %+v", a)
		}
		if a.is(left, soldOut) {
			return
		}
	}
}

func (a availability) is(left int64, soldOut bool) bool {
	return slices.ContainsFunc(a.Items, func(d dish) bool {
		return d.ItemID == pho && d.Remaining != nil && *d.Remaining == left && d.SoldOut == soldOut
	})
}
