package orderinghttp

import (
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/price"
	"comanda/internal/seq"
	"comanda/internal/telemetry"
)

// createBody is a request to place an order. The server takes prices from the menu version, and only compares
// ExpectedTotal with their sum. The limits in the tags are those of package ordering, which checks them again.
type createBody struct {
	Items         []createItem     `json:"items" minItems:"1" maxItems:"50"`
	PaymentMethod string           `json:"paymentMethod" text:"exact" minLength:"1" maxLength:"20" doc:"COUNTER, VNPAY, LINEPAY or SANDBOX, if available."`
	ClientTxnID   string           `json:"clientTxnId" text:"exact" minLength:"1" maxLength:"64" doc:"Chosen by the client; the same id and body return the same order."`
	MenuVersionID string           `json:"menuVersionId" pattern:"^[1-9][0-9]{0,17}$"`
	VisitID       string           `json:"visitId,omitempty" text:"exact" maxLength:"64"`
	ExpectedTotal *int64           `json:"expectedTotal,omitempty" minimum:"0" doc:"The total that the guest was shown; the order is refused if it differs."`
	Voucher       string           `json:"voucher,omitempty" text:"line" maxLength:"40" doc:"Code of a voucher."`
	CustomerToken telemetry.Secret `json:"customerToken,omitempty" maxLength:"128" doc:"Instead of the X-Customer-Token header."`
}

type createItem struct {
	ItemID  string         `json:"itemId" pattern:"^[1-9][0-9]{0,17}$"`
	Qty     int64          `json:"qty" minimum:"1" maximum:"20"`
	Notes   string         `json:"notes,omitempty" text:"lines" maxLength:"200"`
	Options []chosenOption `json:"options,omitempty" maxItems:"30" doc:"Options of one unit. Groups with a minimum are required; defaults are not added."`
	LineID  string         `json:"lineId,omitempty" pattern:"^[A-Za-z0-9_-]{8,40}$" doc:"The line of the table's shared cart that is ordered. The order removes it from the cart. If the cart has no such line with this dish, quantity and note, the answer is cart_changed."`
}

// chosenOption is a chosen option, with its own options for each unit of it.
type chosenOption struct {
	OptionQty
	Options []OptionQty `json:"options,omitempty" maxItems:"30"`
}

// OptionQty is a number of units of an option. It is exported because huma only reads exported embedded fields.
type OptionQty struct {
	OptionID string `json:"optionId" pattern:"^[1-9][0-9]{0,17}$"`
	Qty      int64  `json:"qty" minimum:"1" maximum:"20"`
}

func chosenOf(options []chosenOption) []catalog.ChosenOption {
	if len(options) == 0 {
		return nil
	}
	one := func(o OptionQty) catalog.ChosenOption {
		return catalog.ChosenOption{OptionID: httpapi.IDOf(o.OptionID), Qty: o.Qty}
	}
	return seq.Map(options, func(o chosenOption) catalog.ChosenOption {
		c := one(o.OptionQty)
		if len(o.Options) > 0 {
			c.Options = seq.Map(o.Options, one)
		}
		return c
	})
}

// request converts the body. Ids are texts in JSON, because JavaScript cannot represent all 64-bit integers.
func (b createBody) request() ordering.Request {
	r := ordering.Request{
		Items: make([]ordering.RequestItem, len(b.Items)), Method: payment.Method(b.PaymentMethod),
		ClientTxnID: b.ClientTxnID, MenuVersionID: httpapi.IDOf(b.MenuVersionID), VisitID: b.VisitID,
		ExpectedTotal: b.ExpectedTotal, Voucher: b.Voucher,
	}
	for i, it := range b.Items {
		r.Items[i] = it.line()
	}
	return r
}

func (it createItem) line() ordering.RequestItem {
	return ordering.RequestItem{
		ItemID: httpapi.IDOf(it.ItemID), Qty: it.Qty, Notes: it.Notes, Line: it.LineID, Options: chosenOf(it.Options),
	}
}

// Summary is an order in the response to placing it. It is exported, like every embedded response type, because huma
// documents exported embedded fields only.
type Summary struct {
	ID            string      `json:"id"`
	Number        string      `json:"number" example:"A-042"`
	TotalPrice    int64       `json:"totalPrice" doc:"Minor units of the currency."`
	Currency      string      `json:"currency"`
	Status        string      `json:"status"`
	PaymentStatus string      `json:"paymentStatus"`
	BizDate       string      `json:"bizDate"`
	PayBy         time.Time   `json:"payBy"`
	Payment       paymentInfo `json:"payment"`
	Breakdown     *breakdown  `json:"breakdown,omitempty" doc:"How the total is made up; absent if it is the sum of the items."`
}

