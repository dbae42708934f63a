package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"comanda/internal/bench/load"
)

// Preparation.
const (
	askTimeout = 10 * time.Second // a healthy server needs milliseconds; a password hash in a queue, seconds
	maxAnswer  = 4 << 20          // bytes; the menu is by far the largest response and has some 50 kB
	probes     = 30               // orders of one guest, more than a server with limits allows
	plenty     = 100_000          // minimum stock of a dish that must not sell out during a run
)

// guestHeader carries a customer token.
const guestHeader = "X-Customer-Token"

// product is the server under test, as guests see it. It is filled by openTables and readMenu and only read during a
// measurement, so connections share it without a lock.
type product struct {
	target load.Target
	client *http.Client

	conns   int      // connections of members and payment notifications
	guests  []string // customer tokens
	members []shopper
	service string // Authorization header of another system
	branch  int64
	table   string // table of the first guest
	version string
	bizDate string
	items   []string // items with plenty left
	soldOut string
	lastID  string // id of the last placed order
	options string // member of each line that chooses its options; empty for none
	etag    string // entity tag of the menu; empty if the server sends none
}

type landingBody struct {
	CustomerToken string `json:"customerToken"`
	BranchID      int64  `json:"branchId,string"`
	TableID       string `json:"tableId"`
}

type menuBody struct {
	MenuVersionID string `json:"menuVersionId"`
	BizDate       string `json:"bizDate"`
	Categories    []struct {
		Items []menuItem `json:"items"`
	} `json:"categories"`
}

type menuItem struct {
	ItemID    string `json:"itemId"`
	IsActive  bool   `json:"isActive"`
	IsSoldOut bool   `json:"isSoldOut"`
	Remaining *int64 `json:"remaining"`
}

// openTables does the same as phones before they order: guests scan the tables' codes in turn, and read the menu. Then
// it places some orders, to verify that the server was started for a benchmark.
func openTables(ctx context.Context, target load.Target, tokens []string, guests int) (*product, error) {
	p := &product{target: target, client: target.Client(askTimeout)}
	for i := range guests {
		var in landingBody
		path := "/cis/landing?qr=" + url.QueryEscape(tokens[i%len(tokens)])
		if _, err := p.send(ctx, http.MethodGet, path, "", http.StatusOK, &in); err != nil {
			return p, err
		}
		p.guests = append(p.guests, in.CustomerToken)
		if i == 0 {
			p.branch, p.table = in.BranchID, in.TableID
		}
	}
	if err := p.readMenu(ctx); err != nil {
		return p, err
	}
	return p, p.probe(ctx)
}

func (p *product) close() { p.client.CloseIdleConnections() }

// send sends one request and returns the body; the status must be the expected one. Headers are alternating names and
// values.
func (p *product) send(
	ctx context.Context, method, path, body string, want int, into any, headers ...string,
) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.target.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", withoutQuery(err))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", req.URL.Path, err)
	}
	if res.StatusCode != want {
		return res.Header, &statusError{method + " " + req.URL.Path, res.StatusCode, want, excerpt(text)}
	}
	if into != nil {
		err = json.Unmarshal(text, into)
	}
	return res.Header, err
}

