package vnpaysim

import (
	"context"
	"time"
)

// state is the state of a payment.
type state string

const (
	waiting state = "WAITING" // for the guest
	ended   state = "ENDED"   // the window has passed
	failed  state = "FAILED"
	paid    state = "PAID"
)

// The response codes of a payment; 15 is not in the manual but occurs.
const (
	success  = "00"
	timedOut = "15"
	canceled = "24"
	noFunds  = "51"
)

// maxRefunds is the maximum number of refunds per payment; it bounds the memory that a script can use.
const maxRefunds = 100

// transaction is a payment. The mutex of the simulator guards it; what leaves the lock is a copy.
type transaction struct {
	purchase

	state    state
	last     result
	late     bool // it will be paid after its window
	refunded int64
	refunds  map[string]bool // requestKeys of the refunds
	whole    bool            // it was refunded in full at once
}

// result is the outcome of a payment at an instant.
type result struct {
	response string // vnp_ResponseCode
	status   string // vnp_TransactionStatus
	number   int64  // vnp_TransactionNo; 0 when no money has moved
	at       time.Time
}

// stateAt returns the state at an instant.
func (p *transaction) stateAt(t time.Time) state {
	if p.state == waiting && !t.Before(p.ends) {
		return ended
	}
	return p.state
}

// findOrAdd returns the payment of a pay URL, or adds it. A different pay URL with the same reference on the same day
// is refused. It returns a copy, and the code of the error page or an empty string. A known payment is shown even after
// its window.
func (s *Simulator) findOrAdd(order purchase) (transaction, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.transactions.Get(order.key()); p != nil {
		if p.data != order.data {
			return transaction{}, errExists
		}
		return *p, ""
	}
	if !s.Now().Before(order.ends) {
		return transaction{}, errOver
	}
	p := &transaction{purchase: order, state: waiting, refunds: map[string]bool{}}
	s.transactions.Add(order.key(), p)
	return *p, ""
}

// settle decides an open payment and returns it. A payment after its window fails, unless late is set. It reports false
// if the payment is unknown or was decided before.
func (s *Simulator) settle(key, response string, late bool) (transaction, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.transactions.Get(key), s.Now()
	if p == nil || p.state != waiting {
		return transaction{}, false
	}
	if p.stateAt(now) == ended && !late {
		response = timedOut
	}
	p.state, p.last = failed, result{response: response, status: "02", at: now}
	if response == success {
		s.number++
		p.state, p.last = paid, result{response, "00", s.number, now}
	}
	return *p, true
}

// scheduleLatePayment has a guest pay once after the window. It is the case in which VNPay reports money for an order
// that has expired.
func (s *Simulator) scheduleLatePayment(key string) {
	s.mu.Lock()
	p := s.transactions.Get(key)
	if p == nil || p.state != waiting || p.late {
		s.mu.Unlock()
		return
	}
	p.late = true
	d := p.ends.Add(s.o.LateBy).Sub(s.Now())
	s.mu.Unlock()
	s.Go(func() {
		if !s.Wait(context.Background(), d) {
			return
		}
		if p, ok := s.settle(key, success, true); ok {
			s.report(p, p.last)
		}
	})
}
