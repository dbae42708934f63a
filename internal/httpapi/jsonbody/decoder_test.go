package jsonbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"comanda/internal/testenv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"comanda/internal/text"
)

func TestMain(m *testing.M) {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	if code := m.Run(); code != 0 {
		os.Exit(code)
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type line struct {
	ItemID string `json:"itemId" text:"exact" minLength:"1" maxLength:"8"`
	Qty    int    `json:"qty" minimum:"1" maximum:"20"`
	Notes  string `json:"notes,omitempty" text:"exact" maxLength:"5"`
}

type Contact struct {
	Email string `json:"email,omitempty" format:"email"`
}

type order struct {
	Contact
	Items   []line            `json:"items" minItems:"1" maxItems:"3"`
	Method  string            `json:"method" enum:"COUNTER,SANDBOX"`
	Txn     string            `json:"txn,omitempty" pattern:"^[a-z-]*$"`
	Total   *int64            `json:"total,omitempty" nullable:"true"`
	Express bool              `json:"express,omitempty"`
	Ratio   float64           `json:"ratio,omitempty" minimum:"0" maximum:"1"`
	Half    float32           `json:"half,omitempty"`
	Small   int8              `json:"small,omitempty"`
	Port    uint16            `json:"port,omitempty"`
	Step    int               `json:"step,omitempty" multipleOf:"5"`
	Level   int               `json:"level,omitempty" enum:"1,2,3"`
	Tags    map[string]string `json:"tags,omitempty" text:"exact"`
	Grid    [][]int           `json:"grid,omitempty"`
	Unique  []string          `json:"unique,omitempty" text:"exact" uniqueItems:"true"`
	When    time.Time         `json:"when,omitzero"`
	Later   *time.Time        `json:"later,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty" text:"exact"`
	Any     any               `json:"any,omitempty" text:"exact"`
	Bytes   []byte            `json:"bytes,omitempty"`
	Child   *order            `json:"child,omitempty"`
	hidden  int               //nolint:unused // a field that JSON must not see
	Ignored string            `json:"-"`
}

var compiled = sync.OnceValues(func() (*Decoder, func(any) []error) {
	reg := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	s := reg.Schema(reflect.TypeFor[order](), true, "")
	validate := func(v any) []error {
		res := &huma.ValidateResult{}
		huma.Validate(reg, s, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, v, res)
		return res.Errors
	}
	return New(reflect.TypeFor[order](), s, reg), validate
})

func decode(t testing.TB, body string) (order, *Error) {
	t.Helper()
	d, _ := compiled()
	var o order
	err := d.Decode([]byte(body), &o)
	if err == nil {
		return o, nil
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("an error of type %T", err)
	}
	return o, e
}

// orderWith adds members to an otherwise valid order.
func orderWith(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"items":[{"itemId":"11","qty":2}],"method":"COUNTER"` + members + `}`
}

func TestDecode_Accepts(t *testing.T) {
	total := int64(1<<53 - 1)
	at := time.Date(2026, 2, 26, 5, 15, 0, 0, time.UTC)
	base := func(change func(*order)) order {
		o := order{Items: []line{{ItemID: "11", Qty: 2}}, Method: "COUNTER"}
		change(&o)
		return o
	}
	for members, want := range map[string]order{
		``:                               base(func(*order) {}),
		`"txn":"a-b"`:                    base(func(o *order) { o.Txn = "a-b" }),
		`"total":9007199254740991`:       base(func(o *order) { o.Total = &total }),
		`"total":null`:                   base(func(*order) {}),
		`"express":true,"ratio":2.5e-1`:  base(func(o *order) { o.Express, o.Ratio = true, 0.25 }),
		`"small":-128,"port":65535`:      base(func(o *order) { o.Small, o.Port = -128, 65535 }),
		`"step":-10,"level":3`:           base(func(o *order) { o.Step, o.Level = -10, 3 }),
		`"tags":{"a":"b","":"c"}`:        base(func(o *order) { o.Tags = map[string]string{"a": "b", "": "c"} }),
		`"tags":{},"grid":[]`:            base(func(o *order) { o.Tags, o.Grid = map[string]string{}, [][]int{} }),
		`"grid":[[],[1,2],[3]]`:          base(func(o *order) { o.Grid = [][]int{{}, {1, 2}, {3}} }),
		`"when":"2026-02-26T05:15:00Z"`:  base(func(o *order) { o.When = at }),
		`"later":"2026-02-26T05:15:00Z"`: base(func(o *order) { o.Later = &at }),
		`"later":null,"txn":null`:        base(func(*order) {}),
		`"raw":"\\u0000"`:                base(func(o *order) { o.Raw = json.RawMessage(`"\\u0000"`) }), // a backslash and u0000
		`"raw": {"x" : 1.50} `:           base(func(o *order) { o.Raw = json.RawMessage(`{"x" : 1.50}`) }),
		`"any":[1,{"a":null}]`:           base(func(o *order) { o.Any = []any{1.0, map[string]any{"a": nil}} }),
		`"bytes":"aGk="`:                 base(func(o *order) { o.Bytes = []byte("hi") }),
		`"email":"a@example.com"`:        base(func(o *order) { o.Email = "a@example.com" }),
		`"unique":["a","b"]`:             base(func(o *order) { o.Unique = []string{"a", "b"} }),
		`"\u0074xn":"\u0061"`:            base(func(o *order) { o.Txn = "a" }),
		`"child":` + orderWith(``):       base(func(o *order) { c := base(func(*order) {}); o.Child = &c }),
		` "txn" : "" ` + "\t\r\n":        base(func(*order) {}),
	} {
		got, err := decode(t, orderWith(members))
		if err != nil {
			t.Errorf("decode %s: %v", members, err)
		} else if d := cmp.Diff(want, got, cmp.AllowUnexported(order{})); d != "" {
			t.Errorf("decode %s (-want +got):\n%s", members, d)
		}
	}
}

func TestDecode_Strings(t *testing.T) {
	for in, want := range map[string]string{
		`phở`: "phở", `a\"b`: `a"b`, `\\\/`: `\/`, `\b\f\n\r\t`: "\b\f\n\r\t", `\u00e9`: "é", `\uD83C\uDF5C`: "🍜",
		`\ufffd`: "\ufffd", `12345`: "12345", `🍜🍜🍜🍜🍜`: "🍜🍜🍜🍜🍜",
	} {
		o, err := decode(t, `{"items":[{"itemId":"1","qty":1,"notes":"`+in+`"}],"method":"COUNTER"}`)
		if err != nil || o.Items[0].Notes != want {
			t.Errorf("decode string %s = %+v, %v, want %q", in, o.Items, err, want)
		}
	}
}

func TestDecode_NamesEachMistake(t *testing.T) {
	item := func(members string) string {
		return `{"items":[{"itemId":"1","qty":1},{` + members + `}],"method":"COUNTER"}`
	}
	for body, want := range map[string][]Field{
		`{}`: {
			{"body.items", "expected required property items to be present"},
			{"body.method", "expected required property method to be present"},
		},
		`[]`:                            {{"body", "expected object"}},
		`"x"`:                           {{"body", "expected object"}},
		`null`:                          {{"body", msgNull}},
		orderWith(`"price":1`):          {{"body.price", "unexpected property"}},
		orderWith(`"Txn":"a"`):          {{"body.Txn", "unexpected property"}},
		orderWith(`"hidden":1`):         {{"body.hidden", "unexpected property"}},
		orderWith(`"Ignored":"a"`):      {{"body.Ignored", "unexpected property"}},
		orderWith(`"":{"a":[1,"b"]}`):   {{"body.", "unexpected property"}},
		orderWith(`"method":"COUNTER"`): {{"body.method", msgRepeated}},
		orderWith(`"txn":"a","tx\u006e"` + `:"b"`): {{"body.txn", msgRepeated}},
		orderWith(`"tags":{"a":"1","\u0061":"2"}`): {{"body.tags.a", msgRepeated}},
		orderWith(`"tags":{"a":1}`):                {{"body.tags.a", "expected string"}},
		orderWith(`"tags":[]`):                     {{"body.tags", "expected object"}},
		orderWith(`"grid":[[1],[2,"3"]]`):          {{"body.grid[1][1]", "expected integer"}},
		orderWith(`"grid":[null]`):                 {{"body.grid[0]", msgNull}},
		orderWith(`"express":"true"`):              {{"body.express", "expected boolean"}},
		orderWith(`"ratio":1.5`):                   {{"body.ratio", "expected number <= 1"}},
		orderWith(`"ratio":"1"`):                   {{"body.ratio", "expected number"}},
		orderWith(`"ratio":1e999`):                 {{"body.ratio", "number out of range"}},
		orderWith(`"half":1e39`):                   {{"body.half", "number out of range"}},
		orderWith(`"small":128`):                   {{"body.small", msgRange}},
		orderWith(`"port":-1`):                     {{"body.port", "expected number >= 0"}},
		orderWith(`"port":65536`):                  {{"body.port", msgRange}},
		orderWith(`"step":7`):                      {{"body.step", "expected number to be a multiple of 5"}},
		orderWith(`"level":4`):                     {{"body.level", `expected value to be one of "1, 2, 3"`}},
		orderWith(`"txn":"A"`):                     {{"body.txn", "expected string to match pattern ^[a-z-]*$"}},
		orderWith(`"txn":"a\u0000"`):               {{"body.txn", msgNUL}},
		orderWith(`"tags":{"\u0000":""}`):          {{"body.tags.\x00", msgNUL}},
		orderWith(`"raw":"\u0000"`):                {{"body.raw", msgNUL}},
		orderWith(`"raw":"\\\u0000"`):              {{"body.raw", msgNUL}},
		orderWith(`"when":"yesterday"`):            {{"body.when", "expected string to be RFC 3339 date-time"}},
		orderWith(`"unique":["a","a"]`):            {{"body.unique", "expected array items to be unique"}},
		orderWith(`"unique":["a",1]`):              {{"body.unique[1]", "expected string"}},
		orderWith(`"bytes":"*"`):                   {{"body.bytes", "expected string to be base64 encoded"}},
		orderWith(`"child":{}`): {
			{"body.child.items", "expected required property items to be present"},
			{"body.child.method", "expected required property method to be present"},
		},
		item(`"itemId":"2","qty":1.5`):                  {{"body.items[1].qty", "expected integer"}},
		item(`"itemId":"2","qty":1.0`):                  {{"body.items[1].qty", "expected integer"}},
		item(`"itemId":"2","qty":1e18`):                 {{"body.items[1].qty", "expected integer"}},
		item(`"itemId":"2","qty":1000000000000000000`):  {{"body.items[1].qty", msgRange}},
		item(`"itemId":"2","qty":99999999999999999999`): {{"body.items[1].qty", msgRange}},
		item(`"itemId":"2","qty":"1"`):                  {{"body.items[1].qty", "expected integer"}},
		item(`"itemId":"2","qty":0`):                    {{"body.items[1].qty", "expected number >= 1"}},
		item(`"itemId":"2","qty":21`):                   {{"body.items[1].qty", "expected number <= 20"}},
		item(`"itemId":"2","qty":null`):                 {{"body.items[1].qty", msgNull}},
		item(`"itemId":11,"qty":1`):                     {{"body.items[1].itemId", "expected string"}},
		item(`"itemId":"","qty":1`):                     {{"body.items[1].itemId", "expected length >= 1"}},
		item(`"itemId":"123456789","qty":1`):            {{"body.items[1].itemId", "expected length <= 8"}},
		item(`"itemId":"2","qty":1,"notes":"phở bò"`):   {{"body.items[1].notes", "expected length <= 5"}},
		item(`"itemId":"2","qty":0,"x":1`): {
			{"body.items[1].qty", "expected number >= 1"}, {"body.items[1].x", "unexpected property"},
		},
		`{"items":[],"method":"COUNTER"}`: {{"body.items", "expected array length >= 1"}},
		`{"items":{},"method":"COUNTER"}`: {{"body.items", "expected array"}},
		`{"items":[1,2,3,4],"method":"CASH"}`: {
			{"body.items[0]", "expected object"}, {"body.items[1]", "expected object"}, {"body.items[2]", "expected object"},
			{"body.items", "expected array length <= 3"}, {"body.method", `expected value to be one of "COUNTER, SANDBOX"`},
		},
	} {
		_, err := decode(t, body)
		if err == nil {
			t.Errorf("%s is accepted", body)
		} else if d := cmp.Diff(&Error{Fields: want}, err); d != "" {
			t.Errorf("decode %s, errors (-want +got):\n%s", body, d)
		}
	}
}

func TestDecode_BrokenText(t *testing.T) {
	for body, want := range map[string]string{
		``: "ends too early", ` `: "ends too early", `{`: "ends too early", `{"items":[`: "ends too early",
		`{"items"}`: "':' is missing", `{items:1}`: "a string is missing", `{"a":1,}`: "missing after ','",
		`{"a":1 "b":2}`: "',' or a closing bracket", `{"a":[1,]}`: "missing after ','", `{"a":[1}`: "closing bracket",
		`{"a":01}`: "',' or a closing bracket", `{"a":1.}`: "after its point", `{"a":1e}`: "in its exponent",
		`{"a":-}`: "a value is missing", `{"a":.5}`: "a value is missing", `{"a":+1}`: "a value is missing",
		`{"a":NaN}`: "a value is missing", `{"a":tru}`: "a value is missing", `{"a":nul`: "a value is missing",
		`{"a":'b'}`: "a value is missing", `{"a":"b`: "ends too early", `{"a":"\`: "ends too early",
		"{\"a\":\"\n\"}": "control character", `{"a":"\x"}`: "unknown escape", `{"a":"\u12"}`: `broken \u`,
		`{"a":"\ud83c"}`: `broken \u`, `{"a":"\udf5c\ud83c"}`: `broken \u`, `{"a":"\ud800\ufffd"}`: `broken \u`,
		`{"a":"\ud83c\u0041"}`: `broken \u`, "{\"a\":\"\xff\"}": "not valid UTF-8", "{\"\xc3\":1}": "not valid UTF-8",
		orderWith(``) + `x`: "follows the end", orderWith(``) + `{}`: "follows the end", "\ufeff{}": "a value is missing",
		`{"items":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + `}`: "nests deeper than 16",
		`{"x":` + strings.Repeat(`{"a":`, 40_000):                                         "nests deeper than 16",
	} {
		_, err := decode(t, body)
		if err == nil || !strings.Contains(err.Syntax, want) || len(err.Fields) > 0 {
			t.Errorf("%.60s: %v, want %q", body, err, want)
		}
	}
}

// J5: a hostile body produces a short error list.
func TestDecode_LimitsItsErrors(t *testing.T) {
	long := strings.Repeat("n", 10_000)
	var members []string
	for i := range 500 {
		members = append(members, fmt.Sprintf(`"%s%d":1`, long[:i%100*50], i))
	}
	_, err := decode(t, orderWith(strings.Join(members, ",")))
	if err == nil || len(err.Fields) != MaxErrors {
		t.Fatalf("error %v, want %d fields", err, MaxErrors)
	}
	if n := len(err.Error()); n > MaxErrors*150 {
		t.Errorf("the errors take %d bytes", n)
	}
}

func TestNew_refuses_invalid_body_types(t *testing.T) {
	type embedsPointer struct{ *Contact }
	type quoted struct {
		N int `json:"n,string"`
	}
	for _, v := range []any{[]string{}, embedsPointer{}, quoted{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T is accepted", v)
				}
			}()
			reg := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
			New(reflect.TypeOf(v), reg.Schema(reflect.TypeOf(v), true, ""), reg)
		}()
	}
}

type typed struct {
	Name   string            `json:"name" text:"line" minLength:"1" maxLength:"3"`
	Notes  *string           `json:"notes,omitempty" text:"lines"`
	Token  string            `json:"token,omitempty" text:"exact"`
	Titles map[string]string `json:"titles,omitempty" text:"line"`
	Tags   []string          `json:"tags,omitempty" text:"line"`
}

// J6: typed text is cleaned before its length is counted, and refused by the name of its field.
func TestDecode_CleansTexts(t *testing.T) {
	reg := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	d := New(reflect.TypeFor[typed](), reg.Schema(reflect.TypeFor[typed](), true, ""), reg)
	for body, want := range map[string]typed{
		`{"name":" o\u031b\u0309  "}`:                   {Name: "ở"},
		`{"name":"a","notes":"b\r\nc\n"}`:               {Name: "a", Notes: new("b\nc")},
		`{"name":"a","token":" \u001b\u202e"}`:          {Name: "a", Token: " \x1b\u202e"},
		`{"name":"a","titles":{"vi":" e\u0302\u0301"}}`: {Name: "a", Titles: map[string]string{"vi": "ế"}},
		`{"name":"a","tags":["b ","👨‍👩‍👧"]}`:            {Name: "a", Tags: []string{"b", "👨‍👩‍👧"}},
	} {
		var got typed
		if err := d.Decode([]byte(body), &got); err != nil {
			t.Errorf("decode %s: %v", body, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("decode %s (-want +got):\n%s", body, diff)
		}
	}
	for body, want := range map[string]Field{
		`{"name":" \u3000 "}`:                      {"body.name", "expected length >= 1"},
		`{"name":"\u200b"}`:                        {"body.name", text.ErrInvisible.Error()},
		`{"name":"a\nb"}`:                          {"body.name", text.ErrOneLine.Error()},
		`{"name":"a","notes":"\u001b@"}`:           {"body.notes", text.ErrControl.Error()},
		`{"name":"a","titles":{"vi":"\u202egpj"}}`: {"body.titles.vi", text.ErrDirection.Error()},
		`{"name":"a","tags":["b","\u0007"]}`:       {"body.tags[1]", text.ErrControl.Error()},
	} {
		var e *Error
		if err := d.Check([]byte(body)); !errors.As(err, &e) || !slices.Equal(e.Fields, []Field{want}) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
}

// J6: a text without a kind, or with an impossible kind, makes the program fail at its start.
func TestNew_requires_text_tags(t *testing.T) {
	for _, v := range []any{
		struct{ Name string }{}, struct{ Name *string }{}, struct{ Names []string }{}, struct{ Names map[string]string }{},
		struct{ Any any }{}, struct{ Raw json.RawMessage }{}, struct{ Deep struct{ Name string } }{},
		struct {
			Name string `text:"word"`
		}{},
		struct {
			Names []string `text:"line" uniqueItems:"true"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T is accepted", v)
				}
			}()
			reg := huma.NewMapRegistry("#/components/schemas/", func(reflect.Type, string) string { return "Body" })
			New(reflect.TypeOf(v), reg.Schema(reflect.TypeOf(v), false, ""), reg)
		}()
	}
}

// FuzzDecode compares with encoding/json and huma's validator. J1: they accept everything that Decode accepts. Of what
// they accept, Decode refuses only for reasons of J2 to J5.
func FuzzDecode(f *testing.F) {
	for _, members := range []string{
		``, `"total":null`, `"txn":"a","txn":"b"`, `"ratio":0.5`, `"tags":{"a":"b"}`, `"raw":[1,2]`, `"any":{"a":[]}`,
		`"grid":[[1,2],[]]`, `"when":"2026-02-26T05:15:00Z"`, `"child":` + orderWith(`"small":1`), `"unique":["a","a"]`,
		`"txn":"\u0061\ud83c\udf5c"`, `"total":1e3`, `"total":12345678901234567890`, `"bytes":"aGk="`, `"TXN":"a"`,
	} {
		f.Add([]byte(orderWith(members)))
	}
	f.Add([]byte(`{"items":[{"itemId":"1","qty":1,"notes":null},null],"method":"SANDBOX","level":2,"step":5}`))
	_, validate := compiled()
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := decode(t, string(body))

		var want order
		var loose any
		strict := json.NewDecoder(bytes.NewReader(body))
		strict.DisallowUnknownFields()
		stdErr := strict.Decode(&want)
		wellFormed := json.Valid(body)
		stdAccepts := stdErr == nil && json.Unmarshal(body, &loose) == nil && len(validate(loose)) == 0

		switch {
		case err == nil && !stdAccepts:
			t.Fatalf("accepted, but encoding/json says %v and the schema %v", stdErr, validate(loose))
		case err == nil:
			testenv.Equal(t, want, got, cmp.AllowUnexported(order{}))
		case err.Syntax != "" && wellFormed:
			stricter := !utf8.Valid(body) || strings.Contains(err.Syntax, `broken \u`) || strings.Contains(err.Syntax, "deeper")
			if !stricter {
				t.Fatalf("called broken (%s), but it is JSON", err.Syntax)
			}
		case err.Syntax == "" && !wellFormed:
			t.Fatalf("not called broken, but it is: %v", err)
		case err.Syntax == "" && stdAccepts:
			for _, field := range err.Fields {
				switch field.Message {
				case msgRepeated, msgNUL, msgNull, msgRange, "unexpected property": // J2: a name in another letter case
				default:
					t.Fatalf("refused for %v, but the schema accepts it", field)
				}
			}
		}
	})
}

var benchBody = []byte(`{"items":[{"itemId":"11","qty":2,"notes":"lạnh"},{"itemId":"12","qty":1},` +
	`{"itemId":"13","qty":1}],"method":"COUNTER","txn":"c-abcdef","total":130000}`)

func BenchmarkDecode(b *testing.B) {
	d, validate := compiled()
	b.Run("jsonbody", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var o order
			if err := d.Decode(benchBody, &o); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encodingjson", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var o order
			if err := json.Unmarshal(benchBody, &o); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encodingjson+validate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var o order
			var loose any
			if json.Unmarshal(benchBody, &loose) != nil || len(validate(loose)) > 0 || json.Unmarshal(benchBody, &o) != nil {
				b.Fatal("refused")
			}
		}
	})
}
