package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

type cancelIn struct {
	httpapi.GuestHeader
	ID   string `path:"id" minLength:"3" maxLength:"26"`
	Body struct {
		Reason string `json:"reason,omitempty" text:"lines" maxLength:"200"`
	}
}

type canceled struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

func cancel(_ context.Context, in *cancelIn) (canceled, error) {
	if in.CustomerToken == "" {
		return canceled{}, fault.New(fault.Unauthenticated, "customer_token_invalid", "Please scan the table's code again.")
	}
	return canceled{in.ID, "CANCELED"}, nil
}

// A package has one function that registers all its routes.
func ExampleRegister() {
	s, err := httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), telemetry.NewRegistry(telemetry.ReadBuild()))
	if err != nil {
		fmt.Println(err)
		return
	}
	guests := s.API().Operations("Orders", httpapi.Guest)
	httpapi.Register(guests, "cancel-order", "POST /cis/order/{id}/cancel", "Cancel an order", cancel)

	for _, token := range []string{"abc", ""} {
		r := httptest.NewRequest("POST", "/cis/order/o-1/cancel", strings.NewReader(`{"reason":"too late"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Request-Id", "example-1")
		if token != "" {
			r.Header.Set(httpapi.CustomerTokenHeader, token)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// 200 application/json
	// 401 application/problem+json
}
