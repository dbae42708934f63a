package stockhttp

import (
	"context"
	"time"

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
	ops := a.Operations("Inventory", httpapi.Staff)
	httpapi.Register(ops, "inventory-look", "GET /inventory",
		"View the available quantities of many items, at most a minute old", s.look)
	httpapi.Register(ops, "inventory-get", "GET /inventory/{itemId}",
		"View the exact available quantity of an item", s.level)
	httpapi.Register(ops, "inventory-set", "PUT /inventory/{itemId}",
		"Set the available quantity of an item, which is created if it is new", s.set)
	httpapi.RegisterOutput(ops, "inventory-reserve", "POST /inventory/reservations",
		"Reserve items, all or nothing (Try)", s.reserve, httpapi.Created)
	httpapi.Register(ops, "inventory-reservation", "GET /inventory/reservations/{orderId}", "View a reservation", s.find)
	for _, end := range []struct {
		word, summary string
		do            settlement
	}{
		{"confirm", "Confirm a reservation: its units are sold", rooms.Reservations.Confirm},
		{"cancel", "Cancel a reservation and release its units; a Try that arrives later is refused", rooms.Reservations.Cancel},
		{"return", "Return sold units to stock", rooms.Reservations.Return},
	} {
		httpapi.Register(ops, "inventory-"+end.word, "POST /inventory/reservations/{orderId}/"+end.word, end.summary,
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
func levelOf(l stock.Level, err error) (level, error) {
	return level{l.SKU, httpapi.FormatID(l.Branch), l.Available, l.Reserved, l.Sold}, err
}

type levelIn struct {
	ItemID   string `path:"itemId" maxLength:"64"`
	BranchID string `query:"branchId" pattern:"^([1-9][0-9]{0,17})?$" doc:"May be left out where there is only one."`
}

func (s inventoryRoutes) level(ctx context.Context, in *levelIn) (level, error) {
	branch, err := httpapi.ParseOptionalID(in.BranchID)
	if err != nil {
		return level{}, err
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

func (s inventoryRoutes) set(ctx context.Context, in *setIn) (level, error) {
	branch, err := httpapi.ParseOptionalID(in.Body.BranchID)
	if err != nil {
		return level{}, err
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

type levelSnapshots struct {
	Items []levelSnapshot `json:"items" doc:"Those that are there, in the order in which they were asked for."`
}

// look returns the available units of many items. It may be a minute old. A caller that sells uses the exact level, or
// reserves.
func (s inventoryRoutes) look(ctx context.Context, in *lookIn) (levelSnapshots, error) {
	named, err := httpapi.ParseOptionalID(in.BranchID)
	if err != nil {
		return levelSnapshots{}, err
	}
	who := authz.ActorOf(ctx)
	branch, err := s.Items.ResolveBranch(ctx, who, named)
	if err != nil {
		return levelSnapshots{}, err
	}
	found, err := s.Snapshots.Snapshots(ctx, who, branch, in.ItemID)
	return levelSnapshots{httpapi.Views(found, func(l stock.LevelSnapshot) levelSnapshot {
		return levelSnapshot{l.SKU, l.Available, l.At}
	})}, err
}
