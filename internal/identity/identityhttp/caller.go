package identityhttp

import (
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi"
	"comanda/internal/identity"
)

// locales are those in which letters are written, the house's own first.
var locales = []string{"vi", "en", "zh-TW"}

const maxDevice = 120 // characters of a User-Agent that are kept

// From is embedded in the inputs of routes that ask where a request comes from. It is exported because huma looks into
// exported parts of an input only.
type From struct{ caller identity.Caller }

// Resolve implements huma.Resolver.
func (f *From) Resolve(ctx huma.Context) []error {
	f.caller = identity.Caller{
		Address: httpapi.ClientAddress(ctx.Context()), Network: httpapi.ClientNetwork(ctx.Context()),
		Device:  shortened(ctx.Header("User-Agent")),
		Locale:  httpapi.Locale(ctx.Header("Accept-Language"), locales...),
		Request: httpapi.RequestID(ctx.Context()),
	}
	return nil
}

func shortened(s string) string {
	kept := make([]rune, 0, maxDevice)
	for _, r := range s {
		if len(kept) == maxDevice {
			break
		}
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			kept = append(kept, r)
		}
	}
	return string(kept)
}
