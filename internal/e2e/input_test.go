package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/text"
)

// badRequest is a request that must be refused.
type badRequest struct {
	a      answer
	status int
	code   string
}

// Invalid requests are refused with a code and change nothing. No text, however hostile, is treated as anything but
// text.
func TestBadInput(t *testing.T) { onInstallations(t, badInput, embedded, servers) }

func badInput(t *testing.T, k kind) {
	s := open(t, k, nil)
	g, stranger := s.guest(0), s.guest(1)
	stays := g.mustPlace(t, line{ItemID: pho, Qty: 1})
	left := s.guest(2)
	s.staff(http.MethodPost, "/api/visits/"+left.visit+"/close", map[string]string{}).want(t, http.StatusOK, "")
	s.awaitPublished()

	unchanged := s.unchanged()
	for name, b := range refusals(s, g, stranger, left, stays) {
		if p, ok := b.a.problem(); b.a.status != b.status || !ok || p.Code != b.code {
			t.Errorf("%s: want %d %s, got %v", name, b.status, b.code, b.a)
		}
	}
	for name, given := range hostile {
		for field, a := range map[string]answer{
			"itemId":        g.place(g.request(line{ItemID: given, Qty: 1})),
			"menuVersionId": placeModified(g, func(w *orderRequest) { w.MenuVersionID = given }),
			"visitId":       placeModified(g, func(w *orderRequest) { w.VisitID = given }),
			"paymentMethod": placeModified(g, func(w *orderRequest) { w.PaymentMethod = given }),
			"order id":      g.get(url.PathEscape(given)),
			"cancelled id":  g.cancel(url.PathEscape(given)),
			"visit id":      g.send(http.MethodGet, "/cis/visit/"+url.PathEscape(given)+"/orders", nil),
			"staff's id":    s.staff(http.MethodGet, "/api/orders/"+url.PathEscape(given), nil),
			"paid id":       s.gateway(given, "SUCCESS"),
			"qr":            s.send(http.MethodPost, "/cis/landing", map[string]string{"qr": given}),
			"qr in a query": s.send(http.MethodGet, "/cis/landing?qr="+url.QueryEscape(given), nil),
			"branchId":      s.send(http.MethodPost, "/cis/menu/active", map[string]string{"branchId": given}),
			"date":          s.staff(http.MethodGet, "/api/reports/day?branchId=1&date="+url.QueryEscape(given), nil),
		} {
			if _, ok := a.problem(); a.status/100 != 4 || !ok && a.status != tooMuchHeader {
				t.Errorf("%s with %s is answered %v", field, name, a)
			}
		}
	}
	unchanged()
	for name, given := range hostile {
		wantSafeText(t, s, g, name, given)
	}
	if o := g.get(stays.ID).order(t); o.Status != "PLACED" || o.PaymentStatus != "UNPAID" {
		t.Errorf("the order that was there is %+v", o)
	}
	s.awaitConsistent()
}

// tooMuchHeader is net/http's own plain-text response to a request line that never reaches our handlers.
const tooMuchHeader = http.StatusRequestHeaderFieldsTooLarge

// unchanged records the counters and all traces of requests, and returns a function that expects the same.
func (s *installation) unchanged() func() {
	s.t.Helper()
	stock, traces := s.must("stock", "show", "--json"), s.rowCounts()
	return func() {
		s.t.Helper()
		if d := cmp.Diff(traces, s.rowCounts()); d != "" {
			s.t.Errorf("rows after refused requests (-before +after):\n%s", d)
		}
		if d := cmp.Diff(stock, s.must("stock", "show", "--json")); d != "" {
			s.t.Errorf("counters after refused requests (-before +after):\n%s", d)
		}
	}
}

// placeModified places a modified order.
func placeModified(g guest, change func(w *orderRequest)) answer {
	w := g.request(line{ItemID: pho, Qty: 1})
	change(&w)
	return g.place(w)
}

