package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"comanda/internal/authz"
)

// Limits of the entries that Incidents writes, per process and action. A permanent attack writes about ten megabytes a
// day.
const (
	incidentEvery      = 10 * time.Minute // minimum time between two entries of one incident
	incidentsPerMinute = 20               // entries per minute
	maxIncidents       = 10_000           // distinct pending incidents; further ones share one entry
	maxAddresses       = 20               // addresses in one entry; further ones are counted together
)

// Incidents collects failed logins and denied requests for the audit log, with account and address. Equal incidents
// share an entry with a count: a flood must neither fill the disk nor delay the audit entries of changes. Counts that
// were not written are lost if the process is killed. The zero value without Now collects nothing; it is safe for
// concurrent use.
type Incidents struct {
	Now func() time.Time

	mu      sync.Mutex
	pending map[incident]*incidentCount
	budgets map[string]*budget // by action, so that guesses do not delay the record of denied requests
	flushMu sync.Mutex         // serializes Flush
}

// incident identifies equal refusals, from any address.
type incident struct{ actor, action, subject string }

// incidentCount is the count of one incident since its last entry.
type incidentCount struct {
	count   int64 // since the last entry
	from    map[string]int64
	first   time.Time
	written time.Time // when the last entry was written; zero if never
}

// budget is a token bucket of entries.
type budget struct {
	left   float64
	filled time.Time
}

// otherAddresses replaces the addresses beyond maxAddresses.
const otherAddresses = "others"

// Add counts one refusal: the actor, the refused action and its subject, and the address.
func (i *Incidents) Add(actor, action, subject, address string) {
	if i == nil || i.Now == nil {
		return
	}
	now := i.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pending == nil {
		i.pending, i.budgets = map[incident]*incidentCount{}, map[string]*budget{}
	}
	in := incident{actor, action, subject}
	if i.pending[in] == nil && len(i.pending) >= maxIncidents {
		// The shared entry keeps the action, so that the count of each kind of refusal stays right.
		in = incident{authz.Actor{}.String(), action, "others"}
	}
	t := i.pending[in]
	if t == nil {
		t = &incidentCount{from: map[string]int64{}}
		i.pending[in] = t
	}
	if t.count == 0 {
		t.first = now
	}
	if _, known := t.from[address]; !known && len(t.from) >= maxAddresses {
		address = otherAddresses
	}
	t.count++
	t.from[address]++
}

// incidentDetails is the After value of an incident's entry.
type incidentDetails struct {
	Count     int64            `json:"count"`
	Since     time.Time        `json:"since"`
	Addresses map[string]int64 `json:"addresses,omitempty"` // count per address, if there are several
}

// entry returns the audit entry of an incident. Its address is the most frequent one.
func (in incident) entry(t *incidentCount, now time.Time) Entry {
	e := Entry{At: now, Actor: in.actor, Action: in.action, Subject: in.subject}
	details := incidentDetails{Count: t.count, Since: t.first.UTC()}
	if len(t.from) > 1 {
		details.Addresses = t.from
	}
	// Addresses are sorted, so that the same one of equally frequent addresses is always named.
	for _, address := range slices.Sorted(maps.Keys(t.from)) {
		if address != otherAddresses && t.from[address] > t.from[e.Address] {
			e.Address = address
		}
	}
	return e.WithAfter(details)
}

// Flush writes due incidents. If write fails they stay pending for the next call.
func (i *Incidents) Flush(ctx context.Context, write func(context.Context, ...Entry) error) error {
	i.flushMu.Lock()
	defer i.flushMu.Unlock()
	now := i.Now()
	due, entries := i.due(now)
	if len(entries) == 0 {
		return nil
	}
	// mu is not held during the write, so that refusals are counted while SQL is slow.
	if err := write(ctx, entries...); err != nil {
		i.putBack(due)
		return err
	}
	return nil
}

// due takes the incidents to write now, oldest first, and drops those without new refusals.
func (i *Incidents) due(now time.Time) (taken map[incident]incidentCount, entries []Entry) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []incident
	for in, t := range i.pending {
		switch paced := now.Sub(t.written) < incidentEvery; {
		case t.count > 0 && !paced:
			all = append(all, in)
		case t.count == 0 && !paced:
			delete(i.pending, in)
		}
	}
	slices.SortFunc(all, func(a, b incident) int {
		return cmp.Or(i.pending[a].first.Compare(i.pending[b].first), cmp.Compare(a.subject, b.subject))
	})
	taken = map[incident]incidentCount{}
	for _, in := range all {
		if t := i.pending[in]; i.spend(in.action, now) {
			taken[in] = *t
			entries = append(entries, in.entry(t, now))
			// The empty entry keeps its time, so that the next refusal within incidentEvery waits.
			*t = incidentCount{from: map[string]int64{}, written: now}
		}
	}
	return taken, entries
}

// spend takes one entry from the budget of an action and reports whether there was one. The caller holds the lock.
func (i *Incidents) spend(action string, now time.Time) bool {
	b := i.budgets[action]
	if b == nil {
		b = &budget{incidentsPerMinute, now}
		i.budgets[action] = b
	}
	if gone := now.Sub(b.filled); gone > 0 {
		b.left, b.filled = min(incidentsPerMinute, b.left+incidentsPerMinute*gone.Minutes()), now
	}
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// putBack adds counts that could not be written to the counts since.
func (i *Incidents) putBack(taken map[incident]incidentCount) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for in, unsaved := range taken {
		t := i.pending[in]
		// The entry still exists: only due deletes entries, and flushMu keeps a second one from running.
		t.count += unsaved.count
		t.first, t.written = unsaved.first, unsaved.written
		for address, n := range unsaved.from {
			t.from[address] += n
		}
		i.budgets[in.action].left++
	}
}
