package linepaysim

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// state is where a payment is.
type state string

const (
	waiting  state = "WAITING"  // for the guest
	approved state = "APPROVED" // by the guest; no money has moved
	canceled state = "CANCELED" // by the guest
	declined state = "DECLINED" // by the guest's bank
	ended    state = "ENDED"    // the window has passed
	captured state = "PAID"
)

// checkCodes are what the call "check" says of each state.
var checkCodes = map[state]string{
	waiting: "0000", approved: "0110", canceled: "0121", ended: "0121", declined: "0122", captured: "0123",
}

// pay is a payment. Amounts are hundredths in every currency.
type pay struct {
	id       int64
	page     string // the unguessable part of its page's address
	order    purchase
	amount   int64
	paid     int64 // what was captured
	state    state
	until    time.Time // nothing is approved or confirmed from then on
	paidAt   time.Time
	refunds  []refund
	refunded int64
}

type refund struct {
	id     int64
	amount int64
	at     time.Time
}

// now gives the state at an instant.
func (p *pay) now(t time.Time) state {
	if (p.state == waiting || p.state == approved) && !t.Before(p.until) {
		return ended
	}
	return p.state
}

// approve tells whether the guest may go on to the merchant: they have approved now or before. A late guest approves
// after the window, which then begins anew.
func (p *pay) approve(t time.Time, late bool) bool {
	switch p.now(t) {
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

// refuse ends a payment that is still open as canceled or declined.
func (p *pay) refuse(t time.Time, as state) bool {
	if now := p.now(t); now != waiting && now != approved {
		return false
	}
	p.state = as
	return true
}

// add remembers a new payment and forgets the oldest beyond the limit.
func (s *Simulator) add(order purchase, amount int64) *pay {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	p := &pay{id: s.newID(now), page: secretWord(), order: order, amount: amount, state: waiting, until: now.Add(Window)}
	s.pays, s.byID[p.id], s.byPage[p.page] = append(s.pays, p), p, p
	if len(s.pays) > s.o.Keep {
		oldest := s.pays[0]
		s.pays[0] = nil
		s.pays = s.pays[1:]
		delete(s.byID, oldest.id)
		delete(s.byPage, oldest.page)
	}
	return p
}

// newID makes an id as LINE Pay's are: the day and eleven digits. It is odd, and above 2^53 no odd number is a float, so
// whoever lets it become one is found out.
func (s *Simulator) newID(now time.Time) int64 {
	y, m, d := now.UTC().Date()
	day := (int64(y)*100+int64(m))*100 + int64(d)
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails since Go 1.24; it would crash the program
		id := day*1e11 + int64(binary.BigEndian.Uint64(b[:])%1e11) | 1
		if s.byID[id] == nil {
			return id
		}
	}
}

func secretWord() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // as above
	return hex.EncodeToString(b[:])
}
