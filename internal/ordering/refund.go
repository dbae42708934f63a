package ordering

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// Refund refunds money of a paid order, or records a refund that was made by hand. A failed request is repeated under
// the same ClientTxnID, so that money goes back once.
type Refund struct {
	OrderID   string
	NewID     string
	Amount    int64  // 0 means the amount that is not refunded yet
	ByHand    bool   // already made in the gateway's portal: nothing is sent
	Reference string // the portal's reference; with ByHand only
	Note      string
	By        authz.Actor

	ClientTxnID string // idempotency key, chosen by the client, unique within the order; empty for none
}

// RecordRefundResult records the result of a refund, or the staff's decision about it. The loop SendRefunds creates it
// with a gateway's outcome, the staff with a decision.
type RecordRefundResult struct {
	OrderID  string
	RefundID string
	State    payment.RefundState // SENDING: send the refund; the other states are results
	Ref      string
	Code     string
	Note     string      // the staff's note
	By       authz.Actor // the zero Actor for a gateway
}

// MaxNote is the maximum length of a note by the staff about a refund or payment, in characters.
const MaxNote = 500

// checkNote requires a reason, which is stored with the decision.
func checkNote(note string) error {
	if n := utf8.RuneCountInString(note); n == 0 || n > MaxNote {
		return fault.Newf(fault.Invalid, "invalid", "Enter a reason of 1 to %d characters.", MaxNote)
	}
	return nil
}

// MaxReference is the maximum length of a refund's reference in a gateway's portal, in characters.
const MaxReference = 100

// checkReference normalizes the reference. A refund made by hand needs one: the reference identifies it when it is
// recorded twice.
func (c *Refund) checkReference() (err error) {
	c.Reference, err = text.Line.Clean(c.Reference)
	if err != nil || c.ByHand != (c.Reference != "") || !lengthWithin(c.Reference, 0, MaxReference) {
		return invalidField("reference",
			"A refund by hand needs a reference of 1 to 100 characters on one line. Other refunds have none.")
	}
	return nil
}

// Refund refunds money of a paid order through the method it was paid with, or records a refund already made in the
// gateway's portal. It is idempotent by ClientTxnID and by Reference: a repetition returns the refund in its current
// state. Refund sets NewID and By. A refund through a gateway is only approved here; SendRefunds sends it.
func (s *Service) Refund(ctx context.Context, by authz.Actor, c Refund) (payment.Refund, error) {
	err := checkNote(c.Note)
	if err == nil && c.ClientTxnID != "" {
		err = checkClientTxnID(c.ClientTxnID)
	}
	if err == nil {
		err = c.checkReference()
	}
	if err != nil {
		return payment.Refund{}, err
	}
	if _, err := s.Order(ctx, Staff(by), c.OrderID); err != nil {
		return payment.Refund{}, err
	}
	c.NewID, c.By = s.newID(), by
	r, err := s.Ledger.Do(ctx, &c)
	return r.Refund, err
}

// RecordRefundResult sets the state of a refund: SENDING sends it to its gateway again, DONE records that the staff have
// refunded the money by hand. A refund that is done, or already in that state, is returned unchanged. While a refund is
// being sent, DONE is refused with ErrRefundSending.
func (s *Service) RecordRefundResult(
	ctx context.Context, by authz.Actor, order, refund string, to payment.RefundState, note string,
) (payment.Refund, error) {
	if err := checkNote(note); err != nil {
		return payment.Refund{}, err
	}
	if _, err := s.Order(ctx, Staff(by), order); err != nil {
		return payment.Refund{}, err
	}
	r, err := s.Ledger.Do(ctx, &RecordRefundResult{
		OrderID: order, RefundID: refund, State: to, Note: note, By: by,
	})
	return r.Refund, err
}

