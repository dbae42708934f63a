package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

const (
	matrixPassword = "correct horse battery staple"
	matrixToken    = "0123456789abcdef0123456789abcdef"
)

// fixture is a whole server with a principal of every kind, and objects of branch 1 that they request.
type fixture struct {
	t      *testing.T
	core   *Core
	routes []httpapi.RouteInfo
	url    string
	client *http.Client
	bearer map[string]string // principal -> bearer token
	guest  map[string]string // principal -> customer token
	codes  []visit.Table
	made   map[string]string // objects created and not used up yet, by word
	total  string            // total of the last order created

	registry *prometheus.Registry // of the process
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureWith(t, map[string]string{
		"COMANDA_REDIS_LISTEN": testenv.FreeAddr(t), // with it the store has documents
	})
}

// newFixtureWith starts a process with some settings.
func newFixtureWith(t *testing.T, settings map[string]string) *fixture {
	t.Helper()
	environment := map[string]string{
		"COMANDA_DATA_DIR": dataDir(t), "COMANDA_LISTEN": "127.0.0.1:0", "COMANDA_SANDBOX_PAYMENTS": "on",
		"COMANDA_SERVICE_TOKEN": matrixToken, "COMANDA_LIMITS": "off", "COMANDA_SIMULATORS": "on",
	}
	maps.Copy(environment, settings)
	c := testenv.Must(LoadConfig(environment, nil, "", nil))(t)
	f := (&fixture{t: t}).withConfig(c)
	f.codes = testenv.Must(f.core.Floor.Tables(t.Context(), authz.System(), 1))(t)
	f.createUsers()
	return f
}

// withConfig starts a process with a configuration.
func (f *fixture) withConfig(c Config) *fixture {
	f.t.Helper()
	p := testenv.Must(start(f.t.Context(), c, ServeOptions{Roles: []ProcessRole{API}, Demo: true, Out: io.Discard},
		slog.New(slog.DiscardHandler)))(f.t)
	n := &fixture{
		t: f.t, core: p.core, routes: p.server.API().Routes(), url: "http://" + p.server.Addr().String(),
		client: &http.Client{
			Transport: &http.Transport{}, Timeout: 30 * time.Second,
			// This binary may not have the pages of the guest app.
			CheckRedirect: func(r *http.Request, _ []*http.Request) error {
				if strings.HasPrefix(r.URL.Path, "/shop/") {
					return http.ErrUseLastResponse
				}
				return nil
			},
		},
		bearer: map[string]string{"service": matrixToken}, guest: map[string]string{}, made: map[string]string{},
		registry: prometheus.NewRegistry(),
	}
	n.registry.MustRegister(p.registry)
	n.closeLater(p)
	return n
}

// closeLater ends the process with the test.
func (f *fixture) closeLater(p *process) {
	f.t.Cleanup(func() {
		f.client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := p.stop(ctx); err != nil {
			f.t.Error(err)
		}
	})
}

// createUsers creates the accounts as the operator and logs them in.
func (f *fixture) createUsers() {
	f.guest["guest"], f.guest["stranger"] = f.landing(0).CustomerToken, f.landing(2).CustomerToken
	for name := range strings.SplitSeq("member other staffA staffB kitchenA kitchenB cashierA cashierB managerA managerB", " ") {
		role := strings.TrimRight(name, "AB")
		n := NewAccount{Role: role, Username: strings.ToLower(name), Email: name + "@matrix.example", Password: matrixPassword}
		if role == "member" || role == "other" {
			n.Role, n.Username = "user", "" // the demo has a member of this name
		}
		n.Branches = []int64{1}
		if strings.HasSuffix(name, "B") {
			n.Branches = []int64{2}
		}
		if _, err := f.core.createUser(f.t.Context(), n); err != nil {
			f.t.Fatalf("create user %s: %v", name, err)
		}
		f.login(name)
	}
	f.login("admin")
	f.login("owner")
}

// email returns the address of a principal's account. Administrators and owners are the demo's.
func email(principal string) string {
	if principal == "admin" || principal == "owner" {
		return demoAddress(principal)
	}
	return principal + "@matrix.example"
}

