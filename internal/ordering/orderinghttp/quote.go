package orderinghttp

import (
	"cmp"
	"context"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/price"
	"comanda/internal/seq"
)

// registerQuotes registers the routes that return the price of an order before it is placed. Apps call them in branches
// with taxes or service charges, whose totals are more than the sum of the items.
func (r routes) registerQuotes(a *httpapi.API) {
	httpapi.Register(a.Operations("Orders", httpapi.Guest), "order-quote", "POST /cis/order/quote",
		"Get the total of an order before placing it", r.quote)
	httpapi.Register(a.Operations("Cart", httpapi.Member), "cart-quote", "POST /cart/quote",
		"Get the total of an order from your cart", r.quoteCart)
}

type quoteInput struct {
	httpapi.GuestHeader
	Body quoteBody
}

type quoteBody struct {
	Items         []createItem `json:"items" minItems:"1" maxItems:"50"`
	MenuVersionID string       `json:"menuVersionId" pattern:"^[1-9][0-9]{0,17}$"`
	Voucher       string       `json:"voucher,omitempty" text:"line" maxLength:"40" doc:"Code of a voucher."`
}

// quoted is the price of an order that is not placed.
type quoted struct {
	Currency  money.Currency `json:"currency"`
	Total     int64          `json:"total"`
	Breakdown breakdown      `json:"breakdown"`
}

// quotedOf returns a breakdown in any case; without taxes and charges it has only goods.
func quotedOf(p ordering.Priced) quoted {
	q := quoted{Currency: p.Branch.Currency, Total: p.Total, Breakdown: breakdown{
		PriceMode: price.Inclusive, Goods: p.Total, Taxes: []price.Tax{}, Total: p.Total,
	}}
	if p.Record != nil {
		q.Breakdown = *breakdownOf(*p.Record)
	}
	return q
}

func (r routes) quote(ctx context.Context, in *quoteInput) (quoted, error) {
	g, err := r.guests.Resolve(ctx, string(in.CustomerToken))
	if err != nil {
		return quoted{}, err
	}
	if err := voucherLimited(ctx, in.Body.Voucher, g.TokenHash); err != nil {
		return quoted{}, err
	}
	p, err := r.orders.Quote(ctx, g.BranchID, ordering.QuoteRequest{
		MenuVersionID: httpapi.IDOf(in.Body.MenuVersionID), Kind: ordering.DineIn,
		Items: seq.Map(in.Body.Items, createItem.line), Voucher: in.Body.Voucher,
	})
	if err != nil {
		return quoted{}, err
	}
	return quotedOf(p), nil
}

type quoteCartInput struct {
	Body struct {
		Kind     string `json:"kind,omitempty" enum:"DELIVERY,PICKUP" doc:"DELIVERY by default."`
		BranchID string `json:"branchId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"By default the cart's branch."`
		Voucher  string `json:"voucher,omitempty" text:"line" maxLength:"40" doc:"Code of a voucher."`
	}
}

func (r routes) quoteCart(ctx context.Context, in *quoteCartInput) (quoted, error) {
	actor := authz.ActorOf(ctx)
	if err := voucherLimited(ctx, in.Body.Voucher, actor.String()); err != nil {
		return quoted{}, err
	}
	p, err := r.orders.QuoteCart(ctx, actor, httpapi.IDOf(in.Body.BranchID),
		cmp.Or(ordering.Kind(in.Body.Kind), ordering.Delivery), in.Body.Voucher)
	if err != nil {
		return quoted{}, err
	}
	return quotedOf(p), nil
}
