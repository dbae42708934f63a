package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/httpapi/jsonbody"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

func TestOpenAPI_DescribesTheContract(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Title, c.Version = "Test", "v1" })
	a := h.send("GET", "/openapi.json", "")
	var doc map[string]any
	testenv.NoError(t, json.Unmarshal([]byte(a.body), &doc))
	at := func(path ...string) any {
		var v any = doc
		for _, name := range path {
			m, _ := v.(map[string]any)
			v = m[name]
		}
		return v
	}
	create := []string{"paths", "/cis/order/create", "post"}
	problem := append(create, "responses", "default", "content", "application/problem+json", "schema", "$ref")
	for _, c := range []struct {
		want any
		path []string
	}{
		{"3.1.0", []string{"openapi"}},
		{"v1", []string{"info", "version"}},
		{"guest", append(create, "x-policy")},
		{[]any{map[string]any{"customerToken": []any{}}}, append(create, "security")},
		{"bearer", []string{"components", "securitySchemes", "serviceToken", "scheme"}},
		{"JWT", []string{"components", "securitySchemes", "accessToken", "bearerFormat"}},
		{
			[]any{map[string]any{"accessToken": []any{}}, map[string]any{"serviceToken": []any{}}},
			[]string{"paths", "/staff", "get", "security"},
		},
		{true, append(create, "requestBody", "required")},
		{"#/components/schemas/Problem", problem},
		{20.0, []string{"components", "schemas", "OrderLine", "properties", "qty", "maximum"}},
		{false, []string{"components", "schemas", "OrderIn", "additionalProperties"}},
		{true, []string{"components", "schemas", "Problem", "additionalProperties"}},
		{"array", []string{"paths", "/menu", "get", "responses", "200", "content", "application/json", "schema", "type"}},
		{"The client already has this version.", []string{"paths", "/menu", "get", "responses", "304", "description"}},
	} {
		if d := cmp.Diff(c.want, at(c.path...)); d != "" {
			t.Errorf("%s (-want +got):\n%s", strings.Join(c.path, " "), d)
		}
	}
	if strings.Contains(a.body, "/livez") {
		t.Error("operational routes are part of the contract")
	}
}

func TestOpenAPI_YAMLIsStable(t *testing.T) {
	first := testenv.Must(newHarness(t, nil).API().YAML())(t)
	second, err := newHarness(t, nil).API().YAML()
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("two servers with the same routes describe them differently (%v)", err)
	}
	if !bytes.Contains(first, []byte("openapi: 3.1.0")) || !bytes.Contains(first, []byte("/cis/order/create:")) {
		t.Errorf("the document begins with %.200s", first)
	}
}

// The page loads nothing from other hosts, and its policy allows no other.
func TestDocs_IsSelfContained(t *testing.T) {
	h := newHarness(t, nil)
	a := h.send("GET", "/docs", "")
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("GET /docs: status %d with headers %v, want 200 with HTML", a.StatusCode, a.Header)
	}
	for _, want := range []string{
		"/cis/order/create", "guest", "/staff", `id="schema-OrderLine"`, "at most 50", "length ≤ 200",
		"one of [COUNTER SANDBOX]",
		`href="#schema-OrderIn"`, "query page", "header X-Customer-Token",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("%q is missing", want)
		}
	}
	testenv.Equal(t, "", regexp.MustCompile(`https?:|<script|<link|@import|style="| on\w+=`).FindString(a.body))
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(a.body)
	if len(style) != 2 || style[1] != docsStyle {
		t.Error("the style is not the one whose digest the policy names")
	}
	if csp := a.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "style-src 'sha256-") {
		t.Errorf("policy %q", csp)
	}
}

func TestSchemaName_is_unique_by_package(t *testing.T) {
	type Line struct{}
	for want, c := range map[string]struct {
		t    reflect.Type
		hint string
	}{
		"Problem":        {reflect.TypeFor[Problem](), ""},
		"Line":           {reflect.TypeFor[*Line](), ""},
		"TelemetryBuild": {reflect.TypeFor[telemetry.Build](), ""},
		"JsonbodyField":  {reflect.TypeFor[*jsonbody.Field](), ""},
		"OrderIn":        {reflect.TypeFor[orderIn](), "ignored"},
		"CreateResponse": {reflect.TypeFor[struct{ A int }](), "createResponse"},
	} {
		if got := schemaName(c.t, c.hint); got != want {
			t.Errorf("%s is called %q, want %q", c.t, got, want)
		}
	}
}

// An optional body, a shared body type and a type that contains itself.
func TestRegister_BodyKinds(t *testing.T) {
	type Tree struct {
		Name     string `json:"name" text:"line"`
		Children []Tree `json:"children,omitempty"`
	}
	type in struct{ Body *Tree }
	type out struct {
		Body struct {
			Names []string `json:"names"`
		}
	}
	var walk func(tr Tree) []string
	walk = func(tr Tree) []string {
		names := []string{tr.Name}
		for _, c := range tr.Children {
			names = append(names, walk(c)...)
		}
		return names
	}
	h := newHarness(t, nil, func(a *API) {
		for _, path := range []string{"/a", "/b"} {
			op := huma.Operation{Method: "POST", Path: path}
			register(a, op, Public, func(_ context.Context, i *in) (*out, error) {
				o := &out{}
				o.Body.Names = []string{}
				if i.Body != nil {
					o.Body.Names = walk(*i.Body)
				}
				return o, nil
			})
		}
	})
	for body, want := range map[string]string{
		``: `{"names":[]}`,
		`{"name":"x","children":[{"name":"y"},{"name":"z","children":[]}]}`: `{"names":["x","y","z"]}`,
	} {
		for _, path := range []string{"/a", "/b"} {
			a := h.send("POST", path, body, "Content-Type", "application/json")
			if a.StatusCode != 200 || strings.TrimSpace(a.body) != want {
				t.Errorf("POST %s with %s: status %d with body %s, want 200 with %s", path, body, a.StatusCode, a.body, want)
			}
		}
	}
	if a := h.send("POST", "/a", `{"children":[{}]}`, "Content-Type", "application/json"); a.StatusCode != 422 {
		t.Errorf("POST /a: status %d with body %s, want 422", a.StatusCode, a.body)
	}
}

func TestRegister_BodyMustBeAStruct(t *testing.T) {
	s := testenv.Must(New(Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	mustPanic(t, "a list as a body", func() {
		op := huma.Operation{Method: "POST", Path: "/list"}
		register(s.API(), op, Public, func(context.Context, *struct{ Body []string }) (*struct{}, error) { return nil, nil })
	})
}

func TestRoutes_AreACopy(t *testing.T) {
	h := newHarness(t, nil)
	h.API().Routes()[0].Policy = "changed"
	if slices.ContainsFunc(h.API().Routes(), func(l RouteInfo) bool { return l.Policy == "changed" }) {
		t.Error("a caller can change the list")
	}
}
