package app

import (
	"fmt"
	"strings"
)

// Who asks, in the order of the columns. A and B are branches: what is asked for belongs to A.
const principals = "anonymous guest stranger member other " +
	"staffA staffB kitchenA kitchenB cashierA cashierB managerA managerB admin owner service"

// What comes back:
//
//   - 2xx
//     u  401, nobody is known
//     f  403, somebody is known who may not
//     n  404, as if it did not exist
//     i  422, let in and refused for what was sent
//     !  403 to everybody: the request is refused for a reason of its own
//     x  503, let in, and the gateway that would have to be asked is out of reach
const cells = "+ufni!x"

// cell is one route with the answers to all principals. Words in braces of the path and the body are made before the
// request, see fixture.made; those of the path may also be missing.
type cell struct {
	path  string // as it is asked; the pattern where it is empty
	body  string
	wants string
}

// matrix says of every route who gets what. A route that is missing here fails the test: whoever adds one decides.
var matrix = map[string]cell{
	// Anybody.
	"GET /livez":                {wants: all("+")},
	"GET /readyz":               {wants: all("+")},
	"GET /metrics":              {wants: all("+")},
	"GET /openapi.json":         {wants: all("+")},
	"GET /docs":                 {wants: all("+")},
	"GET /m/{token}":            {path: "/m/{qr}", wants: all("+")},
	"GET /cis/landing":          {path: "/cis/landing?qr={qr}", wants: all("+")},
	"POST /cis/landing":         {body: `{"qr":"{qr}"}`, wants: all("+")},
	"POST /cis/menu/active":     {body: `{"branchId":"1"}`, wants: all("+")},
	"GET /categories":           {wants: all("+")},
	"GET /dishes":               {wants: all("+")},
	"GET /dishes/{id}":          {path: "/dishes/4", wants: all("+")},
	"POST /auth/register":       {body: `{"email":"{mail}","password":"{password}"}`, wants: all("+")},
	"POST /auth/login":          {body: `{"username":"staff","password":"{password}"}`, wants: all("+")},
	"POST /auth/refresh":        {body: `{"refreshToken":"{refresh}"}`, wants: all("+")},
	"POST /auth/otp/request":    {body: `{"purpose":"RESET","email":"{mail}"}`, wants: all("+")},
	"POST /auth/otp/verify":     {body: `{"purpose":"VERIFY","email":"{mail}","code":"000000"}`, wants: all("i")},
	"POST /auth/password/reset": {body: `{"email":"{mail}","code":"000000","password":"{password}"}`, wants: all("i")},
	"POST /auth/setup":          {body: `{"code":"x","email":"{mail}","password":"{password}"}`, wants: all("!")},
	"POST /cis/payments/mock-callback": {
		body: `{"orderId":"{order}","method":"SANDBOX","result":"SUCCESS"}`, wants: all("+"),
	},

	// Guests. Who works here is no guest.
	"POST /cis/order/create": {
		body:  `{"items":[{"itemId":"{item}","qty":1}],"paymentMethod":"SANDBOX","clientTxnId":"{key}","menuVersionId":"{version}"}`,
		wants: guests("+", "+"),
	},
	"GET /cis/order/{id}":                            {path: "/cis/order/{order}", wants: guests("+", "n")},
	"GET /cis/order/{id}/events":                     {path: "/cis/order/{order}/events", wants: guests("+", "n")},
	"POST /cis/order/{id}/cancel":                    {path: "/cis/order/{order}/cancel", wants: guests("+", "n")},
	"POST /cis/order/{id}/pay":                       {path: "/cis/order/{order}/pay", body: `{"method":"SANDBOX"}`, wants: guests("+", "n")},
	"GET /cis/visit/{visitId}/orders":                {path: "/cis/visit/{guestvisit}/orders", wants: guests("+", "n")},
	"GET /cis/branch/{branchId}/availability/events": {path: "/cis/branch/1/availability/events", wants: guests("+", "+")},

	// One's own affairs.
	"POST /auth/logout":        {wants: strings.Repeat("u", 3) + "++ ++++ ++++ ++ u"},
	"GET /me":                  {wants: accounts("+", "+")},
	"PATCH /me":                {body: `{"city":"Hà Nội"}`, wants: accounts("+", "+")},
	"POST /me/password":        {body: `{"currentPassword":"{password}","newPassword":"{password}"}`, wants: accounts("+", "+")},
	"GET /me/sessions":         {wants: accounts("+", "+")},
	"DELETE /me/sessions/{id}": {path: "/me/sessions/{session}", wants: accounts("+", "n")},

	// One's own cart and orders. Nobody can name another's cart; what stands in it has ids.
	"GET /cart":                         {wants: accounts("+", "+")},
	"POST /cart/add-dish":               {body: `{"dishId":"5","quantity":1}`, wants: accounts("+", "+")},
	"PATCH /cart/items/{cartDetailId}":  {path: "/cart/items/{line}", body: `{"quantity":2}`, wants: accounts("+", "n")},
	"DELETE /cart/items/{cartDetailId}": {path: "/cart/items/{line}", wants: accounts("+", "n")},
	"DELETE /cart":                      {wants: accounts("+", "+")},
	"POST /cart/checkout": {
		body:  `{"receiverName":"Lan","receiverPhone":"none","paymentMethod":"COUNTER","clientTxnId":"{key}"}`,
		wants: accounts("i", "i"),
	},
	"GET /orders":              {wants: accounts("+", "+")},
	"GET /orders/{id}":         {path: "/orders/{memberorder}", wants: accounts("+", "n")},
	"POST /orders/{id}/cancel": {path: "/orders/{memberorder}/cancel", wants: accounts("+", "n")},
	"POST /orders/{id}/pay":    {path: "/orders/{memberorder}/pay", body: `{"method":"SANDBOX"}`, wants: accounts("+", "n")},

	// Gateways and those who come back from them. What nobody has signed is answered and changes nothing.
	"GET /payment/vnpay/ipn":       {wants: all("+")},
	"POST /payment/vnpay/callback": {wants: all("+")},
	"GET /payment/vnpay/return":    {wants: all("i")},
	"GET /payment/linepay/confirm": {wants: all("i")},
	"GET /payment/linepay/cancel":  {wants: all("i")},
	"GET /pay/{ref}":               {path: "/pay/{payment}", wants: all("+")},
	"GET /sim/vnpay/{path...}":     {path: "/sim/vnpay/", wants: all("n")},
	"POST /sim/vnpay/{path...}":    {path: "/sim/vnpay/", wants: all("n")},
	"PUT /sim/vnpay/{path...}":     {path: "/sim/vnpay/", wants: all("n")},
	"GET /sim/linepay/{path...}":   {path: "/sim/linepay/", wants: all("n")},
	"POST /sim/linepay/{path...}":  {path: "/sim/linepay/", wants: all("n")},
	"PUT /sim/linepay/{path...}":   {path: "/sim/linepay/", wants: all("n")},

	// The dining room. STAFF wait at tables, KITCHEN cooks, CASHIER takes money, MANAGER runs a branch.
	"GET /api/branches":            {wants: staff("++", "++", "++", "++", "+++")},
	"GET /api/tables":              {wants: staff("++", "ff", "++", "++", "+++")},
	"POST /api/tables/{id}/rotate": {path: "/api/tables/{table}/rotate", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/visits":              {path: "/api/visits?branchId={branch}", wants: staff("+n", "ff", "+n", "+n", "+++")},
	"POST /api/visits/{id}/close":  {path: "/api/visits/{visit}/close", wants: staff("+n", "ff", "+n", "+n", "+++")},
	"PUT /api/menu-items/{id}/quota": {
		path: "/api/menu-items/{item}/quota", body: `{"dailyQuota":null}`, wants: staff("ff", "+n", "ff", "+n", "+++"),
	},
	"POST /api/menus/{id}/versions": {path: "/api/menus/{menu}/versions", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"PUT /api/menu-versions/{id}/items/{itemId}": {
		path: "/api/menu-versions/{draft}/items/13", body: `{"price":1000,"dailyQuota":null,"isActive":true}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/menu-versions/{id}/publish": {path: "/api/menu-versions/{draft}/publish", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/orders/{id}":                 {path: "/api/orders/{order}", wants: staff("+n", "+n", "+n", "+n", "+++")},
	"POST /api/orders/{id}/cancel":         {path: "/api/orders/{order}/cancel", wants: staff("ff", "ff", "+n", "+n", "+++")},
	"POST /api/orders/{id}/payments": {
		path: "/api/orders/{order}/payments", body: `{"method":"COUNTER","amount":{total}}`,
		wants: staff("ff", "ff", "+n", "+n", "+++"),
	},
	"GET /api/payments/exceptions": {
		path: "/api/payments/exceptions?branchId={branch}", wants: staff("ff", "ff", "+n", "+n", "+++"),
	},
	"POST /api/orders/{id}/refunds": {
		path: "/api/orders/{paidorder}/refunds", body: `{"reason":"cold"}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/orders/{id}/refunds/{refundId}": {
		path: "/api/orders/{paidorder}/refunds/{refund}", body: `{"state":"DONE","reason":"by hand"}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/orders/{id}/payments/{paymentId}/check": {
		path: "/api/orders/{remoteorder}/payments/{payment}/check", wants: staff("ff", "ff", "xn", "xn", "xxx"),
	},
	"POST /api/orders/{id}/payments/{paymentId}": {
		path: "/api/orders/{remoteorder}/payments/{payment}", body: `{"state":"FAILED","reason":"their console"}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/day": {path: "/api/reports/day?branchId={branch}&date=2026-02-26", wants: staff("ff", "ff", "ff", "+n", "+++")},

	// Administration: not with the service token.
	"GET /api/users":        {wants: administration("++", "+")},
	"POST /api/users":       {body: `{"email":"{mail}","roleId":"{cashier}","branches":["{branch}"]}`, wants: administration("+n", "+")},
	"GET /api/users/{id}":   {path: "/api/users/{user}", wants: administration("+n", "+")},
	"PATCH /api/users/{id}": {path: "/api/users/{user}", body: `{"city":"Huế"}`, wants: administration("+n", "+")},
	"POST /api/users/{id}/role": {
		path: "/api/users/{user}/role", body: `{"roleId":"{cashier}","branches":["1"]}`, wants: administration("+n", "+"),
	},
	"POST /api/users/{id}/disable": {path: "/api/users/{user}/disable", wants: administration("+n", "+")},
	"POST /api/users/{id}/enable":  {path: "/api/users/{user}/enable", wants: administration("+n", "+")},
	"GET /api/roles":               {wants: administration("++", "+")},
	"POST /api/roles":              {body: `{"name":"{NAME}"}`, wants: administration("ff", "+")},
	"GET /api/roles/{id}":          {path: "/api/roles/{role}", wants: administration("++", "+")},
	"PATCH /api/roles/{id}":        {path: "/api/roles/{role}", body: `{"description":"x"}`, wants: administration("ff", "+")},
	"DELETE /api/roles/{id}":       {path: "/api/roles/{role}", wants: administration("ff", "+")},
	"PUT /api/roles/{id}/permissions": {
		path: "/api/roles/{role}/permissions", body: `{"permissionIds":[]}`, wants: administration("ff", "+"),
	},
	"GET /api/permissions": {wants: administration("++", "+")},
	"GET /api/audit":       {wants: administration("++", "+")},
}

func all(want string) string { return strings.Repeat(want, len(strings.Fields(principals))) }

// guests: what the guest of the same visit gets, and the guest of another one.
func guests(same, other string) string { return "u" + same + other + strings.Repeat("u", 13) }

// accounts: what the member gets who owns it, and everybody else who is logged in.
func accounts(own, others string) string {
	return "uuu" + own + strings.Repeat(others, 11) + "f"
}

// staff: what waiters, cooks, cashiers and managers get, of branch A and of branch B, and administrators, owners and the
// service token.
func staff(waiters, cooks, cashiers, managers, above string) string {
	return "uuuff" + waiters + cooks + cashiers + managers + above
}

// administration: what managers get, of branch A and of branch B, and administrators and owners.
func administration(managers, above string) string {
	return "uuuffffffff" + managers + above + above + "f"
}

// columns checks a row and gives what each principal is to get.
func (c cell) columns() (map[string]byte, error) {
	wants := strings.ReplaceAll(c.wants, " ", "")
	names := strings.Fields(principals)
	if len(wants) != len(names) || strings.Trim(wants, cells) != "" {
		return nil, fmt.Errorf("%q has not one of %s for each of %s", c.wants, cells, principals)
	}
	columns := map[string]byte{}
	for i, name := range names {
		columns[name] = wants[i]
	}
	return columns, nil
}
