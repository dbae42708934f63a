package stock

// Counter is a count under lock, with what a batch has changed of it so far.
type Counter struct {
	Count
	DeltaHeld int64
	DeltaUsed int64
	DeltaCap  int64 // of a stock item: units that came or went otherwise than by a hold

	thing Thing // zero for a menu item's quota
	low   bool  // when it was loaded
}

// Key names a counter.
type Key struct {
	Scope Scope
	Item  int64
}

// Book decides a batch of operations in memory, in the order in which they are asked, against counters that the caller
// has locked. It holds no clock and does no I/O: the ledger loads it, asks it, and writes what it says. Operations on
// one hold in one batch see one another. It is not safe for concurrent use.
type Book struct {
	counters map[Key]*Counter
	holds    map[string]*entry
}

type entry struct {
	hold  Hold
	state State
	was   State // as loaded; empty for a hold made in this batch
}

// NewBook makes an empty book.
func NewBook() *Book {
	return &Book{counters: map[Key]*Counter{}, holds: map[string]*entry{}}
}

// LoadCount enters a locked counter.
func (b *Book) LoadCount(scope Scope, c Count) {
	b.counters[Key{scope, c.Item}] = &Counter{Count: c}
}

// LoadThing enters the locked counter of a stock item.
func (b *Book) LoadThing(t Thing, c Count) {
	b.counters[Key{StockOf(t.Branch), c.Item}] = &Counter{Count: c, thing: t, low: t.low(c.Left())}
}

// LoadHold enters a locked hold in the state that the ledger gives it.
func (b *Book) LoadHold(h Hold, s State) {
	b.holds[h.ID] = &entry{hold: h, state: s, was: s}
}

// Outcome is what the book decided.
type Outcome uint8

// The outcomes of an operation on a hold.
const (
	Changed  Outcome = iota // the operation took effect
	Same                    // it had taken effect before; nothing changed
	NoRoom                  // a line does not fit; nothing changed
	Opposite                // the hold ended the other way; nothing changed
	Unknown                 // there is no such hold, or a counter is missing; nothing changed
	Overfull                // there would be more than MaxAvailable; nothing changed
)

// Take makes a hold in state HELD, or CONFIRMED for money that arrived late. All lines fit or none is taken (I2). An id
// that is known already is never taken again: the same lines give Same while it lives, anything else Opposite (I12).
func (b *Book) Take(h Hold, as State) (Outcome, []Shortage) {
	if e, ok := b.holds[h.ID]; ok {
		if (e.state == Held || e.state == Confirmed) && h.Digest() == e.hold.Digest() {
			return Same, nil
		}
		return Opposite, nil
	}
	var short []Shortage
	for key, qty := range h.Takes {
		c, ok := b.counters[key]
		if !ok {
			return Unknown, nil
		}
		if left := c.Left(); left != Unlimited && left < qty {
			short = append(short, Shortage{key.Item, qty, left, key.Scope.Stock(), c.thing.SKU})
		}
	}
	if short != nil {
		return NoRoom, short
	}
	b.holds[h.ID] = &entry{hold: h, state: as}
	if as == Confirmed {
		b.move(h, 0, 1)
	} else {
		b.move(h, 1, 0)
	}
	return Changed, nil
}

// Bar enters an id that has ended before it began: it never holds anything (I12). It gives Opposite for one that lives,
// and Same for one that has ended already.
func (b *Book) Bar(h Hold) Outcome {
	if e, ok := b.holds[h.ID]; ok {
		if e.state == Released || e.state == Returned {
			return Same
		}
		return Opposite
	}
	b.holds[h.ID] = &entry{hold: h, state: Released}
	return Changed
}

// Confirm turns held units into used ones.
func (b *Book) Confirm(id string) Outcome { return b.step(id, Held, Confirmed, -1, 1) }

// Release gives held units back.
func (b *Book) Release(id string) Outcome { return b.step(id, Held, Released, -1, 0) }

// Return gives used units back, after a sale was undone.
func (b *Book) Return(id string) Outcome { return b.step(id, Confirmed, Returned, 0, -1) }

func (b *Book) step(id string, from, to State, held, used int64) Outcome {
	e, ok := b.holds[id]
	switch {
	case !ok:
		return Unknown
	case e.state == to:
		return Same
	case e.state != from:
		return Opposite
	}
	for key := range e.hold.Takes {
		if _, ok := b.counters[key]; !ok {
			return Unknown
		}
	}
	e.state = to
	b.move(e.hold, held, used)
	return Changed
}

// move applies the hold's own lines, never a caller's, to the counters. Every counter is known to be there.
func (b *Book) move(h Hold, held, used int64) {
	for key, qty := range h.Takes {
		c := b.counters[key]
		c.Held += held * qty
		c.Used += used * qty
		c.DeltaHeld += held * qty
		c.DeltaUsed += used * qty
	}
}

// Stocktake changes how many units of a stock item are available: to a number when set, else by it. What is held and
// sold is not touched. Less than nothing is never available: that is NoRoom. More than MaxAvailable may come about by what
// is returned, and is then only made less: anything else is Overfull.
func (b *Book) Stocktake(k Key, units int64, set bool) (available int64, o Outcome) {
	c, ok := b.counters[k]
	if !ok {
		return 0, Unknown
	}
	by := units
	if set {
		by = units - c.Left()
	}
	switch {
	case by == 0:
		return c.Left(), Same
	case c.Left()+by < 0:
		return c.Left(), NoRoom
	case by > 0 && c.Left()+by > MaxAvailable:
		return c.Left(), Overfull
	}
	c.Cap += by
	c.DeltaCap += by
	return c.Left(), Changed
}

// Mark changes at how many units of a stock item an alarm is raised.
func (b *Book) Mark(k Key, lowAt int64) {
	if c, ok := b.counters[k]; ok {
		c.thing.LowAt = lowAt
	}
}

// Count gives a counter as this batch leaves it.
func (b *Book) Count(k Key) (c Count, ok bool) {
	n, ok := b.counters[k]
	if !ok {
		return Count{}, false
	}
	return n.Count, true
}

// State tells the state of a hold as this batch leaves it; ok is false for an unknown one.
func (b *Book) State(id string) (s State, ok bool) {
	e, ok := b.holds[id]
	if !ok {
		return "", false
	}
	return e.state, true
}

// Holding gives a hold's own content; ok is false for an unknown one.
func (b *Book) Holding(id string) (h Hold, ok bool) {
	e, ok := b.holds[id]
	if !ok {
		return Hold{}, false
	}
	return e.hold, true
}

// Deltas calls f for every counter that the batch changed, in no particular order.
func (b *Book) Deltas(f func(Key, Counter)) {
	for k, c := range b.counters {
		if c.DeltaHeld != 0 || c.DeltaUsed != 0 || c.DeltaCap != 0 {
			f(k, *c)
		}
	}
}
