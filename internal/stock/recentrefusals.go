package stock

import (
	"sync"
	"time"
)

// shortFor is how long a refusal is taken for granted. It is about as long as a release needs to reach the gate anyway,
// and far shorter than anybody needs to read "sold out".
const refusalTTL = 10 * time.Millisecond

// shortages remembers for a moment what the gate has just refused, so that a storm on a sold-out dish costs one call of
// the gate in ten milliseconds instead of one for each guest. It can only refuse what was refused a moment ago, and is
// told at once what this process gives back; so it may be late by that moment, and never admits anything.
type recentRefusals struct {
	mu   sync.RWMutex
	left map[Key]recentRefusal
}

type recentRefusal struct {
	available int64
	until     time.Time
}

// maxShortages bounds the memory: more items than that are not sold out at once.
const maxRecentRefusals = 10_000

// refuse answers a hold all of whose lines were short a moment ago.
func (s *recentRefusals) lookup(h Hold, now time.Time) ([]Shortage, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.left) == 0 {
		return nil, false
	}
	short := make([]Shortage, 0, len(h.Lines))
	for _, l := range h.Lines {
		known, ok := s.left[Key{h.Scope, l.Item}]
		if !ok || !now.Before(known.until) || known.available >= l.Qty {
			return nil, false
		}
		short = append(short, Shortage{Item: l.Item, Requested: l.Qty, Available: known.available, Stock: h.Scope.IsStock()})
	}
	return short, true
}

// note takes over what the gate has just refused.
func (s *recentRefusals) add(scope Scope, short []Shortage, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil || len(s.left) > maxRecentRefusals {
		s.left = map[Key]recentRefusal{}
	}
	for _, l := range short {
		s.left[Key{scope, l.Item}] = recentRefusal{l.Available, now.Add(refusalTTL)}
	}
}

// forget drops what operations may have made available again.
func (s *recentRefusals) invalidate(ops []Op) {
	for _, op := range ops {
		if !op.frees() {
			continue
		}
		s.mu.Lock()
		for _, l := range op.Hold.Lines {
			delete(s.left, Key{op.Hold.Scope, l.Item})
		}
		s.mu.Unlock()
	}
}

// forgetAll drops everything, after the gate was built anew.
func (s *recentRefusals) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.left)
}
