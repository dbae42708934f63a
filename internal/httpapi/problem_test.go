package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

// H2: the table of the contract, and none of the kinds without a status.
func TestStatuses_CoverEveryKind(t *testing.T) {
	want := map[string]int{
		"internal": 500, "invalid": 422, "unauthenticated": 401, "forbidden": 403, "not_found": 404, "conflict": 409,
		"sold_out": 409, "expired": 410, "too_many": 429, "unavailable": 503,
	}
	got := map[string]int{}
	for k := fault.Kind(0); k == fault.Internal || k.String() != "internal"; k++ {
		got[k.String()] = statuses[k]
	}
	testenv.Equal(t, want, got)
}

func TestProblemOf(t *testing.T) {
	live := context.Background()
	gone, cancel := context.WithCancel(live)
	cancel()
	secret := errors.New("dial tcp 10.0.0.7: password wrong")
	late := fault.New(fault.Unavailable, "", "Later.").Because(secret)
	slow := fault.Wrap("sql", context.DeadlineExceeded)
	soldOut := fault.New(fault.SoldOut, "sold_out", "Not enough left.")
	for name, c := range map[string]struct {
		ctx    context.Context
		err    error
		status int
		code   string
		detail string
	}{
		"unknown":             {live, secret, 500, "internal", "Something went wrong on our side."},
		"wrapped fault":       {live, fmt.Errorf("op: %w", soldOut), 409, "sold_out", "Not enough left."},
		"code of the kind":    {live, fault.New(fault.Gone, "", ""), 410, "expired", ""},
		"cause stays inside":  {live, late, 503, "unavailable", "Later."},
		"client gone":         {gone, fault.Wrap("sql", context.Canceled), 499, "client_closed", ""},
		"gone, any failure":   {gone, secret, 499, "client_closed", ""},
		"gone, but decided":   {gone, soldOut, 409, "sold_out", "Not enough left."},
		"too slow":            {live, slow, 503, "timeout", "This took too long. Please try again."},
		"a cancel of our own": {live, context.Canceled, 500, "internal", "Something went wrong on our side."},
		"unknown kind":        {live, &fault.Error{Kind: 99}, 500, "internal", "Something went wrong on our side."},
	} {
		p := problemOf(c.ctx, c.err)
		if p.Status != c.status || p.Code != c.code || p.Detail != c.detail {
			t.Errorf("problem of %s: %d %s %q, want %d %s %q", name, p.Status, p.Code, p.Detail, c.status, c.code, c.detail)
		}
		if p.Status >= 499 && !errors.Is(p.cause, c.err) || p.Status < 499 && p.cause != nil {
			t.Errorf("%s: the log would say %v", name, p.cause)
		}
		if b, err := json.Marshal(p); err != nil || strings.Contains(string(b), "10.0.0.7") {
			t.Errorf("problem of %s as JSON = %s, %v, want no address of a server", name, b, err)
		}
	}
}

func TestProblem_Headers(t *testing.T) {
	for _, c := range []struct {
		status int
		after  time.Duration
		want   http.Header
	}{
		{503, 0, http.Header{"Retry-After": {"1"}}},
		{503, 2500 * time.Millisecond, http.Header{"Retry-After": {"3"}}},
		{429, time.Minute, http.Header{"Retry-After": {"60"}}},
		{401, 0, http.Header{"Www-Authenticate": {"Bearer"}}},
		{409, time.Minute, http.Header{}},
	} {
		p := newProblem(c.status, "x", "")
		p.retryAfter = c.after
		if d := cmp.Diff(c.want, p.GetHeaders()); d != "" {
			t.Errorf("headers of status %d (-want +got):\n%s", c.status, d)
		}
	}
}

