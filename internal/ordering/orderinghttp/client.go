package orderinghttp

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/catalog"
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

// client returns the device after huma has called Resolve.
func (d *Device) client() ordering.Client { return d.from }

// page returns the payment page of a new order, or "" if the method has none. A gateway's failure is only logged: the
// order stays placed, and the guest can request the page again, or start another attempt after a refusal. It waits for
// the gateway, after the order has been committed.
func (r routes) page(ctx context.Context, o ordering.Order, d Device) string {
	if !o.Method.Remote() {
		return ""
	}
	page, err := r.orders.PageOf(ctx, o.ID, d.from)
	if err != nil {
		r.orders.Log.WarnContext(ctx, "the payment page could not be created", "order", o.ID, "method", o.Method, "err", err)
	}
	return page
}

// itemsIn returns an order's items with their names in the guest's language, as they were when the order was placed.
// If a name is missing in that language, the kitchen's name is returned. The staff's routes use itemsOf.
func itemsIn(items []ordering.Item, l httpapi.Language) []item {
	out := itemsOf(items)
	for i, it := range items {
		out[i].Name = it.NameIn(func(have []catalog.Locale) catalog.Locale { return localeIn(l, have) })
		out[i].Options = optionsOf(it.OptionLines(), func(o *catalog.OptionLine) string {
			return cmp.Or(o.Names[localeIn(l, o.Names.Locales())], o.Name)
		})
	}
	return out
}

// localeIn returns the explicitly requested locale if it is in have, else the best match for Accept-Language.
// Without a match it returns "", and the caller uses the branch's default.
func localeIn(l httpapi.Language, have []catalog.Locale) catalog.Locale {
	if named := catalog.Locale(l.Locale); slices.Contains(have, named) {
		return named
	}
	return httpapi.Locale(l.AcceptLanguage, append([]catalog.Locale{""}, have...)...) // "" is the result without a match
}

// guestDetailOf returns detailOf with the items' names in the guest's language.
func guestDetailOf(d ordering.Detail, l httpapi.Language) Detail {
	out := detailOf(d)
	out.Items = itemsIn(d.Items, l)
	return out
}

// Limits of the recorded headers of one request. A sender chooses their size, and every message is stored.
const (
	maxHeaderLine  = 256 // bytes of one line, including the header's name
	maxHeaderLines = 16
)

// headersOf returns the headers that identify the sender of a gateway's message, one per line: the client address, the
// usual client headers and those specific to LINE Pay. It omits credentials such as cookies and signatures, so that the
// record cannot be replayed.
func headersOf(r *http.Request) string {
	lines := []string{headerLine("Remote-Address", httpapi.ClientAddress(r.Context()))}
	for _, name := range append([]string{"User-Agent", "Content-Type", "X-Forwarded-For"}, ofLINEPay(r.Header)...) {
		if values := r.Header.Values(name); len(values) > 0 && len(lines) < maxHeaderLines {
			lines = append(lines, headerLine(name, strings.Join(values, ", ")))
		}
	}
	return strings.Join(lines, "\n")
}

// ofLINEPay returns the names of LINE Pay's own headers in sorted order, without its signature. They are sorted, so
// that equal messages have equal records.
func ofLINEPay(h http.Header) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(h)), func(name string) bool {
		return !strings.HasPrefix(name, "X-Line-") || name == "X-Line-Authorization"
	})
}

// headerLine returns one header as valid UTF-8, at most maxHeaderLine bytes, because PostgreSQL rejects invalid UTF-8.
// It contains no line break: net/http rejects such headers.
func headerLine(name, value string) string {
	line := name + ": " + value
	return strings.ToValidUTF8(line[:min(len(line), maxHeaderLine)], "?")
}
