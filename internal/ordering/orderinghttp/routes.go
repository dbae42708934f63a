// Package orderinghttp registers the HTTP routes of orders for guests, members, staff and payment gateways. It converts
// between the API document's shapes and package ordering, which decides all rules.
package orderinghttp

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/payment"
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

// Daybook reads the totals of one business date. It is as late as events are.
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
	tags := []string{"Orders"}
	httpapi.Register(a, huma.Operation{
		OperationID: "order-create", Method: http.MethodPost, Path: "/cis/order/create", Tags: tags,
		Summary: "Place an order", DefaultStatus: http.StatusCreated,
	}, httpapi.Guest, r.create)
	httpapi.Register(a, huma.Operation{
		OperationID: "order-get", Method: http.MethodGet, Path: "/cis/order/{id}", Tags: tags,
		Summary: "One order of the guest's visit",
	}, httpapi.Guest, r.get)
	httpapi.Register(a, huma.Operation{
		OperationID: "order-cancel", Method: http.MethodPost, Path: "/cis/order/{id}/cancel", Tags: tags,
		Summary: "Cancel an unpaid order",
	}, httpapi.Guest, r.cancel)
	httpapi.Register(a, huma.Operation{
		OperationID: "order-pay", Method: http.MethodPost, Path: "/cis/order/{id}/pay", Tags: tags,
		Summary: "Start another payment attempt",
	}, httpapi.Guest, r.pay)
	httpapi.Register(a, huma.Operation{
		OperationID: "order-more-time", Method: http.MethodPost, Path: "/cis/order/{id}/more-time", Tags: tags,
		Summary: "Five more minutes to pay an order, twice",
	}, httpapi.Guest, r.moreTime)
	httpapi.Register(a, huma.Operation{
		OperationID: "visit-orders", Method: http.MethodGet, Path: "/cis/visit/{visitId}/orders", Tags: tags,
		Summary: "The orders of the guest's visit, the newest first",
	}, httpapi.Guest, r.ofVisit)
	r.registerEvents(a)
	// It is public and pays any order, so it must not exist in a real restaurant.
	if orders.Methods.Sandbox() {
		httpapi.Register(a, huma.Operation{
			OperationID: "mock-callback", Method: http.MethodPost, Path: "/cis/payments/mock-callback", Tags: tags,
			Summary: "Play a gateway's report; only where the sandbox is enabled",
		}, httpapi.Public, r.mockCallback)
	}
	r.registerStaff(a)
	r.registerSteps(a)
	r.registerCashier(a)
	r.registerMember(a)
}

// guestOf returns the guest of a resolved token as package ordering names it.
func guestOf(g visit.Guest) ordering.Guest {
	return ordering.Guest{Branch: g.BranchID, VisitID: g.VisitID, Hash: g.TokenHash}
}

// token returns the header's token, or the body's: the reference sends it in the body.
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

type createOutput struct {
	Status int
	Body   Summary
}

// create places an order: 201 for a new one, 200 for the repetition of a request. The page of a gateway is part of the
// response where there is one.
func (r routes) create(ctx context.Context, in *createInput) (*createOutput, error) {
	g, err := r.guests.Resolve(ctx, token(in.CustomerToken, in.Body.CustomerToken))
	if err != nil {
		return nil, err
	}
	request, err := in.Body.request()
	if err != nil {
		return nil, err
	}
	// Before the rate limits: an invalid request must not use them up.
	if err := r.orders.CheckRequest(guestOf(g), request); err != nil {
		return nil, err
	}
	if err := limited(ctx, g); err != nil {
		return nil, err
	}
	receipt, err := r.orders.Place(ctx, guestOf(g), request)
	if err != nil {
		return nil, err
	}
	out := &createOutput{Status: http.StatusOK, Body: summaryOf(receipt.Order).at(r.page(ctx, receipt.Order, in.Device))}
	if receipt.New {
		out.Status = http.StatusCreated
	}
	return out, nil
}

// limited applies the rate limits per phone and per visit. Repeated requests count, because they cost as much. Invalid
// requests do not: they are rejected before, so a guest who corrects one need not wait.
func limited(ctx context.Context, g visit.Guest) error {
	if err := httpapi.Allow(ctx, "order_guest", g.TokenHash); err != nil {
		return err
	}
	return httpapi.Allow(ctx, "order_visit", g.VisitID)
}

type orderInput struct {
	httpapi.GuestHeader
	ID string `path:"id" maxLength:"64"`
}

type readInput struct {
	httpapi.GuestHeader
	httpapi.Language
	ID string `path:"id" maxLength:"64"`
}

