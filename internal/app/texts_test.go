package app

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"comanda/internal/testenv"
	texts "comanda/internal/text" // the package has an identifier text
)

// schema is the part of a contract's schema that this test reads.
type schema struct {
	Ref                  string  `json:"$ref"`
	Type                 any     // a name, or several with null among them
	Kind                 string  `json:"x-text"`
	Enum                 []any   `json:"enum"`
	Pattern, Format      string  //
	ContentEncoding      string  //
	Items                *schema //
	Properties           map[string]*schema
	AdditionalProperties json.RawMessage
}

// contract is the part of the OpenAPI document that this test reads.
type contract struct {
	Paths map[string]map[string]struct {
		Policy     string `json:"x-policy"`
		Parameters []struct {
			In, Name string
			Required bool
			Schema   schema
		}
		RequestBody struct {
			Content map[string]struct{ Schema *schema }
		}
	}
	Components struct{ Schemas map[string]*schema }
}

// textField is a text field in a request: its name in errors, and a function that sets its value.
type textField struct {
	route, method, path, policy string
	field                       string
	kind                        string
	query                       string           // the parameter; empty in bodies
	needed                      url.Values       // other required parameters
	body                        func(string) any // nil in queries
}

func (p textField) String() string { return p.route + " " + p.field }

// textFields lists every string of every request.
func (c *contract) textFields() []textField {
	var found []textField
	for _, path := range slices.Sorted(maps.Keys(c.Paths)) {
		for method, op := range c.Paths[path] {
			p := textField{method: strings.ToUpper(method), path: word.ReplaceAllString(path, "1"), policy: op.Policy}
			p.route = p.method + " " + path
			needed := url.Values{}
			for _, q := range op.Parameters {
				if q.In == "query" && q.Required {
					needed.Set(q.Name, "1")
				}
			}
			for _, q := range op.Parameters {
				if q.In == "query" && q.Schema.unrestricted() {
					p.field, p.kind, p.query, p.needed = "query."+q.Name, q.Schema.Kind, q.Name, needed
					found = append(found, p)
				}
			}
			p.query = ""
			if body := op.RequestBody.Content["application/json"].Schema; body != nil {
				c.walk(body, "", p, "body", func(v any) any { return v }, &found)
			}
		}
	}
	return found
}

