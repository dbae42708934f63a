package analytics

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"comanda/internal/authz"
)

const (
	// OnlineWindow is how long after the last request a visitor counts as here. A phone that shows the app sends one each
	// minute.
	OnlineWindow = 5 * time.Minute

	// seenInterval is the minimum time between two requests of a visitor that a process records.
	seenInterval = time.Minute

	// maxVisitors bounds the visitors in the memory of a process, about 20 MB. Requests of others are not recorded for a
	// minute.
	maxVisitors = 100_000

	// guestChars is the number of characters of the hash of a guest's token that are stored: 64 bits distinguish guests
	// and identify no token.
	guestChars = 16
)

// VisitorSeen is the time of a visitor's last request.
type VisitorSeen struct {
	Visitor string
	At      time.Time
}

// Presence stores when visitors were last seen: guests by branch, and members under MembersBranch. It is not restored
// after a loss; the next requests of the visitors add them again.
type Presence interface {
	// SaveLastSeen stores times and removes visitors who were last seen longer than OnlineWindow ago.
	SaveLastSeen(ctx context.Context, branch int64, all []VisitorSeen) error
	// CountOnline returns how many visitors were seen since an instant.
	CountOnline(ctx context.Context, branch int64, since time.Time) (int64, error)
}

// MembersBranch is the branch under which members are stored, because members belong to no branch.
const MembersBranch = 0

// visitor is a guest of a branch, or a member.
type visitor struct {
	branch, user int64
	guest        string
}

type request struct {
	visitor
	at time.Time
}

// Activity records who is here, and on which dates members were active. Requests are recorded in memory; Flush writes them
// later, so no request waits for Redis or SQL. It is safe for concurrent use.
type Activity struct {
	Store ActivityStore
	Cache ActivityCache
	Date  func(ctx context.Context, at time.Time) (string, error) // the restaurant's business date
	Now   func() time.Time

	mu      sync.Mutex
	last    map[visitor]time.Time // of the last request that was recorded
	pending []request             // not yet written
	active  map[int64]time.Time   // members whose date is not yet in SQL

	flushing sync.Mutex
	stored   map[int64]string // the last date of a member that is in SQL
	unmarked map[string]bool  // dates of which the cache lacks a member that SQL has
}

// GuestSeen records a request of a guest. hash is the hash of the guest's token.
func (a *Activity) GuestSeen(branch int64, hash string, at time.Time) {
	a.seen(visitor{branch: branch, guest: hash[:min(len(hash), guestChars)]}, at)
}

// MemberSeen records a request of a member.
func (a *Activity) MemberSeen(user int64, at time.Time) {
	a.seen(visitor{branch: MembersBranch, user: user}, at)
}

// seen records at most one request of a visitor per seenInterval.
func (a *Activity) seen(v visitor, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, known := a.last[v]
	if known && at.Sub(last) < seenInterval || !known && len(a.last) >= maxVisitors {
		return
	}
	if a.last == nil {
		a.last, a.active = map[visitor]time.Time{}, map[int64]time.Time{}
	}
	a.last[v] = at
	if len(a.pending) < maxVisitors {
		a.pending = append(a.pending, request{v, at})
	}
	if v.user != 0 && len(a.active) < maxVisitors {
		a.active[v.user] = at
	}
}

// take returns what is not yet written. It forgets visitors whose next request is to be recorded, and those whose time
// is in the future because the clock was set back.
func (a *Activity) take() ([]request, map[int64]time.Time) {
	now := a.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.last, func(_ visitor, at time.Time) bool { return now.Sub(at) >= seenInterval || at.After(now) })
	pending, active := a.pending, a.active
	a.pending, a.active = nil, map[int64]time.Time{}
	return pending, active
}

// Flush writes the requests since the last call: dates to SQL and then to the cache, and who is here to the cache. Members
// whose date could not be stored are kept for the next call; the times of who is here are not.
func (a *Activity) Flush(ctx context.Context) error {
	a.flushing.Lock()
	defer a.flushing.Unlock()
	pending, active := a.take()
	return cmp.Or(a.storeDates(ctx, active), a.storePresence(ctx, pending))
}

