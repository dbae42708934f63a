package bench

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
)

const orderPath = "/cis/order/create"

// run returns a unique name, so that no order counts as a repetition of one of another measurement.
func run() string { return rand.Text()[:10] }

// same returns one request again and again. It is one slice for all requests, which no connection changes.
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
// Its ids differ in the measurement, the connection and the number, so no order is taken for a repetition.
func (p *product) orders(method, run string, conn int, items []string) func() []byte {
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
		return p.order(conn, method, fmt.Sprintf("%s-%04d-%08d", run, conn, n), dishes...)
	}
}

// order returns a guest's order of one portion of each dish.
func (p *product) order(guest int, method, txn string, dishes ...string) []byte {
	body := fmt.Sprintf(`{"items":[{"itemId":"%s","qty":1}],"paymentMethod":"%s","clientTxnId":"%s","menuVersionId":"%s"}`,
		strings.Join(dishes, `","qty":1},{"itemId":"`), method, txn, p.version)
	return p.target.Request(http.MethodPost, orderPath, body, guestHeader, p.guests[guest%len(p.guests)])
}

// menus returns requests for the menu, with additional headers.
func (p *product) menus(headers ...string) func(int) func() []byte {
	text := p.target.Request(http.MethodPost, "/cis/menu/active", p.menuQuery(), headers...)
	return func(int) func() []byte { return same(text) }
}
