package authz

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

// PermissionSets returns all sets in the order of the constants.
func PermissionSets() []PermissionSet {
	sets := make([]PermissionSet, len(permissionSets))
	for i, s := range permissionSets {
		sets[i] = s.set
	}
	return sets
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
