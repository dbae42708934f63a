package accounthttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/account"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

// Setup registers the route that creates the first owner.
func Setup(a *httpapi.API, setup *account.Setup) {
	httpapi.Register(a, huma.Operation{
		OperationID: "setup", Method: http.MethodPost, Path: "/auth/setup", Tags: []string{"Set-up"},
		DefaultStatus: http.StatusCreated, Summary: "Creates the first owner with the code that the server printed",
	}, httpapi.Public, func(ctx context.Context, in *setupIn) (*httpapi.Output[Account], error) {
		p := account.Profile{Email: in.Body.Email, Username: in.Body.Username}
		return accountResult(setup.CreateOwner(ctx, string(in.Body.Code), p, string(in.Body.Password), in.caller))
	})
}

type setupIn struct {
	CallerIn

	Body struct {
		Code     telemetry.Secret `json:"code" minLength:"1" maxLength:"128"`
		Email    string           `json:"email" text:"line" minLength:"3" maxLength:"254"`
		Username string           `json:"username,omitempty" text:"line" maxLength:"64"`
		Password telemetry.Secret `json:"password" minLength:"15" maxLength:"128" doc:"Taken exactly as it is sent."`
	}
}
