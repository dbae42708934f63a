// Package carthttp serves the members' cart over HTTP. The access token determines the cart.
package carthttp

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/cart"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
)

type routes struct{ carts *cart.Service }

// Register registers the routes.
func Register(a *httpapi.API, carts *cart.Service) {
	r := routes{carts}
	tags := []string{"Cart"}
	httpapi.Register(a, huma.Operation{
		OperationID: "cart-get", Method: http.MethodGet, Path: "/cart", Tags: tags,
		Summary: "The member's cart, priced by the current menu",
	}, httpapi.Member, r.get)
	httpapi.Register(a, huma.Operation{
		OperationID: "cart-add", Method: http.MethodPost, Path: "/cart/add-dish", Tags: tags,
		Summary: "Put a dish into the cart; the same dish again raises its quantity", DefaultStatus: http.StatusCreated,
	}, httpapi.Member, r.add)
	httpapi.Register(a, huma.Operation{
		OperationID: "cart-set", Method: http.MethodPatch, Path: "/cart/items/{cartDetailId}", Tags: tags,
		Summary: "Change the quantity of a dish",
	}, httpapi.Member, r.set)
	httpapi.Register(a, huma.Operation{
		OperationID: "cart-remove", Method: http.MethodDelete, Path: "/cart/items/{cartDetailId}", Tags: tags,
		Summary: "Remove a dish from the cart", DefaultStatus: http.StatusOK,
	}, httpapi.Member, r.remove)
	httpapi.Register(a, huma.Operation{
		OperationID: "cart-empty", Method: http.MethodDelete, Path: "/cart", Tags: tags,
		Summary: "Empty the cart", DefaultStatus: http.StatusOK,
	}, httpapi.Member, r.empty)
}

func preferred(l httpapi.Language, b catalog.Branch) []catalog.Locale {
	if chosen := catalog.Locale(l.Locale); chosen.Valid() {
		return append([]catalog.Locale{chosen}, b.Locales...)
	}
	have := make([]string, len(b.Locales))
	for i, locale := range b.Locales {
		have[i] = string(locale)
	}
	if best := httpapi.Locale(l.AcceptLanguage, have...); best != "" {
		return append([]catalog.Locale{catalog.Locale(best)}, b.Locales...)
	}
	return b.Locales
}

type view struct {
	ID            *string `json:"id" doc:"null while the cart is empty and was never filled."`
	BranchID      string  `json:"branchId"`
	MenuVersionID string  `json:"menuVersionId"`
	Currency      string  `json:"currency"`
	Items         []item  `json:"items"`
	TotalPrice    int64   `json:"totalPrice" doc:"Of the available dishes, in minor units."`
	Version       int64   `json:"version"`
}

