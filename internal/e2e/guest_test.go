package e2e

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Items of the demo's first branch.
const (
	pho   = "11" // with a quota, which each test sets
	phoGa = "12" // without a quota
	bun   = "15" // without a quota
)

const (
	firstBranch = "1"
	sandbox     = "SANDBOX"
	counter     = "COUNTER"
)

type table struct {
	ID       string `json:"id"`
	BranchID string `json:"branchId"`
	QR       string `json:"qrToken"`
}

type dish struct {
	ItemID    string `json:"itemId"`
	DishID    string `json:"dishId"`
	Name      string `json:"name"`
	Price     int64  `json:"price"`
	Remaining *int64 `json:"remaining"`
	SoldOut   bool   `json:"isSoldOut"`
}

// menu is the response of POST /cis/menu/active.
type menu struct {
	Version    string `json:"menuVersionId"`
	BizDate    string `json:"bizDate"`
	Categories []struct {
		Items []dish `json:"items"`
	} `json:"categories"`
}

func (m menu) items() (all []dish) {
	for _, c := range m.Categories {
		all = append(all, c.Items...)
	}
	return all
}

func (m menu) dish(item string) dish {
	for _, c := range m.Categories {
		if i := slices.IndexFunc(c.Items, func(d dish) bool { return d.ItemID == item }); i >= 0 {
			return c.Items[i]
		}
	}
	return dish{}
}

// line and orderRequest are the request of POST /cis/order/create.
type line struct {
	ItemID string `json:"itemId"`
	Qty    int64  `json:"qty"`
	Notes  string `json:"notes,omitempty"`

	Options []chosen `json:"options,omitempty"`
}

// chosen is a chosen option of a line.
type chosen struct {
	OptionID string `json:"optionId"`
	Qty      int64  `json:"qty"`
}

type orderRequest struct {
	Items         []line `json:"items"`
	PaymentMethod string `json:"paymentMethod"`
	ClientTxnID   string `json:"clientTxnId"`
	MenuVersionID string `json:"menuVersionId"`
	VisitID       string `json:"visitId,omitempty"`
}

// order is an order in a response. The response to placing has no items, payments, refunds and timeline.
type order struct {
	ID            string    `json:"id"`
	Number        string    `json:"number"`
	Total         int64     `json:"totalPrice"`
	Currency      string    `json:"currency"`
	Status        string    `json:"status"`
	PaymentStatus string    `json:"paymentStatus"`
	CancelReason  string    `json:"cancelReason"`
	BizDate       string    `json:"bizDate"`
	PayBy         time.Time `json:"payBy"`
	Items         []struct {
		ItemID string `json:"itemId"`
		Name   string `json:"name"`
		Price  int64  `json:"price"`
		Qty    int64  `json:"qty"`
		Notes  string `json:"notes"`
	} `json:"items"`
	Refunds []struct {
		Amount int64  `json:"amount"`
		Reason string `json:"reason"`
	} `json:"refunds"`
	Timeline []struct {
		At    time.Time `json:"at"`
		Event string    `json:"event"`
	} `json:"timeline"`
}

// when returns the time of an event of the order.
func (o order) when(event string) time.Time {
	for _, e := range o.Timeline {
		if e.Event == event {
			return e.At
		}
	}
	return time.Time{}
}

// readMenu reads the menu and tables that the tests use.
func (s *installation) readMenu() {
	s.t.Helper()
	s.bill = s.menu()
	var page struct {
		Items []table `json:"items"`
	}
	s.staff(http.MethodGet, "/api/tables?branchId="+firstBranch, nil).into(s.t, &page)
	s.tables = page.Items
}

func (s *installation) menu() (m menu) {
	s.t.Helper()
	s.send(http.MethodPost, "/cis/menu/active", map[string]string{"branchId": firstBranch}).want(s.t, http.StatusOK, "").
		into(s.t, &m)
	return m
}

// price returns the menu's price of lines.
func (s *installation) price(lines []line) (total int64) {
	for _, l := range lines {
		total += s.bill.dish(l.ItemID).Price * l.Qty
	}
	return total
}

// quota sets an item's daily quota with the command.
func (s *installation) quota(item string, daily int) {
	s.t.Helper()
	s.must("quota", "set", "--item", item, "--daily", strconv.Itoa(daily))
}

// guest is one phone at a table.
type guest struct {
	s     *installation
	token string
	visit string
}

// guest opens a session at the n-th table of the first branch, modulo the number of tables.
func (s *installation) guest(n int) guest {
	g, a := s.scan(n)
	a.want(s.t, http.StatusOK, "")
	return g
}

// scan opens a session like guest. It never fails the test, so any goroutine may call it.
func (s *installation) scan(n int) (guest, answer) {
	a := s.send(http.MethodPost, "/cis/landing", map[string]string{"qr": s.tables[n%len(s.tables)].QR})
	var landed struct {
		Token string `json:"customerToken"`
		Visit string `json:"visitId"`
	}
	if a.status == http.StatusOK {
		a.into(s.t, &landed)
	}
	return guest{s, landed.Token, landed.Visit}, a
}

func (g guest) send(method, path string, body any) answer {
	return g.s.send(method, path, body, "X-Customer-Token", g.token)
}

// request returns an order of lines with a new clientTxnId.
func (g guest) request(lines ...line) orderRequest {
	return orderRequest{
		Items: lines, PaymentMethod: sandbox, ClientTxnID: rand.Text(), MenuVersionID: g.s.bill.Version, VisitID: g.visit,
	}
}

func (g guest) place(w orderRequest) answer { return g.send(http.MethodPost, "/cis/order/create", w) }

// mustPlace places an order that must succeed.
func (g guest) mustPlace(t testing.TB, lines ...line) order {
	t.Helper()
	return g.place(g.request(lines...)).want(t, http.StatusCreated, "").order(t)
}

func (g guest) get(id string) answer { return g.send(http.MethodGet, "/cis/order/"+id, nil) }

func (g guest) cancel(id string) answer {
	return g.send(http.MethodPost, "/cis/order/"+id+"/cancel", map[string]string{})
}

// retry retries with the same clientTxnId until the order is decided, as a phone does while its server is down. It
// stops after the given time.
func (g guest) retry(w orderRequest, within time.Duration) answer {
	over := time.After(within)
	for {
		a := g.place(w)
		if a.status != 0 && a.status != http.StatusServiceUnavailable {
			return a
		}
		select {
		case <-over:
			return a
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// gateway sends the sandbox gateway's notification about an order.
func (s *installation) gateway(id, result string) answer {
	body := map[string]string{"orderId": id, "method": sandbox, "result": result}
	return s.send(http.MethodPost, "/cis/payments/mock-callback", body)
}

// pay pays an order.
func (s *installation) pay(id string) {
	s.t.Helper()
	var report struct {
		PaymentStatus string `json:"paymentStatus"`
	}
	s.gateway(id, "SUCCESS").want(s.t, http.StatusOK, "").into(s.t, &report)
	if report.PaymentStatus != "PAID" {
		s.t.Fatalf("order %s is %s after its payment", id, report.PaymentStatus)
	}
}
