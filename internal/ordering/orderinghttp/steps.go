package orderinghttp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi"
	"comanda/internal/identity"
	"comanda/internal/ordering"
)

// registerSteps registers the kitchen's and the waiters' actions on orders.
func (r routes) registerSteps(a *httpapi.API) {
	for _, s := range []struct {
		kind          ordering.StepKind
		path, summary string
	}{
		{ordering.Accept, "accept", "Note that the kitchen has seen an order"},
		{ordering.Start, "start", "Begin to cook an order; from PLACED it passes through ACCEPTED"},
		{ordering.Done, "ready", "Note that an order is cooked"},
		{ordering.Serve, "serve", "Note that an order is served, or handed over"},
		{ordering.Recall, "recall", "Take an order one step back in the kitchen"},
	} {
		httpapi.Register(a, huma.Operation{
			OperationID: "order-" + s.path, Method: http.MethodPost, Path: "/api/orders/{id}/" + s.path, Tags: []string{"Orders"},
			Summary: s.summary,
		}, httpapi.Staff, func(ctx context.Context, in *stepInput) (*progressOutput, error) { return r.step(ctx, s.kind, in) })
	}
	httpapi.Register(a, huma.Operation{
		OperationID: "order-item-done", Method: http.MethodPost, Path: "/api/orders/{id}/items/{index}/done",
		Tags: []string{"Orders"}, Summary: "Tick a line of an order off in the kitchen, or on again",
	}, httpapi.Staff, r.markItem)
}

type stepInput struct {
	ID   string    `path:"id" maxLength:"64"`
	Body *stepBody `required:"false"`
}

type stepBody struct {
	Version int64 `json:"version,omitempty" minimum:"1" doc:"Of the order as it was seen. When it is another one by now, the step is refused: changed. Needed to clear a voided ticket; a recall that is sent twice without it goes back twice."`
}

// Progress is an order's state in the kitchen.
type Progress struct {
	ID            string     `json:"id"`
	Number        string     `json:"number" example:"A-042"`
	Status        string     `json:"status" enum:"PLACED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED"`
	PaymentStatus string     `json:"paymentStatus"`
	Voided        bool       `json:"voided" doc:"All of its money went back, or is about to: nothing of it is to be cooked any more."`
	Cleared       bool       `json:"cleared" doc:"The kitchen has seen that it is voided."`
	StepAt        *time.Time `json:"stepAt" doc:"Of the last step; null before the first."`
	Version       int64      `json:"version"`
}

type progressOutput struct{ Body Progress }

func progressOf(o *ordering.Order) Progress {
	p := Progress{
		ID: o.ID, Number: ordering.ShortNumber(o.Number), Status: string(o.Status), PaymentStatus: string(o.PaymentStatus),
		Voided: o.Voided(), Cleared: o.VoidSeen, Version: o.Version,
	}
	if !o.SteppedAt.IsZero() {
		p.StepAt = &o.SteppedAt
	}
	return p
}

func (r routes) step(ctx context.Context, kind ordering.StepKind, in *stepInput) (*progressOutput, error) {
	s := ordering.Step{OrderID: in.ID, Kind: kind}
	if in.Body != nil {
		s.Version = in.Body.Version
	}
	o, err := r.orders.Step(ctx, identity.ActorOf(ctx), s)
	if err != nil {
		return nil, err
	}
	return &progressOutput{progressOf(&o)}, nil
}

type markInput struct {
	ID    string `path:"id" maxLength:"64"`
	Index int    `path:"index" minimum:"0" maximum:"999" doc:"The line's place among the order's items, from 0."`
	Body  struct {
		Done    bool  `json:"done"`
		Version int64 `json:"version,omitempty" minimum:"1" doc:"As with steps."`
	}
}

func (r routes) markItem(ctx context.Context, in *markInput) (*progressOutput, error) {
	o, err := r.orders.MarkItem(ctx, identity.ActorOf(ctx), ordering.MarkItem{
		OrderID: in.ID, Index: in.Index, Done: in.Body.Done, Version: in.Body.Version,
	})
	if err != nil {
		return nil, err
	}
	return &progressOutput{progressOf(&o)}, nil
}
