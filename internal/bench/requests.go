package bench

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const orderPath = "/cis/order/create"

// run returns a unique name, so that no order counts as a repetition of one of another measurement.
func run() string { return rand.Text()[:10] }

// Placeholders for the parts of an order that change between requests. They have a fixed width, so a request is built
// by overwriting a few digits of the previous one.
const (
	serialMark  = "########"
	serialWidth = len(serialMark)
)

// orders returns one connection's orders of three dishes each, in rotation; with fewer dishes each order has one line.
func (p *product) orders(run string, conn int, items []string) func() []byte {
	return p.ordersBy("COUNTER", run, conn, items)
}

// ordersBy returns orders with a payment method.
func (p *product) ordersBy(method, run string, conn int, items []string) func() []byte {
	lines := lineCount
	if len(items) < lineCount {
		lines = 1
	}
	slots := pad(items)
	var body strings.Builder
	body.WriteString(`{"items":[`)
	for l := range lines {
		if l > 0 {
			body.WriteByte(',')
		}
		body.WriteString(`{"itemId":` + blank(slots, l) + `,"qty":1}`)
	}
	fmt.Fprintf(&body, `],"paymentMethod":"%s","clientTxnId":"%s-%04d-%s","menuVersionId":"%s"}`,
		method, run, conn, serialMark, p.version)
	text := p.target.Request(http.MethodPost, orderPath, body.String(), "X-Customer-Token", p.guests[conn%len(p.guests)])

	//nolint:gocritic // the placeholders were inserted above
	serial := text[bytes.Index(text, []byte(serialMark)):][:serialWidth]
	holes := make([][]byte, lines)
	for l := range holes {
		holes[l] = text[bytes.Index(text, []byte(blank(slots, l))):][:len(slots[0])] //nolint:gocritic // as above
	}
	n := 0
	turn := conn * lines // connections start at different dishes
	return func() []byte {
		n++
		number(serial, n)
		for l, hole := range holes {
			copy(hole, slots[(turn+l)%len(slots)])
		}
		turn += lines
		return text
	}
}

// blank returns the placeholder for the l-th line's dish, distinct from the others.
func blank(slots []string, l int) string {
	return strings.Repeat(string("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[l]), len(slots[0]))
}

// pad quotes ids and pads them to one width with spaces, which JSON allows after a value.
func pad(items []string) []string {
	width := 0
	for _, it := range items {
		width = max(width, len(it)+2)
	}
	slots := make([]string, len(items))
	for i, it := range items {
		slots[i] = strconv.Quote(it) + strings.Repeat(" ", width-len(it)-2)
	}
	return slots
}

// number writes n with leading zeros.
func number(into []byte, n int) {
	for i := len(into) - 1; i >= 0; i-- {
		into[i] = byte('0' + n%10)
		n /= 10
	}
}

// menus returns requests for the menu, with additional headers.
func (p *product) menus(headers ...string) func(int) func() []byte {
	text := p.target.Request(http.MethodPost, "/cis/menu/active", p.menuQuery(), headers...)
	return func(int) func() []byte { return func() []byte { return text } }
}
