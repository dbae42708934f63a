package orderinghttp

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
)

// lookAgain is how long a change that another process has made may stay unseen.
const lookAgain = 750 * time.Millisecond

// Changes tells when to look at an order again.
type Changes interface {
	// Watch gives a channel that wakes after changes that this process has made, and what ends the watch.
	Watch(order string) (wake <-chan struct{}, end func())
	// Version is the order's present version, whoever has made it.
	Version(ctx context.Context, order string) (int64, error)
}

func (r routes) registerEvents(a *httpapi.API) {
	httpapi.RegisterStream[eventsInput, detail](a, huma.Operation{
		OperationID: "order-events", Method: http.MethodGet, Path: "/cis/order/{id}/events", Tags: []string{"Orders"},
		Summary: "An order as it changes: first as it is, then after every change; the id is its version",
	}, httpapi.Guest, r.events)
}

type eventsInput struct {
	httpapi.GuestHeader
	httpapi.LastEvent
	ID string `path:"id" maxLength:"64"`
}

// events follows one order of the guest's visit. Who was let in stays in for as long as the visit may be looked at.
func (r routes) events(ctx context.Context, in *eventsInput) (httpapi.Feed, error) {
	g, err := r.guests.ResolveForRead(ctx, string(in.CustomerToken))
	if err != nil {
		return httpapi.Feed{}, err
	}
	wake, end := r.changes.Watch(in.ID) // before the first look, so that nothing falls in between
	d, err := r.orders.Order(ctx, guestOf(g), in.ID)
	if err != nil {
		end()
		return httpapi.Feed{}, err
	}
	return httpapi.Feed{Key: g.TokenHash, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		r.follow(ctx, s, string(in.CustomerToken), d, in.LastEventID, wake)
	}}, nil
}

func (r routes) follow(
	ctx context.Context, s *httpapi.Stream, token string, d ordering.Detail, seen string, wake <-chan struct{},
) {
	for {
		if id := strconv.FormatInt(d.Version, 10); id != seen {
			if s.Send(httpapi.Event{ID: id, Name: "order", Data: detailOf(d)}) != nil {
				return
			}
			seen = id
		}
		if s.Wait(ctx, wake, lookAgain) != nil {
			return
		}
		next, err := r.look(ctx, token, d)
		switch {
		case err == nil:
			d = next
		case fault.KindOf(err) != fault.Unavailable: // the visit was closed a while ago
			return
		}
	}
}

// look reads the order when its version has moved. Asking for versions is cheap: all streams share a statement.
func (r routes) look(ctx context.Context, token string, d ordering.Detail) (ordering.Detail, error) {
	g, err := r.guests.ResolveForRead(ctx, token)
	if err != nil {
		return d, err
	}
	version, err := r.changes.Version(ctx, d.ID)
	if err != nil || version == d.Version {
		return d, err
	}
	return r.orders.Order(ctx, guestOf(g), d.ID)
}
