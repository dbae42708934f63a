package orderinghttp

import (
	"testing"

	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/testenv"
)

// TestGateways_result checks that the result page leads a browser that stores the order's visit or a member's login to
// the order, and that it has links for other browsers.
func TestGateways_result(t *testing.T) {
	pages := Gateways{OrderPage: "/app/orders/", MemberPage: "/shop/orders/"}
	const gateway = "https://gateway.example/7"
	unpaid := ordering.Unpaid
	for _, c := range []struct {
		name    string
		pages   Gateways
		visit   string
		state   payment.State
		money   ordering.PaymentStatus
		heading string
		links   []httpapi.PageLink
		to      *httpapi.PageReturn
	}{
		{
			"a guest has paid", pages, "v1", payment.Paid, ordering.Paid, "Paid",
			[]httpapi.PageLink{{Text: "See your order", URL: "/app/orders/o%2F1"}, {Text: "Go to the start page", URL: "/"}},
			&httpapi.PageReturn{Key: "comanda.visit.v1", URL: "/app/orders/o%2F1"},
		},
		{
			"a member has paid", pages, "", payment.Paid, ordering.Paid, "Paid",
			[]httpapi.PageLink{{Text: "See your order", URL: "/shop/orders/o%2F1"}, {Text: "Go to the start page", URL: "/"}},
			&httpapi.PageReturn{Key: "comanda.member", URL: "/shop/orders/o%2F1"},
		},
		{
			"it failed", pages, "v1", payment.Failed, unpaid, "Payment didn’t go through",
			[]httpapi.PageLink{{Text: "Try again", URL: "/app/orders/o%2F1"}, {Text: "Go to the start page", URL: "/"}},
			&httpapi.PageReturn{Key: "comanda.visit.v1", URL: "/app/orders/o%2F1"},
		},
		{
			"it may still be paid there", pages, "v1", payment.Redirected, unpaid, "Checking the payment…",
			[]httpapi.PageLink{
				{Text: "Continue to payment", URL: gateway},
				{Text: "See your order", URL: "/app/orders/o%2F1"}, {Text: "Go to the start page", URL: "/"},
			},
			&httpapi.PageReturn{Key: "comanda.visit.v1", URL: "/app/orders/o%2F1"},
		},
		{"there is no app", Gateways{}, "v1", payment.Paid, ordering.Paid, "Paid", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := ordering.Detail{Order: ordering.Order{ID: "o/1", Number: 1, VisitID: c.visit, PaymentStatus: c.money}}
			got := gateways{Gateways: c.pages}.result(d, payment.Attempt{State: c.state, URL: gateway, Currency: "VND"}, "en")
			if got.Heading != c.heading || got.Label != "Order A-001" {
				t.Errorf("page = %q with heading %q, want Order A-001 with %q", got.Label, got.Heading, c.heading)
			}
			testenv.Equal(t, c.links, got.Links)
			testenv.Equal(t, c.to, got.Return)
		})
	}
}
