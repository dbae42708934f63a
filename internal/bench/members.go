package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"comanda/internal/bench/load"
)

// Login is an account of a member, made for the benchmark.
type Login struct{ Email, Password string }

// MemberLoads is what members were served, one connection for each of them.
type MemberLoads struct {
	Read    Load `json:"cartReads"`   // of three dishes
	Change  Load `json:"cartChanges"` // of a quantity
	Filling Load `json:"filling"`     // requests: a dish put into the cart, and the cart emptied, in turn
	Buying  Load `json:"buying"`      // requests: a dish put into the cart, and the cart ordered, in turn
	Dining  Load `json:"dining"`      // requests: a quantity in a cart changed, and a dish ordered at a table, in turn

	Checkouts float64 `json:"checkoutsPerSecond"` // of Buying, without the time that the carts took
	Orders    float64 `json:"ordersPerSecond"`    // of Dining, likewise
	Ratio     float64 `json:"checkoutsOverOrders"`
}

// imply takes what is done to carts out of the time of buying and of dining: the rest is what checkouts and orders alone
// would have taken. Both share the machine with as much else, so that their commits are of one size. To empty a cart is
// taken for a change.
func (m *MemberLoads) imply() {
	change := each(m.Change, 1)
	fill := each(m.Filling, 2) - change
	m.Checkouts, m.Orders = rest(each(m.Buying, 2), fill), rest(each(m.Dining, 2), change)
	if m.Orders > 0 {
		m.Ratio = m.Checkouts / m.Orders
	}
}

// each is the time of so many requests of a load one after the other, in seconds; 0 when none was answered.
func each(l Load, requests float64) float64 {
	if l.PerSecond <= 0 {
		return 0
	}
	return requests / l.PerSecond
}

// rest is the rate of what takes a time but for a part of it; 0 when the two do not go together.
func rest(time, part float64) float64 {
	if part <= 0 || time <= part {
		return 0
	}
	return 1 / (time - part)
}

// shopper is a member who is logged in and has a cart.
type shopper struct{ token, line string }

// enterMembers logs members in and puts three dishes into each cart.
func (s *session) enterMembers(ctx context.Context) error {
	for i, l := range s.Members {
		var in struct {
			AccessToken string `json:"accessToken"`
		}
		body, err := json.Marshal(map[string]string{"email": l.Email, "password": l.Password})
		if err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		if _, err := s.product.send(ctx, http.MethodPost, "/auth/login", string(body), http.StatusOK, &in); err != nil {
			return err
		}
		m := shopper{token: "Bearer " + in.AccessToken}
		for n := range lineCount {
			var line struct {
				ID string `json:"id"`
			}
			body := s.product.dish(i + n)
			_, err := s.product.send(ctx, http.MethodPost, addPath, body, http.StatusCreated, &line, "Authorization", m.token)
			if err != nil {
				return err
			}
			m.line = line.ID
		}
		s.product.members = append(s.product.members, m)
	}
	return nil
}

// members measures carts and what becomes of them.
func (s *session) members(ctx context.Context) (err error) {
	p, name := s.product, run()
	m := &MemberLoads{}
	for _, step := range []struct {
		into     *Load
		want     int
		also     int
		requests func(conn int) func() []byte
	}{
		{&m.Read, http.StatusOK, 0, p.cartReads},
		{&m.Change, http.StatusOK, 0, p.cartChanges},
		{&m.Dining, http.StatusCreated, http.StatusOK, func(conn int) func() []byte { return p.dining(name, conn) }},
		{&m.Filling, http.StatusCreated, http.StatusOK, p.filling}, // the lines of the changes are gone then
		{&m.Buying, http.StatusCreated, 0, func(conn int) func() []byte { return p.buying(name, conn) }},
	} {
		*step.into, err = s.ask(ctx, load.Plan{
			Conns: len(p.members), Want: step.want, Also: step.also, Requests: step.requests,
		})
		if err != nil {
			return err
		}
		s.settle(ctx)
	}
	m.imply()
	s.report.Members = m
	return nil
}

const (
	cartPath     = "/cart"
	addPath      = "/cart/add-dish"
	checkoutPath = "/cart/checkout"
)

// dish is the body that puts the n-th dish into a cart. The dishes of the benchmark bear the ids of their items.
func (p *product) dish(n int) string {
	return fmt.Sprintf(`{"dishId":"%s","quantity":1,"branchId":"%d"}`, p.items[n%len(p.items)], p.branch)
}

func (p *product) cartReads(conn int) func() []byte {
	text := p.target.Request(http.MethodGet, cartPath, "", "Authorization", p.members[conn].token)
	return func() []byte { return text }
}

func (p *product) cartChanges(conn int) func() []byte {
	m := p.members[conn]
	change := func(quantity int) []byte {
		body := fmt.Sprintf(`{"quantity":%d}`, quantity)
		return p.target.Request(http.MethodPatch, "/cart/items/"+m.line, body, "Authorization", m.token)
	}
	return inTurn(change(2), change(3))
}

func (p *product) filling(conn int) func() []byte {
	token := p.members[conn].token
	return inTurn(p.target.Request(http.MethodPost, addPath, p.dish(conn), "Authorization", token),
		p.target.Request(http.MethodDelete, cartPath, "", "Authorization", token))
}

// buying puts a dish into the cart and orders it. Both are answered 201.
func (p *product) buying(run string, conn int) func() []byte {
	token := p.members[conn].token
	add := p.target.Request(http.MethodPost, addPath, p.dish(conn), "Authorization", token)
	body := fmt.Sprintf(`{"receiverName":"Lan","receiverPhone":"0912345678","receiverAddress":"12 Hang Bac, Ha Noi",`+
		`"paymentMethod":"COUNTER","clientTxnId":"%s-%04d-%s"}`, run, conn, serialMark)
	checkout := p.target.Request(http.MethodPost, checkoutPath, body, "Authorization", token)
	serial := checkout[bytes.Index(checkout, []byte(serialMark)):][:serialWidth] //nolint:gocritic // it was put there just now
	n, next := 0, inTurn(add, checkout)
	return func() []byte {
		n++
		number(serial, n)
		return next()
	}
}

// dining changes a cart and orders a dish at a table.
func (p *product) dining(run string, conn int) func() []byte {
	change, order := p.cartChanges(conn), p.orders(run, conn, p.items[:lineCount-1])
	n := 0
	return func() []byte {
		n++
		if n%2 == 1 {
			return change()
		}
		return order()
	}
}

func inTurn(texts ...[]byte) func() []byte {
	n := -1
	return func() []byte {
		n++
		return texts[n%len(texts)]
	}
}
