package stockmemory

import (
	"maps"
	"slices"
	"time"

	"comanda/internal/stock"
)

// step is the effect of an operation on a hold in one state.
type step struct {
	to         stock.State // empty removes the record
	held, used int64       // change of the counters per unit
	same       bool        // nothing is left to do
}

var same = step{same: true}

// steps is the effect of each operation by the hold's state, empty for a hold without a record. A missing entry means
// that the hold has ended in another state.
var steps = map[stock.OpKind]map[stock.State]step{
	stock.OpHeld: {"": {to: stock.Held, held: 1}, stock.Held: same, stock.Confirmed: same},
	stock.OpConfirm: {
		"": {to: stock.Confirmed, used: 1}, stock.Held: {to: stock.Confirmed, held: -1, used: 1}, stock.Confirmed: same,
	},
	stock.OpCancel: {
		"": {to: stock.Released}, stock.Held: {to: stock.Released, held: -1}, stock.Released: same, stock.Returned: same,
	},
	stock.OpReturn: {
		"": {to: stock.Returned, used: -1}, stock.Confirmed: {to: stock.Returned, used: -1},
		stock.Released: same, stock.Returned: same,
	},
	stock.OpForget: {
		"": same, stock.Held: {held: -1}, stock.Confirmed: same, stock.Released: same, stock.Returned: same,
	},
}

// call contains the operations of one call on one scope: the changes that apply all of them, or nothing.
type call struct {
	*branch
	scope stock.Scope
	day   *day
	now   time.Time

	changes map[int64]*counter // Held and Used are differences; a capped one also sets the cap
	after   map[string]*record // changed holds; one with an empty state is removed
}

// apply applies operations of one scope and returns the effect of each; nil if the scope is unknown. A counter that
// would fall below zero proves that the scope is wrong: nothing is applied, and the scope becomes unknown until it is
// rebuilt from SQL.
func (b *branch) apply(s stock.Scope, ops []stock.Op, places []int, now time.Time) []stock.Effect {
	d := b.known(s.Date, now)
	if d == nil {
		return nil
	}
	c := &call{branch: b, scope: s, day: d, now: now, changes: map[int64]*counter{}, after: map[string]*record{}}
	effects := make([]stock.Effect, len(places))
	for i, p := range places {
		effects[i] = c.add(ops[p])
	}
	if !c.commit() {
		d.epoch, d.changed = "", true
		return nil
	}
	return effects
}

// add adds the changes of an operation.
func (c *call) add(op stock.Op) stock.Effect {
	if op.Kind == stock.OpCap {
		n := c.change(op.Hold.Lines[0].Item)
		n.Cap, n.capped = op.Hold.Lines[0].Qty, true
		return stock.Changed
	}
	r := c.hold(op.Hold.ID)
	st, defined := steps[op.Kind][r.state]
	switch {
	case !defined:
		return stock.Opposite
	case st.same:
		return stock.Same
	case r.state == "":
		r.lines = slices.Clone(op.Hold.Lines)
	}
	if st.held != 0 || st.used != 0 {
		for _, l := range r.lines {
			n := c.change(l.Item)
			n.Held += st.held * l.Qty
			n.Used += st.used * l.Qty
		}
	}
	r.state = st.to
	return stock.Changed
}

// change returns the change of an item's counter.
func (c *call) change(item int64) *counter {
	n := c.changes[item]
	if n == nil {
		n = &counter{Count: stock.Count{Item: item}}
		c.changes[item] = n
	}
	return n
}

// hold returns a copy of a hold's record. One without a state is empty.
func (c *call) hold(id string) *record {
	r := c.after[id]
	if r != nil {
		return r
	}
	r = &record{epoch: c.day.epoch, date: c.scope.Date, expires: c.day.expires}
	if state, found := c.stateOf(id, c.day.epoch, c.now); state != "" {
		*r = *found
	}
	c.after[id] = r
	return r
}

// commit writes the changes unless a counter would fall below zero.
func (c *call) commit() bool {
	for item, n := range c.changes {
		if counter := c.day.counts[item]; counter != nil {
			n.Held += counter.Held
			n.Used += counter.Used
			if !n.capped {
				n.Cap, n.capped = counter.Cap, counter.capped
			}
		}
		if n.Held < 0 || n.Used < 0 {
			return false
		}
	}
	c.day.changed = c.day.changed || len(c.changes) > 0
	maps.Copy(c.day.counts, c.changes)
	for id, r := range c.after {
		delete(c.due, id)
		if r.state == "" {
			delete(c.records, id)
		} else {
			c.records[id] = r
		}
	}
	return true
}
