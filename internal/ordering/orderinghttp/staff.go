package orderinghttp

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/identity"
	"comanda/internal/payment"
	"comanda/internal/stock"
)

func (r routes) registerStaff(a *httpapi.API) {
	tags := []string{"Orders"}
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-order-get", Method: http.MethodGet, Path: "/api/orders/{id}", Tags: tags,
		Summary: "One order",
	}, httpapi.Staff, r.staffGet)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-order-receiver", Method: receiverRoute.Method, Path: receiverRoute.Path,
		Tags:    []string{"Receivers"},
		Summary: "Name, phone and address of who receives an order, and the note for the courier, wherever they are shown",
	}, httpapi.Staff, r.receiver)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-order-cancel", Method: http.MethodPost, Path: "/api/orders/{id}/cancel", Tags: tags,
		Summary: "Cancel an unpaid order",
	}, httpapi.Staff, r.staffCancel)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-order-pay", Method: http.MethodPost, Path: "/api/orders/{id}/payments", Tags: tags,
		Summary: "Take money at the counter", DefaultStatus: http.StatusCreated,
	}, httpapi.Staff, r.takeAtCounter)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-day", Method: http.MethodGet, Path: "/api/reports/day", Tags: []string{"Reports"},
		Summary: "The figures of a branch's business date",
	}, httpapi.Staff, r.day)
}

type staffOrderInput struct {
	ID string `path:"id" maxLength:"64"`
}

func (r routes) staffGet(ctx context.Context, in *staffOrderInput) (*staffDetailOutput, error) {
	d, err := r.orders.StaffOrder(ctx, identity.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return r.staffDetailOf(ctx, d)
}

func (r routes) staffCancel(ctx context.Context, in *staffOrderInput) (*cancelOutput, error) {
	o, err := r.orders.StaffCancel(ctx, identity.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return canceledOf(o), nil
}

type counterInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Method string `json:"method" enum:"COUNTER"`
		Amount int64  `json:"amount" minimum:"0" doc:"What was taken, in minor units; it must be what the order costs."`
		Late   bool   `json:"late,omitempty" doc:"The order has expired: it is made again if its business date goes on, its visit is open, the branch takes orders and its dishes are left, and refused otherwise."`
	}
}

func (r routes) takeAtCounter(ctx context.Context, in *counterInput) (*staffDetailOutput, error) {
	if payment.Method(in.Body.Method) != payment.Counter {
		return nil, payment.ErrMethod
	}
	o, err := r.orders.TakeAtCounter(ctx, identity.ActorOf(ctx), in.ID, in.Body.Amount, in.Body.Late)
	if err != nil {
		return nil, err
	}
	return r.staffGet(ctx, &staffOrderInput{ID: o.ID})
}

type dayInput struct {
	BranchID string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	Date     string `query:"date" required:"true" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`
}

type dayOutput struct {
	Body struct {
		BranchID string `json:"branchId"`
		BizDate  string `json:"bizDate"`
		Placed   int64  `json:"placed"`
		Paid     int64  `json:"paid"`
		Canceled int64  `json:"canceled"`
		Revenue  int64  `json:"revenue" doc:"Minor units of the branch's currency."`
	}
}

func (r routes) day(ctx context.Context, in *dayInput) (*dayOutput, error) {
	branch, err := parseID(in.BranchID)
	if err != nil {
		return nil, err
	}
	if !identity.ActorOf(ctx).Sees(branch) {
		return nil, catalog.ErrBranch
	}
	d, err := r.daybook.Day(ctx, stock.Scope{Branch: branch, Date: in.Date})
	if err != nil {
		return nil, err
	}
	out := &dayOutput{}
	out.Body.BranchID, out.Body.BizDate = strconv.FormatInt(branch, 10), in.Date
	out.Body.Placed, out.Body.Paid, out.Body.Canceled, out.Body.Revenue = d.Placed, d.Paid, d.Canceled, d.Revenue
	return out, nil
}