// withoutQuery removes the URL from an error of net/http: the query of a landing contains a secret.
func withoutQuery(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// statusError is an unexpected status. Its text has the path without the query, which may contain a QR token.
type statusError struct {
	what      string
	got, want int
	body      string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("bench: %s was answered %d, not %d: %s", e.what, e.got, e.want, e.body)
}

// excerpt truncates a body for an error: a problem begins with its type and title.
func excerpt(text []byte) string {
	const most = 300
	return string(bytes.TrimSpace(text[:min(len(text), most)]))
}

// menuQuery returns the request body for the menu of the first guest's table.
func (p *product) menuQuery() string {
	return fmt.Sprintf(`{"branchId":"%d","tableId":"%s"}`, p.branch, p.table)
}

// readMenu determines what can be ordered. It is called again when orders may have changed the menu's entity tag.
func (p *product) readMenu(ctx context.Context) error {
	var menu menuBody
	h, err := p.send(ctx, http.MethodPost, "/cis/menu/active", p.menuQuery(), http.StatusOK, &menu, guestHeader, p.guests[0])
	if err != nil {
		return err
	}
	p.version, p.bizDate, p.etag = menu.MenuVersionID, menu.BizDate, h.Get("ETag")
	p.items, p.soldOut = nil, ""
	for _, c := range menu.Categories {
		for _, it := range c.Items {
			switch {
			case it.IsSoldOut && it.IsActive:
				p.soldOut = it.ItemID
			case it.IsActive && it.Remaining != nil && *it.Remaining >= plenty:
				p.items = append(p.items, it.ItemID)
			}
		}
	}
	if len(p.items) < lineCount || p.soldOut == "" {
		return fmt.Errorf("bench: the menu needs %d dishes of which %d are left today, and one that is sold out",
			lineCount, plenty)
	}
	return nil
}

// probe places some orders and has one refused, to detect a server with limits before the measurements.
func (p *product) probe(ctx context.Context) error {
	stream := p.orders(run(), 0, p.items)
	for range probes {
		if err := p.place(ctx, stream(), http.StatusCreated); err != nil {
			return fmt.Errorf("%w (was the server started with COMANDA_LIMITS=off?)", err)
		}
	}
	return p.place(ctx, p.order(0, "COUNTER", run(), p.soldOut), http.StatusConflict)
}

// place sends a prepared request of the first guest and stores the id of the order.
func (p *product) place(ctx context.Context, request []byte, want int) error {
	return p.placeAs(ctx, 0, request, want)
}

// placeAs is place for a guest.
func (p *product) placeAs(ctx context.Context, guest int, request []byte, want int) error {
	_, body, _ := bytes.Cut(request, []byte("\r\n\r\n"))
	var placed struct {
		ID string `json:"id"`
	}
	_, err := p.send(ctx, http.MethodPost, orderPath, string(body), want, &placed, guestHeader, p.guests[guest])
	if placed.ID != "" {
		p.lastID = placed.ID
	}
	return err
}

const orderPath = "/cis/order/create"

// run returns a unique name, so that no order counts as a repetition of an order of another measurement.
func run() string { return rand.Text()[:10] }

// same returns the same request at each call. All connections share the slice and must not change it.
func same(text []byte) func() []byte { return func() []byte { return text } }

// inTurn returns a function that cycles through requests. It is for one connection: the counter has no lock.
func inTurn(texts ...[]byte) func() []byte {
	n := -1
	return func() []byte {
		n++
		return texts[n%len(texts)]
	}
}

// orders returns one connection's orders of three dishes each, in rotation; with fewer dishes each order has one line.
// Its ids differ in the measurement, the connection and the number, so no order is taken for a repetition. Later ids are
// greater, like those of the guests' app.
func (p *product) orders(run string, conn int, items []string) func() []byte {
	dishes := make([]string, lineCount)
	if len(items) < lineCount {
		dishes = dishes[:1]
	}
	n, turn := 0, conn*len(dishes) // connections start at different dishes
	return func() []byte {
		n++
		for l := range dishes {
			dishes[l] = items[(turn+l)%len(items)]
		}
		turn += len(dishes)
		return p.order(conn, "COUNTER", fmt.Sprintf("%s-%08d-%04d", run, n, conn), dishes...)
	}
}

// order returns a guest's order of one portion of each dish.
func (p *product) order(guest int, method, txn string, dishes ...string) []byte {
	line := `","qty":1` + p.options + `}`
	body := fmt.Sprintf(`{"items":[{"itemId":"%s%s],"paymentMethod":"%s","clientTxnId":"%s","menuVersionId":"%s"}`,
		strings.Join(dishes, line+`,{"itemId":"`), line, method, txn, p.version)
	return p.target.Request(http.MethodPost, orderPath, body, guestHeader, p.guests[guest%len(p.guests)])
}

// menus returns requests for the menu, with additional headers.
func (p *product) menus(headers ...string) func(int) func() []byte {
	text := p.target.Request(http.MethodPost, "/cis/menu/active", p.menuQuery(), headers...)
	return func(int) func() []byte { return same(text) }
}