// createRefund creates a refund for captured money that its order cannot use. It is unique per attempt, and waits in
// state DUE until the staff approve it.
func (b *Batch) createRefund(o *Order, a payment.Attempt, reason payment.RefundReason) {
	if a.Amount == 0 {
		return // an order of free dishes only
	}
	b.touch(o) // consumers take a second event of the same version for a repetition
	r := payment.Refund{
		ID: b.NewID(), OrderID: o.ID, AttemptID: a.ID, Method: a.Method, Amount: a.Amount, Currency: a.Currency,
		State: payment.RefundDue, Reason: reason, CreatedAt: b.Now,
	}
	b.newRefund(r)
	b.publishRefund(event.OrderRefundDue, o, r)
}

// newRefund adds a refund to the writes and to the state that later commands of the batch see.
func (b *Batch) newRefund(r payment.Refund) {
	b.NewRefunds = append(b.NewRefunds, r)
	b.RefundsByOrder[r.OrderID] = append(b.RefundsByOrder[r.OrderID], r)
}

// Target implements Command.
func (c *Refund) Target() string { return c.OrderID }

// decide refunds a paid order in full or in part, through the attempt it was paid with. It releases no units: the
// dishes have been cooked, or the staff cancel them separately.
func (c *Refund) decide(b *Batch) Result {
	o := b.Orders[c.OrderID]
	if o == nil {
		return Result{Err: ErrNotFound}
	}
	// The prior result is returned first, because after the first refund the checks below may fail.
	if r, found, err := b.priorRefund(o.ID, c); found {
		return Result{Order: *o, Refund: r, Err: err}
	}
	a, ok := b.paidAttempt(o)
	// The amount is compared with the remaining money, which limits the sum of all refunds by the staff. An order that is not
	// paid, or whose money already goes back, has none.
	left := int64(0)
	if o.PaymentStatus == Paid && ok {
		left = o.Total - o.Refunded
	}
	amount := cmp.Or(c.Amount, left)
	if amount <= 0 || amount > left {
		return Result{Order: *o, Err: ErrNotRefundable.With("refundable", left)}
	}
	r := payment.Refund{
		ID: c.NewID, OrderID: o.ID, AttemptID: a.ID, Method: a.Method, Amount: amount, Currency: a.Currency,
		State: payment.RefundDue, Reason: payment.RefundedByStaff, CreatedAt: b.Now, ClientTxnID: c.ClientTxnID,
	}
	switch {
	// Cash is returned at once: Approve completes a refund whose method has no gateway.
	case !c.ByHand:
		r.Approve(c.By.String(), c.Note, b.Now)
	case a.Method.Remote():
		r.RecordManual(c.By.String(), c.Note, c.Reference, b.Now)
	// Cash has no portal, so no refund of cash can have been made there.
	default:
		return Result{Order: *o, Err: payment.ErrMethod}
	}
	b.newRefund(r)
	// The amount is subtracted now and not when the gateway has paid it out, so that two refunds cannot use the same
	// money.
	o.Refunded += amount
	if o.Refunded == o.Total {
		o.PaymentStatus = RefundDue
	}
	b.refundChanged(o, r)
	b.auditRefund(c.By, audit.ActionRefunded, o, r)
	return Result{Order: *o, Refund: r, Changed: true}
}

// priorRefund returns the prior refund under the same idempotency key or the same portal reference, because money is
// refunded once for each (I11). A request without an Amount matches any amount: less may remain than at the first
// request.
func (b *Batch) priorRefund(order string, c *Refund) (r payment.Refund, found bool, err error) {
	all := b.RefundsByOrder[order]
	if i := slices.IndexFunc(all, c.hasKeyOf); i >= 0 {
		if (c.Amount != 0 && c.Amount != all[i].Amount) || c.Reference != all[i].PortalRef {
			err = ErrRefundKey
		}
		return all[i], true, err
	}
	if i := slices.IndexFunc(all, c.hasReferenceOf); i >= 0 {
		if c.Amount != 0 && c.Amount != all[i].Amount {
			err = ErrRefundNoted
		}
		return all[i], true, err
	}
	return r, false, nil
}

// hasKeyOf reports whether r was made under the same idempotency key.
func (c *Refund) hasKeyOf(r payment.Refund) bool {
	return c.ClientTxnID != "" && r.ClientTxnID == c.ClientTxnID
}

