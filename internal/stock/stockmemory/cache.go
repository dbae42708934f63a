// Package stockmemory is the admission cache of an installation whose only process has it in memory. It follows the same
// rules as the scripts of package stockredis, and passes the same tests.
//
// A call takes the lock of one branch and no other, and makes no call while it has it. Everything is lost with the
// process: the first order after a start finds its scope unknown, and SQL decides until the scope is rebuilt.
package stockmemory

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/stock"
	"comanda/internal/stock/stockmetrics"
)

// Config is the configuration of a Cache. Only Now is required.
type Config struct {
	Now            func() time.Time
	ProvisionalTTL time.Duration         // lifetime of a provisional hold without a commit; default 30 s
	Metrics        prometheus.Registerer // default: none
}

// Cache implements stock.AdmissionCache. It is safe for concurrent use.
type Cache struct {
	cfg     Config
	metrics *stockmetrics.Metrics

	mu       sync.RWMutex // guards the map, not the branches
	branches map[branchKey]*branch
}

// A branch's quotas and its stock are counted apart and never in one call.
type branchKey struct {
	id      int64
	isStock bool
}

// New returns an empty cache.
func New(c Config) *Cache {
	c.ProvisionalTTL = cmp.Or(c.ProvisionalTTL, stock.ProvisionalTTL)
	return &Cache{cfg: c, metrics: stockmetrics.New(c.Metrics), branches: map[branchKey]*branch{}}
}

// lock returns the locked branch of a scope. The caller unlocks it.
func (c *Cache) lock(s stock.Scope) *branch {
	key := branchKey{s.Branch, s.IsStock()}
	c.mu.RLock()
	b := c.branches[key]
	c.mu.RUnlock()
	if b == nil {
		c.mu.Lock()
		if b = c.branches[key]; b == nil {
			b = &branch{days: map[string]*day{}, records: map[string]*record{}, due: map[string]time.Time{}}
			c.branches[key] = b
		}
		c.mu.Unlock()
	}
	b.mu.Lock()
	return b
}

// Reserve requests a provisional hold. It never waits. An error means that the hold is invalid.
func (c *Cache) Reserve(_ context.Context, h stock.Hold) (stock.AdmissionResult, error) {
	if err := h.ValidatePart(); err != nil {
		return stock.AdmissionResult{}, err
	}
	now := c.cfg.Now()
	b := c.lock(h.Scope)
	v := b.reserve(h, now, now.Add(c.cfg.ProvisionalTTL))
	b.mu.Unlock()
	c.metrics.Reserved(v.Status)
	return v, nil
}

// Apply applies committed operations in the order given and reports for each whether it was applied. The operations of
// an unknown scope are not. A stock.RejectedError contains the operations that are invalid.
func (c *Cache) Apply(_ context.Context, ops []stock.Op) ([]bool, error) {
	applied, rejected := make([]bool, len(ops)), map[int]error{}
	now := c.cfg.Now()
	byScope := map[stock.Scope][]int{}
	for i, op := range ops {
		switch err := op.Validate(); {
		case err != nil:
			rejected[i] = err
		case op.Hold.Scope.CacheExpired(now):
			applied[i] = true // nothing is left to change
		default:
			byScope[op.Hold.Scope] = append(byScope[op.Hold.Scope], i)
		}
	}
	for s, places := range byScope {
		b := c.lock(s)
		effects := b.apply(s, ops, places, now)
		b.mu.Unlock()
		if effects == nil {
			c.metrics.Unknown()
			continue
		}
		for i, p := range places {
			applied[p] = true
			c.metrics.Applied(ops[p].Kind, effects[i])
		}
	}
	if len(rejected) > 0 {
		return applied, &stock.RejectedError{Ops: rejected}
	}
	return applied, nil
}

// Counts returns the counters of items, all of one instant; items that the cache lacks are left out. ok is false for
// an unknown scope.
func (c *Cache) Counts(_ context.Context, s stock.Scope, items []int64) (counts []stock.Count, ok bool, err error) {
	b := c.lock(s)
	defer b.mu.Unlock()
	d := b.known(s.Date, c.cfg.Now())
	if d == nil {
		c.metrics.Unknown()
		return nil, false, nil
	}
	counts = make([]stock.Count, 0, len(items))
	for _, item := range items {
		if n := d.counts[item]; n != nil && n.capped {
			counts = append(counts, n.Count)
		}
	}
	return counts, true, nil
}