// breakdown has the parts of the total of an order.
type breakdown struct {
	PriceMode price.Mode `json:"priceMode" enum:"INCLUSIVE,EXCLUSIVE" doc:"INCLUSIVE: the taxes are contained in the prices. EXCLUSIVE: they are added."`
	Goods     int64      `json:"goods" doc:"Prices times quantities."`
	Discount  int64      `json:"discount"`

	DiscountNames map[string]string `json:"discountNames,omitempty" doc:"Name of the discount by locale; a voucher and a discount of the staff are joined by +."`

	Service  int64       `json:"service"`
	Taxes    []price.Tax `json:"taxes" doc:"By rate, the highest first. A rate of 0 is listed."`
	Rounding int64       `json:"rounding"`
	Total    int64       `json:"total"`
}

func breakdownOf(r price.QuoteRecord) *breakdown {
	return &breakdown{
		PriceMode: r.Input.PriceMode, Goods: r.Result.Goods, Discount: r.Result.Discount, Service: r.Result.Service,
		Taxes: r.Result.Taxes, Rounding: r.Result.Rounding, Total: r.Result.Total, DiscountNames: r.DiscountNames(),
	}
}

type paymentInfo struct {
	Method      string  `json:"method"`
	RedirectURL *string `json:"redirectUrl"`
}

// summaryOf returns an order without a payment page; at adds it.
func summaryOf(o ordering.Order) Summary {
	s := Summary{
		ID: o.ID, Number: ordering.ShortNumber(o.Number), TotalPrice: o.Total, Currency: string(o.Currency),
		Status: string(o.Status), PaymentStatus: string(o.PaymentStatus), BizDate: o.Scope.Date, PayBy: o.PayBy,
		Payment: paymentInfo{Method: string(o.Method)},
	}
	if r, ok := o.Record(); ok {
		s.Breakdown = breakdownOf(r)
	}
	return s
}

// at returns the summary with the address of the payment page, if there is one.
func (s Summary) at(page string) Summary {
	s.Payment.RedirectURL = httpapi.OrNull(page)
	return s
}

// Detail is an order with everything that its guests may see.
type Detail struct {
	Summary
	VisitID      string       `json:"visitId"`
	CancelReason string       `json:"cancelReason,omitempty"`
	MoreTime     int          `json:"moreTime" doc:"Number of times that payBy can still be extended by five minutes."`
	Items        []item       `json:"items"`
	Payments     []Attempt    `json:"payments"`
	Refunded     int64        `json:"refunded" doc:"Part of totalPrice that is refunded or will be."`
	Refunds      []refund     `json:"refunds,omitempty"`
	Timeline     []occurrence `json:"timeline"`
	ExpectedAt   *time.Time   `json:"expectedAt,omitempty" doc:"Expected time when the order is ready, estimated from the kitchen's recent orders. Absent before the payment, once the order is ready, and if the kitchen has too few orders for an estimate."`
}

// item is one line of an order. Its price is that of the order, not of today's menu. Amount is price times quantity.
type item struct {
	ItemID string `json:"itemId"`
	DishID string `json:"dishId"`
	Name   string `json:"name"`
	Price  int64  `json:"price"`
	Qty    int64  `json:"qty"`
	Amount int64  `json:"amount"`
	Notes  string `json:"notes"`

	Options []orderedOption `json:"options,omitempty" doc:"Chosen options of one unit; absent if there are none. The line's price includes them."`
}

// orderedOption is a chosen option of an order's line.
type orderedOption struct {
	OptionSnapshot
	Options []OptionSnapshot `json:"options,omitempty"`
}

// OptionSnapshot is an option as it was when the order was placed. It is exported because huma only reads exported
// embedded fields.
type OptionSnapshot struct {
	GroupID  string `json:"groupId"`
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Qty      int64  `json:"qty" doc:"In one unit of the dish, or of the option above."`
	Price    int64  `json:"price" doc:"Price of one on the menu, before free units and credits."`
}

