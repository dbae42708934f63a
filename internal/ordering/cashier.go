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

// MaxNote is the maximum length of a note by the staff about a refund or payment, in characters.
const MaxNote = 500

func checkNote(note string) error {
	if n := utf8.RuneCountInString(note); n == 0 || n > MaxNote {
		return fault.Newf(fault.Invalid, "invalid", "A reason of 1 to %d characters is needed.", MaxNote)
	}
	return nil
}

// MaxReference is the maximum length of a refund's reference in a gateway's portal, in characters.
const MaxReference = 100

// checkReference returns the refund with its reference normalized. A refund made by hand needs one: the reference
// identifies it when it is recorded twice.
func (r Refund) checkReference() (Refund, error) {
	var err error
	r.Reference, err = text.Line.Clean(r.Reference)
	if err != nil || r.ByHand != (r.Reference != "") || !within(r.Reference, 0, MaxReference) {
		return r, wrong("reference", "A refund by hand, and no other, has a reference of 1 to 100 characters on one line.")
	}
	return r, nil
}

// Refund refunds money of a paid order through the method it was paid with, or records a refund already made in the
// gateway's portal. It is idempotent by ClientTxnID and by Reference: a repetition returns the refund in its current
// state. Refund sets NewID and By.
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

// FinishRefund sets the state of a refund: SENDING sends it to its gateway again, DONE records that the staff have
// refunded the money by hand.
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

// Exceptions are the payments of a branch that the staff must look at: attempts whose outcome is unknown, refunds
// that are not done, and captures of an amount other than requested.
type Exceptions struct {
	Attempts   []Exception
	Refunds    []Exception
	Mismatches []Exception // their ids are those of the attempts
}

// Exception is one payment that the staff must look at.
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
	Ref      string // the gateway's reference or last answer
	At       time.Time

	Captured   int64 // of a mismatch, as the gateway reports it; Amount is the requested one
	CapturedIn money.Currency
}

// maxExceptions is the maximum number listed of each kind. A branch with more needs another remedy than a list.
const maxExceptions = 200

// Exceptions returns what the staff must look at in a branch that the actor may see, oldest first. For other branches
// it returns catalog.ErrBranch.
func (s *Service) Exceptions(ctx context.Context, by identity.Actor, branch int64) (Exceptions, error) {
	if !by.Sees(branch) {
		return Exceptions{}, catalog.ErrBranch
	}
	return s.Reader.Exceptions(ctx, branch, maxExceptions)
}

// AskNow checks an attempt with its gateway and returns the order afterwards. The order is CONFIRMING if the capture
// of an approved payment takes longer than ctx lasts.
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

// Judge records the state of an attempt that the staff have looked up in the gateway's console.
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

// ClearMismatch records that the staff have resolved the amount mismatches of an attempt, with a note. It moves no
// money and changes no order.
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

// staffAttempt returns an attempt with a remote gateway, of an order that the actor may see.
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
