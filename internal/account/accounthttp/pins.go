package accounthttp

import (
	"context"
	"net/http"
	"strconv"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

// registerPins registers the routes by which staff take over a shared tablet.
func (m *memberRoutes) registerPins(a *httpapi.API) {
	op := httpapi.Operations("Members")
	httpapi.Register(a, op("me-pin", http.MethodPut, "/me/pin", "Sets your PIN", http.StatusNoContent),
		httpapi.Member, m.setPin)
	httpapi.Register(a, op("me-pin-remove", http.MethodDelete, "/me/pin", "Removes your PIN", http.StatusNoContent),
		httpapi.Member, m.removePin)
	httpapi.Register(a, op("pin-colleagues", http.MethodGet, "/auth/pin",
		"Lists the colleagues who can take over this device by PIN", http.StatusOK), httpapi.Member, m.colleagues)
	httpapi.Register(a, op("pin-login", http.MethodPost, "/auth/pin",
		"Begins a colleague's session on this device, ending no later than yours", http.StatusOK),
		httpapi.Member, m.takeOver)
}

type pinIn struct {
	Body struct {
		Password telemetry.Secret `json:"password" minLength:"1" maxLength:"128" doc:"The current password."`
		Pin      telemetry.Secret `json:"pin" minLength:"4" maxLength:"8" doc:"4 to 8 digits."`
	}
}

func (m *memberRoutes) setPin(ctx context.Context, in *pinIn) (*noContent, error) {
	return nil, m.accounts.SetPin(ctx, authz.ActorOf(ctx), string(in.Body.Password), string(in.Body.Pin))
}

func (m *memberRoutes) removePin(ctx context.Context, _ *struct{}) (*noContent, error) {
	return nil, m.accounts.RemovePin(ctx, authz.ActorOf(ctx))
}

type colleague struct {
	UserID string `json:"userId"`
	Name   string `json:"name"`
	Role   string `json:"role"`
}

type colleagueList struct {
	Items []colleague `json:"items"`
	Total int         `json:"total"`
}

// colleagues returns all colleagues in one page: a branch has few.
func (m *memberRoutes) colleagues(ctx context.Context, _ *struct{}) (*httpapi.Output[colleagueList], error) {
	all, err := m.accounts.Colleagues(ctx, authz.ActorOf(ctx))
	if err != nil {
		return nil, err
	}
	list := colleagueList{make([]colleague, len(all)), len(all)}
	for i, c := range all {
		list.Items[i] = colleague{strconv.FormatInt(c.UserID, 10), c.Name, c.Role}
	}
	return httpapi.OutputOf(list), nil
}

type takeOverIn struct {
	CallerIn

	Body struct {
		UserID string           `json:"userId" pattern:"^[1-9][0-9]{0,17}$"`
		Pin    telemetry.Secret `json:"pin" minLength:"4" maxLength:"8"`
	}
}

// takeOver needs the session of the colleague who is logged in; the new session does not end that one.
func (m *memberRoutes) takeOver(ctx context.Context, in *takeOverIn) (*httpapi.Output[grant], error) {
	user, err := strconv.ParseInt(in.Body.UserID, 10, 64)
	if err != nil {
		return nil, account.ErrPin
	}
	g, err := m.accounts.TakeOver(ctx, authz.ActorOf(ctx), user, string(in.Body.Pin), in.caller)
	if err != nil {
		return nil, err
	}
	return grantOf(g), nil
}
