package orderinghttp

import (
	"context"

	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/ordering"
)

// receiverRoute is the permission to see an order's receiver. Without it, responses contain neither name, phone,
// address nor note, because cooks do not need them.
var receiverRoute = identity.RouteKey{Method: "GET", Path: "/api/orders/{id}/receiver"}

// shown returns the receiver, or an empty one if the caller lacks the permission.
func shown(ctx context.Context, r ordering.Receiver) ordering.Receiver {
	if !identity.MayUse(ctx, receiverRoute) {
		return ordering.Receiver{}
	}
	return r
}

// staffReceiver is the receiver of a delivery or pickup order.
type staffReceiver struct {
	Name    string `json:"name"`
	Phone   string `json:"phone"`
	Address string `json:"address" doc:"Empty with PICKUP."`
	Note    string `json:"note" doc:"For the courier; empty without one."`
}

func staffReceiverOf(r ordering.Receiver) *staffReceiver {
	return &staffReceiver{r.Name, r.Phone, r.Address, r.Note}
}

// staffDetail is an order with everything that the staff may see.
type staffDetail struct {
	Detail
	Kind       string         `json:"kind" enum:"DINE_IN,DELIVERY,PICKUP"`
	TableLabel string         `json:"tableLabel" doc:"Empty away from tables."`
	Receiver   *staffReceiver `json:"receiver" doc:"null at tables, and without the permission to see receivers."`
}

type staffDetailOutput struct{ Body staffDetail }

// staffDetailOf returns detailOf with the table, the refunds' notes and, if the caller may see it, the receiver.
func (r routes) staffDetailOf(ctx context.Context, d ordering.Detail) (*staffDetailOutput, error) {
	out := staffDetail{Detail: detailOf(d), Kind: string(d.Kind)}
	if d.VisitID != "" {
		var err error
		if out.TableLabel, err = r.orders.Reader.TableOf(ctx, d.VisitID); err != nil {
			return nil, err
		}
	}
	for i, f := range d.Refunds {
		out.Refunds[i].Note = f.Note
	}
	if to := shown(ctx, d.Receiver); to.Name != "" {
		out.Receiver = staffReceiverOf(to)
	}
	return &staffDetailOutput{out}, nil
}

// errNoReceiver is returned for an order at a table, which has no receiver.
var errNoReceiver = fault.New(fault.NotFound, "receiver_not_found", "This order is for a table.")

type receiverOutput struct{ Body staffReceiver }

func (r routes) receiver(ctx context.Context, in *staffOrderInput) (*receiverOutput, error) {
	d, err := r.orders.StaffOrder(ctx, identity.ActorOf(ctx), in.ID)
	switch {
	case err != nil:
		return nil, err
	case d.Kind == ordering.DineIn:
		return nil, errNoReceiver
	}
	return &receiverOutput{*staffReceiverOf(d.Receiver)}, nil
}