// hasReferenceOf reports whether r has the same portal reference. GatewayRef is compared too: the staff may record a
// refund that this installation has sent and that the portal lists.
func (c *Refund) hasReferenceOf(r payment.Refund) bool {
	return c.ByHand && (r.PortalRef == c.Reference || r.GatewayRef == c.Reference)
}

// paidAttempt returns the attempt that the order was paid with: the first captured one that is not refunded
// automatically. Captures that are refunded automatically, such as a second payment, are not part of the order's money.
func (b *Batch) paidAttempt(o *Order) (payment.Attempt, bool) {
	for _, a := range b.Attempts[o.ID] {
		owed := slices.ContainsFunc(b.RefundsByOrder[o.ID], func(r payment.Refund) bool {
			return r.AttemptID == a.ID && r.Reason != payment.RefundedByStaff
		})
		if a.State == payment.Paid && !owed {
			return a, true
		}
	}
	return payment.Attempt{}, false
}

// Target implements Command.
func (f *RecordRefundResult) Target() string { return f.OrderID }

// decide records the result of a refund. The staff may send a refused refund again or record that they refunded it by
// hand. Results of gateways and decisions by the staff may cross, so DONE is final and a state that does not change is
// not an error.
func (f *RecordRefundResult) decide(b *Batch) Result {
	o := b.Orders[f.OrderID]
	i := slices.IndexFunc(b.RefundsByOrder[f.OrderID], func(r payment.Refund) bool { return r.ID == f.RefundID })
	if o == nil || i < 0 {
		return Result{Err: payment.ErrRefund}
	}
	r := b.RefundsByOrder[o.ID][i]
	// The loop has no actor.
	byStaff := f.By.Kind != authz.Anonymous
	switch {
	case byStaff && f.State == payment.RefundDone && r.State == payment.RefundSending:
		return Result{Order: *o, Refund: r, Err: ErrRefundSending} // DONE would overwrite the gateway's result
	case f.State == payment.RefundSending && !r.Method.Remote():
		return Result{Order: *o, Refund: r, Err: payment.ErrMethod}
	case f.State == payment.RefundSending && r.State != payment.RefundDone && r.State != payment.RefundSending:
		r.Approve(f.By.String(), f.Note, b.Now)
	case f.State == payment.RefundSending || !r.SetResult(f.State, f.Ref, f.Code, b.Now):
		return Result{Order: *o, Refund: r}
	case byStaff:
		r.By, r.Note = f.By.String(), f.Note
	}
	b.RefundsByOrder[o.ID][i] = r
	b.updateRefund(r)
	b.refundChanged(o, r)
	if byStaff {
		b.auditRefund(f.By, audit.ActionRefundDone, o, r)
	}
	return Result{Order: *o, Refund: r, Changed: true}
}

// updateRefund marks a refund's new state to be written. A refund created in this batch is inserted with that state, so
// each row is written once.
func (b *Batch) updateRefund(r payment.Refund) {
	for i := range b.NewRefunds {
		if b.NewRefunds[i].ID == r.ID {
			b.NewRefunds[i] = r
			return
		}
	}
	b.ChangedRefunds[r.ID] = r
}

// refundChanged marks the order as REFUNDED once all its refunds are done, and publishes each refund that is done. A
// partial refund leaves the order PAID.
func (b *Batch) refundChanged(o *Order, r payment.Refund) {
	open := slices.ContainsFunc(b.RefundsByOrder[o.ID], func(r payment.Refund) bool { return r.State != payment.RefundDone })
	if o.PaymentStatus == RefundDue && !open {
		o.PaymentStatus = Refunded
	}
	o.touch(b.Now)
	b.changed(o)
	if r.State == payment.RefundDone {
		b.publishRefund(event.OrderRefunded, o, r)
	}
}

// publishRefund publishes that a refund is due or done.
func (b *Batch) publishRefund(kind event.Kind[event.RefundDue], o *Order, r payment.Refund) {
	b.publish(kind.New(b.Now, o.ID, o.Version, o.Scope.Branch, event.RefundDue{
		OrderID: o.ID, BranchID: o.Scope.Branch, BizDate: o.Scope.Date, RefundID: r.ID, Amount: r.Amount,
		Currency: r.Currency, Reason: string(r.Reason),
	}))
}

