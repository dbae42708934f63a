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

// PermissionSet is a group of permissions that people grant together, such as taking payments. Every permission
// belongs to exactly one set, so that a role is described by the sets that it has, lacks, or has in part. Sets do not
// authorize requests; only permissions do.
type PermissionSet string

// Sets, in the order in which people read them. The console translates them in web/staff/src/people/texts.
const (
	SetView     PermissionSet = "VIEW"     // orders, the board and availability, which most other sets need
	SetServe    PermissionSet = "SERVE"    // tables: seat guests, answer calls, clear them
	SetCook     PermissionSet = "COOK"     // move tickets up to ready
	SetHandOver PermissionSet = "HANDOVER" // serve what is ready, and undo a step
	SetSellOut  PermissionSet = "SELLOUT"  // take dishes off sale and put them back
	SetMoney    PermissionSet = "MONEY"    // take payments, refund, cancel
	SetReceiver PermissionSet = "RECEIVER" // names, phones and addresses of deliveries
	SetMenu     PermissionSet = "MENU"     // dishes, prices, pictures, publishing
	SetStock    PermissionSet = "STOCK"    // stock and recipes
	SetBranch   PermissionSet = "BRANCH"   // pause ordering, tables and their codes, payment problems
	SetReports  PermissionSet = "REPORTS"  // reports and the audit log
	SetPeople   PermissionSet = "PEOPLE"   // accounts of staff
	SetAdmin    PermissionSet = "ADMIN"    // roles, settings, new branches, mailings, the installation
	SetOwn      PermissionSet = "OWN"      // one's own account; every role has it
)

// permissionSets assigns permissions to sets. A grant of one route takes precedence over a grant of one method, and
// that over a grant of a whole module.
var permissionSets = []struct {
	set    PermissionSet
	grants []grant
}{
	{SetView, readsOf("BRANCHES", "ORDERS")},
	{SetServe, append(allOf("VISITS"), readsOf("TABLES")...)},
	{SetCook, orderSteps("accept", "start", "ready", "items/{index}/done")},
	{SetHandOver, orderSteps("serve", "recall")},
	{SetSellOut, []grant{
		{"MENUS", "POST", "/api/menu-items/{id}/86"}, {"MENUS", "POST", "/api/menu-items/{id}/restore"},
		{"MENUS", "POST", "/api/branches/{id}/options/{optionId}/off"},
		{"MENUS", "POST", "/api/branches/{id}/options/{optionId}/on"},
	}},
	{SetMoney, append(append(allOf("ORDERS"), readsOf("PAYMENTS")...),
		grant{"PAYMENTS", "POST", "/api/orders/{id}/payments/{paymentId}/check"})},
	{SetReceiver, allOf("RECEIVERS")},
	{SetMenu, allOf("MENUS", "PRICES")},
	{SetStock, allOf("STOCK", "INVENTORY")},
	{SetBranch, append(allOf("BRANCHES", "TABLES", "CODES", "PAYMENTS", "DISCOUNTS"), readsOf("TAXES", "VOUCHERS")...)},
	{SetReports, allOf("REPORTS", "AUDIT")},
	{SetPeople, append(allOf("USERS"), readsOf("ROLES")...)},
	{SetAdmin, append(allOf("MAILINGS", "ROLES", "SETTINGS", "SYSTEM", "TAXES", "VOUCHERS"),
		grant{"BRANCHES", "POST", "/api/branches"},
		grant{"BRANCHES", "POST", "/api/branches/{id}/copy"}, grant{"BRANCHES", "POST", "/api/branches/{id}/retire"},
		grant{"BRANCHES", "POST", "/api/branches/{id}/restore"})},
	{SetOwn, append(allOf("MEMBERS", "CART"), ownOrders...)},
}

// ownOrders are the routes of a member's own orders, which are documented with those of the staff.
var ownOrders = []grant{
	{"ORDERS", "GET", "/orders"}, {"ORDERS", "GET", "/orders/{id}"}, {"ORDERS", "GET", "/orders/{id}/events"},
}

// SetOf returns the set of a permission, or "" if no grant selects it or two equally narrow grants do.
func SetOf(p Permission) PermissionSet {
	var found PermissionSet
	best := 0
	for _, s := range permissionSets {
		for _, g := range s.grants {
			switch weight := g.weight(); {
			case !g.covers(p) || weight < best:
			case weight > best:
				best, found = weight, s.set
			case s.set != found:
				found = ""
			}
		}
	}
	return found
}

// Administrative reports whether one of the permissions is for administrators: it changes roles, settings, all branches or
// the installation.
func Administrative(permissions []Permission) bool {
	return slices.ContainsFunc(permissions, func(p Permission) bool { return SetOf(p) == SetAdmin })
}

// weight returns a higher number for a grant that selects fewer permissions.
func (g grant) weight() int {
	switch {
	case g.path != "":
		return 3
	case g.method != "":
		return 2
	}
	return 1
}
