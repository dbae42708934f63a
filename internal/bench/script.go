package bench

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/uid"
)

// The raw measurement uses a scope of its own, separate from the product's.
const (
	rawBranch  = branchID + 1
	rawPatient = 5 * time.Second // instead of the product's tenth of a second, because the store is saturated
	maxScripts = 500_000         // orders per measurement, which bounds the keys in Redis until they are cleared
	maxWaiting = 2048            // concurrent callers; more would measure the scheduler of Go
)

// rawAdmission runs the two admission scripts of an order alone: TRY, then HELD as after a commit.
type rawAdmission struct {
	cache *stockredis.Cache
	redis *redisdb.DB
	scope stock.Scope
	turn  atomic.Int64
	held  chan stock.Hold

	waiting int // concurrent reservations, which determine the batch size of TRY
	size    int // operations per HELD

	from, until time.Time
	counted     int64
	took        time.Duration

	mu  sync.Mutex // guards ids
	ids []string   // ids of all reservations, answered or not, to be cleared
}

// scriptLimit measures how many orders per second the scripts process in batches of the given sizes. Without a URL it
// uses an embedded store, like the product.
func scriptLimit(ctx context.Context, c Config, sizes Batches) (r Rate, err error) {
	reg := prometheus.NewRegistry()
	redis, err := redisdb.Open(ctx, redisdb.Config{
		URL: c.RedisURL, Namespace: c.Namespace, Timeout: rawPatient, Metrics: reg,
	})
	if err != nil {
		return r, err
	}
	defer redis.Close()
	g := &rawAdmission{
		cache: stockredis.New(redis, stockredis.Config{Now: time.Now, Timeout: rawPatient}), redis: redis,
		scope:   stock.Scope{Branch: rawBranch, Date: time.Now().UTC().Format(time.DateOnly)},
		waiting: max(1, int(math.Round(2*sizes.Try))), size: max(1, int(math.Round(sizes.Held))),
	}
	defer func() { err = errors.Join(err, g.clear(context.WithoutCancel(ctx))) }()
	if err := g.build(ctx); err != nil {
		return r, err
	}
	meanBatch := func(d time.Duration) (float64, error) {
		calls := func() float64 { return gather(reg).count(redisCalls, "cmd", "try") }
		triesBefore, callsBefore := len(g.ids), calls()
		err := g.drive(ctx, d)
		return float64(len(g.ids)-triesBefore) / max(1, calls()-callsBefore), err
	}
	// The warm-up determines how many concurrent callers produce batches of the requested size.
	warm, err := meanBatch(c.warmup())
	if err != nil {
		return r, err
	}
	g.waiting = min(maxWaiting, max(1, int(math.Round(float64(g.waiting)*sizes.Try/max(1, warm)))))
	r.Batch, err = meanBatch(c.Duration)
	r.PerSecond = perSecond(g.counted, g.took)
	return r, err
}

// build creates the scope with counters that no measurement exhausts.
func (a *rawAdmission) build(ctx context.Context) error {
	epoch, err := a.cache.BeginRebuild(ctx, a.scope)
	if err != nil {
		return err
	}
	image := stock.ScopeSnapshot{Scope: a.scope, Epoch: epoch, Ends: time.Now().Add(-12 * time.Hour)}
	for i := range itemCount - 1 {
		image.Counts = append(image.Counts, stock.Count{Item: int64(firstID + i), Cap: 1 << 40})
	}
	return a.cache.FinishRebuild(ctx, image)
}

// drive keeps reservations waiting while two calls are in flight, and applies admitted ones in batches.
func (a *rawAdmission) drive(ctx context.Context, d time.Duration) error {
	a.held = make(chan stock.Hold, 2*a.size)
	a.from, a.counted = time.Now(), 0
	a.until = a.from.Add(d)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var callers, applier sync.WaitGroup
	applier.Go(func() {
		if err := a.apply(ctx); err != nil {
			cancel(err)
		}
		for range a.held { // drain after a failure
		}
	})
	for range a.waiting {
		callers.Go(func() {
			if err := a.try(ctx); err != nil {
				cancel(err)
			}
		})
	}
	callers.Wait()
	close(a.held)
	applier.Wait()
	return context.Cause(ctx)
}

var errNotAdmitted = errors.New("bench: the cache did not admit a reservation, or did not apply it")

// try reserves one order after the other until the time is over. Ids are kept even after a failure, because the
// reservation may exist.
func (a *rawAdmission) try(ctx context.Context) error {
	var ids []string
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ids = append(a.ids, ids...)
	}()
	for ctx.Err() == nil && time.Now().Before(a.until) {
		n := a.turn.Add(lineCount) - lineCount
		if n >= lineCount*maxScripts {
			return nil
		}
		now := time.Now()
		h := stock.Hold{ID: uid.New(now), Scope: a.scope, Until: now.Add(time.Hour), Lines: rawLines(n)}
		ids = append(ids, h.ID)
		v, err := a.cache.Reserve(ctx, h)
		if err != nil || v.Status != stock.Admitted {
			return errors.Join(errNotAdmitted, err)
		}
		// The channel holds two batches. When it is full, reservations wait for the applier.
		a.held <- h
	}
	return nil
}

// rawLines returns three dishes in rotation, sorted.
func rawLines(n int64) []stock.Line {
	lines := make([]stock.Line, lineCount)
	for l := range lines {
		lines[l] = stock.Line{Item: firstID + (n+int64(l))%(itemCount-1), Qty: 1}
	}
	if lines[2].Item < lines[0].Item {
		lines, _ = stock.MergeLines(lines) // valid lines
	}
	return lines
}

// apply processes admitted reservations until the channel is closed. The last batch may be small.
func (a *rawAdmission) apply(ctx context.Context) error {
	ops := make([]stock.Op, 0, a.size)
	for h := range a.held {
		if ops = append(ops, stock.Op{Kind: stock.OpHeld, Hold: h}); len(ops) < a.size {
			continue
		}
		applied, err := a.cache.Apply(ctx, ops)
		if err != nil || !applied[len(ops)-1] {
			return errors.Join(errNotAdmitted, err)
		}
		if now := time.Now(); !now.After(a.until) {
			a.counted += int64(len(ops))
			a.took = now.Sub(a.from)
		}
		ops = ops[:0]
	}
	return nil
}

// clear removes all keys. The scope goes first, so that calls still in flight find nothing to write to.
func (a *rawAdmission) clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clearTimeout)
	defer cancel()
	s := a.scope
	keys := []keyspace.Key{
		keyspace.QuotaCap(s.Branch, s.Date), keyspace.QuotaHeld(s.Branch, s.Date), keyspace.QuotaPaid(s.Branch, s.Date),
		keyspace.LeasesDue(s.Branch),
		keyspace.RefusedIDs(s.Branch, 0), keyspace.RefusedIDs(s.Branch, 1), keyspace.RefusedIDs(s.Branch, 2),
	}
	for _, id := range a.ids {
		keys = append(keys, keyspace.HoldRecord(rawBranch, id))
	}
	return unlink(ctx, a.redis, keys)
}