type item struct {
	ID           string  `json:"id"`
	CartID       string  `json:"cartId"`
	DishID       string  `json:"dishId"`
	ItemID       *string `json:"itemId" doc:"The menu item; null if the dish is not on the menu."`
	Name         string  `json:"name"`
	ImageURL     *string `json:"imageUrl"`
	Quantity     int64   `json:"quantity"`
	Price        int64   `json:"price" doc:"The current price in minor units; 0 if the dish is not on the menu."`
	Total        int64   `json:"total"`
	Was          int64   `json:"previousPrice" doc:"The price when the dish was last added."`
	PriceChanged bool    `json:"priceChanged"`
	Remaining    *int64  `json:"remaining" doc:"Units that can still be ordered today; null for no limit."`
	IsSoldOut    bool    `json:"isSoldOut" doc:"Less is left than the quantity in the cart."`
	IsAvailable  bool    `json:"isAvailable" doc:"false if the dish is not on the menu any more."`
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

func viewOf(v cart.View, l httpapi.Language) view {
	b := view{
		BranchID: decimal(v.Branch.ID), MenuVersionID: decimal(v.MenuVersionID), Currency: string(v.Currency),
		Items: make([]item, len(v.Items)), TotalPrice: v.Total, Version: v.Version,
	}
	if v.ID != 0 {
		id := decimal(v.ID)
		b.ID = &id
	}
	for i, it := range v.Items {
		b.Items[i] = itemOf(v, it, l)
	}
	return b
}

func itemOf(v cart.View, it cart.Item, l httpapi.Language) item {
	out := item{
		ID: decimal(it.ID), CartID: decimal(v.ID), DishID: decimal(it.DishID), Name: it.Names.In(preferred(l, v.Branch)...),
		Quantity: it.Quantity, Price: it.Price, Total: it.Total, Was: it.Line.Price, PriceChanged: it.PriceChanged(),
		IsSoldOut: it.SoldOut(), IsAvailable: it.Available,
	}
	if it.ItemID != 0 {
		id := decimal(it.ItemID)
		out.ItemID = &id
	}
	if it.ImageURL != "" {
		out.ImageURL = &it.ImageURL
	}
	if it.Limited {
		out.Remaining = &it.Left
	}
	return out
}

type getInput struct {
	httpapi.Language
	BranchID string `query:"branchId" pattern:"^([1-9][0-9]{0,17})?$" doc:"The branch whose menu prices the cart; by default the cart's own."`
}

func (r routes) get(ctx context.Context, in *getInput) (*httpapi.Output[view], error) {
	branch, err := parse(in.BranchID)
	if err != nil {
		return nil, err
	}
	v, err := r.carts.Get(ctx, authz.ActorOf(ctx), branch)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(viewOf(v, in.Language)), nil
}

// parse parses an id; an empty text is 0.
func parse(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fault.New(fault.Invalid, "invalid", "An id must be a positive whole number.")
	}
	return id, nil
}

type addInput struct {
	httpapi.Language
	Body struct {
		DishID   string `json:"dishId" pattern:"^[1-9][0-9]{0,17}$"`
		Quantity int64  `json:"quantity" minimum:"1" maximum:"20"`
		BranchID string `json:"branchId,omitempty" pattern:"^[1-9][0-9]{0,17}$"`
	}
}

func (r routes) add(ctx context.Context, in *addInput) (*httpapi.Output[item], error) {
	dish, err := parse(in.Body.DishID)
	if err != nil {
		return nil, err
	}
	branch, err := parse(in.Body.BranchID)
	if err != nil {
		return nil, err
	}
	v, it, err := r.carts.Add(ctx, authz.ActorOf(ctx), dish, in.Body.Quantity, branch)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(itemOf(v, it, in.Language)), nil
}

type setInput struct {
	httpapi.Language
	ID   string `path:"cartDetailId" pattern:"^[1-9][0-9]{0,17}$"`
	Body struct {
		Quantity int64 `json:"quantity" minimum:"1" maximum:"20"`
	}
}

func (r routes) set(ctx context.Context, in *setInput) (*httpapi.Output[item], error) {
	id, err := parse(in.ID)
	if err != nil {
		return nil, err
	}
	v, it, err := r.carts.SetQuantity(ctx, authz.ActorOf(ctx), id, in.Body.Quantity)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(itemOf(v, it, in.Language)), nil
}

type removeInput struct {
	httpapi.Language
	ID string `path:"cartDetailId" pattern:"^[1-9][0-9]{0,17}$"`
}

func (r routes) remove(ctx context.Context, in *removeInput) (*httpapi.Output[view], error) {
	id, err := parse(in.ID)
	if err != nil {
		return nil, err
	}
	v, err := r.carts.Remove(ctx, authz.ActorOf(ctx), id)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(viewOf(v, in.Language)), nil
}

type emptyInput struct{ httpapi.Language }

func (r routes) empty(ctx context.Context, in *emptyInput) (*httpapi.Output[view], error) {
	v, err := r.carts.Empty(ctx, authz.ActorOf(ctx))
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(viewOf(v, in.Language)), nil
}
