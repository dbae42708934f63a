package linepaysim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"comanda/internal/sim"
)

// find returns the payment in the request's path, or nil. The caller holds the lock.
func (s *Simulator) find(r *http.Request) *transaction {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil
	}
	return s.byID.Get(id)
}

// check serves "Check Payment Request Status". Like the original it states no amount.
func (s *Simulator) check(r *http.Request, _ []byte, _ Fault) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(r)
	if p == nil {
		return codeReply("1150")
	}
	return codeReply(checkCodes[p.stateAt(s.Now())])
}

// confirm serves "Confirm Payment". The state is checked before the amount, so a repeated confirmation gets 1172
// whatever its amount.
func (s *Simulator) confirm(r *http.Request, body []byte, f Fault) reply {
	var ask struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
	}
	if !sim.Decode(body, &ask) {
		return codeReply("2102")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.find(r), s.Now()
	if p == nil {
		return codeReply("1150")
	}
	switch p.stateAt(now) {
	case captured:
		return codeReply("1172")
	case waiting:
		return codeReply("1169")
	case canceled, declined, ended:
		return codeReply("1180")
	}
	amount, ok := hundredths(ask.Currency, ask.Amount)
	switch {
	case ask.Currency != p.order.Currency:
		return codeReply("1178")
	case !ok || amount != p.amount:
		return codeReply("1153")
	}
	p.state, p.paid, p.paidAt = captured, p.amount, now
	if f.Response == Short {
		p.paid -= 100
	}
	return success(map[string]any{"orderId": p.order.OrderID, "transactionId": p.id, "payInfo": p.payInfo()})
}

// payInfo returns the means of payment: a tenth in points if that is a whole unit, the rest in balance. Two entries
// show whether a merchant adds them up.
func (p *transaction) payInfo() []map[string]any {
	points := p.paid / 1000 * 100
	info := []map[string]any{{"method": "BALANCE", "amount": decimal(p.paid - points)}}
	if points > 0 {
		info = append(info, map[string]any{"method": "POINT", "amount": decimal(points)})
	}
	return info
}

// refund serves "Refund Payment". It recognizes no repetition: two equal requests are two refunds, as at LINE Pay.
func (s *Simulator) refund(r *http.Request, body []byte, _ Fault) reply {
	var ask struct {
		Amount *json.Number `json:"refundAmount"`
	}
	if !sim.Decode(body, &ask) {
		return codeReply("2102")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(r)
	switch {
	case p == nil:
		return codeReply("1150")
	case p.state != captured:
		return codeReply("1155")
	case p.refunded == p.paid:
		return codeReply("1165")
	}
	amount, ok := p.paid-p.refunded, true
	// Without an amount, the whole remaining amount is refunded; 0 is an error.
	if ask.Amount != nil {
		amount, ok = hundredths(p.order.Currency, *ask.Amount)
	}
	switch {
	case !ok || amount <= 0:
		return codeReply("1124")
	case amount > p.paid-p.refunded:
		return codeReply("1164")
	}
	refunded := s.addRefund(p, amount)
	return success(map[string]any{"refundTransactionId": refunded.id, "refundTransactionDate": stamp(refunded.at)})
}

// addRefund adds a refund without checking what is left. The caller holds the lock.
func (s *Simulator) addRefund(p *transaction, amount int64) refund {
	added := refund{s.newID(s.Now()), amount, s.Now()}
	p.refunds = append(p.refunds, added)
	p.refunded += amount
	return added
}

// RefundInPortal refunds a part of a payment as staff do in LINE Pay's portal, without a notice. It returns LINE Pay's
// id of the refund, or an empty string if less is left.
func (s *Simulator) RefundInPortal(transactionID string, amount json.Number) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := strconv.ParseInt(transactionID, 10, 64)
	p := s.byID.Get(id)
	if err != nil || p == nil || p.state != captured {
		return ""
	}
	n, ok := hundredths(p.order.Currency, amount)
	if !ok || n <= 0 || n > p.paid-p.refunded {
		return ""
	}
	return strconv.FormatInt(s.addRefund(p, n).id, 10)
}

// maxListed is LINE Pay's limit of "Retrieve Payment Details".
const maxListed = 100

// details serves "Retrieve Payment Details". It lists captured payments only; others do not exist for it.
func (s *Simulator) details(r *http.Request, _ []byte, _ Fault) reply {
	q := r.URL.Query()
	ids, orders := q["transactionId"], q["orderId"]
	if len(ids)+len(orders) == 0 {
		return codeReply("2101")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []map[string]any
	for p := range s.byID.Latest() {
		named := slices.Contains(ids, strconv.FormatInt(p.id, 10)) || slices.Contains(orders, p.order.OrderID)
		if named && p.state == captured && len(found) < maxListed {
			found = append(found, p.record())
		}
	}
	if len(found) == 0 {
		return codeReply("1150")
	}
	return success(found)
}

// record returns the payment as the call "details" lists it. Refunds have a negative amount and the type
// PARTIAL_REFUND, also full ones.
func (p *transaction) record() map[string]any {
	rec := map[string]any{
		"transactionId": p.id, "orderId": p.order.OrderID, "transactionDate": stamp(p.paidAt), "transactionType": "PAYMENT",
		"payStatus": "CAPTURE", "currency": p.order.Currency, "payInfo": p.payInfo(), "productName": p.title(),
	}
	var list []map[string]any
	for _, refunded := range p.refunds {
		list = append(list, map[string]any{
			"refundTransactionId": refunded.id, "transactionType": "PARTIAL_REFUND", "refundAmount": decimal(-refunded.amount),
			"refundTransactionDate": stamp(refunded.at),
		})
	}
	if list != nil {
		rec["refundList"] = list
	}
	return rec
}

func (p *transaction) title() string { return p.order.Packages[0].Products[0].Name }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
