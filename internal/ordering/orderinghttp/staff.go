package orderinghttp

import (
	"context"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/seq"
	"comanda/internal/stock"
)

// registerStaff registers the routes of waiters and cashiers. Each is a permission: its tag is the module, and its
// summary the permission's name.
func (r routes) registerStaff(a *httpapi.API) {
	ops := a.Operations("Orders", httpapi.Staff)
	httpapi.Register(ops, "staff-order-get", "GET /api/orders/{id}", "View an order", r.staffGet)
	httpapi.Register(a.Operations("Receivers", httpapi.Staff), "staff-order-receiver",
		receiverRoute.Method+" "+receiverRoute.Path,
		"View delivery details, wherever they appear: name, phone, address and note for the courier", r.receiver)
	httpapi.Register(ops, "staff-order-cancel", "POST /api/orders/{id}/cancel", "Cancel an unpaid order", r.staffCancel)
	httpapi.Register(ops, "staff-order-pay", "POST /api/orders/{id}/payments",
		"Take a payment at the counter", r.takeAtCounter, httpapi.Created)
	httpapi.Register(a.Operations("Reports", httpapi.Staff), "staff-day", "GET /api/reports/day",
		"View the figures of a business date", r.day)
}

// staffGet returns an order of a branch in which the caller works.
func (r routes) staffGet(ctx context.Context, in *httpapi.ByText) (staffDetail, error) {
	d, err := r.orders.Order(ctx, ordering.Staff(authz.ActorOf(ctx)), in.ID)
	if err != nil {
		return staffDetail{}, err
	}
	return r.staffDetailOf(ctx, d)
}

func (r routes) staffCancel(ctx context.Context, in *httpapi.ByText) (canceled, error) {
	o, err := r.orders.Cancel(ctx, ordering.Staff(authz.ActorOf(ctx)), in.ID)
	return canceledOf(o), err
}

type counterInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Method string `json:"method" enum:"COUNTER"`
		Amount int64  `json:"amount" minimum:"0" doc:"Amount received, in minor units; it must equal the order's total."`
		Late   bool   `json:"late,omitempty" doc:"Accepts a payment for an expired order. The order is revived if its business date has not ended, its visit is open, the branch accepts orders and its dishes are available; otherwise the payment is refused."`
	}
}

// takeAtCounter records a payment taken by the staff, and returns the order afterwards.
func (r routes) takeAtCounter(ctx context.Context, in *counterInput) (staffDetail, error) {
	if payment.Method(in.Body.Method) != payment.Counter {
		return staffDetail{}, payment.ErrMethod
	}
	o, err := r.orders.TakeAtCounter(ctx, authz.ActorOf(ctx), in.ID, in.Body.Amount, in.Body.Late)
	if err != nil {
		return staffDetail{}, err
	}
	return r.staffGet(ctx, &httpapi.ByText{ID: o.ID})
}

type dayInput struct {
	BranchID string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	Date     string `query:"date" required:"true" format:"date"`
}

type day struct {
	BranchID string `json:"branchId"`
	BizDate  string `json:"bizDate"`
	Placed   int64  `json:"placed"`
	Paid     int64  `json:"paid"`
	Canceled int64  `json:"canceled"`
	Revenue  int64  `json:"revenue" doc:"Minor units of the branch's currency."`
}

// day returns the totals that the daybook has counted so far. Branches that the actor may not see are reported as
// missing.
func (r routes) day(ctx context.Context, in *dayInput) (day, error) {
	branch, err := branchOf(ctx, in.BranchID)
	if err != nil {
		return day{}, err
	}
	d, err := r.daybook.Day(ctx, stock.Scope{Branch: branch, Date: in.Date})
	return day{in.BranchID, in.Date, d.Placed, d.Paid, d.Canceled, d.Revenue}, err
}

// registerCashier registers the routes for payment exceptions and refunds. They form a module of their own, so that a
// restaurant can decide which of its staff may use them.
func (r routes) registerCashier(a *httpapi.API) {
	ops := a.Operations("Payments", httpapi.Staff)
	httpapi.Register(ops, "payment-exceptions", "GET /api/payments/exceptions",
		"View payments with an unknown outcome or a wrong amount, and pending refunds", r.exceptions)
	httpapi.Register(ops, "refund-create", "POST /api/orders/{id}/refunds",
		"Refund a paid order in full or in part, or record a refund made by hand", r.refund, httpapi.Created)
	httpapi.Register(ops, "refund-finish", "POST /api/orders/{id}/refunds/{refundId}",
		"Retry a refund, or record that it was made by hand", r.finishRefund)
	httpapi.Register(ops, "payment-check", "POST /api/orders/{id}/payments/{paymentId}/check",
		"Check a payment with the provider", r.checkPayment)
	httpapi.Register(ops, "payment-judge", "POST /api/orders/{id}/payments/{paymentId}",
		"Record the outcome of a payment that the provider's portal shows", r.judgePayment)
	httpapi.Register(ops, "payment-mismatch-clear", "POST /api/orders/{id}/payments/{paymentId}/mismatch",
		"Resolve a payment with a wrong amount", r.clearMismatch)
}

type refundInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Amount    int64  `json:"amount,omitempty" minimum:"1" doc:"Minor units. If omitted, the whole remaining amount is refunded."`
		Reason    string `json:"reason" text:"lines" minLength:"1" maxLength:"500"`
		ByHand    bool   `json:"byHand,omitempty" doc:"Records a refund that was already made in the gateway's portal; nothing is sent."`
		Reference string `json:"reference,omitempty" text:"line" maxLength:"100" doc:"The portal's reference of the refund; required with byHand. Each reference is recorded once."`

		ClientTxnID string `json:"clientTxnId,omitempty" text:"exact" minLength:"1" maxLength:"64" doc:"Chosen by the client and unique within the order; repeated requests with the same id and amount create one refund."`
	}
}

// refund records the refund and returns at once. The loop SendRefunds calls the gateway later.
func (r routes) refund(ctx context.Context, in *refundInput) (refund, error) {
	b := in.Body
	f, err := r.orders.Refund(ctx, authz.ActorOf(ctx), ordering.Refund{
		OrderID: in.ID, Amount: b.Amount, Note: b.Reason, ByHand: b.ByHand, Reference: b.Reference,
		ClientTxnID: b.ClientTxnID,
	})
	return refundOf(f), err
}

type finishInput struct {
	ID       string `path:"id" maxLength:"64"`
	RefundID string `path:"refundId" maxLength:"64"`
	Body     struct {
		State  string `json:"state" enum:"SENDING,DONE" doc:"SENDING sends it to the gateway (again); DONE records that it was made by hand."`
		Reason string `json:"reason" text:"lines" minLength:"1" maxLength:"500"`
	}
}

func (r routes) finishRefund(ctx context.Context, in *finishInput) (refund, error) {
	f, err := r.orders.RecordRefundResult(
		ctx, authz.ActorOf(ctx), in.ID, in.RefundID, payment.RefundState(in.Body.State), in.Body.Reason,
	)
	return refundOf(f), err
}

type paymentInput struct {
	ID        string `path:"id" maxLength:"64"`
	PaymentID string `path:"paymentId" maxLength:"64"`
}

// checkPayment queries the gateway now, and waits for its response.
func (r routes) checkPayment(ctx context.Context, in *paymentInput) (staffDetail, error) {
	d, err := r.orders.CheckNow(ctx, authz.ActorOf(ctx), in.ID, in.PaymentID)
	if err != nil {
		return staffDetail{}, err
	}
	return r.staffDetailOf(ctx, d)
}

type judgeInput struct {
	ID        string `path:"id" maxLength:"64"`
	PaymentID string `path:"paymentId" maxLength:"64"`
	Body      struct {
		State  string `json:"state" enum:"PAID,FAILED"`
		Reason string `json:"reason" text:"lines" minLength:"1" maxLength:"500"`
	}
}

// judgePayment records the state that the gateway's console shows, for attempts whose state no request can determine.
func (r routes) judgePayment(ctx context.Context, in *judgeInput) (staffDetail, error) {
	o, err := r.orders.RecordOutcome(
		ctx, authz.ActorOf(ctx), in.ID, in.PaymentID, payment.State(in.Body.State), in.Body.Reason,
	)
	if err != nil {
		return staffDetail{}, err
	}
	return r.staffGet(ctx, &httpapi.ByText{ID: o.ID})
}

type clearInput struct {
	ID        string `path:"id" maxLength:"64"`
	PaymentID string `path:"paymentId" maxLength:"64"`
	Body      struct {
		Reason string `json:"reason" text:"lines" minLength:"1" maxLength:"500"`
	}
}

// clearMismatch removes a payment from the list of mismatches. It moves no money.
func (r routes) clearMismatch(ctx context.Context, in *clearInput) (staffDetail, error) {
	d, err := r.orders.ClearMismatch(ctx, authz.ActorOf(ctx), in.ID, in.PaymentID, in.Body.Reason)
	if err != nil {
		return staffDetail{}, err
	}
	return r.staffDetailOf(ctx, d)
}

type exceptionsInput struct {
	BranchID string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
}

