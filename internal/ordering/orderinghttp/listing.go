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
)

// Listing reads pages of a branch's orders and payment attempts, with the total number of matches. The caller has
// checked the branch.
type Listing interface {
	Listed(ctx context.Context, f ordering.OrderFilter) (page []ordering.ListedOrder, total int64, err error)
	ListedAttempts(ctx context.Context, f ordering.AttemptFilter) (page []ordering.ListedAttempt, total int64, err error)
}

type lists struct{ listing Listing }

// Lists registers the staff's lists of orders and payments.
func Lists(a *httpapi.API, listing Listing) {
	l := lists{listing}
	describe := func(op *huma.Operation) {
		op.Description = "A search finds orders by any of these: the number; the table's label; the beginnings of words of the " +
			"receiver's name, without regard to accents; the receiver's phone, or its last four digits or more. Of a table it " +
			"finds the last 200 visits and of a name the last 200 orders. Names and phones find nothing without the " +
			"permission to see receivers."
	}
	httpapi.Register(a.Operations("Orders", httpapi.Staff), "staff-orders", "GET /api/orders",
		"List the orders of a branch, newest first", l.orders, describe)
	httpapi.Register(a.Operations("Payments", httpapi.Staff), "staff-payments", "GET /api/payments",
		"List the payment attempts of a branch, those of the newest orders first", l.payments)
}

type staffOrdersInput struct {
	BranchID      string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	BizDate       string `query:"bizDate" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"All of them where it is missing."`
	Status        string `query:"status" enum:"PLACED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED,CANCELED"`
	PaymentStatus string `query:"paymentStatus" enum:"UNPAID,CONFIRMING,PAID,CANCELED,REFUND_DUE,REFUNDED"`
	CancelReason  string `query:"cancelReason" enum:"USER_CANCELED,STAFF_CANCELED,EXPIRED"`
	Q             string `query:"q" text:"line" maxLength:"10" doc:"An order's number, such as A-042, or its digits alone."`
	Search        string `query:"search" text:"line" maxLength:"60" doc:"A number, a table, or the receiver's name or phone."`
	VisitID       string `query:"visitId" text:"exact" maxLength:"64" doc:"The orders of one visit; not together with search."`
	httpapi.ShortPaging
}

// staffOrder is one order of a list. Attempts and steps are left out; the details have them.
type staffOrder struct {
	Summary
	Kind         string     `json:"kind" enum:"DINE_IN,DELIVERY,PICKUP"`
	TableLabel   string     `json:"tableLabel" doc:"Empty away from tables."`
	ReceiverName string     `json:"receiverName" doc:"Empty at tables, and without the permission to see receivers."`
	CancelReason string     `json:"cancelReason,omitempty"`
	Refunded     int64      `json:"refunded" doc:"Part of totalPrice that is refunded or about to be."`
	CreatedAt    time.Time  `json:"createdAt"`
	PaidAt       *time.Time `json:"paidAt"`
	Items        []item     `json:"items"`
}

// branchOf parses a branch id. It returns catalog.ErrBranch if the actor does not work in that branch. A branch of
// others looks like a missing one.
func branchOf(ctx context.Context, text string) (int64, error) {
	branch, err := httpapi.ParseID(text)
	if err == nil && !authz.ActorOf(ctx).Sees(branch) {
		err = catalog.ErrBranch
	}
	return branch, err
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
	if !authz.MayUse(ctx, receiverRoute) { // else a search would reveal what the response hides
		s = s.WithoutReceiver()
	}
	return &s
}

type staffPaymentsInput struct {
	BranchID string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	From     string `query:"from" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"The first business date of the orders."`
	To       string `query:"to" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"The last one, included."`
	Method   string `query:"method" text:"exact" maxLength:"20" doc:"COUNTER, VNPAY, LINEPAY or SANDBOX."`
	State    string `query:"state" enum:"CREATED,REDIRECTED,CONFIRMING,UNKNOWN,REVIEW,PAID,FAILED,CANCELED"`
	httpapi.ShortPaging
}

type staffPayment struct {
	Attempt
	OrderID    string `json:"orderId"`
	Number     string `json:"number" example:"A-042" doc:"Of the order."`
	BizDate    string `json:"bizDate" doc:"Of the order."`
	GatewayRef string `json:"gatewayRef" doc:"What the gateway calls it; empty while it has not said."`
}

// payments returns a page of a branch's attempts, by the business dates of their orders.
func (l lists) payments(ctx context.Context, in *staffPaymentsInput) (httpapi.Listed[staffPayment], error) {
	branch, err := branchOf(ctx, in.BranchID)
	if err != nil {
		return httpapi.Listed[staffPayment]{}, err
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
