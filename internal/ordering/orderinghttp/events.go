package orderinghttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
)

// pollInterval is the interval at which a stream polls the order's version while notifications may be lost.
const pollInterval = 750 * time.Millisecond

// Changes notifies streams about changes of orders.
type Changes interface {
	// Subscribe returns a channel that receives after changes by this process, and a function that ends the subscription.
	Subscribe(order string) (changed <-chan struct{}, end func())
	// Version returns the order's current version, including changes by other processes.
	Version(ctx context.Context, order string) (int64, error)
}

// registerEvents registers the streams of one order, for guests and for members.
func (r routes) registerEvents(a *httpapi.API) {
	guests, members := a.Operations("Orders", httpapi.Guest), a.Operations("Orders", httpapi.Member)
	httpapi.RegisterStream[eventsInput, Detail](guests, "order-events", "GET /cis/order/{id}/events",
		"Follow an order live: as it is, then after every change; the event id is its version", r.events)
	httpapi.RegisterStream[memberEventsInput, memberDetail](members, "member-order-events", "GET /orders/{id}/events",
		"Follow one of your orders live: as it is, then after every change; the event id is its version", r.memberEvents)
}

type eventsInput struct {
	httpapi.GuestHeader
	httpapi.Language
	httpapi.LastEvent
	ID string `path:"id" maxLength:"64"`
}

// events streams one order of the guest's visit until the customer token no longer allows reading it.
func (r routes) events(ctx context.Context, in *eventsInput) (httpapi.Feed, error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return httpapi.Feed{}, err
	}
	changed, end := r.changes.Subscribe(in.ID) // before the first read, so that no change is missed in between
	d, err := r.orders.Order(ctx, guestOf(g), in.ID)
	if err != nil {
		end()
		return httpapi.Feed{}, err
	}
	// The limit on open streams counts per phone.
	return httpapi.Feed{Key: g.TokenHash, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		admit := func(ctx context.Context) (context.Context, error) {
			_, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
			return ctx, err
		}
		read := func(ctx context.Context) (ordering.Detail, error) { return r.orders.Order(ctx, guestOf(g), in.ID) }
		show := func(d ordering.Detail) any { return guestDetailOf(d, in.Language) }
		r.follow(ctx, s, followedOrder{d, in.LastEventID, changed, admit, httpapi.GuestCheck, read, show})
	}}, nil
}

type memberEventsInput struct {
	httpapi.Language
	httpapi.LastEvent
	ID string `path:"id" maxLength:"64"`
}

// memberEvents streams one order of a member until the member's session is no longer admitted.
func (r routes) memberEvents(ctx context.Context, in *memberEventsInput) (httpapi.Feed, error) {
	by := authz.ActorOf(ctx)
	changed, end := r.changes.Subscribe(in.ID) // before the first read, so that no change is missed in between
	d, err := r.orders.Order(ctx, ordering.Member(by), in.ID)
	if err != nil {
		end()
		return httpapi.Feed{}, err
	}
	return httpapi.Feed{Key: by.String() + " " + by.Session, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		read := func(ctx context.Context) (ordering.Detail, error) {
			return r.orders.Order(ctx, ordering.Member(authz.ActorOf(ctx)), in.ID)
		}
		show := func(d ordering.Detail) any { return memberDetailOf(d, in.Language) }
		r.follow(ctx, s, followedOrder{d, in.LastEventID, changed, s.Admitted, httpapi.AccountCheck, read, show})
	}}, nil
}

// followedOrder is the state of one order's event stream. Each stream has its own copy.
type followedOrder struct {
	order   ordering.Detail
	seen    string
	changed <-chan struct{}
	admit   func(ctx context.Context) (context.Context, error) // fails once the client may no longer read
	check   time.Duration
	read    func(ctx context.Context) (ordering.Detail, error)
	show    func(ordering.Detail) any
}

// follow sends the order whenever its version differs from the last one sent. It returns when the client disconnects,
// the server stops, or access ends: the visit closed too long ago, or the session ended.
func (r routes) follow(ctx context.Context, s *httpapi.Stream, f followedOrder) {
	first := true
	s.Follow(ctx, httpapi.Followed{
		Changed: f.changed, Poll: pollInterval, Admit: f.admit, Check: f.check,
		Show: func(ctx context.Context) (err error) {
			if !first { // the order was read when the stream was opened
				if f.order, err = r.readIfChanged(ctx, f); err != nil {
					return err
				}
			}
			first = false
			id := httpapi.FormatID(f.order.Version)
			if id == f.seen {
				return nil
			}
			f.seen = id
			return s.Send(httpapi.Event{ID: id, Name: "order", Data: f.show(f.order)})
		},
	})
}

// readIfChanged reads the order if its version has changed. Reading versions is cheap: concurrent streams share one
// statement.
func (r routes) readIfChanged(ctx context.Context, f followedOrder) (ordering.Detail, error) {
	version, err := r.changes.Version(ctx, f.order.ID)
	if err != nil || version == f.order.Version {
		return f.order, err
	}
	next, err := f.read(ctx)
	if err != nil {
		return f.order, err
	}
	return next, nil
}
