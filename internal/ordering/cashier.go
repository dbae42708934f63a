package ordering

import (
	"context"
	"time"
	"unicode/utf8"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/text"
)

// MaxNote bounds what the staff writes about a refund or a payment, in characters.
const MaxNote = 500

func checkNote(note string) error {
	if n := utf8.RuneCountInString(note); n == 0 || n > MaxNote {
		return fault.Newf(fault.Invalid, "invalid", "A reason of 1 to %d characters is needed.", MaxNote)
	}
	return nil
}

// MaxReference bounds what a gateway's portal may call a refund, in characters.
const MaxReference = 100

// checkReference gives a refund with its reference as it is kept. One that was made by hand has one, by which it is known
// when it is noted twice.
func (r Refund) checkReference() (Refund, error) {
	var err error
	r.Reference, err = text.Line.Clean(r.Reference)
	if err != nil || r.ByHand != (r.Reference != "") || !within(r.Reference, 0, MaxReference) {
		return r, wrong("reference", "A refund by hand, and no other, has a reference of 1 to 100 characters on one line.")
	}
	return r, nil
}

// Refund gives money of a paid order back in the way in which it came, or notes that somebody has done so in the gateway's
// portal. What is noted a second time, or asked for again under its ClientTxnID, is made once and answered as it is by
// then. Its id and who does it need not be given.
func (s *Service) Refund(ctx context.Context, by identity.Actor, c Refund) (payment.Refund, error) {
	err := checkNote(c.Note)
	if err == nil && c.ClientTxnID != "" {
		err = checkClientTxnID(c.ClientTxnID)
	}
	if err == nil {
		c, err = c.checkReference()
	}
	if err != nil {
		return payment.Refund{}, err
	}
	if _, err := s.StaffOrder(ctx, by, c.OrderID); err != nil {
		return payment.Refund{}, err
	}
	c.NewID, c.By = s.newID(), by
	r, err := s.Ledger.Do(ctx, Command{Refund: &c})
	return r.Refund, err
}

// FinishRefund says how a refund goes on: SENDING has its gateway told, DONE notes that somebody has given the money
// back by hand.
func (s *Service) FinishRefund(
	ctx context.Context, by identity.Actor, order, refund string, to payment.RefundState, note string,
) (payment.Refund, error) {
	if err := checkNote(note); err != nil {
		return payment.Refund{}, err
	}
	if _, err := s.StaffOrder(ctx, by, order); err != nil {
		return payment.Refund{}, err
	}
	r, err := s.Ledger.Do(ctx, Command{Finish: &FinishRefund{
		OrderID: order, RefundID: refund, State: to, Note: note, By: by,
	}})
	return r.Refund, err
}

// Exceptions are what somebody must look at in a branch: attempts of which nobody knows what became, money that is to go
// back and is not back, and captures of other amounts than were asked for.
type Exceptions struct {
	Attempts   []Exception
	Refunds    []Exception
	Mismatches []Exception // by the ids of their attempts
}

// Exception is one of them.
type Exception struct {
	ID       string
	OrderID  string
	Number   int64 // of the order
	BizDate  string
	Method   payment.Method
	Amount   int64
	Currency money.Currency
	State    string
	Reason   string // of a refund
	Ref      string // what the gateway calls it, or answered last
	At       time.Time

	Captured   int64 // of a mismatch, as the gateway says; Amount is what was asked for
	CapturedIn money.Currency
}

// maxExceptions bounds how many of each kind are listed; a house that has more has another trouble.
const maxExceptions = 200

// Exceptions lists what somebody must look at in a branch that the actor sees, the oldest first.
func (s *Service) Exceptions(ctx context.Context, by identity.Actor, branch int64) (Exceptions, error) {
	if !by.Sees(branch) {
		return Exceptions{}, catalog.ErrBranch
	}
	return s.Reader.Exceptions(ctx, branch, maxExceptions)
}

// AskNow asks the gateway of an attempt what has become of it, and gives the order as it is then: CONFIRMING where the
// guest's approval has to be confirmed and that takes longer than the context lasts.
func (s *Service) AskNow(ctx context.Context, by identity.Actor, order, attempt string) (Detail, error) {
	a, err := s.staffAttempt(ctx, by, order, attempt)
	if err != nil {
		return Detail{}, err
	}
	if err := s.ask(ctx, a, false); err != nil {
		return Detail{}, err
	}
	return s.orderNow(ctx, order)
}

// Judge notes what somebody has found out about an attempt in the gateway's own console.
func (s *Service) Judge(
	ctx context.Context, by identity.Actor, order, attempt string, state payment.State, note string,
) (Order, error) {
	if err := checkNote(note); err != nil {
		return Order{}, err
	}
	a, err := s.staffAttempt(ctx, by, order, attempt)
	if err != nil {
		return Order{}, err
	}
	d, err := s.order(ctx, order)
	if err != nil {
		return Order{}, err
	}
	r, err := s.settle(ctx, d.Scope.Branch, Settle{
		OrderID: order, AttemptID: a.ID, Method: a.Method, State: state, Source: SourceStaff, By: by, Raw: note,
	})
	return r.Order, err
}

// ClearMismatch notes that somebody has looked at what was captured with an attempt and had not been asked for, and what
// they have done about it. It moves no money and changes no order.
func (s *Service) ClearMismatch(ctx context.Context, by identity.Actor, order, attempt, note string) (Detail, error) {
	if err := checkNote(note); err != nil {
		return Detail{}, err
	}
	a, err := s.staffAttempt(ctx, by, order, attempt)
	if err != nil {
		return Detail{}, err
	}
	d, err := s.order(ctx, order)
	if err != nil {
		return Detail{}, err
	}
	e := by.AuditEntry(s.Now(), identity.ActionMismatchCleared, "order", order, d.Scope.Branch).WithAfter(map[string]any{
		"paymentId": a.ID, "amount": a.Amount, "currency": a.Currency, "note": note,
	})
	return d, s.Payments.ClearMismatches(ctx, a.ID, e)
}

// staffAttempt gives an attempt through a gateway, of an order that the actor sees.
func (s *Service) staffAttempt(ctx context.Context, by identity.Actor, order, attempt string) (payment.Attempt, error) {
	d, err := s.StaffOrder(ctx, by, order)
	if err != nil {
		return payment.Attempt{}, err
	}
	for _, a := range d.Attempts {
		if a.ID == attempt && a.Method.Remote() {
			return a, nil
		}
	}
	return payment.Attempt{}, payment.ErrAttempt
}
