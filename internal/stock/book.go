package stock

// Counter is a count under lock, with what a batch has changed of it so far.
type Counter struct {
	Count
	DeltaHeld int64
	DeltaUsed int64
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
)

// Take makes a hold in state HELD, or CONFIRMED for money that arrived late. All lines fit or none is taken (I2). An id
// that is known already is never taken again: the same lines give Same while it lives, anything else Opposite (I12).
func (b *Book) Take(h Hold, as State) (Outcome, []Shortage) {
	if e, ok := b.holds[h.ID]; ok {
		if (e.state == Held || e.state == Confirmed) && Digest(h.Scope, h.Lines) == Digest(e.hold.Scope, e.hold.Lines) {
			return Same, nil
		}
		return Opposite, nil
	}
	var short []Shortage
	for _, l := range h.Lines {
		c, ok := b.counters[Key{h.Scope, l.Item}]
		if !ok {
			return Unknown, nil
		}
		if left := c.Left(); left != Unlimited && left < l.Qty {
			short = append(short, Shortage{Item: l.Item, Requested: l.Qty, Available: left})
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
	for _, l := range e.hold.Lines {
		if _, ok := b.counters[Key{e.hold.Scope, l.Item}]; !ok {
			return Unknown
		}
	}
	e.state = to
	b.move(e.hold, held, used)
	return Changed
}

// move applies the hold's own lines, never a caller's, to the counters. Every counter is known to be there.
func (b *Book) move(h Hold, held, used int64) {
	for _, l := range h.Lines {
		c := b.counters[Key{h.Scope, l.Item}]
		c.Held += held * l.Qty
		c.Used += used * l.Qty
		c.DeltaHeld += held * l.Qty
		c.DeltaUsed += used * l.Qty
	}
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
		if c.DeltaHeld != 0 || c.DeltaUsed != 0 {
			f(k, *c)
		}
	}
}
