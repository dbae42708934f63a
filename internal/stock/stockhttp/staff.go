// Package stockhttp serves stock over HTTP: Try, Confirm and Cancel for other systems, and stock management for
// staff. Paths and shapes are those of the API document; the package contains no rules.
package stockhttp

import (
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
	"comanda/internal/stock"
)

type staffRoutes struct{ Services }

// RegisterStaff registers the routes of stock management.
func RegisterStaff(a *httpapi.API, services Services) {
	s := staffRoutes{services}
	ops := a.Operations("Stock", httpapi.Staff)
	httpapi.Register(ops, "stock-list", "GET /api/stock/items", "View the stock of a branch", s.list)
	httpapi.Register(ops, "stock-add", "POST /api/stock/items",
		"Add a stock item, with a quantity of zero", s.add, httpapi.Created)
	httpapi.Register(ops, "stock-edit", "PUT /api/stock/items/{id}",
		"Edit the name and the low-stock alert of a stock item", s.edit)
	httpapi.Register(ops, "stock-adjust", "POST /api/stock/items/{id}/adjustments",
		"Record a delivery, a count or waste", s.adjust, httpapi.Created)
	httpapi.Register(ops, "stock-adjustments", "GET /api/stock/items/{id}/adjustments",
		"View the history of a stock item, newest first", s.adjustments)
	httpapi.Register(ops, "stock-reservations", "GET /api/stock/reservations",
		"View the stock that other systems have reserved", s.reservations)
	httpapi.Register(ops, "stock-recipe-get", "GET /api/menu-items/{id}/recipe",
		"View the recipe of a dish: the stock that one portion uses", s.recipe)
	httpapi.Register(ops, "stock-recipe-set", "PUT /api/menu-items/{id}/recipe",
		"Edit the recipe of a dish", s.setRecipe)
	httpapi.Register(ops, "stock-option-recipe-get", "GET /api/branches/{id}/options/{optionId}/recipe",
		"View the recipe of an option: the stock that one unit uses", s.optionRecipe)
	httpapi.Register(ops, "stock-option-recipe-set", "PUT /api/branches/{id}/options/{optionId}/recipe",
		"Edit the recipe of an option", s.setOptionRecipe)
}

// item is a stock item as staff see it: id is its number, itemId its SKU.
type item struct {
	ID        string `json:"id"`
	ItemID    string `json:"itemId"`
	BranchID  string `json:"branchId"`
	Name      string `json:"name"`
	Unit      string `json:"unit" doc:"Unit of measure; empty for pieces."`
	LowAt     *int64 `json:"lowAt" doc:"Raises an alarm when no more than this are left; null for no alarm."`
	Available int64  `json:"available"`
	Reserved  int64  `json:"reserved"`
	Sold      int64  `json:"sold"`
	IsLow     bool   `json:"isLow"`
}

func itemOf(l stock.Level) item {
	out := item{
		ID: httpapi.FormatID(l.ID), ItemID: l.SKU, BranchID: httpapi.FormatID(l.Branch), Name: l.Name, Unit: l.Unit,
		Available: l.Available, Reserved: l.Reserved, Sold: l.Sold, IsLow: l.Low(),
	}
	if l.LowAt != stock.NoAlarm {
		out.LowAt = &l.LowAt
	}
	return out
}

func itemResponse(l stock.Level, err error) (item, error) {
	return itemOf(l), err
}

type listIn struct {
	httpapi.Paging
	BranchID string `query:"branchId" required:"true" pattern:"^[1-9][0-9]{0,17}$"`
	Query    string `query:"q" text:"line" maxLength:"100" doc:"Part of the itemId or the name."`
	Low      bool   `query:"low" doc:"Only items at or below their alarm level."`
}

func (s staffRoutes) list(ctx context.Context, in *listIn) (httpapi.Listed[item], error) {
	page, total, err := s.Items.Levels(ctx, authz.ActorOf(ctx), stock.LevelFilter{
		Branch: httpapi.IDOf(in.BranchID), Query: in.Query, Low: in.Low, Limit: in.Size, Offset: in.Offset(),
	})
	return httpapi.ListedOf(in.Paging, page, total, itemOf), err
}

// Description contains the editable fields of a stock item. It is exported because huma reads exported parts of an
// input only.
type Description struct {
	Name  string `json:"name" text:"line" maxLength:"100"`
	Unit  string `json:"unit,omitempty" text:"line" maxLength:"100"`
	LowAt *int64 `json:"lowAt,omitempty" minimum:"0" maximum:"1000000000"`
}

func (d Description) item() stock.Item {
	t := stock.Item{Name: d.Name, Unit: d.Unit, LowAt: stock.NoAlarm}
	if d.LowAt != nil {
		t.LowAt = *d.LowAt
	}
	return t
}