type tokens struct {
	AccessToken, RefreshToken string
}

func (f *fixture) login(principal string) {
	f.t.Helper()
	f.bearer[principal] = f.tokens(email(principal)).AccessToken
}

func (f *fixture) tokens(email string) (got tokens) {
	f.t.Helper()
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, email, matrixPassword)
	f.must(f.ask("", "POST", "/auth/login", body)).into(f.t, &got)
	return got
}

type landing struct{ CustomerToken, VisitID string }

func (f *fixture) landing(table int) (l landing) {
	f.t.Helper()
	f.must(f.ask("", "GET", "/cis/landing?qr="+f.codes[table].QR, "")).into(f.t, &l)
	return l
}

// reply is a response. Of a stream it holds only the beginning.
type reply struct {
	status int
	body   []byte
}

func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("status %d with body %s: %v", r.status, r.body, err)
	}
}

// refusal returns what a refusal reveals to the caller.
func (r reply) refusal() string {
	var p struct{ Code, Detail string }
	_ = json.Unmarshal(r.body, &p) // a success has neither field
	return fmt.Sprintf("%d %s: %s", r.status, p.Code, p.Detail)
}

func (f *fixture) must(r reply) reply {
	f.t.Helper()
	if r.status/100 != 2 {
		f.t.Fatalf("status %d with body %s, want 2xx", r.status, r.body)
	}
	return r
}

func (f *fixture) ask(principal, method, path, body string) reply {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	r := testenv.Must(http.NewRequestWithContext(ctx, method, f.url+path, strings.NewReader(body)))(f.t)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token := f.bearer[principal]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if token := f.guest[principal]; token != "" {
		r.Header.Set("X-Customer-Token", token)
	}
	res, err := f.client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return reply{status: res.StatusCode}
	}
	text := testenv.Must(io.ReadAll(res.Body))(f.t)
	return reply{res.StatusCode, text}
}

var word = regexp.MustCompile(`\{[A-Za-z]+\}`)

// fill replaces words by the ids of created objects. An object is reused until a request has used it up.
func (f *fixture) fill(text string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if f.made[w] == "" {
			f.made[w] = f.make(w)
		}
		return f.made[w]
	})
}

// missing replaces words by ids that do not exist.
func missing(path string) string {
	return word.ReplaceAllStringFunc(path, func(w string) string {
		switch w {
		case "{order}", "{visit}", "{guestvisit}", "{session}", "{memberorder}", "{paidorder}", "{remoteorder}", "{payment}",
			"{refund}", "{startedorder}", "{readyorder}":
			return "06gvsv4adlo01am6obvdlo01to"
		}
		return "999999"
	})
}

