package orderinghttp

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi"
	"comanda/internal/ordering"
)

// locales are the languages of payment pages. The first one is the default.
var locales = []string{"vi", "en", "zh-TW"}

// Device is embedded in the inputs of routes that send a guest to a gateway's payment page. It is exported because huma
// ignores unexported embedded fields.
type Device struct{ from ordering.Client }

// Resolve implements huma.Resolver. It reads the client's address and preferred language from the request.
func (d *Device) Resolve(ctx huma.Context) []error {
	d.from = ordering.Client{
		Address:  httpapi.ClientAddress(ctx.Context()),
		Language: httpapi.Locale(ctx.Header("Accept-Language"), locales...),
	}
	return nil
}

func (d *Device) client() ordering.Client { return d.from }

// page returns the payment page of a new order, or "" if the method has none. A gateway's failure is only logged: the
// order stays placed, and the guest can request the page again.
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
