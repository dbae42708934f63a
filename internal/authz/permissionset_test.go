package authz

import "testing"

func TestSetOf(t *testing.T) {
	for _, c := range []struct {
		method, path, module string
		want                 PermissionSet
	}{
		{"GET", "/api/orders/{id}", "ORDERS", SetView},
		{"GET", "/api/tables", "TABLES", SetServe},
		{"POST", "/api/tables", "TABLES", SetBranch},
		{"POST", "/api/visits/{id}/close", "VISITS", SetServe},
		{"POST", "/api/orders/{id}/start", "ORDERS", SetCook},
		{"POST", "/api/orders/{id}/serve", "ORDERS", SetHandOver},
		{"POST", "/api/menu-items/{id}/86", "MENUS", SetSellOut},
		{"POST", "/api/branches/{id}/options/{optionId}/on", "MENUS", SetSellOut},
		{"POST", "/api/orders/{id}/refunds", "ORDERS", SetMoney},
		{"GET", "/api/payments", "PAYMENTS", SetMoney},
		{"POST", "/api/orders/{id}/payments/{paymentId}/mismatch", "PAYMENTS", SetBranch},
		{"POST", "/api/menu-versions/{id}/publish", "MENUS", SetMenu},
		{"POST", "/api/branches/{id}/pause", "BRANCHES", SetBranch},
		{"POST", "/api/branches", "BRANCHES", SetAdmin},
		{"GET", "/api/roles", "ROLES", SetPeople},
		{"PUT", "/api/roles/{id}/permissions", "ROLES", SetAdmin},
		{"GET", "/orders/{id}", "ORDERS", SetOwn},
		{"GET", "/api/loyalty", "LOYALTY", ""},
	} {
		if got := SetOf(Permission{Method: c.method, Path: c.path, Module: c.module}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.method, c.path, got, c.want)
		}
	}
}
