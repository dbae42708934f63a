package stockhttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/stock"
)

// amount is a quantity of a stock item.
type amount struct {
	ItemID   string `json:"itemId" text:"exact" minLength:"1" maxLength:"64"`
	Quantity int64  `json:"quantity" minimum:"1" maximum:"1000000"`
}

func amountsOf(lines []stock.SKULine) []amount {
	return httpapi.Views(lines, func(l stock.SKULine) amount { return amount{l.SKU, l.Qty} })
}

func skuLines(amounts []amount) []stock.SKULine {
	return httpapi.Views(amounts, func(a amount) stock.SKULine { return stock.SKULine{SKU: a.ItemID, Qty: a.Quantity} })
}

// Reservation is a reservation in responses.
type Reservation struct {
	OrderID   string       `json:"orderId"`
	BranchID  *string      `json:"branchId" doc:"null for one that was cancelled before it came."`
	Status    stock.Status `json:"status" enum:"RESERVED,CONFIRMED,CANCELLED,EXPIRED,REFUSED,RETURNED"`
	Items     []amount     `json:"items"`
	ExpiresAt *time.Time   `json:"expiresAt" doc:"null for one that never held anything."`
}

// reservationOf returns a reservation in the form of a response. Without lines it never held anything, and its expiry
// is null.
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
		TTLSeconds int64    `json:"ttlSeconds,omitempty" minimum:"1" maximum:"86400" doc:"300 where it is left out."`
	}
}

// reserve serves a Try. 201 is for the request that created the reservation, 200 for a repetition, so that a client can
// distinguish them.
func (s inventoryRoutes) reserve(ctx context.Context, in *reserveIn) (*httpapi.Creation[Reservation], error) {
	branch, err := httpapi.ParseOptionalID(in.Body.BranchID)
	if err != nil {
		return nil, err
	}
	r, created, err := s.Reservations.Reserve(ctx, authz.ActorOf(ctx), stock.ReservationRequest{
		ID: in.Body.OrderID, Branch: branch, Items: skuLines(in.Body.Items),
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

// settlement confirms, cancels or returns a reservation.
type settlement func(ctx context.Context, who authz.Actor, id string) (stock.Reservation, error)

// serve runs a settlement. Repetitions answer 200 with the same body.
func (end settlement) serve(ctx context.Context, in *reservationIn) (settled, error) {
	r, err := end(ctx, authz.ActorOf(ctx), in.OrderID)
	return settled{r.ID, r.Status}, err
}
