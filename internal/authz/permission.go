package authz

import (
	"slices"
	"time"
)

// Permission is the right to use one route. Every route that requires a permission has one, created from the route
// table.
type Permission struct {
	ID        int64
	Name      string // summary of the route
	Path      string // pattern of the route, such as /api/tables/{id}/rotate
	Method    string
	Module    string // TABLES
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64

	Own bool // the route serves only the caller's own data; from the route table, not stored
}

// grant selects permissions from the route table: those of a module, or only of one method, or of one route.
// Most grants name whole modules, so that roles receive new routes of a module without a change here.
type grant struct {
	module string
	method string // empty for all
	path   string // empty for all
}

func (g grant) covers(p Permission) bool {
	return g.module == p.Module && (g.method == "" || g.method == p.Method) && (g.path == "" || g.path == p.Path)
}

func allOf(modules ...string) []grant {
	grants := make([]grant, len(modules))
	for i, m := range modules {
		grants[i] = grant{module: m}
	}
	return grants
}

func readsOf(modules ...string) []grant {
	grants := allOf(modules...)
	for i := range grants {
		grants[i].method = "GET"
	}
	return grants
}

// orderSteps returns grants for steps of an order between the kitchen and the table.
func orderSteps(words ...string) []grant {
	grants := make([]grant, len(words))
	for i, w := range words {
		grants[i] = grant{"ORDERS", "POST", "/api/orders/{id}/" + w}
	}
	return grants
}

// defaultGrants are the permissions that the built-in roles below administrators receive when a permission is
// created. Later changes by an operator are kept.
var defaultGrants = map[string][]grant{
	RoleManager: slices.Concat(
		// Managers change their branches; creating and retiring them is for administrators.
		readsOf("BRANCHES"), []grant{
			{"BRANCHES", "PATCH", ""}, {"BRANCHES", "POST", "/api/branches/{id}/pause"},
			{"BRANCHES", "POST", "/api/branches/{id}/resume"},
		},
		allOf("MENUS", "TABLES", "CODES", "VISITS", "ORDERS", "RECEIVERS", "PAYMENTS", "REPORTS", "STOCK", "INVENTORY",
			"USERS", "PRICES", "DISCOUNTS"),
		readsOf("ROLES", "AUDIT", "TAXES", "VOUCHERS"),
	),
	RoleCashier: slices.Concat(allOf("ORDERS", "VISITS"), readsOf("BRANCHES", "TABLES", "PAYMENTS", "RECEIVERS"), []grant{
		{"PAYMENTS", "POST", "/api/orders/{id}/payments/{paymentId}/check"},
	}),
	RoleKitchen: slices.Concat(
		readsOf("BRANCHES", "ORDERS"), []grant{
			// The kitchen may take a dish off the menu for a while. Quotas and reservations by other systems are for
			// managers.
			{"MENUS", "POST", "/api/menu-items/{id}/86"}, {"MENUS", "POST", "/api/menu-items/{id}/restore"},
			{"MENUS", "POST", "/api/branches/{id}/options/{optionId}/off"},
			{"MENUS", "POST", "/api/branches/{id}/options/{optionId}/on"},
			{"STOCK", "GET", "/api/stock/items"}, {"STOCK", "GET", "/api/stock/items/{id}/adjustments"},
			{"STOCK", "GET", "/api/menu-items/{id}/recipe"}, {"STOCK", "GET", "/api/branches/{id}/options/{optionId}/recipe"},
		},
		orderSteps("accept", "start", "ready", "serve", "recall", "items/{index}/done"),
	),
	RoleStaff: slices.Concat(
		allOf("VISITS"), readsOf("BRANCHES", "TABLES", "ORDERS", "RECEIVERS"), orderSteps("serve", "recall"),
	),
}

// GrantedByDefault reports whether a role receives a new permission. Every role receives permissions for the caller's
// own data; custom roles receive no others.
func GrantedByDefault(role string, p Permission) bool {
	if p.Own || RankOf(role) >= RankAdmin {
		return true
	}
	return slices.ContainsFunc(defaultGrants[role], func(g grant) bool { return g.covers(p) })
}
