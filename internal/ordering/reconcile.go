package ordering

import (
	"context"
	"runtime/debug"
	"sync"

	"comanda/internal/payment"
)

// Limits of one round of gateway requests.
const (
	askBatch = 64 // requests per round
	askWide  = 8  // concurrent requests
)

// AskGateways checks attempts that no report has arrived for: the report was lost, the browser was closed, or the
// process ended while it waited. Any number of processes may run it. A capture that it starts continues after ctx
// ends.
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

// abreast calls do for 0 to n-1, at most askWide at a time, and waits for all calls.
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

// guarded logs a panic of do, so that a defect in one gateway client does not end the process. The payment is checked
// again later.
func (s *Service) guarded(ctx context.Context, do func()) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.ErrorContext(ctx, "a talk with a gateway panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	do()
}

// ask checks one attempt with its gateway and applies the result. A payment that the guest has approved is captured
// if the order can still be paid; the capture may continue after ctx ends. An attempt in CONFIRMING is captured again
// only if the caller has claimed it, because a claim succeeds only after the previous capture must have ended.
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
