package stock

import (
	"sync"
	"time"
)

// refusalTTL is how long a refusal is repeated without a call of the cache. A release takes about as long to reach
// the cache anyway, and no guest notices the delay.
const refusalTTL = 10 * time.Millisecond

// recentRefusals repeats refusals of the cache for refusalTTL, so that a storm on a sold-out dish costs one call in
// ten milliseconds instead of one per guest. It only repeats refusals and drops them as soon as this process frees
// units, so it may refuse up to refusalTTL too long, and never admits anything.
type recentRefusals struct {
	mu   sync.RWMutex
	left map[Key]recentRefusal
}

type recentRefusal struct {
	available int64
	until     time.Time
}

// maxRecentRefusals bounds the memory. More items are not sold out at the same time.
const maxRecentRefusals = 10_000

// lookup returns the shortages of a hold if all of its lines were refused a moment ago.
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

// add records a refusal of the cache.
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

// invalidate drops refusals of items of which operations may have freed units.
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

// clear drops all refusals, after a rebuild.
func (s *recentRefusals) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.left)
}