// Exception is a payment or a refund that needs attention from the staff.
type Exception struct {
	ID        string    `json:"id"`
	OrderID   string    `json:"orderId"`
	Number    string    `json:"number"`
	BizDate   string    `json:"bizDate"`
	Method    string    `json:"method"`
	Amount    int64     `json:"amount"`
	Currency  string    `json:"currency"`
	State     string    `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	Reference string    `json:"reference" doc:"The gateway's reference of the refund, or its last answer."`
	CreatedAt time.Time `json:"createdAt"`
}

// mismatch is a payment for which the gateway reported a different amount or currency than requested.
type mismatch struct {
	Exception
	Captured         int64  `json:"captured" doc:"The amount that the gateway reports as captured; amount is the requested one."`
	CapturedCurrency string `json:"capturedCurrency"`
}

type exceptions struct {
	Payments   []Exception `json:"payments" doc:"Payments in REVIEW and UNKNOWN, and those in CONFIRMING for more than an hour, oldest first, at most 200."`
	Refunds    []Exception `json:"refunds" doc:"Unfinished refunds, oldest first, at most 200."`
	Mismatches []mismatch  `json:"mismatches" doc:"Captures of a different amount than requested, as first reported, until staff resolve them; oldest first, at most 200."`
}

func (r routes) exceptions(ctx context.Context, in *exceptionsInput) (exceptions, error) {
	e, err := r.orders.Exceptions(ctx, authz.ActorOf(ctx), httpapi.IDOf(in.BranchID))
	return exceptions{
		seq.Map(e.Attempts, exceptionOf), seq.Map(e.Refunds, exceptionOf), seq.Map(e.Mismatches, mismatchOf),
	}, err
}

func mismatchOf(m ordering.Exception) mismatch {
	return mismatch{exceptionOf(m), m.Captured, string(m.CapturedIn)}
}

func exceptionOf(e ordering.Exception) Exception {
	return Exception{
		ID: e.ID, OrderID: e.OrderID, Number: ordering.ShortNumber(e.Number), BizDate: e.BizDate, Method: string(e.Method),
		Amount: e.Amount, Currency: string(e.Currency), State: e.State, Reason: e.Reason, Reference: e.Ref, CreatedAt: e.At,
	}
}

// Listing reads pages of a branch's orders and payment attempts, with the total number of matches. The caller has
// checked the branch.
type Listing interface {
	Listed(ctx context.Context, f ordering.OrderFilter) (page []ordering.ListedOrder, total int64, err error)
	ListedAttempts(ctx context.Context, f ordering.AttemptFilter) (page []ordering.ListedAttempt, total int64, err error)
}

type lists struct{ listing Listing }

// RegisterLists registers the staff's lists of orders and payments.
func RegisterLists(a *httpapi.API, listing Listing) {
	l := lists{listing}
	describe := func(op *huma.Operation) {
		op.Description = "A search finds orders by any of these: the number; the table's label; the beginnings of words of the " +
			"receiver's name, ignoring accents; the receiver's phone, or at least its last four digits. A table matches its " +
			"last 200 visits, and a name its last 200 orders. Names and phones match only with the permission to see " +
			"receivers."
	}
	httpapi.Register(a.Operations("Orders", httpapi.Staff), "staff-orders", "GET /api/orders",
		"List the orders of a branch, newest first", l.orders, describe)
	httpapi.Register(a.Operations("Payments", httpapi.Staff), "staff-payments", "GET /api/payments",
		"List the payment attempts of a branch, those of the newest orders first", l.payments)
}

type staffOrdersInput struct {
	BranchID      string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	BizDate       string `query:"bizDate" format:"date" doc:"If omitted, all of them."`
	Status        string `query:"status" enum:"PLACED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED,CANCELED"`
	PaymentStatus string `query:"paymentStatus" enum:"UNPAID,CONFIRMING,PAID,CANCELED,REFUND_DUE,REFUNDED"`
	CancelReason  string `query:"cancelReason" enum:"USER_CANCELED,STAFF_CANCELED,EXPIRED"`
	Q             string `query:"q" text:"line" maxLength:"10" doc:"An order's number, such as A-042, or only its digits."`
	Search        string `query:"search" text:"line" maxLength:"60" doc:"A number, a table, or the receiver's name or phone."`
	VisitID       string `query:"visitId" text:"exact" maxLength:"64" doc:"Only the orders of this visit; cannot be combined with search."`
	httpapi.ShortPaging
}

// staffOrder is one order of a list. Attempts and steps are left out; the details have them.
type staffOrder struct {
	Summary
	Kind         string     `json:"kind" enum:"DINE_IN,DELIVERY,PICKUP"`
	TableLabel   string     `json:"tableLabel" doc:"Empty for DELIVERY and PICKUP."`
	ReceiverName string     `json:"receiverName" doc:"Empty for orders at tables, and without the permission to see receivers."`
	CancelReason string     `json:"cancelReason,omitempty"`
	Refunded     int64      `json:"refunded" doc:"Part of totalPrice that is refunded or will be."`
	CreatedAt    time.Time  `json:"createdAt"`
	PaidAt       *time.Time `json:"paidAt"`
	Items        []item     `json:"items"`
}

// branchOf parses a branch id. It returns catalog.ErrBranch for a branch in which the actor does not work, as for a
// missing branch.
func branchOf(ctx context.Context, text string) (int64, error) {
	branch := httpapi.IDOf(text)
	if !authz.ActorOf(ctx).Sees(branch) {
		return 0, catalog.ErrBranch
	}
	return branch, nil
}

// orders returns a page of a branch's orders. All filters apply at once.
func (l lists) orders(ctx context.Context, in *staffOrdersInput) (httpapi.Listed[staffOrder], error) {
	branch, err := branchOf(ctx, in.BranchID)
	if err != nil {
		return httpapi.Listed[staffOrder]{}, err
	}
	number, err := ordering.ParseNumber(in.Q)
	if err != nil {
		return httpapi.Listed[staffOrder]{}, err
	}
	if in.Search != "" && in.VisitID != "" {
		return httpapi.Listed[staffOrder]{}, fault.New(fault.Invalid, "invalid", "Search for orders, or list those of a visit.")
	}
	page, total, err := l.listing.Listed(ctx, ordering.OrderFilter{
		Branch: branch, Dates: ordering.Dates{From: in.BizDate, To: in.BizDate}, Status: ordering.Status(in.Status),
		PaymentStatus: ordering.PaymentStatus(in.PaymentStatus), CancelReason: ordering.CancelReason(in.CancelReason),
		Number: number, Visit: in.VisitID, Search: searchOf(ctx, in.Search), Limit: in.Size, Offset: in.Offset(),
	})
	return httpapi.ListedOf(httpapi.Paging(in.ShortPaging), page, total, func(o ordering.ListedOrder) staffOrder {
		return staffOrder{
			Summary: summaryOf(o.Order), Kind: string(o.Kind), TableLabel: o.Table,
			ReceiverName: visibleReceiver(ctx, o.Receiver).Name, CancelReason: string(o.CancelReason), Refunded: o.Refunded,
			CreatedAt: o.CreatedAt, PaidAt: httpapi.TimeOrNull(o.PaidAt), Items: itemsOf(o.Items),
		}
	}), err
}

// searchOf parses a search text. It returns nil if the text is blank.
func searchOf(ctx context.Context, text string) *ordering.Search {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	s := ordering.ParseSearch(text)
	if !authz.MayUse(ctx, receiverRoute) { // otherwise the results would reveal the receivers that responses hide
		s = s.WithoutReceiver()
	}
	return &s
}

type staffPaymentsInput struct {
	BranchID string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	From     string `query:"from" format:"date" doc:"The first business date of the orders."`
	To       string `query:"to" format:"date" doc:"The last business date, inclusive."`
	Method   string `query:"method" text:"exact" maxLength:"20" doc:"COUNTER, VNPAY, LINEPAY or SANDBOX."`
	State    string `query:"state" enum:"CREATED,REDIRECTED,CONFIRMING,UNKNOWN,REVIEW,PAID,FAILED,CANCELED"`
	httpapi.ShortPaging
}

type staffPayment struct {
	Attempt
	OrderID    string `json:"orderId"`
	Number     string `json:"number" example:"A-042" doc:"The order's number."`
	BizDate    string `json:"bizDate" doc:"The order's business date."`
	GatewayRef string `json:"gatewayRef" doc:"The gateway's reference; empty until the gateway has sent it."`
}

// payments returns a page of a branch's attempts, by the business dates of their orders.
func (l lists) payments(ctx context.Context, in *staffPaymentsInput) (httpapi.Listed[staffPayment], error) {
	branch, err := branchOf(ctx, in.BranchID)
	if err != nil {
		return httpapi.Listed[staffPayment]{}, err
	}
	if in.From != "" && in.To != "" && in.To < in.From { // dates have a fixed length, so comparing their texts orders them
		return httpapi.Listed[staffPayment]{}, fault.New(fault.Invalid, "invalid", "The last date is before the first.").
			With("field", "to")
	}
	page, total, err := l.listing.ListedAttempts(ctx, ordering.AttemptFilter{
		Branch: branch, Dates: ordering.Dates{From: in.From, To: in.To}, Method: payment.Method(in.Method),
		State: payment.State(in.State), Limit: in.Size, Offset: in.Offset(),
	})
	return httpapi.ListedOf(httpapi.Paging(in.ShortPaging), page, total, func(a ordering.ListedAttempt) staffPayment {
		return staffPayment{
			Attempt: attemptOf(a.Attempt), OrderID: a.OrderID, Number: ordering.ShortNumber(a.Number), BizDate: a.BizDate,
			GatewayRef: a.GatewayRef,
		}
	}), err
}
