package vnpaysim

import (
	"time"
)

// state is where a payment is.
type state string

const (
	waiting state = "WAITING" // for the guest
	ended   state = "ENDED"   // the window has passed
	failed  state = "FAILED"
	paid    state = "PAID"
)

// What is reported about a payment; 15 is not in the manual and does occur.
const (
	success  = "00"
	timedOut = "15"
	canceled = "24"
	noFunds  = "51"
)

// maxRefunds is how many refunds one payment may have.
const maxRefunds = 100

// pay is a payment.
type pay struct {
	purchase

	state    state
	last     result
	late     bool // a guest will pay it after its window
	refunded int64
	refunds  map[string]bool // ids of the requests, with their days
	whole    bool            // it was refunded in one piece
}

// result is what became of a payment at an instant.
type result struct {
	response string // vnp_ResponseCode
	status   string // vnp_TransactionStatus
	number   int64  // vnp_TransactionNo; 0 when no money has moved
	at       time.Time
}

// now gives the state at an instant.
func (p *pay) now(t time.Time) state {
	if p.state == waiting && !t.Before(p.ends) {
		return ended
	}
	return p.state
}

// enter finds the payment of a pay URL, or begins it. Another pay URL with the same reference on the same day is refused.
func (s *Simulator) enter(order purchase) (pay, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.byKey[order.key()]; p != nil {
		if p.data != order.data {
			return pay{}, errExists
		}
		return *p, ""
	}
	if !s.o.Now().Before(order.ends) {
		return pay{}, errOver
	}
	p := &pay{purchase: order, state: waiting, refunds: map[string]bool{}}
	s.pays, s.byKey[order.key()] = append(s.pays, p), p
	if len(s.pays) > s.o.Keep {
		oldest := s.pays[0]
		s.pays[0] = nil
		s.pays = s.pays[1:]
		delete(s.byKey, oldest.key())
	}
	return *p, ""
}

// settle decides a payment that is open, and gives it as it is then. A payment whose window is over fails, unless the guest
// is a late one.
func (s *Simulator) settle(key, response string, late bool) (pay, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.byKey[key], s.o.Now()
	if p == nil || p.state != waiting {
		return pay{}, false
	}
	if p.now(now) == ended && !late {
		response = timedOut
	}
	p.state, p.last = failed, result{response: response, status: "02", at: now}
	if response == success {
		s.number++
		p.state, p.last = paid, result{response, "00", s.number, now}
	}
	return *p, true
}

// promise has a guest pay after the window, once.
func (s *Simulator) promise(key string) {
	s.mu.Lock()
	p := s.byKey[key]
	if p == nil || p.state != waiting || p.late {
		s.mu.Unlock()
		return
	}
	p.late = true
	d := p.ends.Add(s.o.LateBy).Sub(s.o.Now())
	s.mu.Unlock()
	s.begin(func() {
		if !s.wait(d) {
			return
		}
		if p, ok := s.settle(key, success, true); ok {
			s.report(p, p.last)
		}
	})
}

// remembered are the latest words of many.
type remembered struct {
	seen  map[string]bool
	order []string
	keep  int
}

// add tells whether a word is new.
func (r *remembered) add(word string) bool {
	if r.seen[word] {
		return false
	}
	r.seen[word] = true
	r.order = append(r.order, word)
	if len(r.order) > r.keep {
		delete(r.seen, r.order[0])
		r.order = r.order[1:]
	}
	return true
}
