// Package orderinghttp registers the HTTP routes of orders for guests, members, staff and payment gateways. It converts
// between the API document's shapes and package ordering, which decides all rules.
package orderinghttp

import (
	"context"
	"encoding/json"
	"time"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/seq"
	"comanda/internal/stock"
	"comanda/internal/telemetry"
	"comanda/internal/visit"
)

// Guests resolves customer tokens. ResolveForRead also accepts tokens of visits that closed recently. Placing an order
// needs Resolve; everything about existing orders uses ResolveForRead, so that guests can pay and follow an order after
// their table was closed.
type Guests interface {
	Resolve(ctx context.Context, token string) (visit.Guest, error)
	ResolveForRead(ctx context.Context, token string) (visit.Guest, error)
}

// Daybook reads the totals of one business date. Events that are not consumed yet are missing from the totals.
type Daybook interface {
	Day(ctx context.Context, s stock.Scope) (ordering.Day, error)
}

// routes handles the requests of guests, members and staff. It has no state of its own, and is safe for concurrent use.
type routes struct {
	orders  *ordering.Service
	guests  Guests
	daybook Daybook
	changes Changes
}

// Register registers the order routes. The mock callback exists only if the sandbox gateway is enabled.
func Register(
	a *httpapi.API, orders *ordering.Service, guests Guests, daybook Daybook, changes Changes,
) {
	r := routes{orders, guests, daybook, changes}
	ops := a.Operations("Orders", httpapi.Guest)
	httpapi.RegisterOutput(ops, "order-create", "POST /cis/order/create", "Place an order", r.create, httpapi.Created)
	httpapi.Register(ops, "order-get", "GET /cis/order/{id}", "View an order of the guest's visit", r.get)
	httpapi.Register(ops, "order-cancel", "POST /cis/order/{id}/cancel", "Cancel an unpaid order", r.cancel)
	httpapi.Register(ops, "order-pay", "POST /cis/order/{id}/pay", "Start another payment attempt", r.pay)
	httpapi.Register(ops, "order-more-time", "POST /cis/order/{id}/more-time",
		"Get five more minutes to pay an order, at most twice", r.moreTime)
	httpapi.Register(ops, "visit-orders", "GET /cis/visit/{visitId}/orders",
		"List the orders of the guest's visit, newest first", r.ofVisit)
	r.registerEvents(a)
	// The mock callback is public and can pay any order, so it must not exist in a real restaurant.
	if orders.Settings().Methods.Sandbox() {
		httpapi.Register(a.Operations("Orders", httpapi.Public), "mock-callback", "POST /cis/payments/mock-callback",
			"Simulate a provider's notification; only where the sandbox is enabled", r.mockCallback)
	}
	r.registerStaff(a)
	r.registerSteps(a)
	r.registerCashier(a)
	r.registerMember(a)
	r.registerQuotes(a)
	r.registerDiscounts(a)
}

// guestOf converts the guest of a resolved token to the type of package ordering.
func guestOf(g visit.Guest) ordering.Guest {
	return ordering.Guest{Branch: g.BranchID, VisitID: g.VisitID, Hash: g.ShortHash()}
}

// token returns the token of the header or, as in qr-ordering.md, of the body.
func token(header, body telemetry.Secret) string {
	if header != "" {
		return string(header)
	}
	return string(body)
}

type createInput struct {
	httpapi.GuestHeader
	Device
	Body createBody
}

// create places an order: 201 for a new one, 200 for the repetition of a request. The page of a gateway is part of the
// response where there is one.
func (r routes) create(ctx context.Context, in *createInput) (*httpapi.Creation[Summary], error) {
	g, err := r.guests.Resolve(ctx, token(in.CustomerToken, in.Body.CustomerToken))
	if err != nil {
		return nil, err
	}
	request := in.Body.request()
	// The request is checked before the rate limits, so that an invalid request does not count.
	if err := r.orders.CheckRequest(guestOf(g), request); err != nil {
		return nil, err
	}
	if err := limited(ctx, g); err != nil {
		return nil, err
	}
	if err := voucherLimited(ctx, request.Voucher, g.TokenHash); err != nil {
		return nil, err
	}
	receipt, err := r.orders.Place(ctx, guestOf(g), request)
	if err != nil {
		return nil, err
	}
	return httpapi.CreationOf(receipt.New, summaryOf(receipt.Order).at(r.page(ctx, receipt.Order, in.Device))), nil
}

// limited applies the rate limits per phone and per visit. Repeated requests count, because they cost as much as
// others. Invalid requests are refused before and do not count, so a guest who corrects a request need not wait.
func limited(ctx context.Context, g visit.Guest) error {
	if err := httpapi.Allow(ctx, "order_guest", g.TokenHash); err != nil {
		return err
	}
	return httpapi.Allow(ctx, "order_visit", g.VisitID)
}

type orderInput struct {
	httpapi.GuestHeader
	httpapi.ByText
}

type readInput struct {
	httpapi.GuestHeader
	httpapi.Language
	ID string `path:"id" maxLength:"64"`
}

