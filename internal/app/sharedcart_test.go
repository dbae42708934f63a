package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"comanda/internal/testenv"
)

// sharedCart returns the ids and quantities of the lines of the table's cart as a guest sees it.
func (f *fixture) sharedCart(guest, visit string) string {
	f.t.Helper()
	var v struct {
		Lines []struct {
			ID  string
			Qty int
		}
	}
	f.must(f.ask(guest, "GET", "/cis/visit/"+visit+"/cart", "")).into(f.t, &v)
	all := make([]string, len(v.Lines))
	for i, l := range v.Lines {
		all[i] = fmt.Sprint(l.ID, "×", l.Qty)
	}
	return strings.Join(all, " ")
}

// cartVersion returns a function that reports whether an availability event has a version of the cart.
func cartVersion(n float64) func(map[string]any) bool {
	return func(v map[string]any) bool { return v["cartVersion"] == n }
}

// Two phones at two processes fill one cart and see each other's changes at once. FLUSHALL loses none of its lines. If
// both order everything at the same moment, one of them succeeds.
func TestSharedCart(t *testing.T) {
	redis := testenv.RedisServer(t)
	a, b := twoProcesses(t, seldom, redis.Addr(), redis.Addr())
	visit := a.landing(0).VisitID
	a.guest["binh"] = a.landing(0).CustomerToken
	b.guest["binh"] = a.guest["binh"]
	menu := b.follow("binh", "/cis/branch/1/availability/events")

	line := func(f *fixture, guest, id, body string) reply {
		return f.ask(guest, "PUT", "/cis/visit/"+visit+"/cart/lines/"+id, body)
	}
	if r := line(a, "guest", "an-line-1", `{"itemId":"12","qty":2}`); !strings.Contains(r.refusal(), "409 cart_not_shared") {
		t.Errorf("carts are not shared: %s", r.refusal())
	}
	a.must(a.ask("service", "PATCH", "/api/branches/1", `{"sharedCart":true}`))
	menu.until("that the cart is shared", cartVersion(0))
	if got := string(a.must(a.ask("", "GET", "/cis/landing?qr="+a.codes[1].QR, "")).body); !strings.Contains(got, `"sharedCart":true`) {
		t.Errorf("a landing says %s", got)
	}

	a.must(line(a, "guest", "an-line-1", `{"itemId":"12","qty":2}`))
	menu.until("the line of another phone", cartVersion(1))
	b.must(line(b, "binh", "binh-line-1", `{"itemId":"13","qty":1}`))
	b.must(line(b, "binh", "an-line-1", `{"itemId":"12","qty":1}`))
	menu.until("another quantity", cartVersion(3))
	const both = "an-line-1×1 binh-line-1×1"
	if got := a.sharedCart("guest", visit); got != both {
		t.Errorf("the cart has %q", got)
	}
	if reply := redis.Say("FLUSHALL"); !strings.HasPrefix(reply, "+OK") {
		t.Fatalf("FLUSHALL: %q", reply)
	}
	if got := b.sharedCart("binh", visit); got != both {
		t.Errorf("after FLUSHALL the cart has %q", got)
	}
	a.must(line(a, "guest", "an-line-1", `{"itemId":"12","qty":1}`)) // a phone that sends its line again changes nothing

	order := func(f *fixture, guest, key string) reply {
		return f.ask(guest, "POST", "/cis/order/create", f.fill(fmt.Sprintf(`{"items":[{"itemId":"12","qty":1,"lineId":"an-line-1"},`+
			`{"itemId":"13","qty":1,"lineId":"binh-line-1"}],"paymentMethod":"SANDBOX","clientTxnId":"%s","menuVersionId":"{version}"}`, key)))
	}
	a.fill("{version}")
	b.fill("{version}")
	replies := make([]reply, 2)
	var wg sync.WaitGroup
	for i, f := range []*fixture{a, b} {
		wg.Go(func() { replies[i] = order(f, []string{"guest", "binh"}[i], fmt.Sprint("everything-", i)) })
	}
	wg.Wait()
	won := 0
	if replies[1].status == http.StatusCreated {
		won = 1
	}
	if r := replies[won]; r.status != http.StatusCreated {
		t.Fatalf("neither phone ordered: %s", r.refusal())
	}
	if got := replies[1-won].refusal(); !strings.HasPrefix(got, "409 cart_changed") {
		t.Errorf("the other phone: %s", got)
	}
	menu.until("the empty cart", cartVersion(4))
	if got := a.sharedCart("guest", visit); got != "" {
		t.Errorf("after the order the cart has %q", got)
	}
	if r := order([]*fixture{a, b}[won], []string{"guest", "binh"}[won], fmt.Sprint("everything-", won)); r.status != http.StatusOK {
		t.Errorf("the order repeated: %s", r.refusal())
	}
	if r := line(a, "guest", "an-line-1", `{"itemId":"12","qty":1}`); !strings.HasPrefix(r.refusal(), "409 cart_changed") {
		t.Errorf("an ordered line comes back: %s", r.refusal())
	}

	// A phone may order lines that were added before the branch stopped sharing carts.
	a.must(line(a, "guest", "an-line-2", `{"itemId":"12","qty":1}`))
	menu.until("a line for a second order", cartVersion(5))
	a.must(a.ask("service", "PATCH", "/api/branches/1", `{"sharedCart":false}`))
	menu.until("that the cart is not shared any more", func(v map[string]any) bool { return v["cartVersion"] == nil })
	rest := `{"items":[{"itemId":"12","qty":1,"lineId":"an-line-2"}],"paymentMethod":"SANDBOX","clientTxnId":"%s","menuVersionId":"{version}"}`
	a.must(a.ask("guest", "POST", "/cis/order/create", a.fill(fmt.Sprintf(rest, "the-rest-1"))))
	if r := a.ask("guest", "POST", "/cis/order/create", a.fill(fmt.Sprintf(rest, "the-rest-2"))); !strings.HasPrefix(r.refusal(), "409 cart_changed") {
		t.Errorf("a line is ordered twice: %s", r.refusal())
	}
}
