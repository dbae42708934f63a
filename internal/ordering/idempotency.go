package ordering

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"sync"
	"unicode/utf8"

	"comanda/internal/fault"
)

// TxnKey is an idempotency key. It identifies one request to place an order: a guest's within a branch, a member's
// everywhere.
type TxnKey struct {
	Branch      int64
	User        int64 // 0 for a guest
	ClientTxnID string
}

const memberPrefix = "user:"

// MemberKey returns the key that a member's unpaid orders are counted under. It also prefixes the ids of a member's
// requests.
func MemberKey(user int64) string { return memberPrefix + formatID(user) }

// Key returns the idempotency key of the request that placed the order.
func (o *Order) Key() TxnKey {
	if o.UserID != 0 {
		return TxnKey{User: o.UserID, ClientTxnID: o.ClientTxnID}
	}
	return TxnKey{Branch: o.Scope.Branch, ClientTxnID: o.ClientTxnID}
}

// key returns the client transaction id as stored with the order. Its prefix keeps it apart from the ids of guests.
func (c Checkout) key() string { return MemberKey(c.UserID) + ":" + c.ClientTxnID }

func checkClientTxnID(id string) error {
	if n := utf8.RuneCountInString(id); n == 0 || n > MaxClientID {
		return fault.Newf(fault.Invalid, "invalid", "clientTxnId has 1 to %d characters.", MaxClientID)
	}
	return nil
}

// digest returns a hash of the request's content.
func (r Request) digest() string {
	text, _ := json.Marshal(r) // strings and integers always marshal
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// digest returns a hash of the request's content. The cart is not part of it: the order empties the cart, and a
// repetition must still have the same digest.
func (c Checkout) digest() string {
	text, _ := json.Marshal(c) // strings and integers always marshal
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

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

// Earlier is the prior result of an idempotency key: its order and the digest of its request.
type Earlier struct {
	Order  Order
	Digest string
	Found  bool
}

// earlier returns the prior result of a key, or else the refusal. A confirmed order stays confirmed in a repetition,
// even if its dishes are sold out or the menu has changed since. If SQL cannot answer, earlier returns that error and
// not the refusal: a refusal implies that no order exists (I5).
func (s *Service) earlier(ctx context.Context, k TxnKey, digest string, refusal error) (Receipt, error) {
	e, err := s.Ledger.Earlier(ctx, k)
	switch {
	case err != nil:
		return Receipt{}, err
	case !e.Found:
		return Receipt{}, refusal
	case e.Digest != digest:
		return Receipt{}, ErrIdempotency
	}
	return Receipt{Order: e.Order}, nil
}

// Known is the prior result of an idempotency key.
type Known struct {
	Digest  string
	OrderID string
}

// placement is the result of an idempotency key first used in this batch.
type placement struct {
	digest string
	result Result
}

// place returns the prior result for a repeated key (I11). Otherwise it places the order if its preconditions still
// hold.
func (b *Batch) place(p *Place) Result {
	key := p.Order.Key()
	if first, ok := b.placed[key]; ok {
		if first.digest != p.Digest {
			return Result{Err: ErrIdempotency}
		}
		first.result.Changed = false
		return first.result
	}
	if known, ok := b.Known[key]; ok {
		if known.Digest != p.Digest {
			return Result{Err: ErrIdempotency}
		}
		if o := b.Orders[known.OrderID]; o != nil {
			return Result{Order: *o}
		}
		return Result{Err: ErrRetry}
	}
	r := b.enter(p)
	if r.Err != nil {
		b.Refused = append(b.Refused, key)
	}
	b.placed[key] = placement{p.Digest, r}
	return r
}