type addIn struct {
	Body struct {
		Description

		BranchID string `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
		ItemID   string `json:"itemId" text:"exact" minLength:"1" maxLength:"64" doc:"Letters, digits, dots, hyphens and underscores."`
	}
}

func (s staffRoutes) add(ctx context.Context, in *addIn) (item, error) {
	t := in.Body.item()
	t.Branch, t.SKU = httpapi.IDOf(in.Body.BranchID), in.Body.ItemID
	return itemResponse(s.Items.Add(ctx, authz.ActorOf(ctx), t))
}

func (s staffRoutes) edit(ctx context.Context, in *httpapi.BodyByID[Description]) (item, error) {
	t := in.Body.item()
	t.ID = in.ID
	return itemResponse(s.Items.Update(ctx, authz.ActorOf(ctx), t))
}

type adjustIn struct {
	ID   int64 `path:"id"`
	Body struct {
		Kind     stock.AdjustmentKind `json:"kind" enum:"RECEIVE,COUNT,WASTE"`
		Quantity int64                `json:"quantity" minimum:"0" maximum:"1000000000" doc:"For a count: the available quantity."`
		Note     string               `json:"note,omitempty" text:"lines" maxLength:"200"`

		ClientTxnID string `json:"clientTxnId,omitempty" text:"exact" minLength:"1" maxLength:"64" doc:"Chosen by the client; the same id and body make one adjustment."`
	}
}

func (s staffRoutes) adjust(ctx context.Context, in *adjustIn) (item, error) {
	return itemResponse(s.Items.Adjust(ctx, authz.ActorOf(ctx), in.ID, stock.Adjustment{
		Kind: in.Body.Kind, Units: in.Body.Quantity, Note: in.Body.Note, ClientTxnID: in.Body.ClientTxnID,
	}))
}

type adjustment struct {
	ID        string               `json:"id"`
	Kind      stock.AdjustmentKind `json:"kind" enum:"RECEIVE,COUNT,WASTE"`
	Change    int64                `json:"change" doc:"Change of the quantity; negative for a decrease."`
	Available int64                `json:"available" doc:"The available quantity afterwards."`
	Note      string               `json:"note"`
	Actor     string               `json:"actor"`
	ActorName string               `json:"actorName" doc:"The current name of the account; empty if unknown."`
	CreatedAt time.Time            `json:"createdAt"`
}

type adjustmentsIn struct {
	httpapi.Paging
	httpapi.NameOrder
	ID int64 `path:"id"`
}

func (s staffRoutes) adjustments(
	ctx context.Context, in *adjustmentsIn,
) (httpapi.Listed[adjustment], error) {
	page, total, err := s.Items.Adjustments(ctx, authz.ActorOf(ctx), in.ID, in.Size, in.Offset())
	if err != nil {
		return httpapi.Listed[adjustment]{}, err
	}
	actors := seq.Map(page, func(a stock.AdjustmentRecord) string { return a.Actor })
	slices.Sort(actors)
	names, err := s.Actors.Names(ctx, in.Language(), slices.Compact(actors))
	return httpapi.ListedOf(in.Paging, page, total, func(a stock.AdjustmentRecord) adjustment {
		return adjustment{a.ID, a.Kind, a.Units, a.Available, a.Note, a.Actor, names[a.Actor], a.At}
	}), err
}

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
	page, total, err := s.Items.Reservations(ctx, authz.ActorOf(ctx), stock.ReservationFilter{
		Branch: httpapi.IDOf(in.BranchID), Status: stock.Status(in.Status), Limit: in.Size, Offset: in.Offset(),
	})
	return httpapi.ListedOf(in.Paging, page, total, func(l stock.ReservationRecord) entry {
		return entry{reservationOf(l.Reservation), l.CreatedAt, l.UpdatedAt}
	}), err
}

type recipe struct {
	Lines []amount `json:"lines" maxItems:"10" doc:"Empty without a recipe."`
}

func (s staffRoutes) recipe(ctx context.Context, in *httpapi.ByID) (recipe, error) {
	lines, err := s.Recipes.Recipe(ctx, authz.ActorOf(ctx), in.ID)
	return recipe{amountsOf(lines)}, err
}

func (s staffRoutes) setRecipe(ctx context.Context, in *httpapi.BodyByID[recipe]) (recipe, error) {
	actor := authz.ActorOf(ctx)
	if err := s.Recipes.SetRecipe(ctx, actor, in.ID, skuLines(in.Body.Lines)); err != nil {
		return recipe{}, err
	}
	return s.recipe(ctx, &httpapi.ByID{ID: in.ID})
}

type optionIn struct {
	ID       int64 `path:"id"`
	OptionID int64 `path:"optionId"`
}

func (s staffRoutes) optionRecipe(ctx context.Context, in *optionIn) (recipe, error) {
	lines, err := s.Recipes.OptionRecipe(ctx, authz.ActorOf(ctx), in.ID, in.OptionID)
	return recipe{amountsOf(lines)}, err
}

type optionRecipeIn struct {
	ID       int64 `path:"id"`
	OptionID int64 `path:"optionId"`
	Body     recipe
}

func (s staffRoutes) setOptionRecipe(ctx context.Context, in *optionRecipeIn) (recipe, error) {
	actor := authz.ActorOf(ctx)
	if err := s.Recipes.SetOptionRecipe(ctx, actor, in.ID, in.OptionID, skuLines(in.Body.Lines)); err != nil {
		return recipe{}, err
	}
	return s.optionRecipe(ctx, &optionIn{ID: in.ID, OptionID: in.OptionID})
}
