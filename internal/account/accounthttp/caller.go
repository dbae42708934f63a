package accounthttp

import (
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/account"
	"comanda/internal/httpapi"
)

// locales are the locales of e-mails, the default first.
var locales = []string{"vi", "en", "zh-TW"}

// maxDevice bounds the User-Agent, which is the client's text and is shown in the list of sessions.
const maxDevice = 120 // stored characters of a User-Agent

// CallerIn is embedded in inputs of routes that need the client of the request. It is exported because huma only reads
// exported parts of an input.
type CallerIn struct{ caller account.Caller }

// Resolve implements huma.Resolver.
func (f *CallerIn) Resolve(ctx huma.Context) []error {
	f.caller = account.Caller{
		Address: httpapi.ClientAddress(ctx.Context()), Network: httpapi.ClientNetwork(ctx.Context()),
		Device: printable(ctx.Header("User-Agent")), DeviceName: deviceName(ctx.Header("User-Agent")),
		Locale:  httpapi.Locale(ctx.Header("Accept-Language"), locales...),
		Request: httpapi.RequestID(ctx.Context()),
	}
	return nil
}

// printable returns the first maxDevice printable characters of s.
func printable(s string) string {
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