// optionsOf returns the options of a line with the names that name returns; nil for none.
func optionsOf(lines []catalog.OptionLine, name func(l *catalog.OptionLine) string) []orderedOption {
	if len(lines) == 0 {
		return nil
	}
	one := func(l catalog.OptionLine) OptionSnapshot {
		return OptionSnapshot{httpapi.FormatID(l.GroupID), httpapi.FormatID(l.OptionID), name(&l), l.Qty, l.Price}
	}
	return seq.Map(lines, func(l catalog.OptionLine) orderedOption {
		o := orderedOption{OptionSnapshot: one(l)}
		if len(l.Options) > 0 {
			o.Options = seq.Map(l.Options, one)
		}
		return o
	})
}

// Attempt is one payment attempt of an order.
type Attempt struct {
	ID        string     `json:"id"`
	Method    string     `json:"method"`
	Amount    int64      `json:"amount"`
	Currency  string     `json:"currency"`
	State     string     `json:"state" enum:"CREATED,REDIRECTED,CONFIRMING,UNKNOWN,REVIEW,PAID,FAILED,CANCELED"`
	CreatedAt time.Time  `json:"createdAt"`
	SettledAt *time.Time `json:"settledAt"`
}

type refund struct {
	ID        string     `json:"id"`
	PaymentID string     `json:"paymentId" doc:"The payment; its id is the merchant's reference at the gateway."`
	Amount    int64      `json:"amount"`
	Currency  string     `json:"currency"`
	State     string     `json:"state" enum:"DUE,SENDING,DONE,REFUSED,UNKNOWN"`
	Reason    string     `json:"reason"`
	Note      string     `json:"note,omitempty" doc:"The staff's note. Only staff see it."`
	CreatedAt time.Time  `json:"createdAt"`
	DoneAt    *time.Time `json:"doneAt"`
}

// refundOf returns a refund without its note, which only the staff may read.
func refundOf(r payment.Refund) refund {
	return refund{
		ID: r.ID, PaymentID: r.AttemptID, Amount: r.Amount, Currency: string(r.Currency), State: string(r.State),
		Reason: string(r.Reason), CreatedAt: r.CreatedAt, DoneAt: httpapi.TimeOrNull(r.DoneAt),
	}
}

// occurrence is one entry of an order's timeline.
type occurrence struct {
	At    time.Time `json:"at"`
	Event string    `json:"event" enum:"PLACED,PAID,CANCELED,REFUND_DUE,REFUNDED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED"`
}

func attemptOf(a payment.Attempt) Attempt {
	return Attempt{
		ID: a.ID, Method: string(a.Method), Amount: a.Amount, Currency: string(a.Currency), State: string(a.State),
		CreatedAt: a.CreatedAt, SettledAt: httpapi.TimeOrNull(a.SettledAt),
	}
}

func detailOf(d ordering.Detail) Detail {
	out := Detail{
		Summary: summaryOf(d.Order).at(openPage(d)), Refunded: d.Refunded, VisitID: d.VisitID,
		CancelReason: string(d.CancelReason), MoreTime: d.ExtensionsLeft(), Items: itemsOf(d.Items),
		Payments: seq.Map(d.Attempts, attemptOf), Timeline: timelineOf(d),
		ExpectedAt: httpapi.TimeOrNull(d.ExpectedAt),
	}
	for _, r := range d.Refunds {
		out.Refunds = append(out.Refunds, refundOf(r))
	}
	return out
}

// itemsOf returns the lines with the names that are shown in the kitchen.
func itemsOf(items []ordering.Item) []item {
	return seq.Map(items, func(it ordering.Item) item {
		return item{
			ItemID: httpapi.FormatID(it.ItemID), DishID: httpapi.FormatID(it.DishID), Name: it.Name,
			Price: it.Price, Qty: it.Qty, Amount: it.Price * it.Qty, Notes: it.Notes,
			Options: optionsOf(it.OptionLines(), func(l *catalog.OptionLine) string { return l.Name }),
		}
	})
}

