// Package pricehttp serves the price engine: the same computation that orders and bills use, for a price lab and for other
// systems.
package pricehttp

import (
	"context"

	"comanda/internal/httpapi"
	"comanda/internal/price"
)

// Register adds the route. It stores nothing and reads no menu. By default managers have its permission.
func Register(a *httpapi.API) {
	ops := a.Operations("Prices", httpapi.Staff)
	httpapi.Register(ops, "price-quote", "POST /api/price/quote",
		"Compute discounts, service, taxes and total of a bill", quote)
}

type quoteInput struct{ Body price.Input }

func quote(_ context.Context, in *quoteInput) (price.Result, error) { return price.Quote(in.Body) }
