package ordering

import (
	"context"
	"time"

	"comanda/internal/payment"
)

// sendingTimeout bounds one round of refunds. A refund may be claimed again a minute after it was claimed. By then nobody
// must be about to send it any more, and a gateway that was told in the last moment has had its 20 seconds.
const sendingTimeout = 40 * time.Second

// SendRefunds tells gateways of refunds that were decided. Any number of processes may run it; a refund that is sent
// twice is given back once.
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

// send tells a gateway of a refund and notes what came of it. After an error the refund is sent again later, for as long
// as there is hope.
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

// givenUp is what becomes of a refund that was tried for days. What was never sent is certain not to have gone back.
func givenUp(r payment.Refund) payment.RefundOutcome {
	if r.Sent {
		return payment.RefundOutcome{State: payment.RefundUnknown, Code: payment.Unreachable}
	}
	return payment.RefundOutcome{State: payment.RefundRefused, Code: payment.Unreachable}
}

// repayment is a refund as its gateway needs to know it, of all that was refunded for its order.
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

// giveBack sends a refund. That it is sent, and what the gateway lists by then, is kept before: whoever finds it sent
// tells by that whether the money has gone back.
func (s *Service) giveBack(ctx context.Context, r payment.Refund, p payment.RefundRequest) (payment.RefundOutcome, error) {
	gateway := s.Gateways[r.Method]
	if gateway == nil {
		return payment.RefundOutcome{}, payment.ErrMethod // it is not offered any more
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
