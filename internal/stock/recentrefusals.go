package stock

import (
	"time"

	"comanda/internal/cache"
)

// refusalTTL is how long a refusal is repeated without a call of the cache. A release takes about as long to reach
// the cache anyway, and no guest notices the delay.
const refusalTTL = 10 * time.Millisecond

// recentRefusals repeats refusals of the cache for refusalTTL, so that a storm on a sold-out dish costs one call in
// ten milliseconds instead of one per guest. It only repeats refusals and drops them as soon as this process frees
// units, so it may refuse up to refusalTTL too long, and never admits anything.
type recentRefusals struct {
	left cache.Cache[Key, int64] // units still available
}

// lookup returns the shortages of a hold if all of its lines were refused a moment ago. A hold with any line that is
// not known to be short goes to the cache, which returns all short lines together. Holds of different sizes share
// entries: one unit may fit where three do not.
func (s *recentRefusals) lookup(h Hold, now time.Time) ([]Shortage, bool) {
	var short []Shortage
	for _, l := range h.Lines {
		available, ok := s.left.Get(Key{h.Scope, l.Item}, now)
		if !ok || available >= l.Qty {
			return nil, false
		}
		short = append(short, Shortage{Item: l.Item, Requested: l.Qty, Available: available, Stock: h.Scope.IsStock()})
	}
	return short, len(short) > 0
}

// add records a refusal of the cache.
func (s *recentRefusals) add(scope Scope, short []Shortage, now time.Time) {
	for _, l := range short {
		s.left.Put(Key{scope, l.Item}, l.Available, now.Add(refusalTTL))
	}
}

// invalidate drops refusals of items of which operations may have freed units.
func (s *recentRefusals) invalidate(ops []Op) {
	for _, op := range ops {
		if !op.frees() {
			continue
		}
		for _, l := range op.Hold.Lines {
			s.left.Delete(Key{op.Hold.Scope, l.Item})
		}
	}
}

// clear drops all refusals, after a rebuild. A rebuild may make any item of the scope available again.
func (s *recentRefusals) clear() { s.left.Clear() }
