package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

func TestRegister_DecodesAndAnswers(t *testing.T) {
	h := newHarness(t, nil)
	a := h.post(orderJSON)
	var out orderOut
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.StatusCode != http.StatusCreated {
		t.Fatalf("order: status %d with body %s, want 201 with JSON", a.StatusCode, a.body)
	}
	var in orderIn
	testenv.NoError(t, json.Unmarshal([]byte(orderJSON), &in))
	testenv.Equal(t, place(in), out)

	a = h.send("GET", "/orders/7?page=3", "", CustomerTokenHeader, "tok")
	if want := `{"id":"7","page":3,"hasToken":true}`; strings.TrimSpace(a.body) != want {
		t.Errorf("body %s, want %s", a.body, want)
	}
	if a = h.send("GET", "/orders/7", ""); !strings.Contains(a.body, `"page":1,"hasToken":false`) {
		t.Errorf("defaults: %s", a.body)
	}
}

// All invalid inputs are refused in the same form, whichever layer refuses them (H2).
func TestServer_BadInputs(t *testing.T) {
	h := newHarness(t, nil)
	change := func(old, replacement string) string { return strings.Replace(orderJSON, old, replacement, 1) }
	const path, js, qty1 = "/cis/order/create", "application/json", "body.items[1].qty"
	type c struct {
		method, path, body, contentType string
		status                          int
		code                            string
		field                           string // field of the first error
	}
	for name, c := range map[string]c{
		"broken":            {"POST", path, `{"items":`, js, 400, "invalid_json", ""},
		"not an object":     {"POST", path, `[]`, js, 422, "invalid", "body"},
		"trailing":          {"POST", path, orderJSON + "{}", js, 400, "invalid_json", ""},
		"no body":           {"POST", path, ``, js, 400, "invalid_json", ""},
		"no body, no type":  {"POST", path, ``, "", 400, "invalid_json", ""},
		"unknown field":     {"POST", path, change(`"visitId"`, `"price":1,"visitId"`), js, 422, "invalid", "body.price"},
		"repeated field":    {"POST", path, change(`"visitId"`, `"items":[],"visitId"`), js, 422, "invalid", "body.items"},
		"missing field":     {"POST", path, change(`"clientTxnId":"c-7f3a",`, ``), js, 422, "invalid", "body.clientTxnId"},
		"wrong case":        {"POST", path, change(`"visitId"`, `"visitID"`), js, 422, "invalid", "body.visitID"},
		"fraction":          {"POST", path, change(`"qty":1`, `"qty":1.5`), js, 422, "invalid", qty1},
		"exponent":          {"POST", path, change(`"qty":1`, `"qty":1e18`), js, 422, "invalid", qty1},
		"huge":              {"POST", path, change(`"qty":1`, `"qty":1000000000000000000`), js, 422, "invalid", qty1},
		"zero":              {"POST", path, change(`"qty":1`, `"qty":0`), js, 422, "invalid", qty1},
		"negative":          {"POST", path, change(`"qty":1`, `"qty":-1`), js, 422, "invalid", qty1},
		"enum":              {"POST", path, change(`COUNTER`, `CASH`), js, 422, "invalid", "body.paymentMethod"},
		"NUL":               {"POST", path, change(`no onion`, `\u0000`), js, 422, "invalid", "body.items[0].notes"},
		"not UTF-8":         {"POST", path, change(`no onion`, "\xff"), js, 400, "invalid_json", ""},
		"too deep":          {"POST", path, strings.Repeat(`{"a":`, 20), js, 400, "invalid_json", ""},
		"no type":           {"POST", path, orderJSON, "", 415, "unsupported_media_type", ""},
		"text":              {"POST", path, orderJSON, "text/plain", 415, "unsupported_media_type", ""},
		"form":              {"POST", path, "a=b", "application/x-www-form-urlencoded", 415, "unsupported_media_type", ""},
		"another json":      {"POST", path, orderJSON, "application/merge-patch+json", 415, "unsupported_media_type", ""},
		"latin 1":           {"POST", path, orderJSON, "application/json; charset=latin1", 415, "unsupported_media_type", ""},
		"too large":         {"POST", path, strings.Repeat(" ", 64<<10) + orderJSON, js, 413, "too_large", ""},
		"bad number":        {"GET", "/orders/7?page=x", "", "", 422, "invalid", "query.page"},
		"number too large":  {"GET", "/orders/7?page=101", "", "", 422, "invalid", "query.page"},
		"long identifier":   {"GET", "/orders/" + strings.Repeat("7", 27), "", "", 422, "invalid", "path.id"},
		"unknown path":      {"GET", "/nothing/here", "", "", 404, "not_found", ""},
		"unknown method":    {"DELETE", "/cis/order/create", "", "", 405, "method_not_allowed", ""},
		"invented method":   {"BREW", "/docs", "", "", 405, "method_not_allowed", ""},
		"NUL in the query":  {"GET", "/orders/7?a=%00", "", "", 400, "invalid_url", ""},
		"NUL in the path":   {"GET", "/orders/%00", "", "", 400, "invalid_url", ""},
		"bytes in the path": {"GET", "/orders/%ff", "", "", 400, "invalid_url", ""},
		"bytes in a query":  {"GET", "/orders/7?a=%c3%28", "", "", 400, "invalid_url", ""},
		"broken escape":     {"GET", "/orders/7?a=%zz", "", "", 400, "invalid_url", ""},
		"long URL":          {"GET", "/orders/7?a=" + strings.Repeat("a", 2<<10), "", "", 414, "uri_too_long", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var headers []string
			if c.contentType != "" {
				headers = []string{"Content-Type", c.contentType}
			}
			a := h.send(c.method, c.path, c.body, headers...)
			p := a.problem(t)
			if a.StatusCode != c.status || p["status"] != float64(c.status) || p["code"] != c.code {
				t.Fatalf("%d %s, want %d %s", a.StatusCode, a.body, c.status, c.code)
			}
			if p["requestId"] != a.Header.Get("X-Request-Id") || p["title"] == "" || p["type"] != "about:blank" {
				t.Errorf("members: %s", a.body)
			}
			first := ""
			if list, ok := p["errors"].([]any); ok {
				first = list[0].(map[string]any)["field"].(string)
				if list[0].(map[string]any)["message"] == "" {
					t.Error("a mistake without a message")
				}
			}
			if first != c.field {
				t.Errorf("the first mistake is at %q, want %q: %s", first, c.field, a.body)
			}
		})
	}
}