// ReadScope returns every counter of a scope, all of one instant. ok is false for an unknown scope.
func (c *Cache) ReadScope(_ context.Context, s stock.Scope) (shown stock.CachedScope, ok bool, err error) {
	b := c.lock(s)
	defer b.mu.Unlock()
	d := b.known(s.Date, c.cfg.Now())
	if d == nil {
		return shown, false, nil
	}
	shown = stock.CachedScope{Epoch: d.epoch, ExpiresAt: d.expires.Truncate(time.Millisecond).UTC()}
	for _, n := range d.counts {
		if n.capped {
			shown.Counts = append(shown.Counts, n.Count)
		}
	}
	slices.SortFunc(shown.Counts, func(a, b stock.Count) int { return cmp.Compare(a.Item, b.Item) })
	return shown, true, nil
}

// BeginRebuild makes a scope unknown and returns the epoch under which it is to be rebuilt. It also removes everything
// of the branch that has expired: each business date begins with a rebuild.
func (c *Cache) BeginRebuild(_ context.Context, s stock.Scope) (string, error) {
	epoch := strings.ToLower(rand.Text()[:12])
	b := c.lock(s)
	defer b.mu.Unlock()
	b.removeExpired(c.cfg.Now())
	b.days[s.Date] = &day{building: epoch, counts: map[int64]*counter{}, changed: true}
	return epoch, nil
}

// Load writes the holds of a snapshot, each in the state of the last call that contains it.
func (c *Cache) Load(_ context.Context, im stock.ScopeSnapshot) error {
	return c.load(im, func(*day) {})
}

// FinishRebuild writes the rest of the snapshot and makes the scope known.
func (c *Cache) FinishRebuild(_ context.Context, im stock.ScopeSnapshot) error {
	return c.load(im, func(d *day) {
		for _, n := range im.Counts {
			d.counts[n.Item] = &counter{Count: n, capped: true}
		}
		d.epoch, d.building, d.expires = im.Epoch, "", stock.RecordsExpire(im.Ends, c.cfg.Now())
		d.changed = true
	})
}

// load writes the holds of a snapshot if its rebuild is the last that has begun.
func (c *Cache) load(im stock.ScopeSnapshot, finish func(*day)) error {
	for _, h := range im.Holds {
		if err := h.Hold.ValidatePart(); err != nil {
			return err
		}
	}
	b := c.lock(im.Scope)
	defer b.mu.Unlock()
	d := b.days[im.Scope.Date]
	if d == nil || d.building != im.Epoch {
		return stock.ErrSuperseded
	}
	expires := stock.RecordsExpire(im.Ends, c.cfg.Now())
	for _, h := range im.Holds {
		b.records[h.Hold.ID] = &record{
			state: h.State, epoch: im.Epoch, date: im.Scope.Date, lines: slices.Clone(h.Hold.Lines), expires: expires,
		}
		delete(b.due, h.Hold.ID)
	}
	finish(d)
	return nil
}

// ExpiredProvisional returns provisional holds past their time-out, oldest first: of a branch's stock, or of its quotas
// on all dates. It changes no counter.
func (c *Cache) ExpiredProvisional(_ context.Context, s stock.Scope, now time.Time, limit int) ([]stock.Hold, error) {
	b := c.lock(s)
	defer b.mu.Unlock()
	return b.expired(s.Branch, now, limit), nil
}

// Scopes returns all scopes and whether each has changed since the last call.
func (c *Cache) Scopes() map[stock.Scope]bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := map[stock.Scope]bool{}
	for key, b := range c.branches {
		b.mu.Lock()
		for date, d := range b.days {
			all[stock.Scope{Branch: key.id, Date: date}] = d.changed
			d.changed = false
		}
		b.mu.Unlock()
	}
	return all
}