func TestServer_ProblemShape(t *testing.T) {
	h := newHarness(t, nil)
	a := h.send("GET", "/fail?how=sold_out", "", "X-Request-Id", "request-0001")
	want := map[string]any{
		"type": "about:blank", "title": "Conflict", "status": 409.0, "code": "sold_out", "detail": "Not enough left.",
		"requestId": "request-0001",
		"lines":     []any{map[string]any{"itemId": "11", "requested": 2.0, "available": 1.0}},
	}
	if d := cmp.Diff(want, a.problem(t)); d != "" || a.StatusCode != 409 {
		t.Errorf("status %d (-want +got):\n%s", a.StatusCode, d)
	}

	a = h.send("GET", "/fail?how=unknown", "")
	p := a.problem(t)
	if a.StatusCode != 500 || p["code"] != "internal" || strings.Contains(a.body, "EOF") || p["requestId"] == "" {
		t.Errorf("an unknown failure answers %d %s", a.StatusCode, a.body)
	}
	rec := h.log.records(t)[1]
	if rec["level"] != "ERROR" || rec["err"] != "unexpected EOF" || rec["request_id"] != p["requestId"] {
		t.Errorf("the log says %v", rec)
	}

	a = h.send("GET", "/fail?how=unavailable", "")
	if a.StatusCode != 503 || a.Header.Get("Retry-After") != "3" || a.problem(t)["detail"] != "Try later." {
		t.Errorf("unavailable: %d %v %s", a.StatusCode, a.Header, a.body)
	}
}

func TestProblem_extra_members_replace_none(t *testing.T) {
	p := newProblem(409, "sold_out", "Gone.")
	p.extra = map[string]any{"code": "other", "detail": "Other.", "lines": []int{1}, "a": "<", "errors": []string{"e"}}
	want := `{"type":"about:blank","title":"Conflict","status":409,"code":"sold_out","detail":"Gone.","requestId":"",` +
		`"a":"\u003c","errors":["e"],"lines":[1]}`
	testenv.Equal(t, want, string(testenv.Must(json.Marshal(p))(t)))
	testenv.Equal(t, 5, len(p.extra))

	p.Errors, p.extra = []FieldError{{Field: "f"}}, map[string]any{"errors": []string{"e"}}
	want = `{"type":"about:blank","title":"Conflict","status":409,"code":"sold_out","detail":"Gone.","requestId":"",` +
		`"errors":[{"field":"f","message":""}]}`
	testenv.Equal(t, want, string(testenv.Must(json.Marshal(p))(t)))
}

// A problem encodes itself. Decoded again, every standard member has its value.
func TestProblem_MarshalJSON(t *testing.T) {
	type plain Problem
	rapid.Check(t, func(t *rapid.T) {
		var p Problem
		v := reflect.ValueOf(&p).Elem()
		for i := range v.NumField() {
			switch f := v.Field(i); {
			case !f.CanSet():
			case f.Kind() == reflect.String:
				f.SetString(rapid.String().Draw(t, v.Type().Field(i).Name))
			case f.Kind() == reflect.Int:
				f.SetInt(int64(rapid.IntRange(100, 599).Draw(t, "status")))
			default:
				f.Set(reflect.ValueOf([]FieldError{{Field: rapid.String().Draw(t, "field"), Code: "c", Message: "m"}}))
			}
		}
		var got plain
		testenv.NoError(t, json.Unmarshal(testenv.Must(p.MarshalJSON())(t), &got))
		if d := cmp.Diff(p, Problem(got), cmpopts.IgnoreUnexported(Problem{})); d != "" {
			t.Fatalf("decoded again (-want +got):\n%s", d)
		}
	})
}

// Error responses of middleware and of huma have the same members.
func TestServer_ProblemOfPlainHandler(t *testing.T) {
	h := newHarness(t, nil, func(a *API) {
		a.Handle(Route{Pattern: "GET /plain", Policy: Public, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", `"x"`)
				w.Header().Set("Content-Length", "5")
				Fail(w, r, failures[r.URL.Query().Get("how")])
			})})
	})
	a := h.send("GET", "/plain?how=sold_out", "")
	b := h.send("GET", "/fail?how=sold_out", "")
	pa, pb := a.problem(t), b.problem(t)
	delete(pa, "requestId")
	delete(pb, "requestId")
	if d := cmp.Diff(pb, pa); d != "" || a.Header.Get("ETag") != "" {
		t.Errorf("headers %v, problem (-want +got):\n%s", a.Header, d)
	}
	if a = h.send("GET", "/plain?how=unencodable", ""); a.StatusCode != 409 || a.problem(t)["code"] != "odd" {
		t.Errorf("a member that is no JSON: %d %s", a.StatusCode, a.body)
	}
}