// timelineOf returns the events of an order by time. A revived order shows its cancellation and its payment; steps that
// were recalled are left out.
func timelineOf(d ordering.Detail) []occurrence {
	all := []occurrence{{d.CreatedAt, "PLACED"}}
	if !d.CanceledAt.IsZero() {
		all = append(all, occurrence{d.CanceledAt, "CANCELED"})
	}
	if !d.PaidAt.IsZero() {
		all = append(all, occurrence{d.PaidAt, "PAID"})
	}
	for _, s := range ordering.EffectiveSteps(d.Steps) {
		all = append(all, occurrence{s.At, string(s.To)})
	}
	for _, r := range d.Refunds {
		all = append(all, occurrence{r.CreatedAt, "REFUND_DUE"})
		if !r.DoneAt.IsZero() {
			all = append(all, occurrence{r.DoneAt, "REFUNDED"})
		}
	}
	// The sort is stable, so that events of the same millisecond stay in the order above.
	slices.SortStableFunc(all, func(a, b occurrence) int { return a.At.Compare(b.At) })
	return all
}

// openPage returns the payment page of an unpaid order's latest attempt, or "" if it has none.
func openPage(d ordering.Detail) string {
	if d.PaymentStatus != ordering.Unpaid || len(d.Attempts) == 0 {
		return ""
	}
	if a := d.Attempts[len(d.Attempts)-1]; a.State == payment.Redirected {
		return a.URL
	}
	return ""
}

// receiverRoute is the permission to see an order's receiver. Without it, responses contain neither name, phone,
// address nor note, because cooks do not need them.
var receiverRoute = authz.RouteKey{Method: "GET", Path: "/api/orders/{id}/receiver"}

// visibleReceiver returns the receiver, or an empty one if the caller lacks the permission.
func visibleReceiver(ctx context.Context, r ordering.Receiver) ordering.Receiver {
	if !authz.MayUse(ctx, receiverRoute) {
		return ordering.Receiver{}
	}
	return r
}

// staffReceiver is the receiver of a delivery or pickup order.
type staffReceiver struct {
	Name    string `json:"name"`
	Phone   string `json:"phone"`
	Address string `json:"address" doc:"Empty for PICKUP."`
	Note    string `json:"note" doc:"For the courier; empty without one."`
}

func staffReceiverOf(r ordering.Receiver) *staffReceiver {
	return &staffReceiver{r.Name, r.Phone, r.Address, r.Note}
}

// staffDetail is an order with everything that the staff may see.
type staffDetail struct {
	Detail
	BranchID   string         `json:"branchId"`
	Kind       string         `json:"kind" enum:"DINE_IN,DELIVERY,PICKUP"`
	TableLabel string         `json:"tableLabel" doc:"Empty for DELIVERY and PICKUP."`
	Receiver   *staffReceiver `json:"receiver" doc:"null for orders at tables, and without the permission to see receivers."`

	DiscountCode string `json:"discountCode,omitempty" doc:"Code of the discount that the staff have set; absent without one. A voucher is not one."`
}

// staffDetailOf returns detailOf with the branch, the table, the discount, the refunds' notes and, if the caller may see
// it, the receiver.
func (r routes) staffDetailOf(ctx context.Context, d ordering.Detail) (staffDetail, error) {
	out := staffDetail{Detail: detailOf(d), BranchID: httpapi.FormatID(d.Scope.Branch), Kind: string(d.Kind)}
	if record, ok := d.Record(); ok && record.Discount != nil {
		out.DiscountCode = record.Discount.Code
	}
	if d.VisitID != "" {
		table, err := r.orders.Reader.TableOf(ctx, d.VisitID)
		if err != nil {
			return staffDetail{}, err
		}
		out.TableLabel = table.Label
	}
	for i, f := range d.Refunds {
		out.Refunds[i].Note = f.Note
	}
	// Orders at tables have no receiver, and so no name.
	if to := visibleReceiver(ctx, d.Receiver); to.Name != "" {
		out.Receiver = staffReceiverOf(to)
	}
	return out, nil
}

// errNoReceiver is returned for an order at a table, which has no receiver.
var errNoReceiver = fault.New(fault.NotFound, "receiver_not_found", "This order is for a table and has no receiver.")

// receiver returns the receiver of one order. Its route is the permission for all other places that show receivers.
func (r routes) receiver(ctx context.Context, in *httpapi.ByText) (staffReceiver, error) {
	d, err := r.orders.Order(ctx, ordering.Staff(authz.ActorOf(ctx)), in.ID)
	switch {
	case err != nil:
		return staffReceiver{}, err
	case d.Kind == ordering.DineIn:
		return staffReceiver{}, errNoReceiver
	}
	return *staffReceiverOf(d.Receiver), nil
}
