package identityhttp

import (
	"net/http"

	"comanda/internal/identity"
	"comanda/internal/telemetry"
)

// deviceCookie marks a device on which accounts have logged in, see identity.Devices. It stays after a logout.
const deviceCookie = "comanda_device"

// Marked is embedded in the inputs of routes that read the device's marks. It is exported because huma looks into exported
// parts of an input only.
type Marked struct {
	Marks telemetry.Secret `cookie:"comanda_device" doc:"What a login has set; it logs nobody in."`
}

// Marking is embedded in the outputs of routes that set the device's marks.
type Marking struct {
	SetCookie []http.Cookie `header:"Set-Cookie" doc:"The device is known from now on."`
}

// marking sets the device's marks; empty ones leave them as they are. Scripts cannot read the cookie, other sites cannot
// have it sent, and it opens nothing by itself.
func (m *member) marking(marks string) Marking {
	if marks == "" {
		return Marking{}
	}
	return Marking{[]http.Cookie{{ //nolint:gosec // without https a browser would not keep a secure one
		Name: deviceCookie, Value: marks, Path: "/", MaxAge: int(identity.DeviceLife.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: m.secure,
	}}}
}
