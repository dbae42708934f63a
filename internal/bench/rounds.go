package bench

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"comanda/internal/bench/load"
)

// rounds compares checkouts with table orders. A cart can be ordered once, so in each round every member first adds a
// dish to the cart, which is not measured. After the server has processed that (B4), all carts are ordered at full
// speed. After it has processed those too, as many orders of one dish are placed at tables over as many connections.
// Each part is measured from its first request to its last response; nothing is subtracted. Deferred work is not in
// that time, but in the CPU time of each.
func (s *session) rounds(ctx context.Context, m *MemberLoads) error {
	var checkouts, orders roundsSum
	p, name := s.product, run()
	for round := 0; checkouts.Elapsed < s.Duration || m.Rounds < s.Rounds; round++ {
		var fills roundsSum
		for _, t := range []struct {
			*roundsSum
			requests []func() []byte
		}{
			{&fills, p.fillRequests()}, {&checkouts, p.checkouts(name, round)}, {&orders, p.tableOrders(name, round)},
		} {
			if err := s.sendRound(ctx, t.roundsSum, http.StatusCreated, t.requests); err != nil {
				return err
			}
		}
		if m.Rounds++; round == 0 { // warm-up
			if err := s.analyze(ctx); err != nil {
				return err
			}
			checkouts, orders, m.Rounds = roundsSum{}, roundsSum{}, 0
		}
	}
	m.Checkouts, m.Orders = checkouts.result(), orders.result()
	m.Ratio = m.Checkouts.PerSecond / m.Orders.PerSecond
	return nil
}

// leastRounds is enough for a stable ratio: single rounds, of some tenths of a second each, vary by a seventh on a
// shared machine, and so the sum of this many by less than a thirtieth.
const leastRounds = 24

// roundLimit is longer than any server needs for one request per member. It only ends a round on a server that hangs.
const roundLimit = 30 * time.Second

// roundsSum accumulates the rounds of one kind of request: Result their load, used their CPU time.
type roundsSum struct {
	load.Result

	used []Cost // of all rounds
}

// sendRound sends requests over one connection per list until all have the expected response, and waits until the
// server has processed them. One failed request ends the run: a round with fewer orders would look faster.
func (s *session) sendRound(ctx context.Context, t *roundsSum, want int, requests []func() []byte) error {
	before := s.cpuUsage(ctx)
	r, err := load.Run(ctx, load.Plan{
		Target: s.target, Conns: len(requests), Duration: roundLimit, Want: want,
		Requests: func(conn int) func() []byte { return requests[conn] },
	})
	if err != nil {
		return err
	}
	if r.Failed() > 0 {
		return fmt.Errorf("not all requests succeeded: %s", loadOf(r, 0).failures())
	}
	s.settle(ctx)
	t.Add(r)
	t.used = plus(t.used, before.each(s.cpuUsage(ctx), 1))
	return nil
}

// add adds another sum.
func (t *roundsSum) add(other roundsSum) {
	t.Add(&other.Result)
	t.used = plus(t.used, other.used)
}

// result returns the sum of the rounds with the costs of one request.
func (t *roundsSum) result() RoundsLoad {
	r := RoundsLoad{Load: loadOf(&t.Result, 0), CPU: t.used}
	for i := range r.CPU {
		r.CPU[i].Micros /= float64(t.Done)
	}
	return r
}

// plus adds costs by process. A process without figures in the newest round is dropped, so that its sum does not pass
// for the sum of all rounds.
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

// minus subtracts the costs of the same processes, as far as they are less.
func minus(costs, less []Cost) []Cost {
	for _, c := range less {
		for i := range costs {
			if costs[i].Process == c.Process {
				costs[i].Micros = max(0, costs[i].Micros-c.Micros)
			}
		}
	}
	return costs
}

// shared divides n requests among connections. Connection i sends the requests i, i+conns and so on. The functions of
// different connections share nothing and need no lock.
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

// each returns one request per member.
func (p *product) each(request func(member int) []byte) []func() []byte {
	return shared(p.memberConns(), len(p.members), request)
}

// fillRequests returns requests that add a dish to every member's cart.
func (p *product) fillRequests() []func() []byte {
	return p.each(func(member int) []byte {
		return p.target.Request(http.MethodPost, addPath, p.dish(member), "Authorization", p.members[member].token)
	})
}

// checkouts returns requests that order every member's cart.
func (p *product) checkouts(run string, round int) []func() []byte {
	return p.each(func(member int) []byte {
		body := fmt.Sprintf(`{"receiverName":"Lan","receiverPhone":"0912345678","receiverAddress":"12 Hang Bac, Ha Noi",`+
			`"paymentMethod":"COUNTER","clientTxnId":"%s-%04d-%04d"}`, run, round, member)
		return p.target.Request(http.MethodPost, checkoutPath, body, "Authorization", p.members[member].token)
	})
}

// tableOrders returns as many orders of the same dishes at tables.
func (p *product) tableOrders(run string, round int) []func() []byte {
	return p.each(func(member int) []byte {
		return p.order(member, "COUNTER", fmt.Sprintf("%s-%04d-%04d", run, round, member), p.items[member%len(p.items)])
	})
}
