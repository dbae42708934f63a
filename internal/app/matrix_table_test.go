package app

import (
	"fmt"
	"strings"
)

// principals are the columns of the matrix. A and B are branches; the requested object belongs to A.
const principals = "anonymous guest stranger member other " +
	"staffA staffB kitchenA kitchenB cashierA cashierB managerA managerB admin owner service"

// cells are the expected answers:
//
//	'+'  2xx, or a redirect to a page
//	'u'  401, not authenticated
//	'f'  403, authenticated without the permission
//	'n'  404, as if it did not exist
//	'i'  422, authorized, but the input is refused
//	'!'  403 for every principal: refused for another reason
//	'x'  503, authorized, but the gateway to ask is out of reach
const cells = "+ufni!x"

// cell is one route with the answers to all principals. Words in braces in the path and the body are created before the
// request, see fixture.made; those in the path may also be missing.
type cell struct {
	path  string // as requested; the pattern if empty
	body  string
	wants string
}

// pushBody is a browser's subscription, with the keys of RFC 8291, appendix A.
const pushBody = `{"endpoint":"https://push.example/{key}","locale":"vi","keys":{"auth":"BTBZMqHH6r4Tts7J_aSIgg",` +
	`"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"}}`

// matrix has the expected answers of every route. A route that is missing here fails the test, so that its author
// decides.
var matrix = map[string]cell{
	// Everyone.
	"GET /livez":                             {wants: all("+")},
	"GET /readyz":                            {wants: all("+")},
	"GET /metrics":                           {wants: all("+")},
	"GET /openapi.json":                      {wants: all("+")},
	"GET /docs":                              {wants: all("+")},
	"GET /{$}":                               {path: "/", wants: all("+")},
	"GET /menu/{branch}":                     {path: "/menu/1", wants: all("+")},
	"GET /robots.txt":                        {wants: all("+")},
	"GET /sitemap.xml":                       {wants: all("+")},
	"GET /m/{token}":                         {path: "/m/{qr}", wants: all("+")},
	"GET /media/{id}":                        {path: "/media/4", wants: all("+")},
	"GET /cis/landing":                       {path: "/cis/landing?qr={qr}", wants: all("+")},
	"POST /cis/landing":                      {body: `{"qr":"{qr}"}`, wants: all("+")},
	"POST /cis/menu/active":                  {body: `{"branchId":"1"}`, wants: all("+")},
	"GET /cis/branch/{branchId}/popular":     {path: "/cis/branch/1/popular", wants: all("+")},
	"GET /cis/branch/{branchId}/suggestions": {path: "/cis/branch/1/suggestions?q=pho", wants: all("+")},
	"GET /branches":                          {wants: all("+")},
	"GET /cis/push-key":                      {wants: all("+")},
	"GET /categories":                        {wants: all("+")},
	"GET /dishes":                            {wants: all("+")},
	"GET /dishes/{id}":                       {path: "/dishes/4", wants: all("+")},
	"POST /auth/register":                    {body: `{"email":"{mail}","password":"{password}"}`, wants: all("+")},
	"POST /auth/login":                       {body: `{"username":"staff","password":"{password}"}`, wants: all("+")},
	"POST /auth/refresh":                     {body: `{"refreshToken":"{refresh}"}`, wants: all("+")},
	"POST /auth/otp/request":                 {body: `{"purpose":"RESET","email":"{mail}"}`, wants: all("+")},
	"POST /auth/otp/verify":                  {body: `{"purpose":"VERIFY","email":"{mail}","code":"000000"}`, wants: all("i")},
	"POST /auth/password/reset":              {body: `{"email":"{mail}","code":"000000","password":"{password}"}`, wants: all("i")},
	"POST /auth/google/start":                {wants: all("n")}, // off
	"POST /auth/google/finish":               {body: `{"code":"x","state":"x"}`, wants: all("n")},
	"POST /auth/unsubscribe/{token}":         {path: "/auth/unsubscribe/{unsubscribe}", wants: all("+")},
	"GET /auth/unsubscribe/{token}":          {path: "/auth/unsubscribe/x", wants: all("+")},
	"GET /auth/setup":                        {wants: all("+")},
	"POST /auth/setup":                       {body: `{"code":"x","email":"{mail}","password":"{password}"}`, wants: all("!")},
	"POST /cis/payments/mock-callback": {
		body: `{"orderId":"{order}","method":"SANDBOX","result":"SUCCESS"}`, wants: all("+"),
	},

	// Guests. Staff accounts are not guests.
	"POST /cis/order/create": {
		body:  `{"items":[{"itemId":"{item}","qty":1}],"paymentMethod":"SANDBOX","clientTxnId":"{key}","menuVersionId":"{version}"}`,
		wants: guests("+", "+"),
	},
	"POST /cis/order/quote": {
		body: `{"items":[{"itemId":"{item}","qty":1}],"menuVersionId":"{version}"}`, wants: guests("+", "+"),
	},
	"GET /cis/order/{id}":         {path: "/cis/order/{order}", wants: guests("+", "n")},
	"GET /cis/order/{id}/events":  {path: "/cis/order/{order}/events", wants: guests("+", "n")},
	"POST /cis/order/{id}/cancel": {path: "/cis/order/{order}/cancel", wants: guests("+", "n")},
	"POST /cis/order/{id}/pay":    {path: "/cis/order/{order}/pay", body: `{"method":"SANDBOX"}`, wants: guests("+", "n")},
	"POST /cis/order/{id}/more-time": {
		path: "/cis/order/{order}/more-time", body: `{"payBy":"2026-01-01T00:00:00Z"}`, wants: guests("+", "n"),
	},
	"GET /cis/visit/{visitId}/orders": {path: "/cis/visit/{guestvisit}/orders", wants: guests("+", "n")},
	"POST /cis/visit/{visitId}/call": {
		path: "/cis/visit/{guestvisit}/call", body: `{"reason":"WATER"}`, wants: guests("+", "n"),
	},
	"GET /cis/visit/{visitId}/cart": {path: "/cis/visit/{guestvisit}/cart", wants: guests("+", "n")},
	"PUT /cis/visit/{visitId}/cart/lines/{lineId}": {
		path: "/cis/visit/{guestvisit}/cart/lines/matrix-1", body: `{"itemId":"{item}","qty":1}`, wants: guests("+", "n"),
	},
	"DELETE /cis/visit/{visitId}/cart/lines/{lineId}": {path: "/cis/visit/{guestvisit}/cart/lines/matrix-1", wants: guests("+", "n")},
	"POST /cis/views":                                {body: `{"viewed":["5"],"pages":["menu"],"searches":["pho"]}`, wants: guests("+", "+")},
	"GET /cis/notices":                               {wants: guests("+", "+")},
	"GET /cis/notices/events":                        {wants: guests("+", "+")},
	"POST /cis/notices/{id}/read":                    {path: "/cis/notices/{guestnotice}/read", wants: guests("+", "n")},
	"POST /cis/notices/read":                         {body: `{"upTo":"{guestnotice}"}`, wants: guests("+", "+")},
	"GET /cis/notice-choices":                        {wants: guests("+", "+")},
	"PUT /cis/notice-choices":                        {body: `{"choices":[{"kind":"ORDER_PAID","bell":true,"push":true}]}`, wants: guests("+", "+")},
	"POST /cis/push":                                 {body: pushBody, wants: guests("+", "+")},
	"DELETE /cis/push/{id}":                          {path: "/cis/push/" + strings.Repeat("a", 64), wants: guests("+", "+")},
	"GET /cis/branch/{branchId}/availability/events": {path: "/cis/branch/1/availability/events", wants: guests("+", "+")},

	// The caller's own account.
	"POST /auth/logout":          {wants: strings.Repeat("u", 3) + "++ ++++ ++++ ++ u"},
	"GET /me":                    {wants: accounts("+", "+")},
	"POST /me/google/start":      {body: `{"currentPassword":"{password}"}`, wants: accounts("n", "n")}, // off
	"POST /me/google/finish":     {body: `{"code":"x","state":"x"}`, wants: accounts("n", "n")},
	"POST /me/google/unlink":     {body: `{"currentPassword":"{password}"}`, wants: accounts("+", "+")},
	"PATCH /me":                  {body: `{"city":"Hà Nội"}`, wants: accounts("+", "+")},
	"POST /me/email":             {body: `{"currentPassword":"{password}","email":"{mail}"}`, wants: accounts("+", "+")},
	"POST /me/email/confirm":     {body: `{"email":"x@matrix.example","code":"123456"}`, wants: accounts("i", "i")},
	"POST /me/password":          {body: `{"currentPassword":"{password}","newPassword":"{password}"}`, wants: accounts("+", "+")},
	"PUT /me/pin":                {body: `{"password":"{password}","pin":"1111"}`, wants: "uuu" + "ff" + strings.Repeat("i", 8) + "ff" + "f"},
	"DELETE /me/pin":             {wants: accounts("+", "+")},
	"GET /auth/pin":              {wants: "uuu" + "ff" + strings.Repeat("+", 10) + "f"},
	"POST /auth/pin":             {body: `{"userId":"1","pin":"2580"}`, wants: accounts("f", "f")},
	"GET /me/permissions":        {wants: accounts("+", "+")},
	"GET /me/mail":               {wants: accounts("+", "+")},
	"PUT /me/mail":               {body: `{"orderReceived":true,"orderReady":true}`, wants: accounts("+", "+")},
	"POST /me/views":             {body: `{"opened":["5"],"branchId":"1"}`, wants: accounts("+", "+")},
	"GET /me/dishes":             {wants: accounts("+", "+")},
	"DELETE /me/dishes":          {wants: accounts("+", "+")},
	"GET /me/sessions":           {wants: accounts("+", "+")},
	"DELETE /me/sessions/{id}":   {path: "/me/sessions/{session}", wants: accounts("+", "n")},
	"GET /me/notices":            {wants: accounts("+", "+")},
	"GET /me/notices/events":     {wants: accounts("+", "+")},
	"POST /me/notices/{id}/read": {path: "/me/notices/{membernotice}/read", wants: accounts("+", "n")},
	"POST /me/notices/read":      {body: `{"upTo":"{membernotice}"}`, wants: accounts("+", "+")},
	"GET /me/notice-choices":     {wants: accounts("+", "+")},
	"PUT /me/notice-choices":     {body: `{"choices":[{"kind":"ORDER_PAID","bell":true,"push":true}]}`, wants: accounts("+", "+")},
	"POST /me/push":              {body: pushBody, wants: accounts("+", "+")},
	"DELETE /me/push/{id}":       {path: "/me/push/" + strings.Repeat("a", 64), wants: accounts("+", "+")},

	// The caller's own cart and orders. No path names another account's cart; its lines have ids.
	"GET /cart":                         {wants: accounts("+", "+")},
	"POST /cart/add-dish":               {body: `{"dishId":"5","quantity":1}`, wants: accounts("+", "+")},
	"PATCH /cart/items/{cartDetailId}":  {path: "/cart/items/{line}", body: `{"quantity":2}`, wants: accounts("+", "n")},
	"DELETE /cart/items/{cartDetailId}": {path: "/cart/items/{line}", wants: accounts("+", "n")},
	"DELETE /cart":                      {wants: accounts("+", "+")},
	"POST /cart/checkout": {
		body:  `{"receiverName":"Lan","receiverPhone":"none","paymentMethod":"COUNTER","clientTxnId":"{key}"}`,
		wants: accounts("i", "i"),
	},
	"POST /cart/quote":         {body: `{}`, wants: accounts("+", "+")},
	"GET /orders":              {wants: accounts("+", "+")},
	"GET /orders/{id}":         {path: "/orders/{memberorder}", wants: accounts("+", "n")},
	"GET /orders/{id}/events":  {path: "/orders/{memberorder}/events", wants: accounts("+", "n")},
	"POST /orders/{id}/cancel": {path: "/orders/{memberorder}/cancel", wants: accounts("+", "n")},
	"POST /orders/{id}/more-time": {
		path: "/orders/{memberorder}/more-time", body: `{"payBy":"2026-01-01T00:00:00Z"}`, wants: accounts("+", "n"),
	},
	"POST /orders/{id}/pay": {path: "/orders/{memberorder}/pay", body: `{"method":"SANDBOX"}`, wants: accounts("+", "n")},

	// Gateways and browsers returning from them. Unsigned requests are answered and change nothing.
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
	"GET /api/countries":           {wants: staff("++", "++", "++", "++", "+++")},
	"POST /api/branches":           {body: `{"name":"Quán Hoa","country":"VN"}`, wants: staff("ff", "ff", "ff", "ff", "+++")},
	"GET /api/tables":              {wants: staff("++", "ff", "++", "++", "+++")},
	"POST /api/tables/{id}/rotate": {path: "/api/tables/{table}/rotate", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"POST /api/tables": {
		body: `{"branchId":"{branch}","label":"{label}"}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/branches/{id}/tables/bulk": {
		path: "/api/branches/{branch}/tables/bulk", body: `{"labels":"{label}"}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"PATCH /api/tables/{id}": {path: "/api/tables/{table}", body: `{"seats":6}`, wants: staff("ff", "ff", "ff", "+n", "+++")},
	"PUT /api/branches/{id}/floor-plan": {
		path: "/api/branches/{branch}/floor-plan", body: `{"tables":[{"tableId":"{table}","planColumn":20,"planRow":15,"shape":"ROUND"}]}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/tables/qr-sheet":    {path: "/api/tables/qr-sheet?branchId={branch}", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/tables/{id}/qr.svg": {path: "/api/tables/{table}/qr.svg", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"POST /api/visits":            {body: `{"tableId":"{freetable}"}`, wants: staff("+n", "ff", "+n", "+n", "+++")},
	"POST /api/visits/{id}/move": {
		path: "/api/visits/{visit}/move", body: `{"tableId":"{freetable}"}`, wants: staff("+n", "ff", "+n", "+n", "+++"),
	},
	"POST /api/visits/{id}/answer": {path: "/api/visits/{visit}/answer", wants: staff("+n", "ff", "+n", "+n", "+++")},
	"GET /api/visits":              {path: "/api/visits?branchId={branch}", wants: staff("+n", "ff", "+n", "+n", "+++")},
	"POST /api/visits/{id}/close":  {path: "/api/visits/{visit}/close", wants: staff("+n", "ff", "+n", "+n", "+++")},
	"PUT /api/menu-items/{id}/quota": {
		path: "/api/menu-items/{item}/quota", body: `{"dailyQuota":null}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/menus/{id}/versions": {path: "/api/menus/{menu}/versions", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"PUT /api/menu-versions/{id}/items/{itemId}": {
		path: "/api/menu-versions/{draft}/items/13", body: `{"price":1000,"dailyQuota":null,"isActive":true}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/menu-versions/{id}/publish": {path: "/api/menu-versions/{draft}/publish", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/boards/{branchId}":           {path: "/api/boards/{branch}", wants: staff("+n", "+n", "+n", "+n", "+++")},
	"GET /api/boards/{branchId}/events":    {path: "/api/boards/{branch}/events", wants: staff("+n", "+n", "+n", "+n", "+++")},
	"POST /api/orders/{id}/accept":         {path: "/api/orders/{paidorder}/accept", wants: staff("ff", "+n", "+n", "+n", "+++")},
	"POST /api/orders/{id}/start":          {path: "/api/orders/{paidorder}/start", wants: staff("ff", "+n", "+n", "+n", "+++")},
	"POST /api/orders/{id}/ready":          {path: "/api/orders/{startedorder}/ready", wants: staff("ff", "+n", "+n", "+n", "+++")},
	"POST /api/orders/{id}/serve":          {path: "/api/orders/{readyorder}/serve", wants: staff("+n", "+n", "+n", "+n", "+++")},
	"POST /api/orders/{id}/recall":         {path: "/api/orders/{readyorder}/recall", wants: staff("+n", "+n", "+n", "+n", "+++")},
	"POST /api/orders/{id}/items/{index}/done": {
		path: "/api/orders/{paidorder}/items/0/done", body: `{"done":true}`, wants: staff("ff", "+n", "+n", "+n", "+++"),
	},
	"GET /api/orders": {
		path: "/api/orders?branchId={branch}", wants: staff("+n", "+n", "+n", "+n", "+++"),
	},
	"GET /api/payments": {
		path: "/api/payments?branchId={branch}", wants: staff("ff", "ff", "+n", "+n", "+++"),
	},
	"GET /api/orders/{id}/receiver": {path: "/api/orders/{memberorder}/receiver", wants: staff("+n", "ff", "+n", "+n", "+++")},
	"GET /api/orders/{id}":          {path: "/api/orders/{order}", wants: staff("+n", "+n", "+n", "+n", "+++")},
	"POST /api/orders/{id}/cancel":  {path: "/api/orders/{order}/cancel", wants: staff("ff", "ff", "+n", "+n", "+++")},
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
	"POST /api/orders/{id}/payments/{paymentId}/mismatch": {
		path: "/api/orders/{remoteorder}/payments/{payment}/mismatch", body: `{"reason":"given back"}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/price/quote": {
		body:  `{"currency":"VND","priceMode":"INCLUSIVE","taxScope":"BILL","taxRounding":"HALF_UP","lines":[{"qty":1,"unitPrice":1}]}`,
		wants: staff("ff", "ff", "ff", "++", "+++"),
	},
	"GET /api/branches/{id}/pricing": {path: "/api/branches/{branch}/pricing", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"PUT /api/branches/{id}/pricing": {
		path: "/api/branches/{branch}/pricing", body: `{"priceMode":"INCLUSIVE","taxScope":"BILL","taxRounding":"HALF_UP","discountRounding":"HALF_UP","rates":[],"rules":[],"serviceCharges":[],"discounts":[]}`,
		wants: staff("ff", "ff", "ff", "ff", "+++"),
	},
	"GET /api/branches/{id}/vouchers": {path: "/api/branches/{branch}/vouchers", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"POST /api/branches/{id}/vouchers": {
		path: "/api/branches/{branch}/vouchers", body: `{"voucher":"SUMMER","discount":"NONE"}`, wants: staff("ff", "ff", "ff", "ff", "iii"),
	},
	"PUT /api/branches/{id}/vouchers/{voucherId}": {
		path: "/api/branches/{branch}/vouchers/{voucher}", body: `{}`, wants: staff("ff", "ff", "ff", "ff", "+++"),
	},
	"DELETE /api/branches/{id}/vouchers/{voucherId}": {
		path: "/api/branches/{branch}/vouchers/{voucher}", wants: staff("ff", "ff", "ff", "ff", "+++"),
	},
	"GET /api/pricing-profiles":      {wants: staff("ff", "ff", "ff", "++", "+++")},
	"GET /api/tax-classes":           {wants: staff("ff", "ff", "ff", "++", "+++")},
	"PUT /api/tax-classes/{code}":    {path: "/api/tax-classes/BOOKS", body: `{"names":{"en":"Books"}}`, wants: staff("ff", "ff", "ff", "ff", "+++")},
	"DELETE /api/tax-classes/{code}": {path: "/api/tax-classes/NONE", wants: staff("ff", "ff", "ff", "ff", "iii")},
	"POST /api/tax-classes/assign": {
		body: `{"taxClass":"FOOD","dishIds":["4"]}`, wants: staff("ff", "ff", "ff", "ff", "+++"),
	},
	"PUT /api/orders/{id}/discount": {
		path: "/api/orders/{order}/discount", body: `{"code":"NONE"}`, wants: staff("ff", "ff", "ff", "in", "iii"),
	},
	"DELETE /api/orders/{id}/discount": {path: "/api/orders/{order}/discount", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/reports/day":             {path: "/api/reports/day?branchId={branch}&date=2026-02-26", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/reports/taxes": {
		path: "/api/reports/taxes?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/sales-hours": {
		path: "/api/reports/sales-hours?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/sales-days": {
		path: "/api/reports/sales-days?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/dishes": {
		path: "/api/reports/dishes?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/options": {
		path: "/api/reports/options?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/views": {
		path: "/api/reports/views?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/carts": {
		path: "/api/reports/carts?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/searches": {
		path: "/api/reports/searches?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/members": {
		path: "/api/reports/members?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/online": {wants: staff("ff", "ff", "ff", "++", "+++")},
	"GET /api/reports/quotas": {
		path: "/api/reports/quotas?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/tickets": {
		path: "/api/reports/tickets?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/payments": {
		path: "/api/reports/payments?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/expired": {
		path: "/api/reports/expired?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/reports/refunds": {
		path: "/api/reports/refunds?branchId={branch}&from=2026-02-01&to=2026-02-28", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},

	// The catalogue. Categories and dishes belong to the whole restaurant; only a branch's own staff change what it
	// offers.
	"GET /api/branches/{id}": {path: "/api/branches/{branch}", wants: staff("+n", "+n", "+n", "+n", "+++")},
	"PATCH /api/branches/{id}": {
		path: "/api/branches/{branch}", body: `{"autoCloseMinutes":120}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/branches/{id}/retire":  {path: "/api/branches/{emptybranch}/retire", wants: staff("ff", "ff", "ff", "ff", "+++")},
	"POST /api/branches/{id}/restore": {path: "/api/branches/{emptybranch}/restore", wants: staff("ff", "ff", "ff", "ff", "+++")},
	"POST /api/branches/{id}/copy": {
		path: "/api/branches/{emptybranch}/copy", body: `{"name":"Quán Hoa 2"}`, wants: staff("ff", "ff", "ff", "ff", "+++"),
	},
	"POST /api/branches/{id}/pause": {
		path: "/api/branches/{branch}/pause", body: `{"reasonCode":"BUSY"}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/branches/{id}/resume": {path: "/api/branches/{branch}/resume", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/branches/{id}/availability": {
		path: "/api/branches/{branch}/availability", wants: staff("+n", "+n", "+n", "+n", "+++"),
	},
	"GET /api/branches/{id}/menu/export": {
		path: "/api/branches/{branch}/menu/export?format=xlsx", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/branches/{id}/menu/template": {
		path: "/api/branches/{branch}/menu/template", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/branches/{id}/menu/templates": {
		path: "/api/branches/{branch}/menu/templates", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/branches/{id}/menu/templates": {
		path: "/api/branches/{branch}/menu/templates", body: `{"name":"pho","dryRun":true}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/branches/{id}/menu/import": {
		path: "/api/branches/{branch}/menu/import?dryRun=true", body: "category,name,price\nPhở,Phở tái,65k\n",
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/branches/{id}/menu/copy": {
		path: "/api/branches/{branch}/menu/copy", body: `{"fromBranchId":"{branch}","dryRun":true}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"PUT /api/branches/{id}/menu/dishes": {
		path: "/api/branches/{branch}/menu/dishes", body: `{"dishes":[{"dishId":"4","price":1000,"dailyQuota":null}]}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/categories":  {wants: staff("ff", "ff", "ff", "++", "+++")},
	"POST /api/categories": {body: `{"names":{"en":"x"}}`, wants: staff("ff", "ff", "ff", "++", "+++")},
	"PATCH /api/categories/{id}": {
		path: "/api/categories/1", body: `{"names":{"en":"x"}}`, wants: staff("ff", "ff", "ff", "+f", "+++"),
	},
	"DELETE /api/categories/{id}": {path: "/api/categories/{category}", wants: staff("ff", "ff", "ff", "++", "+++")},
	"GET /api/dishes":             {wants: staff("ff", "ff", "ff", "++", "+++")},
	"POST /api/dishes":            {body: `{"categoryId":"1","names":{"en":"x"}}`, wants: staff("ff", "ff", "ff", "++", "+++")},
	"PATCH /api/dishes/{id}": {
		path: "/api/dishes/4", body: `{"names":{"en":"x"}}`, wants: staff("ff", "ff", "ff", "+f", "+++"),
	},
	"DELETE /api/dishes/{id}": {path: "/api/dishes/{dish}", wants: staff("ff", "ff", "ff", "++", "+++")},
	"POST /api/images":        {body: `no picture`, wants: staff("ff", "ff", "ff", "ii", "iii")},
	"GET /api/menus":          {path: "/api/menus?branchId={branch}", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"POST /api/menus": {
		body: `{"branchId":"{branch}","name":"x"}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"PUT /api/menus/{id}/schedule": {
		path: "/api/menus/{menu}/schedule", body: `{"weekly":{},"fromDate":"","throughDate":"","kinds":[],"priority":1}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/menus/{id}/withdraw":  {path: "/api/menus/{emptymenu}/withdraw", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/menus/{id}/versions":   {path: "/api/menus/{menu}/versions", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"GET /api/menu-versions/{id}":    {path: "/api/menu-versions/{draft}", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"DELETE /api/menu-versions/{id}": {path: "/api/menu-versions/{draft}", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"POST /api/menu-versions/{id}/items": {
		path: "/api/menu-versions/{draft}/items", body: `{"dishId":"4","price":1000,"dailyQuota":null,"isActive":true}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"DELETE /api/menu-versions/{id}/items/{itemId}": {
		path: "/api/menu-versions/{draft}/items/13", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/menu-versions/{id}/preview": {
		path: "/api/menu-versions/{draft}/preview", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/option-groups":  {wants: staff("ff", "ff", "ff", "++", "+++")},
	"POST /api/option-groups": {body: `{"kind":"CHOICE","names":{"en":"x"}}`, wants: staff("ff", "ff", "ff", "++", "+++")},
	"PATCH /api/option-groups/{id}": {
		path: "/api/option-groups/{optiongroup}", body: `{"names":{"en":"x"}}`, wants: staff("ff", "ff", "ff", "++", "+++"),
	},
	"DELETE /api/option-groups/{id}": {path: "/api/option-groups/{optiongroup}", wants: staff("ff", "ff", "ff", "++", "+++")},
	"POST /api/option-groups/{id}/options": {
		path: "/api/option-groups/{optiongroup}/options", body: `{"names":{"en":"x"}}`, wants: staff("ff", "ff", "ff", "++", "+++"),
	},
	"PATCH /api/options/{id}": {
		path: "/api/options/{option}", body: `{"names":{"en":"x"}}`, wants: staff("ff", "ff", "ff", "++", "+++"),
	},
	"DELETE /api/options/{id}": {path: "/api/options/{option}", wants: staff("ff", "ff", "ff", "++", "+++")},
	"PUT /api/menu-versions/{id}/items/{itemId}/groups": {
		path: "/api/menu-versions/{draft}/items/13/groups", body: `{"groups":[]}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/menu-versions/{id}/groups/{groupId}/attach": {
		path:  "/api/menu-versions/{draft}/groups/{optiongroup}/attach",
		body:  `{"itemIds":["13"],"settings":{"min":0,"max":null,"free":0,"maxEach":1,"credit":false,"defaultsCharge":true,"options":[]}}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/branches/{id}/options/{optionId}/off": {
		path: "/api/branches/{branch}/options/{option}/off", body: `{"until":"END_OF_DAY"}`, wants: staff("ff", "+n", "ff", "+n", "+++"),
	},
	"POST /api/branches/{id}/options/{optionId}/on": {
		path: "/api/branches/{branch}/options/{option}/on", wants: staff("ff", "+n", "ff", "+n", "+++"),
	},
	"POST /api/menu-items/{id}/86": {
		path: "/api/menu-items/{item}/86", body: `{"until":"END_OF_DAY"}`, wants: staff("ff", "+n", "ff", "+n", "+++"),
	},
	"POST /api/menu-items/{id}/restore": {
		path: "/api/menu-items/{item}/restore", wants: staff("ff", "+n", "ff", "+n", "+++"),
	},

	// The stock: the staff manage it, cooks read it.
	"GET /api/stock/items": {path: "/api/stock/items?branchId={branch}", wants: staff("ff", "+n", "ff", "+n", "+++")},
	"POST /api/stock/items": {
		body: `{"branchId":"{branch}","itemId":"{key}","name":"x"}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"PUT /api/stock/items/{id}": {
		path: "/api/stock/items/{stockitem}", body: `{"name":"x"}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /api/stock/items/{id}/adjustments": {
		path: "/api/stock/items/{stockitem}/adjustments", body: `{"kind":"RECEIVE","quantity":1}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/stock/items/{id}/adjustments": {
		path: "/api/stock/items/{stockitem}/adjustments", wants: staff("ff", "+n", "ff", "+n", "+++"),
	},
	"GET /api/stock/reservations": {
		path: "/api/stock/reservations?branchId={branch}", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/menu-items/{id}/recipe": {path: "/api/menu-items/{item}/recipe", wants: staff("ff", "+n", "ff", "+n", "+++")},
	"PUT /api/menu-items/{id}/recipe": {
		path: "/api/menu-items/{item}/recipe", body: `{"lines":[]}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /api/branches/{id}/options/{optionId}/recipe": {
		path: "/api/branches/{branch}/options/{option}/recipe", wants: staff("ff", "+n", "ff", "+n", "+++"),
	},
	"PUT /api/branches/{id}/options/{optionId}/recipe": {
		path: "/api/branches/{branch}/options/{option}/recipe", body: `{"lines":[]}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},

	// The inventory of other systems. For a branch that the account cannot see, a window shows nothing.
	"GET /inventory":          {path: "/inventory?branchId={branch}&itemId={sku}", wants: staff("ff", "ff", "ff", "++", "+++")},
	"GET /inventory/{itemId}": {path: "/inventory/{sku}?branchId={branch}", wants: staff("ff", "ff", "ff", "+n", "+++")},
	"PUT /inventory/{itemId}": {
		path: "/inventory/{sku}", body: `{"branchId":"{branch}","available":5}`, wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /inventory/reservations": {
		body:  `{"orderId":"{key}","branchId":"{branch}","items":[{"itemId":"{sku}","quantity":1}]}`,
		wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"GET /inventory/reservations/{orderId}": {
		path: "/inventory/reservations/{reservation}", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /inventory/reservations/{orderId}/confirm": {
		path: "/inventory/reservations/{reservation}/confirm", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /inventory/reservations/{orderId}/cancel": {
		path: "/inventory/reservations/{reservation}/cancel", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},
	"POST /inventory/reservations/{orderId}/return": {
		path: "/inventory/reservations/{soldreservation}/return", wants: staff("ff", "ff", "ff", "+n", "+++"),
	},

	// The installation as its operators see it.
	"GET /api/system/readiness":    {wants: staff("ff", "ff", "ff", "ff", "+++")},
	"GET /api/system/about":        {wants: staff("ff", "ff", "ff", "ff", "+++")},
	"GET /api/system/outbox":       {wants: staff("ff", "ff", "ff", "ff", "+++")},
	"GET /api/system/dead-letters": {wants: staff("ff", "ff", "ff", "ff", "+++")},
	"POST /api/system/dead-letters/{id}/replay": {
		path: "/api/system/dead-letters/{letter}/replay", wants: staff("ff", "ff", "ff", "ff", "+++"),
	},
	"POST /api/system/dead-letters/replay-all": {wants: staff("ff", "ff", "ff", "ff", "+++")},
	"GET /api/system/mail":                     {wants: staff("ff", "ff", "ff", "ff", "+++")},
	"POST /api/system/mail/{id}/send-again": {
		path: "/api/system/mail/{email}/send-again", wants: staff("ff", "ff", "ff", "ff", "+++"),
	},
	"GET /api/system/keys-audit": {wants: staff("ff", "ff", "ff", "ff", "+++")},
	"POST /api/system/reconcile": {path: "/api/system/reconcile?branchId={branch}", wants: staff("ff", "ff", "ff", "ff", "+++")},
	"GET /api/system/index":      {wants: staff("ff", "ff", "ff", "ff", "+++")},

	// Administration: not with the service token.
	"GET /api/settings":           {wants: administration("ff", "+")},
	"PATCH /api/settings":         {body: `{"values":[{"name":"ticket_warn","value":"9m"}]}`, wants: administration("ff", "+")},
	"POST /api/settings/test":     {body: `{"subject":"vnpay"}`, wants: administration("ff", "+")},
	"GET /api/brand":              {wants: administration("ff", "+")},
	"GET /api/brand/palette":      {path: "/api/brand/palette?accent=%23a8321f", wants: administration("ff", "+")},
	"PATCH /api/brand":            {body: `{"name":"Quán Hoa"}`, wants: administration("ff", "+")},
	"PUT /api/brand/{picture}":    {path: "/api/brand/logo", body: `no picture`, wants: administration("ff", "i")},
	"DELETE /api/brand/{picture}": {path: "/api/brand/logo", wants: administration("ff", "+")},
	"GET /api/users":              {wants: administration("++", "+")},
	"POST /api/users":             {body: `{"email":"{mail}","roleId":"{cashier}","branches":["{branch}"]}`, wants: administration("+n", "+")},
	"GET /api/users/{id}":         {path: "/api/users/{user}", wants: administration("+n", "+")},
	"PATCH /api/users/{id}":       {path: "/api/users/{user}", body: `{"city":"Huế"}`, wants: administration("+n", "+")},
	"POST /api/users/{id}/role": {
		path: "/api/users/{user}/role", body: `{"roleId":"{cashier}","branches":["1"]}`, wants: administration("+n", "+"),
	},
	"POST /api/users/{id}/disable": {path: "/api/users/{user}/disable", wants: administration("+n", "+")},
	"POST /api/users/{id}/enable":  {path: "/api/users/{user}/enable", wants: administration("+n", "+")},
	"GET /api/users/{id}/flags":    {path: "/api/users/{member}/flags", wants: administration("nn", "+")},
	"POST /api/users/{id}/flags":   {path: "/api/users/{member}/flags", body: `{"kind":"NO_SHOW"}`, wants: administration("nn", "+")},
	"DELETE /api/users/{id}/flags/{flagId}": {
		path: "/api/users/{member}/flags/{flag}", wants: administration("nn", "+"),
	},
	"GET /api/segments":              {path: "/api/segments?city=Hu%E1%BA%BF", wants: administration("ff", "+")},
	"GET /api/segments/export":       {wants: administration("ff", "+")},
	"GET /api/mailings":              {wants: administration("ff", "+")},
	"POST /api/mailings":             {body: `{"kind":"REMINDER","segment":{"city":"{pendingcity}"},"clientTxnId":"{key}"}`, wants: administration("ff", "+")},
	"POST /api/mailings/preview":     {body: `{"kind":"REMINDER","segment":{}}`, wants: administration("ff", "+")},
	"POST /api/mailings/{id}/cancel": {path: "/api/mailings/{mailing}/cancel", wants: administration("ff", "+")},
	"PUT /api/users/{id}/pin":        {path: "/api/users/{user}/pin", body: `{"pin":"258013"}`, wants: administration("+n", "+")},
	"GET /api/roles":                 {wants: administration("++", "+")},
	"POST /api/roles":                {body: `{"name":"{NAME}"}`, wants: administration("ff", "+")},
	"GET /api/roles/{id}":            {path: "/api/roles/{role}", wants: administration("++", "+")},
	"PATCH /api/roles/{id}":          {path: "/api/roles/{role}", body: `{"description":"x"}`, wants: administration("ff", "+")},
	"DELETE /api/roles/{id}":         {path: "/api/roles/{role}", wants: administration("ff", "+")},
	"PUT /api/roles/{id}/permissions": {
		path: "/api/roles/{role}/permissions", body: `{"permissionIds":[]}`, wants: administration("ff", "+"),
	},
	"GET /api/permissions": {wants: administration("++", "+")},
	"GET /api/audit":       {wants: administration("++", "+")},
}

func all(want string) string { return strings.Repeat(want, len(strings.Fields(principals))) }

// guests expects answers for the guest of the same visit and for the guest of another one.
func guests(same, other string) string { return "u" + same + other + strings.Repeat("u", 13) }

// accounts expects answers for the member who owns the object and for all other accounts.
func accounts(own, others string) string {
	return "uuu" + own + strings.Repeat(others, 11) + "f"
}

// staff expects answers for waiters, cooks, cashiers and managers, of branch A and of branch B, and for administrators,
// owners and the service token.
func staff(waiters, cooks, cashiers, managers, above string) string {
	return "uuuff" + waiters + cooks + cashiers + managers + above
}

// administration expects answers for managers, of branch A and of branch B, and for administrators and owners.
func administration(managers, above string) string {
	return "uuuffffffff" + managers + above + above + "f"
}

// columns validates a row and returns each principal's expected answer.
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
