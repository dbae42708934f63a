package orderinghttp

import (
	"context"

	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/ordering"
)

// receiverRoute is the permission to know who receives an order. Without it no answer shows the name, the
// phone, the address or the note: cooks need none of them.
var receiverRoute = identity.RouteKey{Method: "GET", Path: "/api/orders/{id}/receiver"}

// shown returns the receiver as far as the caller may know who it is.
func shown(ctx context.Context, r ordering.Receiver) ordering.Receiver {
	if !identity.MayUse(ctx, receiverRoute) {
		return ordering.Receiver{}
	}
	return r
}

// staffReceiver is to whom the staff deliver an order, or hand it over.
type staffReceiver struct {
	Name    string `json:"name"`
	Phone   string `json:"phone"`
	Address string `json:"address" doc:"Empty with PICKUP."`
	Note    string `json:"note" doc:"For the courier; empty without one."`
}

func staffReceiverOf(r ordering.Receiver) *staffReceiver {
	return &staffReceiver{r.Name, r.Phone, r.Address, r.Note}
}

// staffDetail is an order with everything that the staff may know.
type staffDetail struct {
	Detail
	Kind       string         `json:"kind" enum:"DINE_IN,DELIVERY,PICKUP"`
	TableLabel string         `json:"tableLabel" doc:"Empty away from tables."`
	Receiver   *staffReceiver `json:"receiver" doc:"null at tables, and without the permission to see receivers."`
}

type staffDetailOutput struct{ Body staffDetail }

// staffDetailOf is detailOf with what is meant for the staff.
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

// errNoReceiver refuses to name the receiver of an order for a table.
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