func (f *fixture) make(w string) string {
	switch w {
	case "{qr}":
		return f.codes[4].QR
	case "{branch}", "{menu}":
		return "1"
	case "{item}":
		return "12"
	case "{label}":
		return rand.Text()[:12]
	case "{emptybranch}": // without guests and menu: a copy of a menu would share dishes with the other rows
		return f.field("owner", "POST", "/api/branches", `{"name":"Quán Hoa","country":"VN"}`, "id")
	case "{freetable}":
		return f.field("owner", "POST", "/api/tables", `{"branchId":"1","label":"`+f.make("{label}")+`"}`, "id")
	case "{table}":
		return strconv.FormatInt(f.codes[5].ID, 10)
	case "{password}":
		return matrixPassword
	case "{mail}":
		return strings.ToLower(rand.Text()) + "@matrix.example"
	case "{key}", "{NAME}":
		return "R" + rand.Text()
	case "{version}":
		return f.field("", "POST", "/cis/menu/active", `{"branchId":"1"}`, "menuVersionId")
	case "{visit}":
		return f.landing(1).VisitID
	case "{guestvisit}":
		return f.landing(0).VisitID
	case "{refresh}":
		return f.tokens(demoAddress("cashier")).RefreshToken
	case "{session}":
		return f.session()
	case "{letter}":
		return f.deadLetter()
	case "{email}":
		return f.email("order_paid", true)
	case "{stockitem}":
		return f.field("owner", "POST", "/api/stock/items", `{"branchId":"1","itemId":"`+rand.Text()+`","name":"x"}`, "id")
	case "{sku}":
		return f.field("owner", "PUT", "/inventory/"+rand.Text(), `{"branchId":"1","available":100}`, "itemId")
	case "{reservation}", "{soldreservation}":
		id := f.field("service", "POST", "/inventory/reservations", `{"orderId":"`+rand.Text()+`","branchId":"1","items":[{"itemId":"`+
			f.fill("{sku}")+`","quantity":1}]}`, "orderId")
		if w == "{soldreservation}" {
			f.must(f.ask("service", "POST", "/inventory/reservations/"+id+"/confirm", ""))
		}
		return id
	case "{cashier}":
		return f.role("CASHIER")
	case "{role}":
		return f.field("owner", "POST", "/api/roles", `{"name":"R`+rand.Text()+`"}`, "id")
	case "{user}":
		body := fmt.Sprintf(`{"email":%q,"roleId":%q,"branches":["1"]}`, f.make("{mail}"), f.role("CASHIER"))
		return f.field("owner", "POST", "/api/users", body, "id")
	case "{member}":
		return f.field("owner", "POST", "/api/users", fmt.Sprintf(`{"email":%q,"roleId":%q}`, f.make("{mail}"), f.role("USER")), "id")
	case "{membernotice}":
		return f.notice(f.fill("{memberorder}"))
	case "{guestnotice}":
		return f.notice(f.fill("{order}"))
	case "{flag}":
		return f.field("owner", "POST", f.fill("/api/users/{member}/flags"), `{"kind":"NO_SHOW"}`, "id")
	}
	return f.makeMailing(w)
}

// makeMailing creates an object of mailings, or another object by makeMenu.
func (f *fixture) makeMailing(w string) string {
	switch w {
	case "{pendingcity}": // a city with a member whose registration is not finished
		// Mailings need a mail server and a public address. No process sends anything: only the API runs.
		f.must(f.ask("owner", "PATCH", "/api/settings",
			`{"values":[{"name":"smtp_url","value":"smtp://127.0.0.1:9"},{"name":"public_url","value":"`+f.url+`"}]}`))
		city := rand.Text()
		f.must(f.ask("", "POST", "/auth/register", fmt.Sprintf(`{"email":%q,"password":%q,"city":%q}`, f.make("{mail}"), matrixPassword, city)))
		return city
	case "{mailing}":
		return f.field("owner", "POST", "/api/mailings", fmt.Sprintf(
			`{"kind":"REMINDER","segment":{"city":%q},"clientTxnId":%q}`, f.make("{pendingcity}"), rand.Text()), "id")
	case "{unsubscribe}":
		return f.core.Accounts.Keys.UnsubscribeToken(httpapi.IDOf(f.fill("{member}")))
	}
	return f.makeMenu(w)
}

// makeOrder creates objects that belong to orders and payments.

// makeMenu creates an object of the menu, or another object by makeOrder.
func (f *fixture) makeMenu(w string) string {
	switch w {
	case "{emptymenu}": // to withdraw the menu of branch 1 would change the other rows
		return f.field("owner", "POST", "/api/menus", `{"branchId":"1","name":"x"}`, "id")
	case "{draft}":
		return f.field("owner", "POST", "/api/menus/1/versions", "", "id")
	case "{category}":
		return f.field("owner", "POST", "/api/categories", `{"names":{"en":"x"}}`, "id")
	case "{dish}":
		return f.field("owner", "POST", "/api/dishes", `{"categoryId":"1","names":{"en":"x"}}`, "id")
	case "{optiongroup}":
		return f.field("owner", "POST", "/api/option-groups", `{"kind":"CHOICE","names":{"en":"x"}}`, "id")
	case "{voucher}":
		f.must(f.ask("owner", "PUT", "/api/branches/1/pricing", `{"priceMode":"INCLUSIVE","taxScope":"BILL","taxRounding":"HALF_UP",`+
			`"discountRounding":"HALF_UP","rates":[],"rules":[],"serviceCharges":[],`+
			`"discounts":[{"code":"TEN","names":{"en":"Ten"},"type":"PERCENT","percent":"10"}]}`))
		return f.field("owner", "POST", "/api/branches/1/vouchers", `{"voucher":"`+rand.Text()[:12]+`","discount":"TEN"}`, "id")
	case "{option}":
		return f.field("owner", "POST", "/api/option-groups/"+f.make("{optiongroup}")+"/options", `{"names":{"en":"x"}}`, "id")
	}
	return f.makeOrder(w)
}

