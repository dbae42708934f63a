package stockhttp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/stock"
)

// Services are the use cases behind the routes. All fields are required.
type Services struct {
	Reservations *stock.ReservationService
	Items        *stock.ItemService
	Snapshots    *stock.SnapshotService
	Recipes      *stock.RecipeService
}

type inventoryRoutes struct{ Services }

// Inventory registers the routes for other systems.
func Inventory(a *httpapi.API, rooms Services) {
	s := inventoryRoutes{rooms}
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: "inventory-" + id, Method: method, Path: "/inventory" + path, Tags: []string{"Inventory"}, Summary: summary,
		}
	}
	httpapi.Register(a, op("look", http.MethodGet, "",
		"Available quantities of many items, at most a minute old, for shop windows"), httpapi.Staff, s.look)
	httpapi.Register(a, op("get", http.MethodGet, "/{itemId}",
		"How many units of an item there are, exactly"), httpapi.Staff, s.level)
	httpapi.Register(a, op("set", http.MethodPut, "/{itemId}",
		"Say how many units are available; an item that is not there is made"), httpapi.Staff, s.set)
	try := op("reserve", http.MethodPost, "/reservations", "Try: reserve all of some items, or nothing")
	try.DefaultStatus = http.StatusCreated
	httpapi.Register(a, try, httpapi.Staff, s.reserve)
	httpapi.Register(a, op("reservation", http.MethodGet, "/reservations/{orderId}", "One reservation"), httpapi.Staff, s.find)
	for _, end := range []struct {
		word, summary string
		do            settlement
	}{
		{"confirm", "Confirm: sell the reserved units", rooms.Reservations.Confirm},
		{"cancel", "Cancel: release the reserved units; a Try that arrives later is refused", rooms.Reservations.Cancel},
		{"return", "Return sold units to stock", rooms.Reservations.Return},
	} {
		httpapi.Register(a, op(end.word, http.MethodPost, "/reservations/{orderId}/"+end.word, end.summary), httpapi.Staff,
			end.do.serve)
	}
}

type level struct {
	ItemID    string `json:"itemId"`
	BranchID  string `json:"branchId"`
	Available int64  `json:"available"`
	Reserved  int64  `json:"reserved"`
	Sold      int64  `json:"sold"`
}

// levelOf returns the response for a level. Ids are texts in JSON: JavaScript reads numbers exactly only up to 2^53.
func levelOf(l stock.Level, err error) (*httpapi.Output[level], error) {
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(level{l.SKU, decimal(l.Branch), l.Available, l.Reserved, l.Sold}), nil
}

type levelIn struct {
	ItemID   string `path:"itemId" maxLength:"64"`
	BranchID string `query:"branchId" pattern:"^([1-9][0-9]{0,17})?$" doc:"May be left out where there is only one."`
}

func (s inventoryRoutes) level(ctx context.Context, in *levelIn) (*httpapi.Output[level], error) {
	branch, err := parse(in.BranchID)
	if err != nil {
		return nil, err
	}
	return levelOf(s.Items.Level(ctx, authz.ActorOf(ctx), branch, in.ItemID))
}

type setIn struct {
	ItemID string `path:"itemId" maxLength:"64"`
	Body   struct {
		BranchID  string `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
		Available int64  `json:"available" minimum:"0" maximum:"1000000000"`
	}
}

func (s inventoryRoutes) set(ctx context.Context, in *setIn) (*httpapi.Output[level], error) {
	branch, err := parse(in.Body.BranchID)
	if err != nil {
		return nil, err
	}
	return levelOf(s.Items.SetAvailable(ctx, authz.ActorOf(ctx), branch, in.ItemID, in.Body.Available))
}

type lookIn struct {
	BranchID string   `query:"branchId" pattern:"^([1-9][0-9]{0,17})?$" doc:"May be left out where there is only one."`
	ItemID   []string `query:"itemId,explode" text:"exact" minItems:"1" maxItems:"100" required:"true"`
}

type levelSnapshot struct {
	ItemID     string    `json:"itemId"`
	Available  int64     `json:"available"`
	LastUpdate time.Time `json:"lastUpdate"`
}

type lookOut struct {
	Body struct {
		Items []levelSnapshot `json:"items" doc:"Those that are there, in the order in which they were asked for."`
	}
}

// look returns the available units of many items. It may be a minute old. A caller that sells uses the exact level, or
// reserves.
func (s inventoryRoutes) look(ctx context.Context, in *lookIn) (*lookOut, error) {
	named, err := parse(in.BranchID)
	if err != nil {
		return nil, err
	}
	who := authz.ActorOf(ctx)
	branch, err := s.Items.ResolveBranch(ctx, who, named)
	if err != nil {
		return nil, err
	}
	found, err := s.Snapshots.Snapshots(ctx, who, branch, in.ItemID)
	if err != nil {
		return nil, err
	}
	out := &lookOut{}
	out.Body.Items = make([]levelSnapshot, len(found))
	for i, g := range found {
		out.Body.Items[i] = levelSnapshot{g.SKU, g.Available, g.At}
	}
	return out, nil
}
