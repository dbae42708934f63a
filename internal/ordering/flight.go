package ordering

import (
	"context"
	"strconv"
	"sync"
)

// flights lets equal requests that come at once share one attempt, so that a repetition never competes with its own
// original for the last unit. Equal means the same key and the same content.
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

// do runs fn once for all callers that come while it runs; shared is true for those who only wait. The first caller's
// going away does not end the attempt, because others may be waiting for it.
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
	fl := &flight{done: make(chan struct{}), err: ErrRetry} // ErrRetry stands if fn panics
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
