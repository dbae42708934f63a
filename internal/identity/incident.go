package identity

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// The bounds of what incidents write, for each process and action. An attack without end writes some ten megabytes a day.
const (
	incidentEvery  = 10 * time.Minute // one entry about the same incident
	incidentMinute = 20               // entries a minute
	incidentsMost  = 10_000           // different incidents that wait; those beyond share one entry
	addressesMost  = 20               // of one entry; those beyond are counted together
)

// unnamed stands for the account of a login whose name nobody has. What was typed is not kept: it may be a password.
const unnamed = "user:unknown"

// Incidents collects failed logins and refused requests for the audit log, which keeps them with account and address.
// Equal ones share an entry that says how many there were: a flood must neither fill the disk nor keep those waiting who
// write entries about changes. What was not written yet is lost when the process is killed. The zero value without Now
// collects nothing; it is safe for concurrent use.
type Incidents struct {
	Now func() time.Time

	mu      sync.Mutex
	of      map[incident]*tally
	budgets map[string]*budget // by action: guesses must not delay the record of refused requests
	flushed sync.Mutex         // one at a time writes
}

// incident is what makes two refusals the same, wherever they come from.
type incident struct{ actor, action, subject string }

type tally struct {
	count   int64 // since the last entry
	from    map[string]int64
	first   time.Time
	written time.Time // when the last entry was; zero for none
}

// budget is how many entries may be written now.
type budget struct {
	left   float64
	filled time.Time
}

// otherAddresses stands for the addresses of an entry that has too many.
const otherAddresses = "others"

// Note counts one: who was refused what, and from where.
func (i *Incidents) Note(actor, action, subject, address string) {
	if i == nil || i.Now == nil {
		return
	}
	now := i.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.of == nil {
		i.of, i.budgets = map[incident]*tally{}, map[string]*budget{}
	}
	in := incident{actor, action, subject}
	if i.of[in] == nil && len(i.of) >= incidentsMost {
		in = incident{Actor{}.String(), action, "others"}
	}
	t := i.of[in]
	if t == nil {
		t = &tally{from: map[string]int64{}}
		i.of[in] = t
	}
	if t.count == 0 {
		t.first = now
	}
	if _, known := t.from[address]; !known && len(t.from) >= addressesMost {
		address = otherAddresses
	}
	t.count++
	t.from[address]++
}

// told is what an entry about incidents says.
type told struct {
	Count     int64            `json:"count"`
	Since     time.Time        `json:"since"`
	Addresses map[string]int64 `json:"addresses,omitempty"` // where there are several: how many came from each
}

// entry is an entry about an incident. Its address is the one that most came from.
func (in incident) entry(t *tally, now time.Time) Entry {
	e := Entry{At: now, Actor: in.actor, Action: in.action, Subject: in.subject}
	said := told{Count: t.count, Since: t.first.UTC()}
	if len(t.from) > 1 {
		said.Addresses = t.from
	}
	for _, address := range slices.Sorted(maps.Keys(t.from)) {
		if address != otherAddresses && t.from[address] > t.from[e.Address] {
			e.Address = address
		}
	}
	return e.To(said)
}

// Flush writes what is due. What could not be written waits for the next call.
func (i *Incidents) Flush(ctx context.Context, write func(context.Context, ...Entry) error) error {
	i.flushed.Lock()
	defer i.flushed.Unlock()
	now := i.Now()
	due, entries := i.due(now)
	if len(entries) == 0 {
		return nil
	}
	if err := write(ctx, entries...); err != nil {
		i.putBack(due)
		return err
	}
	return nil
}

// due takes what is to be written now, the oldest first, and forgets what has not come again for long.
func (i *Incidents) due(now time.Time) (taken map[incident]tally, entries []Entry) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []incident
	for in, t := range i.of {
		switch paced := now.Sub(t.written) < incidentEvery; {
		case t.count > 0 && !paced:
			all = append(all, in)
		case t.count == 0 && !paced:
			delete(i.of, in)
		}
	}
	slices.SortFunc(all, func(a, b incident) int {
		return cmp.Or(i.of[a].first.Compare(i.of[b].first), cmp.Compare(a.subject, b.subject))
	})
	taken = map[incident]tally{}
	for _, in := range all {
		if t := i.of[in]; i.spend(in.action, now) {
			taken[in] = *t
			entries = append(entries, in.entry(t, now))
			*t = tally{from: map[string]int64{}, written: now}
		}
	}
	return taken, entries
}

// spend takes one entry from the budget of an action; false when there is none left. The caller holds the lock.
func (i *Incidents) spend(action string, now time.Time) bool {
	b := i.budgets[action]
	if b == nil {
		b = &budget{incidentMinute, now}
		i.budgets[action] = b
	}
	if gone := now.Sub(b.filled); gone > 0 {
		b.left, b.filled = min(incidentMinute, b.left+incidentMinute*gone.Minutes()), now
	}
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// putBack adds what could not be written to what was noted since.
func (i *Incidents) putBack(taken map[incident]tally) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for in, was := range taken {
		t := i.of[in]
		t.count += was.count
		t.first, t.written = was.first, was.written
		for address, n := range was.from {
			t.from[address] += n
		}
		i.budgets[in.action].left++
	}
}

// record notes a login that failed.
func (a *Accounts) record(c Caller, user int64) {
	a.Incidents.Note(Actor{}.String(), ActionLoginFailed, userSubject(user), c.Address)
}

// userSubject names an account in entries of the audit log; 0 is nobody's.
func userSubject(id int64) string {
	if id == 0 {
		return unnamed
	}
	return "user:" + decimal(id)
}
