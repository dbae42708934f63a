package accounthttp

import (
	"net/http"

	"comanda/internal/account"
	"comanda/internal/telemetry"
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
func (m *memberRoutes) setDeviceCookie(cookie string) DeviceCookieOut {
	if cookie == "" {
		return DeviceCookieOut{}
	}
	return DeviceCookieOut{[]http.Cookie{{ //nolint:gosec // browsers drop secure cookies without https
		Name: deviceCookie, Value: cookie, Path: "/", MaxAge: int(account.DeviceCookieTTL.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: m.secure(),
	}}}
}
