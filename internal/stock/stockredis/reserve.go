package stockredis

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/stock"
)

// Concurrent calls per scope. With two, the server executes one while the other is in transit. With more, calls would
// only contain fewer reservations, and the cost of a call exceeds that of its reservations. Calls of the embedded
// store have no transit.
const (
	maxCallsPerScope = 2
	maxCallsEmbedded = 1
)

// waiter is one reservation that waits for its result. It is shared by the caller and the script call; either may end
// first.
type waiter struct {
	ctx       context.Context //nolint:containedctx // of the request, only for the records about it
	hold      stock.Hold
	record    keyspace.Key
	result    chan stock.AdmissionResult // buffered: the script call never waits for a caller that has left
	cancelled atomic.Bool                // the caller has left; if the call has not begun, it skips the reservation
}

// queue contains the reservations of one scope that wait for the next call. It is guarded by Cache.mu.
type queue struct {
	waiting []*waiter
	calls   int
}

// Reserve requests a provisional hold. Concurrent reservations of one scope share a script call; a single one is sent
// at once. Any failure of Redis, and an ended context, return Cold. A provisional hold may have been taken
// nevertheless, and ExpiredProvisional finds it. An error means that the hold is invalid. It waits at most
// Config.Timeout. While Redis is down it does not wait at all.
func (ac *Cache) Reserve(ctx context.Context, h stock.Hold) (stock.AdmissionResult, error) {
	record, err := check(h)
	if err != nil {
		return stock.AdmissionResult{}, err
	}
	v := stock.AdmissionResult{Status: stock.Cold}
	if ac.db.Up() {
		h.Lines = slices.Clone(h.Lines) // the call may outlive the caller
		v = ac.wait(ctx, &waiter{ctx: ctx, hold: h, record: record, result: make(chan stock.AdmissionResult, 1)})
	}
	ac.metrics.Reserved(v.Status)
	return v, nil
}

// wait waits for the result, at most Config.Timeout. It bounds times that the connection's deadlines do not: the time
// in the queue, and a dial that hangs.
func (ac *Cache) wait(ctx context.Context, w *waiter) stock.AdmissionResult {
	patience := time.NewTimer(ac.cfg.Timeout)
	defer patience.Stop()
	ac.enqueue(w)
	select {
	case v := <-w.result:
		return v
	case <-ctx.Done():
	case <-patience.C:
	}
	w.cancelled.Store(true)
	return stock.AdmissionResult{Status: stock.Cold}
}

// enqueue adds a reservation and starts a call unless enough are running. A goroutine exists only while there is
// something to send.
func (ac *Cache) enqueue(w *waiter) {
	ac.mu.Lock()
	defer ac.mu.Unlock()
	q := ac.queues[w.hold.Scope]
	if q == nil {
		q = &queue{}
		ac.queues[w.hold.Scope] = q
	}
	q.waiting = append(q.waiting, w)
	if q.calls < ac.maxCalls {
		q.calls++
		go ac.runQueue(w.hold.Scope, q)
	}
}

// runQueue makes calls until the queue is empty. It ends by itself: each call is bounded by Timeout.
func (ac *Cache) runQueue(scope stock.Scope, q *queue) {
	for {
		ac.mu.Lock()
		batch := q.take()
		if len(batch) == 0 {
			q.calls--
			if q.calls == 0 {
				delete(ac.queues, scope)
			}
			ac.mu.Unlock()
			return
		}
		ac.mu.Unlock()
		ac.call(scope, batch)
	}
}

// take removes the reservations of the next call: at most maxBatch and maxLines lines, no id twice. A concurrent
// duplicate waits for the following call, which finds the first one in Redis.
func (q *queue) take() []*waiter {
	var batch, later []*waiter
	ids := make(map[string]bool, min(len(q.waiting), maxBatch))
	lines := 0
	for i, w := range q.waiting {
		if w.cancelled.Load() {
			continue
		}
		if len(batch) == maxBatch || lines+len(w.hold.Lines) > maxLines {
			later = append(later, q.waiting[i:]...)
			break
		}
		if ids[w.hold.ID] {
			later = append(later, w)
			continue
		}
		ids[w.hold.ID] = true
		lines += len(w.hold.Lines)
		batch = append(batch, w)
	}
	q.waiting = later
	return batch
}