// placeEdited places an order with modified JSON text.
func placeEdited(g guest, old, replacement string) answer {
	body, _ := json.Marshal(g.request(line{ItemID: pho, Qty: 1})) // marshalling strings and integers cannot fail
	return g.send(http.MethodPost, "/cis/order/create", bytes.Replace(body, []byte(old), []byte(replacement), 1))
}

func refusals(s *installation, g, stranger, left guest, stays order) map[string]badRequest {
	one := line{ItemID: pho, Qty: 1}
	create := "/cis/order/create"
	refused := map[string]badRequest{
		"unknown field":        {placeEdited(g, `"items"`, `"price":1,"items"`), 422, "invalid"},
		"unknown field inside": {placeEdited(g, `"qty"`, `"price":1,"qty"`), 422, "invalid"},
		"duplicate key":        {placeEdited(g, `"items"`, `"paymentMethod":"COUNTER","items"`), 422, "invalid"},
		"duplicate key inside": {placeEdited(g, `"qty":1`, `"qty":1,"qty":2`), 422, "invalid"},
		"quantity 1.5":         {placeEdited(g, `"qty":1`, `"qty":1.5`), 422, "invalid"},
		"quantity 1e18":        {placeEdited(g, `"qty":1`, `"qty":1e18`), 422, "invalid"},
		"quantity 10^30":       {placeEdited(g, `"qty":1`, `"qty":1`+strings.Repeat("0", 30)), 422, "invalid"},
		"quantity in quotes":   {placeEdited(g, `"qty":1`, `"qty":"1"`), 422, "invalid"},
		"quantity null":        {placeEdited(g, `"qty":1`, `"qty":null`), 422, "invalid"},
		"no quantity":          {placeEdited(g, `,"qty":1`, ``), 422, "invalid"},
		"broken JSON":          {placeEdited(g, `}`, ``), 400, "invalid_json"},
		"trailing text":        {placeEdited(g, `"items"`, `"items":[]}{"items"`), 400, "invalid_json"},
		"not UTF-8":            {placeEdited(g, `SANDBOX`, "SAND\xffBOX"), 400, "invalid_json"},
		"no lines":             {g.place(g.request()), 422, "invalid"},
		"51 lines":             {g.place(g.request(slices.Repeat([]line{one}, 51)...)), 422, "invalid"},
		"101 units":            {g.place(g.request(slices.Repeat([]line{{ItemID: phoGa, Qty: 20}}, 6)...)), 422, "invalid"},
		"unknown item":         {g.place(g.request(line{ItemID: "999999", Qty: 1})), 422, "item_unknown"},
		"other branch's item":  {g.place(g.request(line{ItemID: "22", Qty: 1})), 422, "item_unknown"},
		"unknown version":      {placeModified(g, func(w *orderRequest) { w.MenuVersionID = "999999" }), 409, "menu_version_closed"},
		"another's visit":      {placeModified(g, func(w *orderRequest) { w.VisitID = stranger.visit }), 403, "visit_mismatch"},
		"unknown payment":      {placeModified(g, func(w *orderRequest) { w.PaymentMethod = "GOLD" }), 422, "payment_method_unavailable"},
		"no clientTxnId":       {placeModified(g, func(w *orderRequest) { w.ClientTxnID = "" }), 422, "invalid"},
		"closed visit":         {left.place(left.request(one)), 410, "visit_closed"},
		"another's order":      {stranger.get(stays.ID), 404, "order_not_found"},
		"another's order out":  {stranger.cancel(stays.ID), 404, "order_not_found"},
		"another's orders":     {stranger.send("GET", "/cis/visit/"+g.visit+"/orders", nil), 404, "visit_not_found"},
		"no token":             {s.send("POST", create, g.request(one)), 401, "customer_token_invalid"},
		"1 MB":                 {g.send("POST", create, bytes.Repeat([]byte(" "), 1<<20)), 413, "too_large"},
		"form":                 {g.s.send("POST", create, []byte("a=b"), "Content-Type", "text/plain"), 415, "unsupported_media_type"},
	}
	for name, token := range map[string]string{
		"wrong token": strings.Repeat("A", len(g.token)), "half a token": g.token[:20], "twice the token": g.token + g.token,
		"long token": strings.Repeat("A", 128), "token of symbols": "'; DROP TABLE visit_guest; --",
	} {
		refused[name] = badRequest{guest{s, token, g.visit}.place(g.request(one)), 401, "customer_token_invalid"}
	}
	for _, qty := range []int64{0, -1, -5, 21, 100, 1e18, -1 << 63} {
		refused["quantity "+strconv.FormatInt(qty, 10)] = badRequest{g.place(g.request(line{ItemID: pho, Qty: qty})), 422, "invalid"}
	}
	return refused
}