// auditRefund records a refund, or the staff's decision about one, in the audit log.
func (b *Batch) auditRefund(by authz.Actor, action string, o *Order, r payment.Refund) {
	b.Audit = append(b.Audit, audit.NewEntry(by, b.Now, action, "order", o.ID, o.Scope.Branch).WithAfter(map[string]any{
		"number": ShortNumber(o.Number), "refundId": r.ID, "amount": r.Amount, "currency": r.Currency, "state": r.State,
		"note": r.Note, "portalReference": r.PortalRef,
	}))
}

// sendingTimeout is the time limit of one SendRefunds call. Another process may claim a refund again a minute after
// the first claim. By then this process must have stopped sending it; a request sent at the last moment may take 20 s.
const sendingTimeout = 40 * time.Second

// SendRefunds sends due refunds to their gateways. Any number of processes may run it: a refund sent twice is paid
// out once.
func (s *Service) SendRefunds(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendingTimeout)
	defer cancel()
	// The claim has scheduled the retry, so a refund is sent again even if this process is killed now.
	due, err := s.Payments.ClaimRefunds(ctx, s.Now(), gatewayBatch)
	if err != nil {
		return err
	}
	s.parallel(ctx, len(due), func(i int) {
		r := due[i]
		if err := s.sendRefund(ctx, r); err != nil {
			s.Log.WarnContext(ctx, "a refund could not be sent", "refund", r.ID, "method", r.Method, "err", err)
		}
	})
	return nil
}

// sendRefund sends one refund and records its result. After an error the refund is retried later, unless its retries are
// exhausted.
func (s *Service) sendRefund(ctx context.Context, r payment.Refund) error {
	d, a, err := s.Attempt(ctx, r.AttemptID)
	if err != nil {
		return err
	}
	out := exhaustedOutcome(r)
	if !r.Exhausted() {
		if out, err = s.submitRefund(ctx, r, refundRequest(r, a, d.Refunds)); err != nil {
			return err
		}
	}
	// The gateway has decided, so the result must be stored even if the time limit has passed meanwhile.
	written, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err = s.Ledger.Do(written, &RecordRefundResult{
		OrderID: d.ID, RefundID: r.ID, State: out.State, Ref: out.Ref, Code: out.Code,
	})
	return err
}

// exhaustedOutcome returns the result of a refund whose retries are exhausted. A refund that was never sent is
// certainly not paid out; otherwise the outcome is unknown.
func exhaustedOutcome(r payment.Refund) payment.RefundOutcome {
	if r.Sent {
		return payment.RefundOutcome{State: payment.RefundUnknown, Code: payment.Unreachable}
	}
	return payment.RefundOutcome{State: payment.RefundRefused, Code: payment.Unreachable}
}

// refundRequest returns the gateway request for a refund, with the other refunds of the same attempt.
func refundRequest(r payment.Refund, a payment.Attempt, all []payment.Refund) payment.RefundRequest {
	return payment.RefundRequest{
		ID: r.ID, Attempt: a, Amount: r.Amount, Full: r.Amount == a.Amount,
		By: r.By, Reason: string(r.Reason), DecidedAt: r.CreatedAt,
		Sent: r.Sent, PriorRefunds: r.PriorRefunds, Code: r.Code,
		OtherRefunds: seq.Filter(all, func(o payment.Refund) bool { return o.AttemptID == a.ID && o.ID != r.ID }),
	}
}

// submitRefund sends a refund to its gateway. Before the first sending it stores the refunds that the gateway lists
// already: a retry compares the list with them to find out whether the money has been refunded. MarkSent commits before
// the request: after a crash in between, the refund counts as possibly sent, and is not sent on a guess (decision 24).
func (s *Service) submitRefund(
	ctx context.Context, r payment.Refund, p payment.RefundRequest,
) (payment.RefundOutcome, error) {
	gateway := s.Settings().Gateways[r.Method]
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