// storePresence writes when visitors were last seen, by branch.
func (a *Activity) storePresence(ctx context.Context, pending []request) error {
	by := map[int64][]VisitorSeen{}
	for _, s := range pending {
		name := s.guest
		if s.user != 0 {
			name = strconv.FormatInt(s.user, 10)
		}
		by[s.branch] = append(by[s.branch], VisitorSeen{name, s.at})
	}
	var first error
	for branch, all := range by {
		first = cmp.Or(first, a.Cache.SaveLastSeen(ctx, branch, all))
	}
	return first
}

// storeDates stores the dates of members that are not known to be in SQL. A date that cannot be marked is restored from
// SQL by a later call.
func (a *Activity) storeDates(ctx context.Context, active map[int64]time.Time) error {
	if err := a.addActive(ctx, active); err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		for user, at := range active {
			if a.active[user].Before(at) {
				a.active[user] = at
			}
		}
		return err
	}
	for date := range a.unmarked {
		if err := a.restore(ctx, date); err != nil {
			return err
		}
		delete(a.unmarked, date)
	}
	return nil
}

// addActive stores the members' active dates in SQL first and marks them in the cache after that. A date whose marks failed
// is remembered in unmarked and restored from SQL later.
func (a *Activity) addActive(ctx context.Context, active map[int64]time.Time) error {
	if a.unmarked == nil || len(a.stored) > maxVisitors {
		a.stored = map[int64]string{} // forgetting it costs one statement that changes nothing
	}
	if a.unmarked == nil {
		a.unmarked = map[string]bool{}
	}
	fresh, err := a.fresh(ctx, active)
	if err != nil || len(fresh) == 0 {
		return err
	}
	if err := a.Store.AddActive(ctx, fresh); err != nil {
		return err
	}
	by := map[string][]int64{}
	for _, m := range fresh {
		by[m.Date], a.stored[m.User] = append(by[m.Date], m.User), m.Date
	}
	for date, users := range by {
		if a.Cache.MarkActive(ctx, date, users) != nil {
			a.unmarked[date] = true
		}
	}
	return nil
}

// fresh returns the members whose date is not known to be in SQL, by date and id, so that transactions lock rows in one
// order.
func (a *Activity) fresh(ctx context.Context, active map[int64]time.Time) (all []ActiveDay, err error) {
	dates := map[time.Time]string{} // by minute, because the calendar is slower than a map
	for user, at := range active {
		minute := at.Truncate(time.Minute)
		if dates[minute] == "" {
			if dates[minute], err = a.Date(ctx, minute); err != nil {
				return nil, err
			}
		}
		if date := dates[minute]; a.stored[user] != date {
			all = append(all, ActiveDay{date, user})
		}
	}
	slices.SortFunc(all, func(x, y ActiveDay) int { return cmp.Or(cmp.Compare(x.Date, y.Date), cmp.Compare(x.User, y.User)) })
	return all, nil
}

// Online has the numbers of members and guests that are here now.
type Online struct {
	Members  int64 // of all branches
	Branches []BranchOnline
}

// BranchOnline is the number of guests of a branch who are here now.
type BranchOnline struct{ Branch, Guests int64 }

// Online counts who is here now: members, and the guests of the branches that an actor sees.
func (a *Activity) Online(ctx context.Context, by authz.Actor) (o Online, err error) {
	branches, err := a.Store.Branches(ctx)
	if err != nil {
		return o, err
	}
	since := a.Now().Add(-OnlineWindow)
	if o.Members, err = a.Cache.CountOnline(ctx, MembersBranch, since); err != nil {
		return o, err
	}
	for _, id := range branches {
		if !by.Sees(id) {
			continue
		}
		n, err := a.Cache.CountOnline(ctx, id, since)
		if err != nil {
			return o, err
		}
		o.Branches = append(o.Branches, BranchOnline{id, n})
	}
	return o, nil
}
