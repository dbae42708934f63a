package stockhttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/stock"
)

type reservationsIn struct {
	httpapi.Paging
	BranchID string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	Status   string `query:"status" enum:"RESERVED,CONFIRMED,CANCELLED,EXPIRED,REFUSED,RETURNED"`
}

type entry struct {
	Reservation

	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

func (s staffRoutes) reservations(ctx context.Context, in *reservationsIn) (httpapi.Listed[entry], error) {
	branch, err := httpapi.ParseOptionalID(in.BranchID)
	if err != nil {
		return httpapi.Listed[entry]{}, err
	}
	page, total, err := s.Items.Reservations(ctx, authz.ActorOf(ctx), stock.ReservationFilter{
		Branch: branch, Status: stock.Status(in.Status), Limit: in.Size, Offset: in.Offset(),
	})
	return httpapi.ListedOf(in.Paging, page, total, func(l stock.ReservationRecord) entry {
		return entry{reservationOf(l.Reservation), l.CreatedAt, l.UpdatedAt}
	}), err
}

type recipe struct {
	Lines []amount `json:"lines" maxItems:"10" doc:"Empty for a dish that takes nothing."`
}

func (s staffRoutes) recipe(ctx context.Context, in *httpapi.ByID) (recipe, error) {
	lines, err := s.Recipes.Recipe(ctx, authz.ActorOf(ctx), in.ID)
	return recipe{amountsOf(lines)}, err
}

func (s staffRoutes) setRecipe(ctx context.Context, in *httpapi.BodyByID[recipe]) (recipe, error) {
	who := authz.ActorOf(ctx)
	if err := s.Recipes.SetRecipe(ctx, who, in.ID, skuLines(in.Body.Lines)); err != nil {
		return recipe{}, err
	}
	return s.recipe(ctx, &httpapi.ByID{ID: in.ID})
}
