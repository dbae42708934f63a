package orderinghttp

import (
	"testing"

	"comanda/internal/ordering"
)

// Whoever comes back from a gateway is led to the order where it can be seen: guests at the table, members at home.
func TestOrderPage(t *testing.T) {
	pages := Gateways{OrderPage: "/app/orders/", MemberPage: "/shop/orders/"}
	for _, c := range []struct {
		name, visit string
		pages       Gateways
		want        string
	}{
		{"a guest", "v1", pages, "/app/orders/o%2F1"},
		{"a member", "", pages, "/shop/orders/o%2F1"},
		{"a guest where there is no app", "v1", Gateways{}, ""},
		{"a member where there is no app", "", Gateways{}, ""},
	} {
		d := ordering.Detail{Order: ordering.Order{ID: "o/1", VisitID: c.visit}}
		if got := (gateways{Gateways: c.pages}).orderPage(d); got != c.want {
			t.Errorf("%s is led to %q, want %q", c.name, got, c.want)
		}
	}
}
