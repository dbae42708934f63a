package bench

import (
	"context"
	"fmt"
	"net/http"

	"comanda/internal/bench/load"
	"comanda/internal/sqldb"
)

// ReservationLoads are the measurements of other systems, over as many connections as had the best rate of orders.
type ReservationLoads struct {
	Try         RoundsLoad `json:"reservations"`        // reservations of one unit of an item
	Memory      float64    `json:"bytesPerReservation"` // growth of Redis's memory
	Alternating Load       `json:"reserveSell"`         // requests: alternating reservations and confirmations
	Read        Load       `json:"inventoryRead"`       // stock of one item, from the ledger
}

// stockItems is the number of items to reserve, as in the example of a sale in inventory-tcc.md.
const stockItems = 100

const (
	inventoryPath = "/inventory/"
	reservePath   = "/inventory/reservations"
)

// reservations measures Try and Confirm as requested by other systems. The stock is so large that no measurement uses
// it up.
func (s *session) reservations(ctx context.Context) error {
	p, name, conns := s.product, run(), s.report.Best().Conns
	p.service = "Bearer " + s.ServiceToken
	for i := range stockItems {
		body := fmt.Sprintf(`{"branchId":"%d","available":1000000000}`, p.branch)
		_, err := p.send(ctx, http.MethodPut, inventoryPath+benchItem(i), body, http.StatusOK, nil, "Authorization", p.service)
		if err != nil {
			return err
		}
	}
	r := &ReservationLoads{}
	if err := s.try(ctx, r, name+"a", conns); err != nil {
		return err
	}
	for _, step := range []struct {
		into       *Load
		want, also int
		requests   func(conn int) func() []byte
	}{
		{&r.Alternating, http.StatusCreated, http.StatusOK, func(conn int) func() []byte { return p.sell(name+"b", conn) }},
		{&r.Read, http.StatusOK, 0, p.levels},
	} {
		l, err := s.ask(ctx, load.Plan{Conns: conns, Want: step.want, Also: step.also, Requests: step.requests})
		if err != nil {
			return err
		}
		*step.into = l
		s.settle(ctx)
	}
	s.report.Reservations = r
	return nil
}

// try measures reservations, and what one costs in processor time and in Redis's memory.
func (s *session) try(ctx context.Context, r *ReservationLoads, name string, conns int) error {
	startMillis := s.db.Now().UnixMilli()
	before, err := s.askRedis(ctx)
	if err != nil {
		return err
	}
	costs := s.cpuUsage(ctx)
	r.Try.Load, err = s.ask(ctx, load.Plan{Conns: conns, Want: http.StatusCreated, Requests: func(conn int) func() []byte {
		return s.product.reserve(name, conn)
	}})
	if err != nil {
		return err
	}
	s.settle(ctx)
	later := s.cpuUsage(ctx)
	after, err := s.askRedis(ctx)
	if err != nil {
		return err
	}
	made, _, err := sqldb.One(ctx, s.db, sqldb.Pair, stmt("batch_count"), s.product.branch, noDate, startMillis)
	if n := made[0]; err == nil && n > 0 {
		r.Try.CPU = costs.each(later, n)
		r.Memory = float64(after.used-before.used) / float64(n)
	}
	return err
}

// noDate is the business date of a reservation: it belongs to none.
const noDate = ""

// benchItem returns the id of an item; numbers start again after the last.
func benchItem(i int) string { return fmt.Sprintf("bench-%02d", i%stockItems) }

// reserve returns one connection's reservations, each of one unit of the next item.
func (p *product) reserve(run string, conn int) func() []byte {
	n := 0
	return func() []byte {
		n++
		body := fmt.Sprintf(`{"orderId":"%s","branchId":"%d","items":[{"itemId":"%s","quantity":1}]}`,
			reservation(run, conn, n), p.branch, benchItem(conn+n))
		return p.target.Request(http.MethodPost, reservePath, body, "Authorization", p.service)
	}
}

// sell returns alternating reservations and confirmations. Each connection confirms the reservation that it has just
// made, so confirmations never wait for another connection.
func (p *product) sell(run string, conn int) func() []byte {
	reserve, n := p.reserve(run, conn), 0
	return func() []byte {
		if n++; n%2 == 1 {
			return reserve()
		}
		path := reservePath + "/" + reservation(run, conn, n/2) + "/confirm"
		return p.target.Request(http.MethodPost, path, "{}", "Authorization", p.service)
	}
}

// reservation returns the id of a connection's n-th reservation.
func reservation(run string, conn, n int) string { return fmt.Sprintf("%s-%08d-%04d", run, n, conn) }

// levels returns requests for the stock of one item after the other.
func (p *product) levels(conn int) func() []byte {
	texts := make([][]byte, stockItems)
	for i := range texts {
		path := fmt.Sprintf("%s%s?branchId=%d", inventoryPath, benchItem(conn+i), p.branch)
		texts[i] = p.target.Request(http.MethodGet, path, "", "Authorization", p.service)
	}
	return inTurn(texts...)
}
