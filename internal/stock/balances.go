package stock

// Counter is a count under lock, with what a batch has changed of it so far.
type Counter struct {
	Count
	DeltaHeld int64
	DeltaUsed int64
	DeltaCap  int64 // of a stock item: units that came or went otherwise than by a hold

	item Item // zero for a menu item's quota
	low  bool // when it was loaded
}

// Key names a counter.
type Key struct {
	Scope Scope
	Item  int64
}

// Book decides a batch of operations in memory, in the order in which they are asked, against counters that the caller
// has locked. It holds no clock and does no I/O: the ledger loads it, asks it, and writes what it says. Operations on
// one hold in one batch see one another. It is not safe for concurrent use.
type Balances struct {
	counters map[Key]*Counter
	holds    map[string]*loadedHold
}

type loadedHold struct {
	hold  Hold
	state State
	was   State // as loaded; empty for a hold made in this batch
}

// NewBook makes an empty book.
func NewBalances() *Balances {
	return &Balances{counters: map[Key]*Counter{}, holds: map[string]*loadedHold{}}
}

// LoadCount enters a locked counter.
func (b *Balances) LoadCount(scope Scope, c Count) {
	b.counters[Key{scope, c.Item}] = &Counter{Count: c}
}

// LoadThing enters the locked counter of a stock item.
func (b *Balances) LoadItem(t Item, c Count) {
	b.counters[Key{StockScope(t.Branch), c.Item}] = &Counter{Count: c, item: t, low: t.low(c.Left())}
}

// LoadHold enters a locked hold in the state that the ledger gives it.
func (b *Balances) LoadHold(h Hold, s State) {
	b.holds[h.ID] = &loadedHold{hold: h, state: s, was: s}
}

// Outcome is what the book decided.
type Outcome uint8

// The outcomes of an operation on a hold.
const (
	Applied        Outcome = iota // the operation took effect
	AlreadyApplied                // it had taken effect before; nothing changed
	Insufficient                  // a line does not fit; nothing changed
	Conflict                      // the hold ended the other way; nothing changed
	NotFound                      // there is no such hold, or a counter is missing; nothing changed
	ExceedsMax                    // there would be more than MaxAvailable; nothing changed
)

// Take makes a hold in state HELD, or CONFIRMED for money that arrived late. All lines fit or none is taken (I2). An id
// that is known already is never taken again: the same lines give Same while it lives, anything else Opposite (I12).
func (b *Balances) Reserve(h Hold, as State) (Outcome, []Shortage) {
	if e, ok := b.holds[h.ID]; ok {
		if (e.state == Held || e.state == Confirmed) && h.Digest() == e.hold.Digest() {
			return AlreadyApplied, nil
		}
		return Conflict, nil
	}
	var short []Shortage
	for key, qty := range h.Quantities {
		c, ok := b.counters[key]
		if !ok {
			return NotFound, nil
		}
		if left := c.Left(); left != Unlimited && left < qty {
			short = append(short, Shortage{key.Item, qty, left, key.Scope.IsStock(), c.item.SKU})
		}
	}
	if short != nil {
		return Insufficient, short
	}
	b.holds[h.ID] = &loadedHold{hold: h, state: as}
	if as == Confirmed {
		b.move(h, 0, 1)
	} else {
		b.move(h, 1, 0)
	}
	return Applied, nil
}

// Bar enters an id that has ended before it began: it never holds anything (I12). It gives Opposite for one that lives,
// and Same for one that has ended already.
func (b *Balances) Tombstone(h Hold) Outcome {
	if e, ok := b.holds[h.ID]; ok {
		if e.state == Released || e.state == Returned {
			return AlreadyApplied
		}
		return Conflict
	}
	b.holds[h.ID] = &loadedHold{hold: h, state: Released}
	return Applied
}

// Confirm turns held units into used ones.
func (b *Balances) Confirm(id string) Outcome { return b.step(id, Held, Confirmed, -1, 1) }

// Release gives held units back.
func (b *Balances) Release(id string) Outcome { return b.step(id, Held, Released, -1, 0) }

// Return gives used units back, after a sale was undone.
func (b *Balances) Return(id string) Outcome { return b.step(id, Confirmed, Returned, 0, -1) }

func (b *Balances) step(id string, from, to State, held, used int64) Outcome {
	e, ok := b.holds[id]
	switch {
	case !ok:
		return NotFound
	case e.state == to:
		return AlreadyApplied
	case e.state != from:
		return Conflict
	}
	for key := range e.hold.Quantities {
		if _, ok := b.counters[key]; !ok {
			return NotFound
		}
	}
	e.state = to
	b.move(e.hold, held, used)
	return Applied
}

// move applies the hold's own lines, never a caller's, to the counters. Every counter is known to be there.
func (b *Balances) move(h Hold, held, used int64) {
	for key, qty := range h.Quantities {
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
func (b *Balances) Adjust(k Key, units int64, set bool) (available int64, o Outcome) {
	c, ok := b.counters[k]
	if !ok {
		return 0, NotFound
	}
	by := units
	if set {
		by = units - c.Left()
	}
	switch {
	case by == 0:
		return c.Left(), AlreadyApplied
	case c.Left()+by < 0:
		return c.Left(), Insufficient
	case by > 0 && c.Left()+by > MaxAvailable:
		return c.Left(), ExceedsMax
	}
	c.Cap += by
	c.DeltaCap += by
	return c.Left(), Applied
}

// Mark changes at how many units of a stock item an alarm is raised.
func (b *Balances) SetThreshold(k Key, lowAt int64) {
	if c, ok := b.counters[k]; ok {
		c.item.LowAt = lowAt
	}
}

// Count gives a counter as this batch leaves it.
func (b *Balances) Count(k Key) (c Count, ok bool) {
	n, ok := b.counters[k]
	if !ok {
		return Count{}, false
	}
	return n.Count, true
}

// State tells the state of a hold as this batch leaves it; ok is false for an unknown one.
func (b *Balances) State(id string) (s State, ok bool) {
	e, ok := b.holds[id]
	if !ok {
		return "", false
	}
	return e.state, true
}

// Holding gives a hold's own content; ok is false for an unknown one.
func (b *Balances) Hold(id string) (h Hold, ok bool) {
	e, ok := b.holds[id]
	if !ok {
		return Hold{}, false
	}
	return e.hold, true
}

// Deltas calls f for every counter that the batch changed, in no particular order.
func (b *Balances) Deltas(f func(Key, Counter)) {
	for k, c := range b.counters {
		if c.DeltaHeld != 0 || c.DeltaUsed != 0 || c.DeltaCap != 0 {
			f(k, *c)
		}
	}
}