// get returns an order of the guest's visit, whichever phone placed it.
func (r routes) get(ctx context.Context, in *readInput) (Detail, error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return Detail{}, err
	}
	d, err := r.orders.Order(ctx, guestOf(g), in.ID)
	return guestDetailOf(d, in.Language), err
}

// canceled is the response to a cancellation, the same for guests, members and staff.
type canceled struct {
	ID            string `json:"id"`
	Status        string `json:"status"`
	PaymentStatus string `json:"paymentStatus"`
}

func canceledOf(o ordering.Order) canceled {
	return canceled{o.ID, string(o.Status), string(o.PaymentStatus)}
}

// cancel also serves guests whose visit closed recently, because a cancellation only releases units.
func (r routes) cancel(ctx context.Context, in *orderInput) (canceled, error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return canceled{}, err
	}
	o, err := r.orders.Cancel(ctx, guestOf(g), in.ID)
	return canceledOf(o), err
}

type payInput struct {
	httpapi.GuestHeader
	Device
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Method string `json:"method" text:"exact" minLength:"1" maxLength:"20"`
	}
}

// pay starts another attempt. It may wait for the gateway, which creates the payment page.
func (r routes) pay(ctx context.Context, in *payInput) (Summary, error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return Summary{}, err
	}
	o, page, err := r.orders.Pay(ctx, guestOf(g), in.ID, payment.Method(in.Body.Method), in.client())
	return summaryOf(o).at(page), err
}

// moreTime contains the deadline that the client saw, so that a repeated request extends it only once.
type moreTime struct {
	PayBy time.Time `json:"payBy" doc:"The order's payBy that the client has seen. If it has changed since, nothing happens."`
}

type moreTimeInput struct {
	httpapi.GuestHeader
	httpapi.Language
	ID   string `path:"id" maxLength:"64"`
	Body moreTime
}

// moreTime extends the deadline. It returns the order, so that the app gets the new deadline without another request.
func (r routes) moreTime(ctx context.Context, in *moreTimeInput) (Detail, error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return Detail{}, err
	}
	d, err := r.orders.ExtendDeadline(ctx, guestOf(g), in.ID, in.Body.PayBy)
	return guestDetailOf(d, in.Language), err
}

type visitInput struct {
	httpapi.GuestHeader
	httpapi.Language
	VisitID string `path:"visitId" maxLength:"64"`
	httpapi.ShortPaging
}

type listed struct {
	Summary
	Refunded int64  `json:"refunded" doc:"Part of totalPrice that is refunded or will be."`
	Items    []item `json:"items"`
	Phone    int    `json:"phone" doc:"Number of the phone that ordered, from 1, by the time of each phone's first order or first line in the shared cart."`
	Mine     bool   `json:"mine" doc:"Whether the requesting phone placed the order."`
}

type visitOrders struct {
	Orders     []listed `json:"orders"`
	Total      int64    `json:"total"`
	TableID    string   `json:"tableId" doc:"The visit's table now. Staff may have moved the visit since the scan."`
	TableLabel string   `json:"tableLabel"`
}

// ofVisit returns a page of the visit's orders with their lines, newest first.
func (r routes) ofVisit(ctx context.Context, in *visitInput) (visitOrders, error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return visitOrders{}, err
	}
	if in.VisitID != g.VisitID { // another visit is reported like an unknown one
		return visitOrders{}, visit.ErrVisit
	}
	orders, total, err := r.orders.Orders(ctx, guestOf(g), in.Size, in.Offset())
	if err != nil {
		return visitOrders{}, err
	}
	// The guest has a table too, but another process may have cached it before the move.
	table, err := r.orders.Reader.TableOf(ctx, g.VisitID)
	return visitOrders{seq.Map(orders, func(o ordering.VisitOrder) listed {
		return listed{summaryOf(o.Order), o.Refunded, itemsIn(o.Items, in.Language), o.Phone, o.Mine}
	}), total, httpapi.FormatID(table.ID), table.Label}, err
}

type mockInput struct {
	Body mockBody
}

type mockBody struct {
	OrderID string `json:"orderId" text:"exact" minLength:"1" maxLength:"64"`
	Method  string `json:"method" text:"exact" minLength:"1" maxLength:"20"`
	Result  string `json:"result" enum:"SUCCESS,CANCEL,FAIL"`
}

type mockCallbackOut struct {
	OrderID       string `json:"orderId"`
	PaymentStatus string `json:"paymentStatus"`
}

// mockCallback stores its own body as the gateway's message.
func (r routes) mockCallback(ctx context.Context, in *mockInput) (mockCallbackOut, error) {
	raw, err := json.Marshal(in.Body)
	if err != nil {
		return mockCallbackOut{}, fault.Wrap("record mock callback", err)
	}
	o, err := r.orders.MockCallback(ctx, in.Body.OrderID, payment.Method(in.Body.Method),
		ordering.MockResult(in.Body.Result), string(raw))
	return mockCallbackOut{o.ID, string(o.PaymentStatus)}, err
}
