package stockhttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
	"comanda/internal/stock"
)

// Services are the use cases behind the routes. All fields are required.
type Services struct {
	Reservations *stock.ReservationService
	Items        *stock.ItemService
	Snapshots    *stock.SnapshotService
	Recipes      *stock.RecipeService
	Actors       Actors
}

// Actors knows the names of actors such as user:7, normally audit.Reader.
type Actors interface {
	Names(ctx context.Context, language string, actors []string) (map[string]string, error)
}

type inventoryRoutes struct{ Services }

// RegisterInventory registers the routes for other systems.
func RegisterInventory(a *httpapi.API, services Services) {
	s := inventoryRoutes{services}
	ops := a.Operations("Inventory", httpapi.Staff)
	httpapi.Register(ops, "inventory-look", "GET /inventory",
		"View the available quantities of many items, at most a minute old", s.levels)
	httpapi.Register(ops, "inventory-get", "GET /inventory/{itemId}",
		"View the exact available quantity of an item", s.level)
	httpapi.Register(ops, "inventory-set", "PUT /inventory/{itemId}",
		"Set the available quantity of an item, which is created if it is new", s.set)
	httpapi.RegisterOutput(ops, "inventory-reserve", "POST /inventory/reservations",
		"Reserve items, all or nothing (Try)", s.reserve, httpapi.Created)
	httpapi.Register(ops, "inventory-reservation", "GET /inventory/reservations/{orderId}", "View a reservation", s.find)
	for _, a := range []struct {
		word, summary string
		do            reservationAction
	}{
		{"confirm", "Confirm a reservation: its units are sold", s.Reservations.Confirm},
		{"cancel", "Cancel a reservation and release its units; a Try that arrives later is refused", s.Reservations.Cancel},
		{"return", "Return sold units to stock", s.Reservations.Return},
	} {
		httpapi.Register(ops, "inventory-"+a.word, "POST /inventory/reservations/{orderId}/"+a.word, a.summary,
			a.do.serve)
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
	BranchID string `query:"branchId" pattern:"^([1-9][0-9]{0,17})?$" doc:"May be omitted if there is only one branch."`
}

func (s inventoryRoutes) level(ctx context.Context, in *levelIn) (level, error) {
	return levelOf(s.Items.Level(ctx, authz.ActorOf(ctx), httpapi.IDOf(in.BranchID), in.ItemID))
}

type setIn struct {
	ItemID string `path:"itemId" maxLength:"64"`
	Body   struct {
		BranchID  string `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
		Available int64  `json:"available" minimum:"0" maximum:"1000000000"`
	}
}

func (s inventoryRoutes) set(ctx context.Context, in *setIn) (level, error) {
	branch := httpapi.IDOf(in.Body.BranchID)
	return levelOf(s.Items.SetAvailable(ctx, authz.ActorOf(ctx), branch, in.ItemID, in.Body.Available))
}

type levelsInput struct {
	BranchID string   `query:"branchId" pattern:"^([1-9][0-9]{0,17})?$" doc:"May be omitted if there is only one branch."`
	ItemID   []string `query:"itemId,explode" text:"exact" minItems:"1" maxItems:"100" required:"true"`
}

type levelSnapshot struct {
	ItemID     string    `json:"itemId"`
	Available  int64     `json:"available"`
	LastUpdate time.Time `json:"lastUpdate"`
}

type levelSnapshots struct {
	Items []levelSnapshot `json:"items" doc:"The existing items, in the order of the request."`
}

// levels returns the available units of many items. The units may be a minute old, so callers that sell use the exact
// level or reserve.
func (s inventoryRoutes) levels(ctx context.Context, in *levelsInput) (levelSnapshots, error) {
	actor := authz.ActorOf(ctx)
	branch, err := s.Items.ResolveBranch(ctx, actor, httpapi.IDOf(in.BranchID))
	if err != nil {
		return levelSnapshots{}, err
	}
	found, err := s.Snapshots.Snapshots(ctx, actor, branch, in.ItemID)
	return levelSnapshots{seq.Map(found, func(l stock.LevelSnapshot) levelSnapshot {
		return levelSnapshot{l.SKU, l.Available, l.At}
	})}, err
}

// amount is a quantity of a stock item.
type amount struct {
	ItemID   string `json:"itemId" text:"exact" minLength:"1" maxLength:"64"`
	Quantity int64  `json:"quantity" minimum:"1" maximum:"1000000"`
}

func amountsOf(lines []stock.SKULine) []amount {
	return seq.Map(lines, func(l stock.SKULine) amount { return amount{l.SKU, l.Qty} })
}

func skuLines(amounts []amount) []stock.SKULine {
	return seq.Map(amounts, func(a amount) stock.SKULine { return stock.SKULine{SKU: a.ItemID, Qty: a.Quantity} })
}

// Reservation is a reservation in responses.
type Reservation struct {
	OrderID   string       `json:"orderId"`
	BranchID  *string      `json:"branchId" doc:"null for a reservation that was cancelled before it arrived."`
	Status    stock.Status `json:"status" enum:"RESERVED,CONFIRMED,CANCELLED,EXPIRED,REFUSED,RETURNED"`
	Items     []amount     `json:"items"`
	ExpiresAt *time.Time   `json:"expiresAt" doc:"null for a reservation that never held units."`
}

// reservationOf returns a reservation in the form of a response. A reservation without lines never held anything, so
// its expiry is null.
func reservationOf(r stock.Reservation) Reservation {
	out := Reservation{
		OrderID: r.ID, BranchID: httpapi.IDOrNull(r.Branch), Status: r.Status, Items: amountsOf(r.Lines),
	}
	if len(r.Lines) > 0 {
		out.ExpiresAt = &r.ExpiresAt
	}
	return out
}

type reserveIn struct {
	Body struct {
		OrderID    string   `json:"orderId" text:"exact" minLength:"1" maxLength:"64" doc:"Identifies the reservation; a repeated request has the same id and one effect."`
		BranchID   string   `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
		Items      []amount `json:"items" minItems:"1" maxItems:"50"`
		TTLSeconds int64    `json:"ttlSeconds,omitempty" minimum:"1" maximum:"86400" doc:"300 if omitted."`
	}
}

// reserve serves a Try. 201 is for the request that created the reservation, 200 for a repetition, so that a client can
// distinguish them.
func (s inventoryRoutes) reserve(ctx context.Context, in *reserveIn) (*httpapi.Creation[Reservation], error) {
	r, created, err := s.Reservations.Reserve(ctx, authz.ActorOf(ctx), stock.ReservationRequest{
		ID: in.Body.OrderID, Branch: httpapi.IDOf(in.Body.BranchID), Items: skuLines(in.Body.Items),
		TTL: time.Duration(in.Body.TTLSeconds) * time.Second,
	})
	if err != nil {
		return nil, err
	}
	return httpapi.CreationOf(created, reservationOf(r)), nil
}

type reservationIn struct {
	OrderID string `path:"orderId" maxLength:"64"`
}

func (s inventoryRoutes) find(ctx context.Context, in *reservationIn) (Reservation, error) {
	r, err := s.Reservations.Find(ctx, authz.ActorOf(ctx), in.OrderID)
	return reservationOf(r), err
}

type settled struct {
	OrderID string       `json:"orderId"`
	Status  stock.Status `json:"status" enum:"CONFIRMED,CANCELLED,EXPIRED,REFUSED,RETURNED"`
}

// reservationAction confirms, cancels or returns a reservation.
type reservationAction func(ctx context.Context, actor authz.Actor, id string) (stock.Reservation, error)

// serve runs the action. Repetitions answer 200 with the same body.
func (do reservationAction) serve(ctx context.Context, in *reservationIn) (settled, error) {
	r, err := do(ctx, authz.ActorOf(ctx), in.OrderID)
	return settled{r.ID, r.Status}, err
}
