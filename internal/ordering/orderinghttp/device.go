package orderinghttp

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi"
	"comanda/internal/ordering"
)

// locales are those of pages on which to pay, the house's own first.
var locales = []string{"vi", "en", "zh-TW"}

// Device is embedded in the inputs of routes that send a guest to a gateway's page. It is exported because huma looks
// into exported parts of an input only.
type Device struct{ from ordering.Client }

// Resolve implements huma.Resolver.
func (d *Device) Resolve(ctx huma.Context) []error {
	d.from = ordering.Client{
		Address:  httpapi.ClientAddress(ctx.Context()),
		Language: httpapi.Locale(ctx.Header("Accept-Language"), locales...),
	}
	return nil
}

func (d *Device) client() ordering.Client { return d.from }

// page gives where a new order is paid. A gateway that does not answer now costs the guest a second click, not the
// order.
func (r routes) page(ctx context.Context, o ordering.Order, d Device) string {
	if !o.Method.Remote() {
		return ""
	}
	page, err := r.orders.PageOf(ctx, o.ID, d.from)
	if err != nil {
		r.orders.Log.WarnContext(ctx, "there is no page to pay on yet", "order", o.ID, "method", o.Method, "err", err)
	}
	return page
}
