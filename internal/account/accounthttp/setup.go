package accounthttp

import (
	"context"

	"comanda/internal/account"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

// Setup registers the routes of an installation without an owner.
func Setup(a *httpapi.API, setup *account.Setup) {
	ops := a.Operations("Set-up", httpapi.Public)
	httpapi.Register(ops, "setup", "POST /auth/setup", "Create the first owner with the code that the server printed",
		func(ctx context.Context, in *setupIn) (Account, error) {
			p := account.Profile{Email: in.Body.Email, Username: in.Body.Username}
			return accountResult(setup.CreateOwner(ctx, string(in.Body.Code), p, string(in.Body.Password), in.caller))
		}, httpapi.Created)
	httpapi.Register(ops, "setup-state", "GET /auth/setup", "Check whether the first owner is still missing",
		func(ctx context.Context, _ *struct{}) (setupState, error) {
			needed, err := setup.Needed(ctx)
			return setupState{needed}, err
		})
}

type setupState struct {
	IsNeeded bool `json:"isNeeded" doc:"Whether the first owner is missing. The server has then printed a link that creates one."`
}

type setupIn struct {
	CallerIn

	Body struct {
		Code     telemetry.Secret `json:"code" minLength:"1" maxLength:"128"`
		Email    string           `json:"email" text:"line" minLength:"3" maxLength:"254"`
		Username string           `json:"username,omitempty" text:"line" maxLength:"64"`
		Password telemetry.Secret `json:"password" minLength:"15" maxLength:"128" doc:"Used exactly as sent; not trimmed."`
	}
}
