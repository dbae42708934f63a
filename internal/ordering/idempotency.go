package ordering

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
)

// A client repeats a request to place an order when it has received no response. The repetition has the same
// clientTxnId and must not place a second order (I11). There are four cases, in the order in which a request meets them:
//
//  1. The first request is still running in this process: Service.placeIdempotent lets the second wait for its result.
//  2. The order was placed, but the repetition would be refused before it reaches the ledger, for example because its
//     dishes are sold out by now: Service.priorOr returns the order instead of the refusal.
//  3. Both are in one batch, as when their contents differ: Place.decide finds the first in Batch.placed.
//  4. An earlier transaction, of this process or another, has placed the order: Place.decide finds it in Batch.Prior.
//
// In each case a request with the same key and another digest is refused with ErrIdempotency.

// IdempotencyKey identifies one request to place an order: a guest's within a branch, a member's everywhere.
type IdempotencyKey struct {
	Branch      int64
	User        int64 // 0 for a guest
	ClientTxnID string
}

// memberPrefix is the prefix of the stored clientTxnId of every member's order, and of every imported one. CheckRequest
// refuses a guest's clientTxnId that begins with it.
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
		return fault.Newf(fault.Invalid, "invalid", "clientTxnId must have 1 to %d characters.", MaxClientID)
	}
	return nil
}

// content is what a Request or Checkout asks for. Its digest is computed when it is first compared or stored: a refused
// request that was not sent before needs none, and computing it takes 2 µs.
type content struct {
	request any
	once    sync.Once
	sum     string
}

func contentOf(request any) *content { return &content{request: request} }

// digest returns a hash of the content. A member's cart is not part of it: the order empties the cart, and a repetition
// must still have the same digest.
func (c *content) digest() string {
	c.once.Do(func() {
		text, _ := json.Marshal(c.request) // strings and integers always marshal
		// 12 bytes are enough: a digest is only compared with the digest of a request that has the same key.
		sum := sha256.Sum256(text)
		c.sum = hex.EncodeToString(sum[:12])
	})
	return c.sum
}

// placeTimeout is the time limit of placing one order. It replaces the request's context, because an order must not be
// abandoned half-way when the guest's phone disconnects, and other requests may be waiting for the result.
const placeTimeout = 8 * time.Second

// placements are the requests that this process is placing at the moment. Those of one key have different contents: a
// request with other content must not receive the result of the first, but goes to the ledger, which refuses it.
type placements struct {
	mu      sync.Mutex
	running map[IdempotencyKey][]*runningPlacement
}

// runningPlacement has a result once done is closed.
type runningPlacement struct {
	content *content
	done    chan struct{}
	receipt Receipt
	err     error
}

// join returns the running placement of a request. If there is none, it starts one and reports true; the caller ends it.
func (p *placements) join(k IdempotencyKey, c *content) (run *runningPlacement, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, run = range p.running[k] {
		if run.content.digest() == c.digest() {
			return run, false
		}
	}
	if p.running == nil {
		p.running = map[IdempotencyKey][]*runningPlacement{}
	}
	// The requests that join receive ErrRetry unless place returns, that is, if it panics.
	run = &runningPlacement{content: c, done: make(chan struct{}), err: ErrRetry}
	p.running[k] = append(p.running[k], run)
	return run, true
}

func (p *placements) end(k IdempotencyKey, ended *runningPlacement) {
	p.mu.Lock()
	others := slices.DeleteFunc(p.running[k], func(run *runningPlacement) bool { return run == ended })
	if len(others) == 0 {
		delete(p.running, k)
	} else {
		p.running[k] = others
	}
	p.mu.Unlock()
	close(ended.done)
}

// placeIdempotent runs place for all requests with the same key and content that arrive while it runs, and returns its
// result to each. A repeated request thus never competes with the first one for the last unit. Only the first request
// receives a new order. place runs in the goroutine of that request, because a goroutine of its own would begin with a
// small stack: growing it took a twentieth of the server's time.
func (s *Service) placeIdempotent(
	ctx context.Context, k IdempotencyKey, c *content, place func(context.Context) (Receipt, error),
) (Receipt, error) {
	run, first := s.placing.join(k, c)
	if !first {
		return s.awaitPlacement(ctx, run)
	}
	defer s.placing.end(k, run)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), placeTimeout)
	defer cancel()
	run.receipt, run.err = place(ctx)
	s.Metrics.placed(run.err, run.receipt.New)
	return run.receipt, run.err
}

// awaitPlacement returns the result of a running placement to a repetition. It stops waiting when ctx ends, because the
// guest's phone has disconnected then; the first request continues.
func (s *Service) awaitPlacement(ctx context.Context, run *runningPlacement) (receipt Receipt, err error) {
	select {
	case <-run.done:
		receipt, err = Receipt{Order: run.receipt.Order}, run.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.Metrics.placed(err, false)
	return receipt, err
}

// priorOr returns the prior result of a key, or else the refusal. A confirmed order stays confirmed in a repetition,
// even if its dishes are sold out or the menu has changed since. If SQL cannot answer, priorOr returns that error and
// not the refusal: a refusal implies that no order exists (I5).
func (s *Service) priorOr(ctx context.Context, k IdempotencyKey, c *content, refusal error) (Receipt, error) {
	prior, err := s.Ledger.PriorResult(ctx, k)
	switch {
	case err != nil:
		return Receipt{}, err
	case prior == nil:
		// No order exists under the key, so the refusal is final for this request.
		return Receipt{}, refusal
	case prior.Digest != c.digest():
		return Receipt{}, ErrIdempotency
	}
	return Receipt{Order: *prior}, nil
}

// placement is the first command in this batch with an idempotency key.
type placement struct {
	digest  string
	command int // the index of its result
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
		r := b.results[first.command]
		r.Changed = false
		return r
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
	// The batch remembers refusals too, so that equal requests get equal results. They are not stored in SQL (decision
	// 10).
	b.placed[key] = placement{p.Order.Digest, len(b.results)}
	return b.enter(p)
}
