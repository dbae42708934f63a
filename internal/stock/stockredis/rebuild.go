package stockredis

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"comanda/internal/clock"
	"comanda/internal/keyspace"
	"comanda/internal/stock"
)

const (
	epochLen = 12 // characters of base32: 60 random bits, compared only with other epochs of one scope

	rebuildTTL = 10 * time.Minute // keys of an abandoned rebuild expire after this

	// counterTTL is the TTL of q:cap and q:paid from the end of the business day on, from qr-ordering.md. Records and q:rsv
	// expire together, before (G4).
	counterTTL = 36 * time.Hour
)

// BeginRebuild makes a scope unknown and returns the epoch under which it is to be rebuilt. SQL must be read after
// this call. To make a scope unknown, a caller may begin a rebuild without finishing it. Calls of a rebuild that began
// earlier are refused from now on (G5).
func (ac *Cache) BeginRebuild(ctx context.Context, s stock.Scope) (epoch string, err error) {
	epoch = strings.ToLower(rand.Text()[:epochLen])
	args := []string{epoch, millis(ac.cfg.Now()), ttlMillis(rebuildTTL)}
	return epoch, ac.db.Run(ctx, beginScript, counterKeys(s, 0), args).Err()
}

// Load writes the holds of a snapshot under the epoch from BeginRebuild. A hold that was loaded before gets its newer
// state. The server is kept busy at most half of the time, so that orders are served in between.
func (ac *Cache) Load(ctx context.Context, im stock.ScopeSnapshot) error {
	heldEnd, _ := ac.endTimes(im)
	return ac.load(ctx, im, nil, heldEnd)
}

// FinishRebuild loads a snapshot under the epoch from BeginRebuild and makes the scope known. The snapshot contains
// every counter of the scope. Together, the loaded holds and the snapshot contain every hold that the counters
// include, and every hold for which an operation may still arrive. After an error the scope stays unknown.
func (ac *Cache) FinishRebuild(ctx context.Context, im stock.ScopeSnapshot) error {
	heldEnd, paidEnd := ac.endTimes(im)
	if err := ac.load(ctx, im, im.Counts, heldEnd); err != nil {
		return err
	}
	now := ac.cfg.Now()
	args := []string{im.Epoch, millis(heldEnd), ttlMillis(heldEnd.Sub(now)), ttlMillis(paidEnd.Sub(now))}
	return accepted(ac.db.Run(ctx, finishScript, counterKeys(im.Scope, 0), args).Int())
}

// endTimes returns the instants at which the records and the counters of a scope expire.
func (ac *Cache) endTimes(im stock.ScopeSnapshot) (held, paid time.Time) {
	now := ac.cfg.Now()
	return stock.RecordsExpire(im.Ends, now), later(im.Ends.Add(counterTTL), now.Add(stock.MinCacheTTL))
}

func (ac *Cache) load(ctx context.Context, im stock.ScopeSnapshot, counts []stock.Count, end time.Time) error {
	l := loader{cache: ac, im: im, end: end}
	for _, c := range counts {
		if err := l.count(ctx, c); err != nil {
			return err
		}
	}
	for _, h := range im.Holds {
		if err := l.hold(ctx, h); err != nil {
			return err
		}
	}
	return l.flush(ctx)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func accepted(n int64, err error) error {
	if err == nil && n == 0 {
		return stock.ErrSuperseded
	}
	return err
}

// loader sends a snapshot in calls of bounded size. It is used by one goroutine.
type loader struct {
	cache    *Cache
	im       stock.ScopeSnapshot
	end      time.Time // end of the records
	counters []string  // four fields per counter
	holds    []string
	records  []keyspace.Key
	lines    int
	took     time.Duration // duration of the last call
}

func (l *loader) count(ctx context.Context, c stock.Count) error {
	l.counters = append(l.counters, decimal(c.Item), capText(c.Cap), decimal(c.Held), decimal(c.Used))
	if len(l.counters) >= 4*maxCounters {
		return l.flush(ctx)
	}
	return nil
}

// hold collects a hold, and first sends the collected ones if the next call would exceed its limits. A script with too
// many arguments would block Redis for every other caller.
func (l *loader) hold(ctx context.Context, h stock.HoldState) error {
	record, err := check(h.Hold)
	if err != nil {
		return err
	}
	if len(l.records) == maxBatch || l.lines+len(h.Hold.Lines) > maxLines {
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
	l.records = append(l.records, record)
	l.lines += len(h.Hold.Lines)
	l.holds = append(l.holds, h.Hold.ID, string(h.State), decimal(int64(len(h.Hold.Lines))))
	for _, line := range h.Hold.Lines {
		l.holds = append(l.holds, decimal(line.Item), decimal(line.Qty))
	}
	return nil
}

// flush sends the collected counters and holds in one call. It waits before a call and not after the last one, so a
// small scope is loaded without a pause.
func (l *loader) flush(ctx context.Context) error {
	if len(l.counters)+len(l.records) == 0 {
		return nil
	}
	select { // pause for as long as the last call took: a rebuild may use half of the server's time
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(l.took):
	}
	watch := clock.Start()
	defer func() { l.took = watch.Elapsed() }()
	s := l.im.Scope
	keys := append(counterKeys(s, 1+len(l.records)), provisionalKey(s))
	args := []string{
		l.im.Epoch, decimal(s.Branch), s.Date, ttlMillis(l.end.Sub(l.cache.cfg.Now())),
		decimal(int64(len(l.counters) / 4)), decimal(int64(len(l.records))),
	}
	args = append(append(args, l.counters...), l.holds...)
	err := accepted(l.cache.db.Run(ctx, loadScript, append(keys, l.records...), args).Int())
	l.counters, l.holds, l.records, l.lines = l.counters[:0], l.holds[:0], l.records[:0], 0
	return err
}