func (f *fixture) makeOrder(w string) string {
	switch w {
	case "{order}":
		return f.order("SANDBOX")
	case "{line}":
		return f.field("member", "POST", "/cart/add-dish", `{"dishId":"5","quantity":1}`, "id")
	case "{memberorder}":
		f.make("{line}")
		body := `{"receiverName":"Lan","receiverPhone":"0912345678","receiverAddress":"12 Hàng Bạc",` +
			`"receiverNote":"Gate 4711","paymentMethod":"SANDBOX","clientTxnId":"` + rand.Text() + `"}`
		return f.field("member", "POST", "/cart/checkout", body, "orderId")
	case "{paidorder}":
		id := f.order("SANDBOX")
		f.must(f.ask("", "POST", "/cis/payments/mock-callback", `{"orderId":"`+id+`","method":"SANDBOX","result":"SUCCESS"}`))
		return id
	case "{startedorder}", "{readyorder}":
		id := f.make("{paidorder}")
		f.must(f.ask("service", "POST", "/api/orders/"+id+"/start", ""))
		if w == "{readyorder}" {
			f.must(f.ask("service", "POST", "/api/orders/"+id+"/ready", ""))
		}
		return id
	case "{refund}":
		return f.field("owner", "POST", "/api/orders/"+f.fill("{paidorder}")+"/refunds", `{"reason":"cold"}`, "id")
	case "{remoteorder}":
		return f.order("VNPAY")
	case "{payment}":
		return f.payment(f.fill("{remoteorder}"))
	case "{total}":
		f.fill("{order}")
		return f.total
	}
	f.t.Fatalf("no rule creates %s", w)
	return ""
}

func (f *fixture) field(principal, method, path, body, name string) string {
	f.t.Helper()
	var v map[string]any
	f.must(f.ask(principal, method, path, body)).into(f.t, &v)
	return fmt.Sprint(v[name])
}

func (f *fixture) order(method string) string {
	body := f.fill(`{"items":[{"itemId":"12","qty":1}],"paymentMethod":"{order-method}","menuVersionId":"{version}",` +
		`"clientTxnId":"{order-key}"}`)
	body = strings.NewReplacer("{order-key}", rand.Text(), "{order-method}", method).Replace(body)
	var o struct {
		ID         string
		TotalPrice int64
	}
	f.must(f.ask("guest", "POST", "/cis/order/create", body)).into(f.t, &o)
	f.total = strconv.FormatInt(o.TotalPrice, 10)
	return o.ID
}

// payment starts a payment attempt for an order.
func (f *fixture) payment(order string) string {
	var d struct{ Payments []struct{ ID string } }
	f.must(f.ask("owner", "GET", "/api/orders/"+order, "")).into(f.t, &d)
	return d.Payments[0].ID
}

// session logs the member in a second time.
func (f *fixture) session() string {
	f.tokens(email("member"))
	var list struct {
		Items []struct {
			ID      string
			Current bool
		}
	}
	f.must(f.ask("member", "GET", "/me/sessions", "")).into(f.t, &list)
	for _, s := range list.Items {
		if !s.Current {
			return s.ID
		}
	}
	f.t.Fatalf("the second login is not listed: %v", list)
	return ""
}

