package linepaysim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// find gives the payment that a path names; nil when there is none. The caller holds the lock.
func (s *Simulator) find(r *http.Request) *pay {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil
	}
	return s.byID[id]
}

func (s *Simulator) check(r *http.Request, _ []byte, _ Fault) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(r)
	if p == nil {
		return coded("1150")
	}
	return coded(checkCodes[p.now(s.o.Now())])
}

func (s *Simulator) confirm(r *http.Request, body []byte, f Fault) reply {
	var ask struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
	}
	if !decode(body, &ask) {
		return coded("2102")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.find(r), s.o.Now()
	if p == nil {
		return coded("1150")
	}
	switch p.now(now) {
	case captured:
		return coded("1172")
	case waiting:
		return coded("1169")
	case canceled, declined, ended:
		return coded("1180")
	}
	amount, ok := hundredths(ask.Currency, ask.Amount)
	switch {
	case ask.Currency != p.order.Currency:
		return coded("1178")
	case !ok || amount != p.amount:
		return coded("1153")
	}
	p.state, p.paid, p.paidAt = captured, p.amount, now
	if f.Spoil == Short {
		p.paid -= 100
	}
	return done(map[string]any{"orderId": p.order.OrderID, "transactionId": p.id, "payInfo": p.payInfo()})
}

// payInfo tells by which means was paid: a tenth by points, where that is a whole unit.
func (p *pay) payInfo() []map[string]any {
	points := p.paid / 1000 * 100
	info := []map[string]any{{"method": "BALANCE", "amount": decimal(p.paid - points)}}
	if points > 0 {
		info = append(info, map[string]any{"method": "POINT", "amount": decimal(points)})
	}
	return info
}

func (s *Simulator) refund(r *http.Request, body []byte, _ Fault) reply {
	var ask struct {
		Amount *json.Number `json:"refundAmount"`
	}
	if !decode(body, &ask) {
		return coded("2102")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(r)
	switch {
	case p == nil:
		return coded("1150")
	case p.state != captured:
		return coded("1155")
	case p.refunded == p.paid:
		return coded("1165")
	}
	amount, ok := p.paid-p.refunded, true
	if ask.Amount != nil {
		amount, ok = hundredths(p.order.Currency, *ask.Amount)
	}
	switch {
	case !ok || amount <= 0:
		return coded("1124")
	case amount > p.paid-p.refunded:
		return coded("1164")
	}
	back := s.giveBack(p, amount)
	return done(map[string]any{"refundTransactionId": back.id, "refundTransactionDate": stamp(back.at)})
}

// giveBack does not ask whether there is so much. The caller holds the lock.
func (s *Simulator) giveBack(p *pay, amount int64) refund {
	back := refund{s.newID(s.o.Now()), amount, s.o.Now()}
	p.refunds = append(p.refunds, back)
	p.refunded += amount
	return back
}

// GiveBack gives back a part of a payment as the merchant's staff do by hand, in LINE Pay's portal: nobody is told. It
// gives LINE Pay's number of the refund, empty where there was not so much.
func (s *Simulator) GiveBack(transactionID string, amount json.Number) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := strconv.ParseInt(transactionID, 10, 64)
	p := s.byID[id]
	if err != nil || p == nil || p.state != captured {
		return ""
	}
	n, ok := hundredths(p.order.Currency, amount)
	if !ok || n <= 0 || n > p.paid-p.refunded {
		return ""
	}
	return strconv.FormatInt(s.giveBack(p, n).id, 10)
}

const maxListed = 100

func (s *Simulator) details(r *http.Request, _ []byte, _ Fault) reply {
	q := r.URL.Query()
	ids, orders := q["transactionId"], q["orderId"]
	if len(ids)+len(orders) == 0 {
		return coded("2101")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []map[string]any
	for _, p := range slices.Backward(s.pays) {
		named := slices.Contains(ids, strconv.FormatInt(p.id, 10)) || slices.Contains(orders, p.order.OrderID)
		if named && p.state == captured && len(found) < maxListed {
			found = append(found, p.record())
		}
	}
	if len(found) == 0 {
		return coded("1150")
	}
	return done(found)
}

// record is a payment as the call "details" lists it. What was given back has a minus and is called partial, however much
// it was.
func (p *pay) record() map[string]any {
	rec := map[string]any{
		"transactionId": p.id, "orderId": p.order.OrderID, "transactionDate": stamp(p.paidAt), "transactionType": "PAYMENT",
		"payStatus": "CAPTURE", "currency": p.order.Currency, "payInfo": p.payInfo(), "productName": p.title(),
	}
	var list []map[string]any
	for _, back := range p.refunds {
		list = append(list, map[string]any{
			"refundTransactionId": back.id, "transactionType": "PARTIAL_REFUND", "refundAmount": decimal(-back.amount),
			"refundTransactionDate": stamp(back.at),
		})
	}
	if list != nil {
		rec["refundList"] = list
	}
	return rec
}

func (p *pay) title() string { return p.order.Packages[0].Products[0].Name }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
