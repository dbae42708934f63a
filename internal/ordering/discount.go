package ordering

import (
	"context"
	"slices"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/price"
)

// The refusals of discounts.
var (
	ErrDiscount        = fault.New(fault.Invalid, "discount_unknown", "This branch has no such discount.").With("field", "code")
	ErrDiscountCeiling = fault.New(fault.Forbidden, "discount_ceiling", "This is more than you may take off.")
	ErrPaymentOpen     = fault.New(fault.Conflict, "payment_open",
		"The guest has an open payment page for this order. Try again when it has ended.")
)

// DiscountRequest is a discount that the staff set on an unpaid order. A kind without a value takes Percent or Amount
// from the request. An empty code removes the order's discount.
type DiscountRequest struct {
	Code    string
	Percent price.Percent
	Amount  *int64 // minor units
	Reason  string // at most MaxNote characters; required by some kinds
}

// value returns what a discount of a kind takes off, or an Invalid fault.
func (r DiscountRequest) value(k catalog.DiscountKind) (price.Discount, error) {
	switch {
	case k.Type == catalog.OnTheHouse && r.Percent == "" && r.Amount == nil:
		return price.Discount{Percent: "100"}, nil
	case k.Type == catalog.PercentOff && k.Percent != "" && r.Percent == "" && r.Amount == nil:
		return price.Discount{Percent: k.Percent}, nil
	case k.Type == catalog.PercentOff && k.Percent == "" && r.Percent.Valid() && r.Percent.Compare("0") > 0 && r.Amount == nil:
		return price.Discount{Percent: r.Percent}, nil
	case k.Type == catalog.AmountOff && k.Amount != nil && r.Percent == "" && r.Amount == nil:
		return price.Discount{Amount: k.Amount}, nil
	case k.Type == catalog.AmountOff && k.Amount == nil && r.Percent == "" && r.Amount != nil && *r.Amount > 0 &&
		*r.Amount <= catalog.MaxPrice:
		return price.Discount{Amount: r.Amount}, nil
	}
	return price.Discount{}, fault.New(fault.Invalid, "discount_invalid",
		"Enter the percent or the amount that this discount asks for, and no other.").With("field", "value")
}

// Discount changes the discount of an unpaid order. It returns the order with its new total.
func (s *Service) Discount(ctx context.Context, by authz.Actor, id string, r DiscountRequest) (Order, error) {
	d, err := s.Order(ctx, Staff(by), id)
	if err != nil {
		return Order{}, err
	}
	b, err := s.Catalog.Branch(ctx, d.Scope.Branch)
	if err != nil {
		return Order{}, err
	}
	c := SetDiscount{
		OrderID: id, NewID: s.newID(), By: by, Input: quoteInput(b, d.Items), Reason: r.Reason, Methods: s.Settings().Methods,
	}
	if r.Code != "" {
		if c.Kind, c.Value, err = r.kind(b.Pricing); err != nil {
			return Order{}, err
		}
	}
	result, err := s.Ledger.Do(ctx, &c)
	return result.Order, err
}

// kind returns the requested discount of a branch and what it takes off.
func (r DiscountRequest) kind(p catalog.Pricing) (*catalog.DiscountKind, price.Discount, error) {
	i := slices.IndexFunc(p.Discounts, func(k catalog.DiscountKind) bool { return k.Code == r.Code })
	if i < 0 {
		return nil, price.Discount{}, ErrDiscount
	}
	kind := p.Discounts[i]
	if kind.ReasonRequired || r.Reason != "" {
		if err := checkNote(r.Reason); err != nil {
			return nil, price.Discount{}, err
		}
	}
	value, err := r.value(kind)
	return &kind, value, err
}

// SetDiscount sets or removes the discount of an unpaid order.
type SetDiscount struct {
	OrderID string
	NewID   string                // id of the new attempt, if one is created
	Kind    *catalog.DiscountKind // nil removes the discount
	Value   price.Discount
	Input   price.Input // prices an order that has no quote yet
	Reason  string
	By      authz.Actor
	Methods payment.Methods
}

// Target implements Command.
func (d *SetDiscount) Target() string { return d.OrderID }