// Compressed bodies are not supported, so one is refused as such and not as broken JSON.
func TestServer_ContentEncoding(t *testing.T) {
	h := newHarness(t, nil)
	for encoding, want := range map[string]int{
		"": 201, "identity": 201, "Identity": 201, "gzip": 415, "br": 415, "identity, gzip": 415, "nonsense": 415,
	} {
		a := h.send("POST", "/cis/order/create", orderJSON, "Content-Type", "application/json", "Content-Encoding", encoding)
		if a.StatusCode != want || want == 415 && a.problem(t)["code"] != "unsupported_encoding" {
			t.Errorf("Content-Encoding %q: status %d with body %s, want %d", encoding, a.StatusCode, a.body, want)
		}
	}
	if a := h.send("GET", "/orders/7", "", "Content-Encoding", "gzip"); a.StatusCode != 200 { // without a body
		t.Errorf("without a body: %d %s", a.StatusCode, a.body)
	}
}

func TestServer_AcceptsJSONTypes(t *testing.T) {
	h := newHarness(t, nil)
	for _, ct := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"} {
		if a := h.send("POST", "/cis/order/create", orderJSON, "Content-Type", ct); a.StatusCode != http.StatusCreated {
			t.Errorf("Content-Type %s: status %d with body %s, want 201", ct, a.StatusCode, a.body)
		}
	}
}

func TestServer_ListsParametersAndBodyTogether(t *testing.T) {
	h := newHarness(t, nil)
	long := strings.Repeat("t", 200)
	a := h.send("POST", "/cis/order/create", `{"items":[]}`, "Content-Type", "application/json", CustomerTokenHeader, long)
	var p Problem
	testenv.NoError(t, json.Unmarshal([]byte(a.body), &p))
	var fields []string
	for _, e := range p.Errors {
		fields = append(fields, e.Field)
	}
	want := []string{"header.X-Customer-Token", "body.items", "body.paymentMethod", "body.clientTxnId", "body.visitId"}
	if d := cmp.Diff(want, fields); d != "" || strings.Contains(a.body, "ttt") {
		t.Errorf("refused request: body %s, fields (-want +got):\n%s", a.body, d)
	}
}

func TestServer_MethodNotAllowedNamesTheOthers(t *testing.T) {
	h := newHarness(t, nil)
	a := h.send("PUT", "/docs", "")
	testenv.Equal(t, "GET, HEAD", a.Header.Get("Allow"))
	if a = h.send("HEAD", "/docs", ""); a.StatusCode != http.StatusOK || a.body != "" {
		t.Errorf("HEAD: %d %q", a.StatusCode, a.body)
	}
}

