package identity

import (
	"slices"
	"time"
)

// Permission is the right to use one route. There is one for every route that asks for it, made from the route table.
type Permission struct {
	ID        int64
	Name      string // what the route does, for people
	Path      string // its pattern, /api/tables/{id}/rotate
	Method    string
	Module    string // TABLES
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64

	Own bool // the route is about the caller's own affairs; known of routes only, not kept
}

// grant is a part of the route table: a module, narrowed to a method, narrowed to one route.
type grant struct {
	module string
	method string // empty for all
	path   string // empty for all
}

func (g grant) covers(p Permission) bool {
	return g.module == p.Module && (g.method == "" || g.method == p.Method) && (g.path == "" || g.path == p.Path)
}

func all(modules ...string) []grant {
	grants := make([]grant, len(modules))
	for i, m := range modules {
		grants[i] = grant{module: m}
	}
	return grants
}

func reads(modules ...string) []grant {
	grants := all(modules...)
	for i := range grants {
		grants[i].method = "GET"
	}
	return grants
}

// steps is what is done with an order between the kitchen and the table.
func steps(words ...string) []grant {
	grants := make([]grant, len(words))
	for i, w := range words {
		grants[i] = grant{"ORDERS", "POST", "/api/orders/{id}/" + w}
	}
	return grants
}

// grants is what the delivered roles below administrators are given of a permission when it is new. Whatever an operator
// changes later stays as it was changed.
var grants = map[string][]grant{
	RoleManager: slices.Concat(
		all("BRANCHES", "MENUS", "TABLES", "CODES", "VISITS", "ORDERS", "RECEIVERS", "PAYMENTS", "REPORTS", "STOCK", "INVENTORY",
			"USERS"),
		reads("ROLES", "AUDIT"),
	),
	RoleCashier: slices.Concat(all("ORDERS", "VISITS"), reads("BRANCHES", "TABLES", "PAYMENTS", "RECEIVERS"), []grant{
		{"PAYMENTS", "POST", "/api/orders/{id}/payments/{paymentId}/check"},
	}),
	RoleKitchen: slices.Concat(
		reads("BRANCHES", "ORDERS"), []grant{
			// A dish may be off for a while. How many a day begins with, and what other systems reserve, is the manager's.
			{"MENUS", "POST", "/api/menu-items/{id}/86"}, {"MENUS", "POST", "/api/menu-items/{id}/restore"},
			{"STOCK", "GET", "/api/stock/items"}, {"STOCK", "GET", "/api/stock/items/{id}/adjustments"},
			{"STOCK", "GET", "/api/menu-items/{id}/recipe"},
		},
		steps("accept", "start", "ready", "serve", "recall", "items/{index}/done"),
	),
	RoleStaff: slices.Concat(all("VISITS"), reads("BRANCHES", "TABLES", "ORDERS", "RECEIVERS"), steps("serve", "recall")),
}

// GrantedAtFirst tells whether a role has a permission from the beginning. Its own affairs are everybody's; a house's
// own roles are given nothing else unasked.
func GrantedAtFirst(role string, p Permission) bool {
	if p.Own || RankOf(role) >= RankAdmin {
		return true
	}
	return slices.ContainsFunc(grants[role], func(g grant) bool { return g.covers(p) })
}