// deadLetter creates a dead letter whose event can be applied now.
func (f *fixture) deadLetter() string {
	e := event.OrderPaid.New(time.Now(), "o"+rand.Text(), 2, 1, event.Paid{OrderID: "o", BranchID: 1, BizDate: "2026-02-26"})
	testenv.NoError(f.t, inbox.New(f.core.DB, inbox.Options{}).StoreDeadLetter(f.t.Context(), ordering.DaybookConsumer, e,
		errors.New("broken")))
	return e.ID
}

func (f *fixture) role(name string) string {
	roles := testenv.Must(f.core.Roles.Store.Roles(f.t.Context()))(f.t)
	i := slices.IndexFunc(roles, func(r authz.Role) bool { return r.Name == name })
	return strconv.FormatInt(roles[i].ID, 10)
}

var classes = map[byte]func(status int) bool{
	'+': func(s int) bool { return s/100 == 2 || s == http.StatusSeeOther },
	'u': func(s int) bool { return s == http.StatusUnauthorized },
	'f': func(s int) bool { return s == http.StatusForbidden },
	'!': func(s int) bool { return s == http.StatusForbidden },
	'n': func(s int) bool { return s == http.StatusNotFound },
	'i': func(s int) bool { return s == http.StatusUnprocessableEntity },
	'x': func(s int) bool { return s == http.StatusServiceUnavailable },
}

// TestMatrix requests every route as every principal and compares the answers with the table. It fails for a route that
// is not in the table, so that its author decides who may use it.
func TestMatrix(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if r := f.ask("owner", "PATCH", "/api/branches/1", `{"sharedCart":true}`); r.status != http.StatusOK {
		t.Fatal("the tables do not share carts: ", r.refusal())
	}
	rest := maps.Clone(matrix)
	for _, route := range f.routes {
		name := route.Method + " " + route.Path
		c, ok := rest[name]
		if !ok {
			t.Errorf("%s (%s) is not in the table", name, route.Policy)
			continue
		}
		delete(rest, name)
		columns, err := c.columns()
		if err != nil {
			t.Fatalf("columns of %s: %v", name, err)
		}
		if c.path == "" {
			c.path = route.Path
		}
		for principal := range strings.FieldsSeq(principals) {
			f.check(route.Method, c, principal, columns[principal])
		}
	}
	for name := range rest {
		t.Errorf("%s is in the table, and there is no such route", name)
	}
}

func (f *fixture) check(method string, c cell, principal string, want byte) {
	f.t.Helper()
	path, body := f.fill(c.path), f.fill(c.body)
	got := f.ask(principal, method, path, body)
	if !classes[want](got.status) {
		f.t.Errorf("%s %s by %s: %s, want %c", method, path, principal, got.refusal(), want)
	}
	switch {
	case want == 'n' && word.MatchString(c.path): // a foreign object must look like a missing one
		if none := f.ask(principal, method, missing(c.path), body); none.refusal() != got.refusal() {
			f.t.Errorf("%s %s by %s: %s, but of what is missing %s", method, path, principal, got.refusal(), none.refusal())
		}
	case got.status/100 == 2:
		f.wantNoForeign(method+" "+path, principal, got.body)
		if method != http.MethodGet {
			clear(f.made)
		}
		if strings.HasSuffix(path, "/logout") {
			f.login(principal)
		}
	}
}

// wantNoForeign fails the test if a response to an account of one branch contains another branch.
func (f *fixture) wantNoForeign(what, principal string, body []byte) {
	f.t.Helper()
	branch := map[bool]string{true: "1", false: "2"}[strings.HasSuffix(principal, "A")]
	if !strings.HasSuffix(principal, "A") && !strings.HasSuffix(principal, "B") || !strings.Contains(what, "/api/") && !strings.Contains(what, "/inventory") {
		return
	}
	if strings.HasSuffix(what, "/api/branches") {
		body = bytes.ReplaceAll(body, []byte(`"id":`), []byte(`"branchId":`))
	}
	for _, m := range branchOf.FindAllSubmatch(body, -1) {
		if string(m[1]) != branch {
			f.t.Errorf("%s shows %s data of branch %s: %s", what, principal, m[1], body)
		}
	}
}

var branchOf = regexp.MustCompile(`"branchIds?":\[?"(\d+)"`)
