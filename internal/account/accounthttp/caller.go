package accounthttp

import (
	"net/http"
	"slices"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/mileusna/useragent"

	"comanda/internal/account"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
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

// deviceName returns the browser and the system of a User-Agent, or "" for other clients. The header itself is not shown:
// anyone can write into it, and an e-mail must not carry texts of strangers.
func deviceName(userAgent string) string {
	d := useragent.Parse(userAgent)
	if !slices.Contains(browsers, d.Name) || !slices.Contains(systems, d.OS) {
		return ""
	}
	return d.Name + ", " + d.OS
}

var (
	browsers = []string{
		useragent.Chrome, useragent.Safari, useragent.Firefox, useragent.Edge, useragent.Opera, useragent.Vivaldi,
		"Samsung Browser",
	}
	systems = []string{
		useragent.Android, useragent.IOS, useragent.Windows, useragent.MacOS, useragent.Linux, useragent.ChromeOS,
	}
)

// deviceCookie marks devices on which accounts have logged in, see account.DeviceCookies. It survives a logout.
const deviceCookie = "comanda_device"

// DeviceCookieIn is embedded in inputs of routes that read the device cookie. It is exported because huma only reads
// exported parts of an input.
type DeviceCookieIn struct {
	DeviceCookie telemetry.Secret `cookie:"comanda_device" doc:"Set by a login. It does not authenticate."`
}

// DeviceCookieOut is embedded in outputs of routes that set the device cookie.
type DeviceCookieOut struct {
	SetCookie []http.Cookie `header:"Set-Cookie" doc:"The new device cookie."`
}

// setDeviceCookie sets the device cookie; an empty value keeps the old one. Scripts cannot read the cookie, other sites
// cannot send it, and it grants nothing by itself.
func (r *memberRoutes) setDeviceCookie(cookie string) DeviceCookieOut {
	if cookie == "" {
		return DeviceCookieOut{}
	}
	return DeviceCookieOut{[]http.Cookie{{ //nolint:gosec // browsers drop secure cookies without https
		Name: deviceCookie, Value: cookie, Path: "/", MaxAge: int(account.DeviceCookieTTL.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: r.secure(),
	}}}
}