// walk visits a schema. wrap puts a value of it into a whole body.
func (c *contract) walk(s *schema, kind string, p textField, field string, wrap func(any) any, found *[]textField) {
	for s.Ref != "" {
		s = c.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	if s.Kind != "" {
		kind = s.Kind // also the kind of texts in a list or a map
	}
	var elem schema
	switch {
	case s.unrestricted():
		p.field, p.kind, p.body = field, kind, func(text string) any { return wrap(text) }
		*found = append(*found, p)
	case s.Items != nil:
		c.walk(s.Items, kind, p, field+"[0]", func(v any) any { return wrap([]any{v}) }, found)
	case len(s.Properties) == 0 && json.Unmarshal(s.AdditionalProperties, &elem) == nil:
		c.walk(&elem, kind, p, field+".en", func(v any) any { return wrap(map[string]any{"en": v}) }, found)
	}
	for name, property := range s.Properties {
		c.walk(property, "", p, field+"."+name, func(v any) any { return wrap(map[string]any{name: v}) }, found)
	}
}

// unrestricted reports whether a schema is of strings without restrictions on their characters.
func (s *schema) unrestricted() bool {
	isText := s.Type == "string"
	if several, ok := s.Type.([]any); ok {
		isText = slices.Contains(several, any("string"))
	}
	return isText && s.Pattern == "" && s.Format == "" && s.ContentEncoding == "" && len(s.Enum) == 0
}

// untyped are the names of strings that users do not type, or that are secrets. Everything else is free text.
var untyped = strings.Fields(`branchId categoryId orderId tableId visitId itemId imageId itemIds[0] dishIds[0] kinds[0] contains[0] mayContain[0] diets[0] permissionIds[0] branches[0] clientTxnId
	customerToken qr refreshToken password currentPassword newPassword pin code state
	locale locales[0] until since method paymentMethod gender consumer type accent`)

// principalFor returns a principal that a policy admits.
func principalFor(policy string) string {
	return map[string]string{"guest": "guest", "member": "member", "staff": "owner", "admin": "owner"}[policy]
}

// Every route refuses bad text in every typed field, with the field's name, before any effect. New fields are found
// automatically; a field that users do not type must be in untyped.
func TestTexts_everyRouteRefusesBadOnes(t *testing.T) {
	f := newFixture(t)
	var c contract
	f.must(f.ask("", "GET", "/openapi.json", "")).into(t, &c)
	typed := 0
	for _, p := range c.textFields() {
		name := p.field[strings.LastIndexByte(p.field, '.')+1:]
		if p.kind == "" {
			if !slices.Contains(untyped, name) {
				t.Errorf("%s is a free text that is taken as it is", p)
			}
			continue
		}
		if slices.Contains(untyped, name) {
			t.Errorf("%s is on the list of untyped fields, and is cleaned", p)
		}
		typed++
		bad := map[string]error{
			"a\u001b@b": texts.ErrControl, "a\u0007": texts.ErrControl, "a\tb": texts.ErrControl, "a\u202eb": texts.ErrDirection,
			"a\u2066b\u2069": texts.ErrDirection, "\u200b": texts.ErrInvisible, "\u2800": texts.ErrInvisible,
		}
		if p.kind == texts.Line.String() {
			bad["a\nb"], bad["a\u2028b"] = texts.ErrOneLine, texts.ErrOneLine
		}
		for given, want := range bad {
			f.wantTextRefused(p, given, want)
		}
	}
	if typed < 60 {
		t.Errorf("%d typed texts in the contract; is it read in the right way?", typed)
	}
}

func (f *fixture) wantTextRefused(p textField, given string, want error) {
	f.t.Helper()
	path, body := p.path, ""
	if p.query != "" {
		query := maps.Clone(p.needed)
		query.Set(p.query, given)
		path += "?" + query.Encode()
	} else {
		b := testenv.Must(json.Marshal(p.body(given)))(f.t)
		body = string(b)
	}
	r := f.ask(principalFor(p.policy), p.method, path, body)
	var problem struct {
		Code   string
		Errors []struct{ Field, Message string }
	}
	_ = json.Unmarshal(r.body, &problem) // a malformed answer is refused below
	named := slices.ContainsFunc(problem.Errors, func(e struct{ Field, Message string }) bool {
		return e.Field == p.field && e.Message == want.Error()
	})
	if r.status != http.StatusUnprocessableEntity || problem.Code != "invalid" || !named {
		f.t.Errorf("%s with %q: status %d with body %s, want 422 with %v", p, given, r.status, r.body, want)
	}
}

// Typed text is stored trimmed and in NFC, with line feeds between the lines of notes, and with joiners inside words.
func TestTexts_areKeptClean(t *testing.T) {
	f := newFixture(t)
	const nfd, nfc = "Qua\u0302\u0301t", "Quất"
	kept := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q is kept, want %q", got, want)
		}
	}
	id := f.field("owner", "POST", "/api/dishes", fmt.Sprintf(`{"categoryId":"1","names":{"vi":" %s\u3000"},`+
		`"descriptions":{"vi":"một\r\nhai 👨‍👩‍👧 \n"}}`, nfd), "id")
	var found struct {
		Items []struct {
			ID                  string
			Names, Descriptions map[string]string
		}
	}
	f.must(f.ask("owner", "GET", "/api/dishes?q="+url.QueryEscape(" "+nfd), "")).into(t, &found)
	if len(found.Items) != 1 || found.Items[0].ID != id {
		t.Fatalf("a search in NFD finds %v and not the dish %s", found, id)
	}
	kept(found.Items[0].Names["vi"], nfc)
	kept(found.Items[0].Descriptions["vi"], "một\nhai 👨‍👩‍👧")

	kept(f.field("member", "PATCH", "/me", `{"firstName":"\u200b`+nfd+` ","city":"می\u200cخواهم"}`, "firstName"), nfc)
	kept(f.field("member", "GET", "/me", "", "city"), "می\u200cخواهم")

	label := rand.Text()[:8]
	made := f.field("owner", "POST", "/api/tables", fmt.Sprintf(`{"branchId":"1","label":" e\u0301%s "}`, label), "label")
	kept(made, "é"+label)
	r := f.ask("owner", "POST", "/api/tables", fmt.Sprintf(`{"branchId":"1","label":"é%s"}`, label))
	kept(r.refusal()[:len("409 table_label_taken")], "409 table_label_taken")
}

// One request in two spellings is one order: text is normalized before the digest that identifies a retry.
func TestTexts_areCleanBeforeTheDigest(t *testing.T) {
	f := newFixture(t)
	order := func(notes string) string {
		t.Helper()
		body := f.fill(`{"items":[{"itemId":"12","qty":1,"notes":"NOTES"}],"paymentMethod":"SANDBOX","menuVersionId":"{version}",` +
			`"clientTxnId":"{key}"}`)
		return f.field("guest", "POST", "/cis/order/create", strings.Replace(body, "NOTES", notes, 1), "id")
	}
	first := order(`i\u0301t \u0111a\u0301\r\nkho\u0302ng ha\u0300nh `)
	if again := order(`ít đá\nkhông hành`); again != first {
		t.Errorf("the same order in NFC is %s, and was %s", again, first)
	}
	var got struct{ Items []struct{ Notes string } }
	f.must(f.ask("guest", "GET", "/cis/order/"+first, "")).into(t, &got)
	if len(got.Items) != 1 || got.Items[0].Notes != "ít đá\nkhông hành" {
		t.Errorf("order = %+v, want the note in NFC", got)
	}
}
