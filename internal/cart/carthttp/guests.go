package carthttp

import (
	"context"

	"comanda/internal/cart"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

// GuestFinder returns the guest of a customer token while the visit is open.
type GuestFinder interface {
	Guest(ctx context.Context, token string) (cart.Guest, error)
}

// errVisit is the same for another visit and for a visit that does not exist.
var errVisit = fault.New(fault.NotFound, "visit_not_found", "Visit not found.")

type sharedRoutes struct {
	carts  *cart.SharedService
	guests GuestFinder
}

// RegisterGuests registers the routes of the cart that the guests of a table share. Streams of the menu notify phones
// of its changes.
func RegisterGuests(a *httpapi.API, carts *cart.SharedService, guests GuestFinder) {
	r, ops := sharedRoutes{carts, guests}, a.Operations("Cart", httpapi.Guest)
	httpapi.Register(ops, "visit-cart-get", "GET /cis/visit/{visitId}/cart", "View the cart that the table shares", r.get)
	httpapi.Register(ops, "visit-cart-put", "PUT /cis/visit/{visitId}/cart/lines/{lineId}",
		"Add a line to the table's cart, or change its quantity and note", r.put)
	httpapi.Register(ops, "visit-cart-remove", "DELETE /cis/visit/{visitId}/cart/lines/{lineId}",
		"Remove a line from the table's cart", r.remove)
}

type sharedView struct {
	Version int64        `json:"version"`
	Lines   []sharedLine `json:"lines" doc:"In the order in which they were added."`
}

type sharedLine struct {
	ID     string `json:"id"`
	Phone  int    `json:"phone" doc:"Number of the phone that added the line; the same numbers as in the list of orders."`
	Mine   bool   `json:"mine" doc:"Whether the requesting phone added the line."`
	ItemID string `json:"itemId"`
	Name   string `json:"name" doc:"In the language of the response, also for a dish that is no longer on the menu."`
	Qty    int64  `json:"qty"`
	Notes  string `json:"notes"`

	Options []cartOption `json:"options,omitempty" doc:"Options of one unit; absent if there are none."`
}

func sharedViewOf(v cart.SharedView, l httpapi.Language) sharedView {
	locales := preferred(l, catalog.Branch{Locales: v.Locales})
	return sharedView{v.Version, seq.Map(v.Items, func(it cart.SharedItem) sharedLine {
		return sharedLine{
			it.ID, it.Phone, it.Mine, httpapi.FormatID(it.ItemID), it.Names.In(locales...), it.Quantity, it.Notes,
			optionsOf(it.Configured, it.Options, locales),
		}
	})}
}

// sharedInput identifies a guest and a visit.
type sharedInput struct {
	httpapi.GuestHeader
	httpapi.Language
	VisitID string `path:"visitId" maxLength:"64"`
}

// guest returns the guest of a request, and refuses a request for a visit other than the guest's.
func (r sharedRoutes) guest(ctx context.Context, in sharedInput) (cart.Guest, error) {
	g, err := r.guests.Guest(ctx, string(in.CustomerToken))
	if err == nil && g.VisitID != in.VisitID {
		err = errVisit
	}
	return g, err
}

// writer is guest for requests that change the cart. It counts refused changes too, because they cost as much.
func (r sharedRoutes) writer(ctx context.Context, in sharedInput) (cart.Guest, error) {
	g, err := r.guest(ctx, in)
	if err != nil {
		return g, err
	}
	return g, httpapi.Allow(ctx, "cart_visit", g.VisitID)
}

func (r sharedRoutes) get(ctx context.Context, in *sharedInput) (sharedView, error) {
	g, err := r.guest(ctx, *in)
	if err != nil {
		return sharedView{}, err
	}
	v, err := r.carts.Get(ctx, g)
	return sharedViewOf(v, in.Language), err
}

type putInput struct {
	httpapi.GuestHeader
	httpapi.Language
	VisitID string `path:"visitId" maxLength:"64"`
	LineID  string `path:"lineId" pattern:"^[A-Za-z0-9_-]{8,40}$" doc:"Chosen by the phone; the same id is the same line."`
	Body    struct {
		ItemID string `json:"itemId" pattern:"^[1-9][0-9]{0,17}$"`
		Qty    int64  `json:"qty" minimum:"1" maximum:"20"`
		Notes  string `json:"notes,omitempty" text:"lines" maxLength:"200"`

		Options []chosenOption `json:"options,omitempty" maxItems:"30" doc:"Options of one unit."`
	}
}

func (r sharedRoutes) put(ctx context.Context, in *putInput) (sharedView, error) {
	g, err := r.writer(ctx, sharedInput{in.GuestHeader, in.Language, in.VisitID})
	if err != nil {
		return sharedView{}, err
	}
	v, err := r.carts.Put(ctx, g, cart.SharedLine{
		ID: in.LineID, ItemID: httpapi.IDOf(in.Body.ItemID), Quantity: in.Body.Qty, Notes: in.Body.Notes,
	}, chosenOf(in.Body.Options)...)
	return sharedViewOf(v, in.Language), err
}

type dropInput struct {
	httpapi.GuestHeader
	httpapi.Language
	VisitID string `path:"visitId" maxLength:"64"`
	LineID  string `path:"lineId" pattern:"^[A-Za-z0-9_-]{8,40}$"`
}

func (r sharedRoutes) remove(ctx context.Context, in *dropInput) (sharedView, error) {
	g, err := r.writer(ctx, sharedInput{in.GuestHeader, in.Language, in.VisitID})
	if err != nil {
		return sharedView{}, err
	}
	v, err := r.carts.Remove(ctx, g, in.LineID)
	return sharedViewOf(v, in.Language), err
}
