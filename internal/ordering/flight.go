package ordering

import (
	"context"
	"strconv"
	"sync"
)

// flights coalesces concurrent requests of the same key and content into one execution, so that a retry never
// competes with its own original for the last unit. The zero value is ready to use.
type flights struct {
	mu  sync.Mutex
	all map[flightKey]*flight
}

type flightKey struct {
	TxnKey
	digest string
}

type flight struct {
	done    chan struct{}
	receipt Receipt
	err     error
}

// do runs fn once for all callers that arrive while it runs, and returns its result to each. shared is true for those
// who only wait. fn does not end with the first caller's context, because others may be waiting for it; deadline
// limits it instead.
func (f *flights) do(
	ctx context.Context, k flightKey, fn func(context.Context) (Receipt, error),
) (r Receipt, shared bool, err error) {
	f.mu.Lock()
	if fl, ok := f.all[k]; ok {
		f.mu.Unlock()
		select {
		case <-fl.done:
			return fl.receipt, true, fl.err
		case <-ctx.Done():
			return Receipt{}, true, ctx.Err()
		}
	}
	if f.all == nil {
		f.all = map[flightKey]*flight{}
	}
	fl := &flight{done: make(chan struct{}), err: ErrRetry} // ErrRetry remains if fn panics
	f.all[k] = fl
	f.mu.Unlock()

	defer func() {
		f.mu.Lock()
		delete(f.all, k)
		f.mu.Unlock()
		close(fl.done)
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deadline)
	defer cancel()
	fl.receipt, fl.err = fn(ctx)
	return fl.receipt, false, fl.err
}

func formatID(id int64) string { return strconv.FormatInt(id, 10) }
