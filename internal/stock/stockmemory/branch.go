package stockmemory

import (
	"slices"
	"sync"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/stock"
)

// branch contains the quotas of a branch on all dates, or its stock. mu guards all fields and is held for microseconds
// only.
type branch struct {
	mu      sync.Mutex
	days    map[string]*day    // by business date; of stock, under an empty date
	records map[string]*record // by id of the hold

	due   map[string]time.Time // provisional holds, and the instant at which each times out
	queue []timeout            // the same in the order of their instants, with entries that are outdated

	refused [2]map[string]struct{} // ids refused in this span of time and in the one before
	span    int64
}

// day contains the counters of one scope. It is known while epoch is set and the records have not expired.
type day struct {
	epoch    string
	building string // epoch of the rebuild that has begun last
	expires  time.Time
	counts   map[int64]*counter
	changed  bool // see Cache.Scopes
}

// counter is the counter of an item. One without a cap is counted but not sold: SQL has sold it, and the cache does not
// know its quota.
type counter struct {
	stock.Count
	capped bool
}

// record is a hold. One in HELD or CONFIRMED counts only in the epoch in which it was written; the counters of an
// earlier epoch no longer exist. An ended one has ended in every epoch.
type record struct {
	state   stock.State
	epoch   string
	date    string
	lines   []stock.Line
	expires time.Time
}

type timeout struct {
	id string
	at time.Time
}

// known returns the counters of a date; nil if they are unknown.
func (b *branch) known(date string, now time.Time) *day {
	d := b.days[date]
	if d == nil || d.epoch == "" || !now.Before(d.expires) {
		return nil
	}
	return d
}

// stateOf returns the state of a hold in an epoch, empty for none.
func (b *branch) stateOf(id, epoch string, now time.Time) (stock.State, *record) {
	r := b.records[id]
	switch {
	case r == nil || !now.Before(r.expires):
		return "", nil
	case r.state == stock.Released || r.state == stock.Returned || r.epoch == epoch:
		return r.state, r
	}
	return "", r
}

// reserve takes all lines of a hold or none.
func (b *branch) reserve(h stock.Hold, now, timesOut time.Time) stock.AdmissionResult {
	unknown := stock.AdmissionResult{Status: stock.Cold, Missing: true}
	d := b.known(h.Scope.Date, now)
	if d == nil {
		return unknown
	}
	switch state, r := b.stateOf(h.ID, d.epoch, now); {
	case state == stock.Released || state == stock.Returned || state == "" && b.wasRefused(h.ID, now):
		return stock.AdmissionResult{Status: stock.Ended}
	case state == "":
	case r.date == h.Scope.Date && slices.Equal(r.lines, h.Lines):
		return stock.AdmissionResult{Status: stock.Duplicate}
	default:
		return stock.AdmissionResult{Status: stock.Mismatched}
	}
	var short []stock.Shortage
	for _, l := range h.Lines {
		n := d.counts[l.Item]
		if n == nil || !n.capped {
			return unknown
		}
		if left := n.Left(); left != stock.Unlimited && left < l.Qty {
			short = append(short, stock.Shortage{Item: l.Item, Requested: l.Qty, Available: left, Stock: h.Scope.IsStock()})
		}
	}
	if short != nil {
		b.refuse(h.ID, now)
		return stock.AdmissionResult{Status: stock.Refused, Short: short}
	}
	d.changed = true
	for _, l := range h.Lines {
		d.counts[l.Item].Held += l.Qty
	}
	b.records[h.ID] = &record{
		state: stock.Held, epoch: d.epoch, date: h.Scope.Date, lines: slices.Clone(h.Lines), expires: d.expires,
	}
	b.due[h.ID] = timesOut
	b.queue = append(b.queue, timeout{h.ID, timesOut})
	return stock.AdmissionResult{Status: stock.Admitted}
}

// expired returns provisional holds past their time-out, oldest first. It removes entries that are outdated.
func (b *branch) expired(id int64, now time.Time, limit int) []stock.Hold {
	isCurrent := func(t timeout) bool { return b.due[t.id].Equal(t.at) }
	for len(b.queue) > 0 && !isCurrent(b.queue[0]) {
		b.queue = b.queue[1:]
	}
	var holds []stock.Hold
	for _, t := range b.queue {
		if len(holds) == limit {
			break
		}
		// The clock may have been set back, so a later entry may be due earlier.
		if t.at.After(now) || !isCurrent(t) {
			continue
		}
		r := b.records[t.id]
		if r == nil || !now.Before(r.expires) {
			delete(b.due, t.id)
			continue
		}
		holds = append(holds, stock.Hold{ID: t.id, Scope: stock.Scope{Branch: id, Date: r.date}, Lines: slices.Clone(r.lines)})
	}
	return holds
}

// refuse records that an id was refused: it never holds again (I12).
func (b *branch) refuse(id string, now time.Time) {
	b.turn(now)
	if b.refused[0] == nil {
		b.refused[0] = map[string]struct{}{}
	}
	b.refused[0][id] = struct{}{}
}

func (b *branch) wasRefused(id string, now time.Time) bool {
	b.turn(now)
	_, current := b.refused[0][id]
	_, before := b.refused[1][id]
	return current || before
}

// turn begins a new span of refused ids when the last one is over. Ids are kept for one to two spans, after which every
// request with them has timed out.
func (b *branch) turn(now time.Time) {
	span := now.UnixMilli() / keyspace.RefusedSpan.Milliseconds()
	switch span - b.span {
	case 0:
		return
	case 1:
		b.refused[1], b.refused[0] = b.refused[0], nil
	default:
		b.refused = [2]map[string]struct{}{}
	}
	b.span = span
}

// removeExpired removes the dates and the holds that have expired.
func (b *branch) removeExpired(now time.Time) {
	for date, d := range b.days {
		if d.epoch != "" && !now.Before(d.expires) || (stock.Scope{Date: date}).CacheExpired(now) {
			delete(b.days, date)
		}
	}
	for id, r := range b.records {
		if !now.Before(r.expires) {
			delete(b.records, id)
			delete(b.due, id)
		}
	}
}
