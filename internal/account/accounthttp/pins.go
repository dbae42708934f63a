package accounthttp

import (
	"context"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

// registerPins registers the routes by which staff take over a shared tablet.
func (m *memberRoutes) registerPins(a *httpapi.API) {
	ops := a.Operations("Members", httpapi.Member)
	httpapi.RegisterOutput(ops, "me-pin", "PUT /me/pin", "Set your PIN", m.setPin)
	httpapi.RegisterOutput(ops, "me-pin-remove", "DELETE /me/pin", "Remove your PIN", m.removePin)
	httpapi.Register(ops, "pin-colleagues", "GET /auth/pin",
		"List the colleagues who can take over this device by PIN", m.colleagues)
	httpapi.Register(ops, "pin-login", "POST /auth/pin",
		"Let a colleague take over this device by PIN; their session ends no later than yours", m.takeOver)
}

type pinIn struct {
	Body struct {
		Password telemetry.Secret `json:"password" minLength:"1" maxLength:"128" doc:"The current password."`
		Pin      telemetry.Secret `json:"pin" minLength:"4" maxLength:"8" doc:"4 to 8 digits."`
	}
}

func (m *memberRoutes) setPin(ctx context.Context, in *pinIn) (*struct{}, error) {
	return nil, m.accounts.SetPin(ctx, authz.ActorOf(ctx), string(in.Body.Password), string(in.Body.Pin))
}

func (m *memberRoutes) removePin(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, m.accounts.RemovePin(ctx, authz.ActorOf(ctx))
}

type colleague struct {
	UserID string `json:"userId"`
	Name   string `json:"name"`
	Role   string `json:"role"`
}

// colleagues returns all colleagues in one page: a branch has few.
func (m *memberRoutes) colleagues(ctx context.Context, _ *struct{}) (httpapi.List[colleague], error) {
	all, err := m.accounts.Colleagues(ctx, authz.ActorOf(ctx))
	return httpapi.ListOf(all, len(all), func(c account.Colleague) colleague {
		return colleague{httpapi.FormatID(c.UserID), c.Name, c.Role}
	}), err
}

type takeOverIn struct {
	CallerIn

	Body struct {
		UserID string           `json:"userId" pattern:"^[1-9][0-9]{0,17}$"`
		Pin    telemetry.Secret `json:"pin" minLength:"4" maxLength:"8"`
	}
}

// takeOver needs the session of the colleague who is logged in; the new session does not end that one.
func (m *memberRoutes) takeOver(ctx context.Context, in *takeOverIn) (grant, error) {
	user := httpapi.IDOf(in.Body.UserID)
	g, err := m.accounts.TakeOver(ctx, authz.ActorOf(ctx), user, string(in.Body.Pin), in.caller)
	return grantOf(g), err
}