// call sends one script call and distributes its results; on failure all waiters receive Cold.
func (ac *Cache) call(scope stock.Scope, batch []*waiter) {
	// The call does not use the context of a caller: it serves many callers, and one that leaves must not cancel the
	// others.
	ctx, cancel := context.WithTimeout(context.Background(), ac.cfg.Timeout)
	defer cancel()
	keys, args := ac.reserveArgs(scope, batch)
	results, err := ac.results(ac.db.Run(ctx, tryScript, keys, args), batch)
	if err != nil && !errors.Is(err, redisdb.ErrDown) {
		ac.logRejected("try", scope, batch, err)
	}
	for i, w := range batch {
		w.result <- results[i]
	}
}

// reserveArgs returns the keys and arguments of try.lua. Each item is sent once with a number, so that reservations of
// the same dishes do not repeat its id.
func (ac *Cache) reserveArgs(scope stock.Scope, batch []*waiter) ([]keyspace.Key, []string) {
	now := ac.cfg.Now()
	span := now.UnixMilli() / keyspace.RefusedSpan.Milliseconds()
	keys := append(counterKeys(scope, 3+len(batch)), provisionalKey(scope),
		keyspace.RefusedIDs(scope.Branch, span), keyspace.RefusedIDs(scope.Branch, span-1))

	var items, ids, lines []string
	place := map[int64]string{}
	for _, w := range batch {
		keys = append(keys, w.record)
		ids = append(ids, w.hold.ID)
		lines = append(lines, decimal(int64(len(w.hold.Lines))))
		for _, l := range w.hold.Lines {
			p, ok := place[l.Item]
			if !ok {
				items = append(items, decimal(l.Item))
				p = decimal(int64(len(items)))
				place[l.Item] = p
			}
			lines = append(lines, p, decimal(l.Qty))
		}
	}
	args := append(make([]string, 0, 7+len(items)+len(ids)+len(lines)),
		decimal(scope.Branch), scope.Date, millis(now.Add(ac.cfg.ProvisionalTTL)),
		millis(now), decimal((span+2)*keyspace.RefusedSpan.Milliseconds()-now.UnixMilli()),
		decimal(int64(len(items))), decimal(int64(len(ids))))
	args = append(args, items...)
	args = append(args, ids...)
	return keys, append(args, lines...)
}

// results parses the reply that try.lua describes. A missing part counts as Cold, the zero value, so that SQL decides
// about reservations for which a short reply has no result.
func (ac *Cache) results(r redisdb.Reply, batch []*waiter) ([]stock.AdmissionResult, error) {
	vs := make([]stock.AdmissionResult, len(batch))
	ns, err := r.Ints()
	if err != nil {
		return vs, err
	}
	if len(ns) == 1 && ns[0] == scopeUnknown {
		ac.metrics.Unknown()
		for i := range vs {
			vs[i].Missing = true
		}
		return vs, nil
	}
	at := 1
	for i, w := range batch {
		if at >= len(ns) {
			return vs, errReply
		}
		vs[i].Status = stock.AdmissionStatus(ns[at]) //nolint:gosec // 0 to 5, by the script
		at++
		vs[i].Missing = vs[i].Status == stock.Cold
		if vs[i].Status != stock.Refused {
			continue
		}
		for range ns[at] {
			l := w.hold.Lines[ns[at+1]-1]
			vs[i].Short = append(vs[i].Short, stock.Shortage{
				Item: l.Item, Requested: l.Qty, Available: ns[at+2], Stock: w.hold.Scope.IsStock(),
			})
			at += 2
		}
		at++
	}
	return vs, nil
}

var errReply = errors.New("stockredis: a script's reply is shorter than its contract")
