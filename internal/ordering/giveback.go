package ordering

import (
	"context"
	"time"

	"comanda/internal/payment"
)

// sendingTimeout is the time limit of one SendRefunds call. A claimed refund may be claimed again after a minute. By
// then this process must have stopped sending it, including the 20 s that a gateway may take for a request sent at
// the last moment.
const sendingTimeout = 40 * time.Second

// SendRefunds sends due refunds to their gateways. Any number of processes may run it: a refund sent twice is paid
// out once.
func (s *Service) SendRefunds(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendingTimeout)
	defer cancel()
	due, err := s.Payments.ClaimRefunds(ctx, s.Now(), askBatch)
	if err != nil {
		return err
	}
	s.abreast(ctx, len(due), func(i int) {
		r := due[i]
		if err := s.send(ctx, r); err != nil {
			s.Log.WarnContext(ctx, "a refund could not be sent", "refund", r.ID, "method", r.Method, "err", err)
		}
	})
	return nil
}

// send sends one refund and records its result. After an error the refund is retried later, unless its retries are
// exhausted.
func (s *Service) send(ctx context.Context, r payment.Refund) error {
	d, a, err := s.Attempt(ctx, r.AttemptID)
	if err != nil {
		return err
	}
	out := givenUp(r)
	if !r.Exhausted() {
		if out, err = s.giveBack(ctx, r, repayment(r, a, d.Refunds)); err != nil {
			return err
		}
	}
	written, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err = s.Ledger.Do(written, Command{Finish: &FinishRefund{
		OrderID: d.ID, RefundID: r.ID, State: out.State, Ref: out.Ref, Code: out.Code,
	}})
	return err
}

// givenUp returns the result of a refund whose retries are exhausted. A refund that was never sent is certainly not
// paid out; otherwise the outcome is unknown.
func givenUp(r payment.Refund) payment.RefundOutcome {
	if r.Sent {
		return payment.RefundOutcome{State: payment.RefundUnknown, Code: payment.Unreachable}
	}
	return payment.RefundOutcome{State: payment.RefundRefused, Code: payment.Unreachable}
}

// repayment returns the gateway request for a refund, with the other refunds of the same attempt.
func repayment(r payment.Refund, a payment.Attempt, all []payment.Refund) payment.RefundRequest {
	p := payment.RefundRequest{
		ID: r.ID, Attempt: a, Amount: r.Amount, Full: r.Amount == a.Amount,
		By: r.By, Reason: string(r.Reason), DecidedAt: r.CreatedAt,
		Sent: r.Sent, PriorRefunds: r.PriorRefunds, Code: r.Code,
	}
	for _, other := range all {
		if other.AttemptID == a.ID && other.ID != r.ID {
			p.OtherRefunds = append(p.OtherRefunds, other)
		}
	}
	return p
}

// giveBack sends a refund to its gateway. Before the first sending it stores the refunds that the gateway lists
// already: a retry compares the list with them to find out whether the money has been refunded.
func (s *Service) giveBack(ctx context.Context, r payment.Refund, p payment.RefundRequest) (payment.RefundOutcome, error) {
	gateway := s.Gateways[r.Method]
	if gateway == nil {
		return payment.RefundOutcome{}, payment.ErrMethod // the method is no longer configured
	}
	if !p.Sent {
		before, out, err := gateway.Prepare(ctx, p)
		if err != nil || out.State != "" {
			return out, err
		}
		if err := s.Payments.MarkSent(ctx, r.ID, before); err != nil {
			return payment.RefundOutcome{}, err
		}
		p.PriorRefunds = before
	}
	return gateway.Refund(ctx, p)
}
