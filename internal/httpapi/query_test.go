package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

type searchIn struct {
	Q     string `query:"q" text:"line" maxLength:"20"`
	Since string `query:"since" text:"exact"`
}

type searchOut struct {
	Body struct {
		Q     string `json:"q"`
		Since string `json:"since"`
	}
}

// Search terms are cleaned like stored texts, so that a search finds them.
func TestRegister_CleansQueries(t *testing.T) {
	h := newHarness(t, nil, func(a *API) {
		register(a, huma.Operation{OperationID: "search", Method: http.MethodGet, Path: "/search"}, Public,
			func(_ context.Context, in *searchIn) (*searchOut, error) {
				out := &searchOut{}
				out.Body.Q, out.Body.Since = in.Q, in.Since
				return out, nil
			})
	})
	ask := func(q, since string) answer {
		t.Helper()
		return h.send(http.MethodGet, "/search?"+url.Values{"q": {q}, "since": {since}}.Encode(), "")
	}
	if a := ask(" pho\u031b\u0309\u3000", " x "); a.body != `{"q":"phở","since":" x "}`+"\n" {
		t.Errorf("search: status %d with body %s, want NFC and an unchanged since", a.StatusCode, a.body)
	}
	for _, bad := range []string{"a\x1bb", "a\u202eb", "\u200b", "a\nb"} {
		a := ask(bad, "")
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(a.body, `"field":"query.q"`) {
			t.Errorf("search for %q: status %d with body %s, want 422 about query.q", bad, a.StatusCode, a.body)
		}
	}
	for _, p := range h.API().huma.OpenAPI().Paths["/search"].Get.Parameters {
		if kind := p.Schema.Extensions["x-text"]; kind == "line" != (p.Name == "q") {
			t.Errorf("the contract says of %s that it is %v", p.Name, kind)
		}
	}
}

func TestRegister_requires_text_tags_of_queries(t *testing.T) {
	type none struct {
		Q string `query:"q"`
	}
	type lines struct {
		Q string `query:"q" text:"lines"`
	}
	type many struct {
		Q []string `query:"q" text:"line"`
	}
	for what, register := range map[string]func(*API){
		"none":  func(a *API) { register(a, huma.Operation{Method: http.MethodGet, Path: "/q"}, Public, nothing[none]) },
		"lines": func(a *API) { register(a, huma.Operation{Method: http.MethodGet, Path: "/q"}, Public, nothing[lines]) },
		"many":  func(a *API) { register(a, huma.Operation{Method: http.MethodGet, Path: "/q"}, Public, nothing[many]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", what)
				}
			}()
			newHarness(t, nil, register)
		}()
	}
}

func nothing[I any](context.Context, *I) (*struct{}, error) { return nil, nil }
