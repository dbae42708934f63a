// Package carthttp serves the members' cart over HTTP. The access token determines the cart.
package carthttp

import (
	"context"
	"slices"

	"comanda/internal/authz"
	"comanda/internal/cart"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

type routes struct{ carts *cart.Service }

// Register registers the routes.
func Register(a *httpapi.API, carts *cart.Service) {
	r, ops := routes{carts}, a.Operations("Cart", httpapi.Member)
	httpapi.Register(ops, "cart-get", "GET /cart", "View your cart, priced by the current menu", r.get)
	httpapi.Register(ops, "cart-add", "POST /cart/add-dish",
		"Add a dish to your cart; the same dish again raises its quantity", r.add, httpapi.Created)
	httpapi.Register(ops, "cart-set", "PATCH /cart/items/{cartDetailId}", "Change the quantity of a dish in your cart", r.set)
	httpapi.Register(ops, "cart-remove", "DELETE /cart/items/{cartDetailId}", "Remove a dish from your cart", r.remove)
	httpapi.Register(ops, "cart-empty", "DELETE /cart", "Empty your cart", r.empty)
}

func preferred(l httpapi.Language, b catalog.Branch) []catalog.Locale {
	if chosen := catalog.Locale(l.Locale); chosen.Valid() {
		return append([]catalog.Locale{chosen}, b.Locales...)
	}
	if best := httpapi.Locale(l.AcceptLanguage, b.Locales...); best != "" {
		return append([]catalog.Locale{best}, b.Locales...)
	}
	return b.Locales
}

type view struct {
	ID            *string `json:"id" doc:"null if the cart has never contained a dish."`
	BranchID      string  `json:"branchId"`
	MenuVersionID string  `json:"menuVersionId"`
	Currency      string  `json:"currency"`
	Items         []item  `json:"items"`
	TotalPrice    int64   `json:"totalPrice" doc:"Total of the available dishes, in minor units."`
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
	IsSoldOut    bool    `json:"isSoldOut" doc:"Whether fewer units are left than the quantity in the cart."`
	IsAvailable  bool    `json:"isAvailable" doc:"false if the dish is no longer on the menu, or not with these options."`

	Options []cartOption `json:"options,omitempty" doc:"Options of one unit; absent if there are none. The price includes them."`
}

func viewOf(v cart.View, l httpapi.Language) view {
	return view{
		ID: httpapi.IDOrNull(v.ID), BranchID: httpapi.FormatID(v.Branch.ID),
		MenuVersionID: httpapi.FormatID(v.MenuVersionID), Currency: string(v.Currency),
		Items: seq.Map(v.Items, func(it cart.Item) item { return itemOf(v, it, l) }), TotalPrice: v.Total,
		Version: v.Version,
	}
}

func itemOf(v cart.View, it cart.Item, l httpapi.Language) item {
	out := item{
		ID: httpapi.FormatID(it.ID), CartID: httpapi.FormatID(v.ID), DishID: httpapi.FormatID(it.DishID),
		ItemID: httpapi.IDOrNull(it.ItemID), ImageURL: httpapi.OrNull(it.ImageURL),
		Name: it.Names.In(preferred(l, v.Branch)...), Quantity: it.Quantity, Price: it.Price, Total: it.Total,
		Was: it.Line.Price, PriceChanged: it.PriceChanged(), IsSoldOut: it.SoldOut(), IsAvailable: it.Available,
		Options: optionsOf(it.Configured, it.Options, preferred(l, v.Branch)),
	}
	if it.Limited {
		out.Remaining = &it.Left
	}
	return out
}

// ByKind names the kind of order that a cart is shown for. It is exported because huma only reads exported embedded fields.
type ByKind struct {
	Kind string `query:"kind" enum:"DELIVERY,PICKUP" doc:"The kind of order whose menu prices the cart and limits its dishes; by default, for each dish, the first menu that has units of it left for members, else the first one that offers it."`
}

// of returns the cart for the kind of order.
func (k ByKind) of(v cart.View) cart.View {
	if k.Kind == "" {
		return v
	}
	return v.For(catalog.OrderKind(k.Kind))
}

type getInput struct {
	httpapi.Language
	ByKind
	BranchID string `query:"branchId" pattern:"^([1-9][0-9]{0,17})?$" doc:"The branch whose menu prices the cart; by default the cart's own."`
}

func (r routes) get(ctx context.Context, in *getInput) (view, error) {
	v, err := r.carts.Get(ctx, authz.ActorOf(ctx), httpapi.IDOf(in.BranchID))
	return viewOf(in.of(v), in.Language), err
}

type addInput struct {
	httpapi.Language
	Body struct {
		DishID   string `json:"dishId" pattern:"^[1-9][0-9]{0,17}$"`
		Quantity int64  `json:"quantity" minimum:"1" maximum:"20"`
		BranchID string `json:"branchId,omitempty" pattern:"^[1-9][0-9]{0,17}$"`

		Options []chosenOption `json:"options,omitempty" maxItems:"30" doc:"Options of one unit. The same dish with other options is another line."`
	}
}

func (r routes) add(ctx context.Context, in *addInput) (item, error) {
	dish, branch := httpapi.IDOf(in.Body.DishID), httpapi.IDOf(in.Body.BranchID)
	v, it, err := r.carts.Add(ctx, authz.ActorOf(ctx), dish, in.Body.Quantity, branch, chosenOf(in.Body.Options)...)
	return itemOf(v, it, in.Language), err
}

type setInput struct {
	httpapi.Language
	ByKind
	ID   string `path:"cartDetailId" pattern:"^[1-9][0-9]{0,17}$"`
	Body struct {
		Quantity int64 `json:"quantity" minimum:"1" maximum:"20"`
	}
}

func (r routes) set(ctx context.Context, in *setInput) (item, error) {
	v, it, err := r.carts.SetQuantity(ctx, authz.ActorOf(ctx), httpapi.IDOf(in.ID), in.Body.Quantity)
	v = in.of(v)
	if i := slices.IndexFunc(v.Items, func(l cart.Item) bool { return l.ID == it.ID }); i >= 0 {
		it = v.Items[i]
	}
	return itemOf(v, it, in.Language), err
}

type removeInput struct {
	httpapi.Language
	ByKind
	ID string `path:"cartDetailId" pattern:"^[1-9][0-9]{0,17}$"`
}

func (r routes) remove(ctx context.Context, in *removeInput) (view, error) {
	v, err := r.carts.Remove(ctx, authz.ActorOf(ctx), httpapi.IDOf(in.ID))
	return viewOf(in.of(v), in.Language), err
}

func (r routes) empty(ctx context.Context, in *httpapi.Language) (view, error) {
	v, err := r.carts.Empty(ctx, authz.ActorOf(ctx))
	return viewOf(v, *in), err
}

// chosenOption is a chosen option, with its own options for each unit of it.
type chosenOption struct {
	OptionQty
	Options []OptionQty `json:"options,omitempty" maxItems:"30"`
}

// OptionQty is a number of units of an option. It is exported because huma only reads exported embedded fields.
type OptionQty struct {
	OptionID string `json:"optionId" pattern:"^[1-9][0-9]{0,17}$"`
	Qty      int64  `json:"qty" minimum:"1" maximum:"20"`
}

func chosenOf(options []chosenOption) (chosen []catalog.ChosenOption) {
	one := func(o OptionQty) catalog.ChosenOption {
		return catalog.ChosenOption{OptionID: httpapi.IDOf(o.OptionID), Qty: o.Qty}
	}
	for _, o := range options {
		c := one(o.OptionQty)
		for _, below := range o.Options {
			c.Options = append(c.Options, one(below))
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// cartOption is an option of a line.
type cartOption struct {
	ShownOption
	Options []ShownOption `json:"options,omitempty"`
}

// ShownOption is an option with its current name and price. It is exported because huma only reads exported embedded
// fields.
type ShownOption struct {
	GroupID  *string `json:"groupId" doc:"null if the menu no longer offers the line's options."`
	OptionID string  `json:"optionId"`
	Name     string  `json:"name" doc:"Empty if the menu no longer offers the line's options."`
	Qty      int64   `json:"qty" doc:"In one unit of the dish, or of the option above."`
	Price    int64   `json:"price" doc:"Price of one on the menu, before free units and credits."`
}

// optionsOf returns the options of a line: those of the menu, or else the stored ones without names; nil for none.
func optionsOf(configured []catalog.OptionLine, stored string, locales []catalog.Locale) []cartOption {
	if configured == nil {
		configured = stripped(catalog.DecodeOptions(stored))
	}
	if len(configured) == 0 {
		return nil
	}
	one := func(l catalog.OptionLine) ShownOption {
		return ShownOption{
			httpapi.IDOrNull(l.GroupID), httpapi.FormatID(l.OptionID), l.Names.In(locales...), l.Qty, l.Price,
		}
	}
	return seq.Map(configured, func(l catalog.OptionLine) cartOption {
		o := cartOption{ShownOption: one(l)}
		if len(l.Options) > 0 {
			o.Options = seq.Map(l.Options, one)
		}
		return o
	})
}

// stripped returns options of which only ids and quantities are known.
func stripped(chosen []catalog.ChosenOption) (lines []catalog.OptionLine) {
	for _, c := range chosen {
		lines = append(lines, catalog.OptionLine{OptionID: c.OptionID, Qty: c.Qty, Options: stripped(c.Options)})
	}
	return lines
}
