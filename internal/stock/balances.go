package stock

// Counter is a locked counter with the changes of the current batch. Only the differences are written to SQL. The sums
// are for decisions of the same batch.
type Counter struct {
	Count
	DeltaHeld int64
	DeltaUsed int64
	DeltaCap  int64 // units of a stock item that adjustments added or removed

	item Item // zero for a menu item's quota
	low  bool // whether the alarm was on when the counter was loaded
}

// Key identifies a counter.
type Key struct {
	Scope Scope
	Item  int64
}

// Balances decides a batch of operations against counters that the caller has loaded under row locks, in the order of
// the calls. It does no I/O and reads no clock: the caller loads the counters, calls the methods, and writes the
// changes. Operations on one hold see each other's effects within a batch. It is not safe for concurrent use.
//
// Only Balances decides whether units are available. Orders and reservations of other systems use it in the same way.
type Balances struct {
	counters map[Key]*Counter
	holds    map[string]*loadedHold
}

// loadedHold is a hold with its state in this batch. Reserve adds the holds that it creates, so that a Confirm in the
// same batch finds them.
type loadedHold struct {
	hold  Hold
	state State
}

// NewBalances returns balances without counters and holds.
func NewBalances() *Balances {
	return &Balances{counters: map[Key]*Counter{}, holds: map[string]*loadedHold{}}
}

// LoadCount adds the locked counter of a menu item's quota.
func (b *Balances) LoadCount(scope Scope, c Count) {
	b.counters[Key{scope, c.Item}] = &Counter{Count: c}
}

// LoadItem adds the locked counter of a stock item. The state of the alarm is taken before the batch changes anything,
// so LowStockEvents reports each crossing once.
func (b *Balances) LoadItem(t Item, c Count) {
	b.counters[Key{StockScope(t.Branch), c.Item}] = &Counter{Count: c, item: t, low: t.low(c.Left())}
}

// LoadHold adds a locked hold in its state in SQL. A hold whose counters are not loaded cannot be changed: operations
// on it return NotFound.
func (b *Balances) LoadHold(h Hold, s State) {
	b.holds[h.ID] = &loadedHold{hold: h, state: s}
}

// Outcome is the result of an operation on a hold or a counter. Only Applied changes anything.
type Outcome uint8

// The outcomes of an operation on a hold.
const (
	Applied        Outcome = iota // the operation took effect
	AlreadyApplied                // the operation had taken effect before
	Insufficient                  // a line does not fit
	Conflict                      // the hold ended in another state, or the id has other lines
	NotFound                      // there is no such hold, or a counter is not loaded
	ExceedsMax                    // more than MaxAvailable units would be available
)

// Reserve creates a hold in state HELD, or CONFIRMED for a payment that arrived late. All lines fit or none is taken
// (I2). An id is never reserved twice: Reserve returns AlreadyApplied for the same lines while the hold lives, else
// Conflict (I12). It returns NotFound and not a shortage if a counter is not loaded, because the branch has no such
// item. It returns every short line, not only the first, so that a guest can correct the whole order at once.
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

// Tombstone records the id of a hold that ended before it was created, so that the id never holds anything (I12). It
// returns Conflict for a live hold and AlreadyApplied for an ended one.
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

// Confirm turns held units into used units.
func (b *Balances) Confirm(id string) Outcome { return b.step(id, Held, Confirmed, -1, 1) }

// Release frees the units of a held hold.
func (b *Balances) Release(id string) Outcome { return b.step(id, Held, Released, -1, 0) }

// Return frees the used units of a confirmed hold, after a sale was reversed.
func (b *Balances) Return(id string) Outcome { return b.step(id, Confirmed, Returned, 0, -1) }

// step moves a hold from one state to another, and its units with it. It checks everything before it changes anything,
// because a caller that receives NotFound goes on with the batch.
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
		// All counters are checked first, because a hold must not be moved in part.
		if _, ok := b.counters[key]; !ok {
			return NotFound
		}
	}
	e.state = to
	b.move(e.hold, held, used)
	return Applied
}

// move applies the lines that the hold was created with, never those of the caller, so that a release frees exactly
// the units that were taken. All counters must be loaded.
func (b *Balances) move(h Hold, held, used int64) {
	for key, qty := range h.Quantities {
		c := b.counters[key]
		c.Held += held * qty
		c.Used += used * qty
		c.DeltaHeld += held * qty
		c.DeltaUsed += used * qty
	}
}

// Adjust changes the available units of a stock item by a difference or, if set is true, to a number. Held and sold
// units do not change. It returns Insufficient if fewer than 0 units would be available, and ExceedsMax if an increase
// would end above MaxAvailable. Returned sales may exceed MaxAvailable; then only decreases are accepted. The bounds
// keep all sums far below the limits of the integers in SQL and Lua.
func (b *Balances) Adjust(k Key, units int64, set bool) (available int64, o Outcome) {
	c, ok := b.counters[k]
	if !ok {
		return 0, NotFound
	}
	by := units
	// A count states the available units, so the cap moves by their difference. Held and sold units stay in it.
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

// SetThreshold changes the alarm threshold of a stock item for LowStockEvents only. It writes nothing; the caller
// stores the threshold.
func (b *Balances) SetThreshold(k Key, lowAt int64) {
	if c, ok := b.counters[k]; ok {
		c.item.LowAt = lowAt
	}
}

// Count returns a counter with the changes of this batch; ok is false for one that is not loaded.
func (b *Balances) Count(k Key) (c Count, ok bool) {
	n, ok := b.counters[k]
	if !ok {
		return Count{}, false
	}
	return n.Count, true
}

// State returns the state of a hold with the changes of this batch; ok is false for an unknown hold.
func (b *Balances) State(id string) (s State, ok bool) {
	e, ok := b.holds[id]
	if !ok {
		return "", false
	}
	return e.state, true
}

// Hold returns the content of a hold; ok is false for an unknown hold.
func (b *Balances) Hold(id string) (h Hold, ok bool) {
	e, ok := b.holds[id]
	if !ok {
		return Hold{}, false
	}
	return e.hold, true
}

// Deltas calls f for every counter that the batch changed, in no particular order. A counter whose changes cancel each
// other out is left out, so its row is not written.
func (b *Balances) Deltas(f func(Key, Counter)) {
	for k, c := range b.counters {
		if c.DeltaHeld != 0 || c.DeltaUsed != 0 || c.DeltaCap != 0 {
			f(k, *c)
		}
	}
}
