package ordering

import (
	"context"
	"runtime/debug"
	"sync"

	"comanda/internal/payment"
)

// Bounds of one round with the gateways: so many are asked in it, and so many at the same time.
const (
	askBatch = 64
	askWide  = 8
)

// AskGateways asks what has become of attempts of which nobody has told: the report was lost, the browser closed, or
// this process was killed while it waited. Any number of processes may run it. What it confirms is not cut off by the end
// of ctx.
func (s *Service) AskGateways(ctx context.Context) error {
	due, err := s.Payments.ClaimChecks(ctx, s.Now(), askBatch)
	if err != nil {
		return err
	}
	s.abreast(ctx, len(due), func(i int) {
		a := due[i]
		err := s.ask(ctx, a, true)
		s.complain(ctx, "the gateway could not be asked", a, err)
	})
	return nil
}

// abreast does n things, a few at the same time.
func (s *Service) abreast(ctx context.Context, n int, do func(i int)) {
	var wg sync.WaitGroup
	places := make(chan struct{}, askWide)
	for i := range n {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			s.guarded(ctx, func() { do(i) })
		})
	}
	wg.Wait()
}

// guarded keeps a defect in one talk from ending the process; what was not settled is asked about later.
func (s *Service) guarded(ctx context.Context, do func()) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.ErrorContext(ctx, "a talk with a gateway panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	do()
}

// ask asks about one attempt. What a guest has approved and nobody has confirmed is confirmed, if the order still stands;
// that may take longer than ctx lasts. An attempt in CONFIRMING is confirmed again only if the
// caller has claimed it: a claim succeeds when the previous confirmation must have ended.
func (s *Service) ask(ctx context.Context, a payment.Attempt, claimed bool) error {
	gateway := s.Gateways[a.Method]
	if gateway == nil {
		return payment.ErrMethod
	}
	r, err := gateway.Check(ctx, a)
	if err != nil {
		return err
	}
	if r.State != payment.Approved {
		_, err = s.Report(ctx, a.ID, a.Method, r, SourceCheck)
		return err
	}
	if a.State == payment.Confirming && !claimed {
		return nil
	}
	d, _, err := s.Attempt(ctx, a.ID)
	if err != nil {
		return err
	}
	s.awaitConfirm(ctx, d, a, a.State, "")
	return nil
}
