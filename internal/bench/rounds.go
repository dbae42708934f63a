package bench

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"comanda/internal/bench/load"
)

// rounds compares checkouts with orders at tables. A cart can be ordered once, so in each round every member first puts a
// dish into the cart, which is not measured. When the server has worked that off (B4), all carts are ordered, over some
// connections and as fast as they are answered. When it has worked that off too, as many orders of one dish are placed
// at tables over as many connections. Each is measured from its first request to its last answer, and nothing is
// subtracted from either. What loops do for them later is not in that time, but it is in the processor time of each.
func (s *session) rounds(ctx context.Context, m *MemberLoads) error {
	var checkouts, orders trade
	p, name := s.product, run()
	for round := 0; checkouts.Elapsed < s.Duration || m.Rounds < s.Rounds; round++ {
		var fills trade
		for _, t := range []struct {
			*trade
			requests []func() []byte
		}{
			{&fills, p.fills()}, {&checkouts, p.checkouts(name, round)}, {&orders, p.tableOrders(name, round)},
		} {
			if err := s.spend(ctx, t.trade, http.StatusCreated, t.requests); err != nil {
				return err
			}
		}
		if m.Rounds++; round == 0 { // warms up
			if err := s.gather(ctx); err != nil {
				return err
			}
			checkouts, orders, m.Rounds = trade{}, trade{}, 0
		}
	}
	m.Checkouts, m.Orders = checkouts.found(), orders.found()
	m.Ratio = m.Checkouts.PerSecond / m.Orders.PerSecond
	return nil
}

// leastRounds is enough for their ratio: in single rounds, of some tenths of a second each, it varies by a seventh on a
// machine that is shared, and so by less than a thirtieth in the sum of as many.
const leastRounds = 24

// spendLimit is longer than any server takes for one request of every member.
const spendLimit = 30 * time.Second

// trade is what was counted in all rounds of one kind, with what the processes have used for it.
type trade struct {
	load.Result

	used []Cost // in all
}

// spend makes requests over as many connections as there are lists of them, until all are answered as wanted, and waits
// until the server has worked them off.
func (s *session) spend(ctx context.Context, t *trade, want int, requests []func() []byte) error {
	before := s.look(ctx)
	r, err := load.Run(ctx, load.Plan{
		Target: s.target, Conns: len(requests), Duration: spendLimit, Want: want,
		Requests: func(conn int) func() []byte { return requests[conn] },
	})
	if err != nil {
		return err
	}
	if r.Failed() > 0 {
		return fmt.Errorf("not all was answered: %s", loadOf(r, 0).failures())
	}
	s.settle(ctx)
	t.Add(r)
	t.used = plus(t.used, before.each(s.look(ctx), 1))
	return nil
}

// found is what is reported.
func (t *trade) found() Trade {
	found := Trade{Load: loadOf(&t.Result, 0), CPU: t.used}
	for i := range found.CPU {
		found.CPU[i].Micros /= float64(t.Done)
	}
	return found
}

// plus adds costs part by part.
func plus(sum, more []Cost) []Cost {
	for _, c := range sum {
		for i := range more {
			if more[i].Process == c.Process {
				more[i].Micros += c.Micros
			}
		}
	}
	return more
}

// shared gives each connection its part of so many requests.
func shared(conns, n int, request func(i int) []byte) []func() []byte {
	all := make([]func() []byte, conns)
	for conn := range all {
		i := conn - conns
		all[conn] = func() []byte {
			if i += conns; i >= n {
				return nil
			}
			return request(i)
		}
	}
	return all
}

// each makes one request for every member.
func (p *product) each(request func(member int) []byte) []func() []byte {
	return shared(p.memberConns(), len(p.members), request)
}

// fills puts a dish into every member's cart.
func (p *product) fills() []func() []byte {
	return p.each(func(member int) []byte {
		return p.target.Request(http.MethodPost, addPath, p.dish(member), "Authorization", p.members[member].token)
	})
}

// checkouts orders every member's cart.
func (p *product) checkouts(run string, round int) []func() []byte {
	return p.each(func(member int) []byte {
		body := fmt.Sprintf(`{"receiverName":"Lan","receiverPhone":"0912345678","receiverAddress":"12 Hang Bac, Ha Noi",`+
			`"paymentMethod":"COUNTER","clientTxnId":"%s-%04d-%04d"}`, run, member, round)
		return p.target.Request(http.MethodPost, checkoutPath, body, "Authorization", p.members[member].token)
	})
}

// tableOrders places as many orders of the same dishes at tables.
func (p *product) tableOrders(run string, round int) []func() []byte {
	return p.each(func(member int) []byte {
		body := fmt.Sprintf(`{"items":[{"itemId":"%s","qty":1}],"paymentMethod":"COUNTER","clientTxnId":"%s-%04d-%04d",`+
			`"menuVersionId":"%s"}`, p.items[member%len(p.items)], run, member, round, p.version)
		return p.target.Request(http.MethodPost, orderPath, body, "X-Customer-Token", p.guests[member%len(p.guests)])
	})
}