// decide computes the order's total again with the discount, from the numbers that the order was priced with. The units
// stay held. A payment page shows the old total, so an order with an open one is refused.
func (d *SetDiscount) decide(b *Batch) Result {
	o := b.Orders[d.OrderID]
	switch {
	case o == nil:
		return Result{Err: ErrNotFound}
	case o.PaymentStatus != Unpaid:
		return Result{Order: *o, Err: o.PaymentStatus.refusal()}
	case slices.ContainsFunc(b.Attempts[o.ID], d.open):
		return Result{Order: *o, Err: ErrPaymentOpen}
	}
	record, err := d.record(o)
	if err != nil {
		return Result{Order: *o, Err: err}
	}
	before := o.Quote
	if record.Discount == nil && record.Voucher == nil && len(record.Result.Taxes) == 0 && record.Result.Service == 0 {
		o.Quote, o.Total, o.Discount, o.Service, o.Tax = "", record.Result.Total, 0, 0, 0
	} else {
		o.setRecord(record)
	}
	if o.Quote == before { // a repeated request
		return Result{Order: *o}
	}
	b.repriced(o, d.NewID)
	b.recordDiscount(d, o, record)
	return Result{Order: *o, Changed: true}
}

// open reports whether an attempt has a payment page or may get one. A page that the gateway may have created counts as
// open; one that it has refused does not, see recordRefusal. Without a page, an attempt of a method that is no longer
// offered does not count either: no request asks its gateway for a page, and Redirect stores none after the discount.
func (d *SetDiscount) open(a payment.Attempt) bool {
	switch a.State {
	case payment.Failed, payment.Canceled, payment.Paid:
		return false
	case payment.Created:
		return a.Method.Remote() && d.Methods.Check(a.Method) == nil
	}
	return a.Method.Remote()
}

// record returns the order's price with the discount, beside that of a voucher. It refuses one above the ceiling of the
// actor's role.
func (d *SetDiscount) record(o *Order) (price.QuoteRecord, error) {
	in := d.Input
	stored, quoted := o.Record()
	if quoted {
		in = stored.Input
	}
	in.Discounts = nil
	if stored.Voucher != nil {
		in.Discounts = stored.Input.Discounts[:1:1] // the voucher's comes first
	}
	without, err := price.NewQuoteRecord(in)
	without.Voucher = stored.Voucher
	if d.Kind == nil || err != nil {
		return without, err
	}
	in.Discounts = append(in.Discounts, d.Value)
	r, err := price.NewQuoteRecord(in)
	if err != nil {
		return r, err
	}
	off := r.Result.Discount - without.Result.Discount
	if limit := d.Kind.MaxPercent; limit != "" && !unlimited(d.By) && !limit.Covers(off, r.Result.Goods) {
		return r, ErrDiscountCeiling.With("maxPercent", limit)
	}
	r.Voucher, r.Discount = stored.Voucher, labelOf(*d.Kind)
	return r, nil
}

// labelOf returns the name of a discount, for the record of an order's price.
func labelOf(k catalog.DiscountKind) *price.DiscountLabel {
	label := &price.DiscountLabel{Code: k.Code, Names: map[string]string{}}
	for l, name := range k.Names {
		label.Names[string(l)] = name
	}
	return label
}

// unlimited reports whether the ceilings of discounts do not apply to an actor: owners, administrators and the console.
func unlimited(by authz.Actor) bool {
	return by.Kind != authz.Account || by.Role == authz.RoleOwner || by.Role == authz.RoleAdmin
}

// repriced records the new total of an order. The amount of an attempt never changes, so those that were waiting for the
// old total are canceled, and an order to be paid at the counter gets another one. A guest who pays at a gateway starts the
// next attempt: one without a page could not be paid, and would count as an open payment.
func (b *Batch) repriced(o *Order, attempt string) {
	b.cancelCreated(o)
	if !o.Method.Remote() {
		b.addAttempt(o, payment.Attempt{
			ID: attempt, OrderID: o.ID, Method: o.Method, Amount: o.Total, Currency: o.Currency, State: payment.Created,
			CreatedAt: b.Now,
		})
	}
	b.touch(o)
	b.Repriced[o.ID] = o
}

func (b *Batch) recordDiscount(d *SetDiscount, o *Order, r price.QuoteRecord) {
	after := map[string]any{
		"number": ShortNumber(o.Number), "goods": r.Result.Goods, "discount": r.Result.Discount, "totalPrice": o.Total,
		"currency": o.Currency, "reason": d.Reason,
	}
	if d.Kind != nil {
		after["code"] = d.Kind.Code
	}
	b.Audit = append(b.Audit,
		audit.NewEntry(d.By, b.Now, audit.ActionDiscountGiven, "order", o.ID, o.Scope.Branch).WithAfter(after))
}
