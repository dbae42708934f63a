package linepaysim

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"time"
)

// state is the state of a payment. The stored state does not change when the window ends; stateAt includes that.
type state string

const (
	waiting  state = "WAITING"  // for the guest
	approved state = "APPROVED" // by the guest; no money has moved
	canceled state = "CANCELED" // by the guest
	declined state = "DECLINED" // by the guest's bank
	ended    state = "ENDED"    // the window has passed
	captured state = "PAID"
)

// checkCodes maps each state to the code of a check.
var checkCodes = map[state]string{
	waiting: "0000", approved: "0110", canceled: "0121", ended: "0121", declined: "0122", captured: "0123",
}

// transaction is a payment. Amounts are hundredths in every currency. The mutex of the simulator guards it.
type transaction struct {
	id       int64
	page     string // the unguessable part of its page's URL
	order    purchase
	amount   int64
	paid     int64 // amount captured
	state    state
	until    time.Time // end of the payment window: no approval or capture after it
	paidAt   time.Time
	refunds  []refund
	refunded int64
}

type refund struct {
	id     int64
	amount int64
	at     time.Time
}

// stateAt returns the state at an instant.
func (p *transaction) stateAt(t time.Time) state {
	if (p.state == waiting || p.state == approved) && !t.Before(p.until) {
		return ended
	}
	return p.state
}

// shown returns the payment as testers see it.
func (p *transaction) shown(now time.Time) Payment {
	return Payment{
		TransactionID: strconv.FormatInt(p.id, 10), OrderID: p.order.OrderID, State: string(p.stateAt(now)),
		Currency: p.order.Currency, Amount: decimal(p.amount).String(), Refunded: decimal(p.refunded).String(),
		Refunds: len(p.refunds),
	}
}

// approve reports whether the guest may return to the merchant: they approve now or have approved before. A late guest
// approves after the window, which starts anew. A captured payment returns to the merchant as well: its page may be
// opened again.
func (p *transaction) approve(t time.Time, late bool) bool {
	switch p.stateAt(t) {
	case waiting:
		p.state = approved
	case ended:
		if !late {
			return false
		}
		p.state, p.until = approved, t.Add(Window)
	case canceled, declined:
		return false
	}
	return true
}

// refuse ends an undecided payment as canceled or declined.
func (p *transaction) refuse(t time.Time, as state) bool {
	if now := p.stateAt(t); now != waiting && now != approved {
		return false
	}
	p.state = as
	return true
}

// add stores a new payment. It does not compare order ids: the sandbox accepts the same one twice, so uniqueness is the
// merchant's task.
func (s *Simulator) add(order purchase, amount int64) *transaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	p := &transaction{id: s.newID(now), page: rand.Text(), order: order, amount: amount, state: waiting, until: now.Add(Window)}
	s.byID.Add(p.id, p)
	s.byPage.Add(p.page, p)
	return p
}

// newID returns an id like LINE Pay's: the date and eleven digits. It is odd: above 2^53 an odd number is not
// representable as a float, so a conversion to float is detected.
func (s *Simulator) newID(now time.Time) int64 {
	y, m, d := now.UTC().Date()
	day := (int64(y)*100+int64(m))*100 + int64(d)
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails since Go 1.24; it would crash the program
		id := day*1e11 + int64(binary.BigEndian.Uint64(b[:])%1e11) | 1
		if s.byID.Get(id) == nil {
			return id
		}
	}
}