// A body without an announced length is cut off at the limit; one of exactly the limit passes.
func TestServer_BodyLimit(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxBodyBytes = 1000 })
	pad := func(n int) string { return orderJSON + strings.Repeat(" ", n-len(orderJSON)) }
	chunked := func(body string) io.Reader { return io.MultiReader(strings.NewReader(body)) } // hides the length
	for name, c := range map[string]struct {
		path   string
		body   io.Reader
		status int
	}{
		"exact":          {"/cis/order/create", strings.NewReader(pad(1000)), 201},
		"exact, chunked": {"/cis/order/create", chunked(pad(1000)), 201},
		"above":          {"/cis/order/create", strings.NewReader(pad(1001)), 413},
		"above, chunked": {"/cis/order/create", chunked(pad(1001)), 413},
		"plain":          {"/ipn", chunked(pad(1000)), 200},
		"plain, above":   {"/ipn", chunked(pad(1001)), 413},
	} {
		a := h.do(c.body, "POST", c.path, "Content-Type", "application/json")
		if a.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", name, a.StatusCode, a.body, c.status)
		}
		if c.status == 413 && a.problem(t)["code"] != "too_large" {
			t.Errorf("%s: body %s, want code too_large", name, a.body)
		}
	}
	if got := h.metric("http_server_rejected_total", map[string]string{"reason": "too_large"}); got != 1 {
		t.Errorf("rejected by its announcement: %v, want 1", got)
	}
}

func TestServer_BodyThatBreaksOff(t *testing.T) {
	h := newHarness(t, nil)
	r := &failingReader{data: []byte(orderJSON[:50])}
	req := testenv.Must(http.NewRequestWithContext(t.Context(), "POST", "http://"+h.Addr().String()+"/cis/order/create",
		r))(t)
	req.Header.Set("Content-Type", "application/json")
	if res, err := h.client.Do(req); err == nil {
		_ = res.Body.Close()
		t.Fatalf("the broken request got %d", res.StatusCode)
	}
	testenv.Eventually(t, 5*time.Second, func() bool { return len(h.log.records(t)) == 1 })
	if rec := h.log.records(t)[0]; rec["level"] == "ERROR" || rec["status"].(float64) >= 500 {
		t.Errorf("the client's failure is recorded as ours: %v", rec)
	}
}

type failingReader struct{ data []byte }

func (f *failingReader) Read(p []byte) (int, error) {
	if len(f.data) == 0 {
		return 0, errors.New("the client's disk failed")
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}

func TestServer_RequestID(t *testing.T) {
	h := newHarness(t, nil)
	for given, kept := range map[string]bool{
		"request-0001": true, "ABCDEFGH": true, strings.Repeat("a", 64): true,
		"": false, "short": false, strings.Repeat("a", 65): false, "with space 1": false, "inject\"ion": false,
		"tab\tbed1": false, "não-ascii": false,
	} {
		var headers []string
		if given != "" {
			headers = []string{"X-Request-Id", given}
		}
		got := h.send("GET", "/orders/7", "", headers...).Header.Get("X-Request-Id")
		if (got == given) != kept || !plausibleID(got) {
			t.Errorf("given %q, answered %q", given, got)
		}
	}
}

// Every record that a handler logs with its context has the request id (T3).
func TestRequestID_TravelsWithTheContext(t *testing.T) {
	var own journal
	buf := telemetry.NewBuffer(&own)
	log := testenv.Must(telemetry.NewLogger(buf, telemetry.LogConfig{}))(t)
	seen := ""
	h := newHarness(t, nil, func(a *API) {
		a.Handle(Route{Pattern: "GET /seen", Policy: Public, Handler: http.HandlerFunc(
			func(_ http.ResponseWriter, r *http.Request) {
				seen = RequestID(r.Context())
				log.InfoContext(r.Context(), "inside")
			})})
	})
	id := h.send("GET", "/seen", "").Header.Get("X-Request-Id")
	testenv.NoError(t, buf.Close())
	if seen != id || !strings.Contains(own.String(), `"request_id":"`+id+`"`) {
		t.Errorf("the client saw %q, the handler %q and its log %s", id, seen, own.String())
	}
	if RequestID(context.Background()) != "" {
		t.Error("an id without a request")
	}
}

func TestServer_SecurityHeaders(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.HSTS = true })
	for _, path := range []string{"/orders/7", "/nothing", "/livez", "/fail?how=panic"} {
		a := h.send("GET", path, "")
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Content-Security-Policy":   "default-src 'none'; frame-ancestors 'none'",
			"Strict-Transport-Security": "max-age=31536000; includeSubDomains",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", path, name, got, want)
			}
		}
	}
	if a := newHarness(t, nil).send("GET", "/livez", ""); a.Header.Get("Strict-Transport-Security") != "" {
		t.Error("HSTS on a server without TLS")
	}
}