// hostile are texts with a meaning in some layer they pass through.
var hostile = map[string]string{
	"SQL":               `'; DROP TABLE order_info; --`,
	"a SQL condition":   `1' OR '1'='1`,
	"quotes":            "it's \"fine\" \\ `so` $$ 100%",
	"placeholders":      "$1 ? :name %s %d {{.}} ${HOME}",
	"a Redis command":   "\r\n*1\r\n$8\r\nFLUSHALL\r\n",
	"a Redis key":       "{b1}:*?[a-z]:order",
	"Lua":               "') redis.call('FLUSHALL') --",
	"markup":            `<script>alert(1)</script>&amp;`,
	"a path":            "../../etc/passwd",
	"emoji":             "🍜👩‍👩‍👧‍👦🇻🇳",
	"combined letters":  "Phở tái e\u0301 \ufeff",
	"an override":       "Phở \u202etxet\u202c",
	"control":           "\x01\x02\x1b[31m\x7f\u0085",
	"white space":       " \t\n\v\u00a0\u2028",
	"NUL":               "a\x00b",
	"a long text":       strings.Repeat("x", 1500),
	"a very long text":  strings.Repeat("ở", 10_000),
	"a number":          "1e3",
	"a negative number": "-1",
	"much":              strings.Repeat("9", 19),
}

// mayBeKept are the names of the texts that are valid notes to a kitchen.
var mayBeKept = []string{"SQL", "quotes", "placeholders", "a Redis key", "markup", "a path", "emoji", "combined letters"}

// wantSafeText orders with a hostile text in every text field. It must be refused without a trace, or come back
// unchanged except for text normalization.
func wantSafeText(t *testing.T, s *installation, g guest, name, given string) {
	t.Helper()
	unchanged := s.unchanged()
	w := g.request(line{ItemID: pho, Qty: 1, Notes: given}, line{ItemID: phoGa, Qty: 1})
	for field, w := range map[string]orderRequest{
		"notes": w, "clientTxnId": {w.Items[1:], w.PaymentMethod, given, w.MenuVersionID, w.VisitID},
	} {
		a := g.place(w)
		notes, err := text.Lines.Clean(w.Items[0].Notes)
		if err != nil {
			a.want(t, http.StatusUnprocessableEntity, "invalid")
		}
		if _, ok := a.problem(); a.status/100 == 4 && ok && (err != nil || !slices.Contains(mayBeKept, name)) {
			continue
		}
		placed := a.want(t, http.StatusCreated, "").order(t)
		if again := g.place(w).want(t, http.StatusOK, "").order(t); again.ID != placed.ID {
			t.Errorf("%s in %s: orders %s and %s", name, field, placed.ID, again.ID)
		}
		if o := g.get(placed.ID).order(t); o.Items[0].Notes != notes || o.Total != s.price(w.Items) {
			t.Errorf("%s in %s comes back as %+v", name, field, o)
		}
		unchanged = func() {}
	}
	unchanged()
}