// get returns an order of the guest's visit, whichever phone placed it.
func (r routes) get(ctx context.Context, in *readInput) (*httpapi.Output[Detail], error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	d, err := r.orders.Order(ctx, guestOf(g), in.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(guestDetailOf(d, in.Language)), nil
}

// canceled is the response to a cancellation, the same for guests, members and staff.
type canceled struct {
	ID            string `json:"id"`
	Status        string `json:"status"`
	PaymentStatus string `json:"paymentStatus"`
}

func canceledOf(o ordering.Order) *httpapi.Output[canceled] {
	return httpapi.OutputOf(canceled{o.ID, string(o.Status), string(o.PaymentStatus)})
}

// cancel also accepts a guest whose visit closed recently: a cancellation only releases units.
func (r routes) cancel(ctx context.Context, in *orderInput) (*httpapi.Output[canceled], error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	o, err := r.orders.Cancel(ctx, guestOf(g), in.ID)
	if err != nil {
		return nil, err
	}
	return canceledOf(o), nil
}

type payInput struct {
	httpapi.GuestHeader
	Device
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Method string `json:"method" text:"exact" minLength:"1" maxLength:"20"`
	}
}

// pay starts another attempt. It may wait for the gateway, which makes the page.
func (r routes) pay(ctx context.Context, in *payInput) (*httpapi.Output[Summary], error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	o, page, err := r.orders.Pay(ctx, guestOf(g), in.ID, payment.Method(in.Body.Method), in.client())
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(summaryOf(o).at(page)), nil
}

// moreTime identifies the deadline to extend, so that a repeated request extends it only once.
type moreTime struct {
	PayBy time.Time `json:"payBy" doc:"The order's payBy as it was last shown. If it has moved since, nothing happens."`
}

type moreTimeInput struct {
	httpapi.GuestHeader
	httpapi.Language
	ID   string `path:"id" maxLength:"64"`
	Body moreTime
}

// moreTime extends the deadline. It returns the order, so that the app shows the new deadline without another request.
func (r routes) moreTime(ctx context.Context, in *moreTimeInput) (*httpapi.Output[Detail], error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	d, err := r.orders.ExtendDeadline(ctx, guestOf(g), in.ID, in.Body.PayBy)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(guestDetailOf(d, in.Language)), nil
}

type visitInput struct {
	httpapi.GuestHeader
	httpapi.Language
	VisitID string `path:"visitId" maxLength:"64"`
	Page    int    `query:"page" minimum:"1" maximum:"100000" default:"1"`
	Size    int    `query:"size" minimum:"1" maximum:"100" default:"20"`
}

type listed struct {
	Summary
	Items []item `json:"items"`
}

type visitOutput struct {
	Body struct {
		Orders []listed `json:"orders"`
		Total  int64    `json:"total"`
	}
}

// ofVisit returns a page of the visit's orders with their lines, newest first.
func (r routes) ofVisit(ctx context.Context, in *visitInput) (*visitOutput, error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	if in.VisitID != g.VisitID { // another visit is reported like an unknown one
		return nil, visit.ErrVisit
	}
	orders, total, err := r.orders.Orders(ctx, guestOf(g), in.Size, (in.Page-1)*in.Size)
	if err != nil {
		return nil, err
	}
	out := &visitOutput{}
	out.Body.Orders, out.Body.Total = make([]listed, len(orders)), total
	for i, o := range orders {
		out.Body.Orders[i] = listed{summaryOf(o), itemsIn(o.Items, in.Language)}
	}
	return out, nil
}

type mockInput struct {
	Body mockBody
}

type mockBody struct {
	OrderID string `json:"orderId" text:"exact" minLength:"1" maxLength:"64"`
	Method  string `json:"method" text:"exact" minLength:"1" maxLength:"20"`
	Result  string `json:"result" enum:"SUCCESS,CANCEL,FAIL"`
}

type mockOutput struct {
	Body struct {
		OrderID       string `json:"orderId"`
		PaymentStatus string `json:"paymentStatus"`
	}
}

// mockCallback stores its own body as the message of the gateway.
func (r routes) mockCallback(ctx context.Context, in *mockInput) (*mockOutput, error) {
	raw, err := json.Marshal(in.Body)
	if err != nil {
		return nil, fault.Wrap("record mock callback", err)
	}
	o, err := r.orders.MockCallback(ctx, in.Body.OrderID, payment.Method(in.Body.Method),
		ordering.MockResult(in.Body.Result), string(raw))
	if err != nil {
		return nil, err
	}
	out := &mockOutput{}
	out.Body.OrderID, out.Body.PaymentStatus = o.ID, string(o.PaymentStatus)
	return out, nil
}
