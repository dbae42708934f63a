package ordering

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/singleflight"

	"comanda/internal/fault"
)

// A client repeats a request to place an order when it has received no response. The repetition has the same
// clientTxnId and must not place a second order (I11). There are four cases, in the order in which a request meets them:
//
//  1. The first request is still running in this process: Service.placeIdempotent lets the second wait for its result.
//  2. The order was placed, but the repetition would be refused before it reaches the ledger, for example because its
//     dishes are sold out by now: Service.priorOr returns the order instead of the refusal.
//  3. Both are in one batch, as when they reached two processes: Place.decide finds the first in Batch.placed.
//  4. An earlier transaction has placed the order: Place.decide finds it in Batch.Prior.
//
// In each case a request with the same key and another digest is refused with ErrIdempotency.

// IdempotencyKey identifies one request to place an order: a guest's within a branch, a member's everywhere.
type IdempotencyKey struct {
	Branch      int64
	User        int64 // 0 for a guest
	ClientTxnID string
}

// memberPrefix is the prefix of the stored clientTxnId of every member's order. CheckRequest refuses a guest's
// clientTxnId that begins with it.
const memberPrefix = "user:"

// MemberKey returns the key that a member's unpaid orders are counted under. It also prefixes the ids of a member's
// requests.
func MemberKey(user int64) string { return memberPrefix + formatID(user) }

func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// Key returns the idempotency key of the request that placed the order.
func (o *Order) Key() IdempotencyKey {
	if o.UserID != 0 {
		return IdempotencyKey{User: o.UserID, ClientTxnID: o.ClientTxnID}
	}
	return IdempotencyKey{Branch: o.Scope.Branch, ClientTxnID: o.ClientTxnID}
}

// key returns the idempotency key of the request. Guests' and members' ids are stored in one column; the prefix keeps
// them from being equal.
func (c Checkout) key() IdempotencyKey {
	return IdempotencyKey{User: c.UserID, ClientTxnID: MemberKey(c.UserID) + ":" + c.ClientTxnID}
}

// checkClientTxnID refuses an empty id, because repetitions without one could not be recognized.
func checkClientTxnID(id string) error {
	if n := utf8.RuneCountInString(id); n == 0 || n > MaxClientID {
		return fault.Newf(fault.Invalid, "invalid", "clientTxnId has 1 to %d characters.", MaxClientID)
	}
	return nil
}

// digestOf returns a hash of the content of a Request or Checkout. A member's cart is not part of it: the order empties
// the cart, and a repetition must still have the same digest.
func digestOf(request any) string {
	text, _ := json.Marshal(request) // strings and integers always marshal
	// 12 bytes are enough: a digest is only compared with the digest of a request that has the same key.
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// placeTimeout is the time limit of placing one order. It replaces the request's context, because an order must not be
// abandoned half-way when the guest's phone disconnects, and other requests may be waiting for the result.
const placeTimeout = 8 * time.Second

// placeIdempotent runs place for all requests with the same key and content that arrive while it runs, and returns its
// result to each. A repeated request thus never competes with the first one for the last unit. Only the first request
// receives isNew.
func (s *Service) placeIdempotent(
	ctx context.Context, k IdempotencyKey, digest string, place func(context.Context) (Receipt, error),
) (receipt Receipt, err error) {
	var first atomic.Bool
	var crash error
	// The digest is part of the flight's id: a request with the same key and other content must not get this result. It
	// goes to the ledger, which refuses it.
	id := digest + " " + formatID(k.Branch) + " " + formatID(k.User) + " " + k.ClientTxnID
	flight := s.placing.DoChan(id, func() (_ any, err error) {
		// Only the first request runs this function and so sets its own variable. The others receive the result as a
		// repetition.
		first.Store(true)
		// A panic is passed on to the goroutine of the first request. In this one, which belongs to no request, it
		// would end the process. The other requests receive ErrRetry.
		defer func() {
			if p := recover(); p != nil {
				crash = fmt.Errorf("%v\n%s", p, debug.Stack())
				err = ErrRetry
			}
		}()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), placeTimeout)
		defer cancel()
		r, err := place(ctx)
		return &r, err
	})
	var done singleflight.Result
	select {
	case done = <-flight:
	case <-ctx.Done():
		if !first.Load() { // the guest's phone has disconnected; the first request continues
			s.Metrics.placed(ctx.Err(), false)
			return Receipt{}, ctx.Err()
		}
		done = <-flight
	}
	if crash != nil {
		panic(crash)
	}
	if r, ok := done.Val.(*Receipt); ok {
		receipt = Receipt{Order: r.Order, New: r.New && first.Load()}
	}
	s.Metrics.placed(done.Err, receipt.New)
	return receipt, done.Err
}

// priorOr returns the prior result of a key, or else the refusal. A confirmed order stays confirmed in a repetition,
// even if its dishes are sold out or the menu has changed since. If SQL cannot answer, priorOr returns that error and
// not the refusal: a refusal implies that no order exists (I5).
func (s *Service) priorOr(ctx context.Context, k IdempotencyKey, digest string, refusal error) (Receipt, error) {
	prior, err := s.Ledger.PriorResult(ctx, k)
	switch {
	case err != nil:
		return Receipt{}, err
	case prior == nil:
		// No order exists under the key, so the refusal is final for this request.
		return Receipt{}, refusal
	case prior.Digest != digest:
		return Receipt{}, ErrIdempotency
	}
	return Receipt{Order: *prior}, nil
}

// placement is the result of the first command in this batch with an idempotency key.
type placement struct {
	digest string
	result Result
}

// Target implements Command.
func (p *Place) Target() string { return "" }

// decide returns the prior result for a repeated key (I11). Otherwise it places the order if its preconditions still
// hold.
func (p *Place) decide(b *Batch) Result {
	key := p.Order.Key()
	if first, ok := b.placed[key]; ok {
		if first.digest != p.Order.Digest {
			return Result{Err: ErrIdempotency}
		}
		first.result.Changed = false
		return first.result
	}
	if prior := b.Prior[key]; prior != nil {
		if prior.Digest != p.Order.Digest {
			return Result{Err: ErrIdempotency}
		}
		// Another command of this batch may have changed the order.
		if o := b.Orders[prior.ID]; o != nil {
			prior = o
		}
		return Result{Order: *prior}
	}
	r := b.enter(p)
	// The batch remembers refusals, so that equal requests get equal results. They are not stored in SQL (decision
	// 10).
	b.placed[key] = placement{p.Order.Digest, r}
	return r
}
