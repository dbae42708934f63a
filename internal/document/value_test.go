package document

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"comanda/internal/testenv"
)

func TestEncode(t *testing.T) {
	fold, escape, keep, only := &Index{}, &Index{Case: Escape}, &Index{Case: Keep}, &Index{OnlyValue: "no"}
	for _, c := range []struct {
		index   *Index
		value   string
		want    string
		indexed bool
	}{
		{fold, "user@example.com", "user@example.com", true},
		{fold, "  User.Name+x@Example.COM ", "user.name+x@example.com", true},
		{fold, "Hà Nội", "h%c3%a0%20n%e1%bb%99i", true},
		{fold, "Đ", "%c4%90", true}, // capitals beyond A-Z are told apart, as both engines do
		{fold, "a:b{c}%", "a%3ab%7bc%7d%25", true},
		{escape, "aB", "a%42", true},
		{keep, "VNPAY-Ab_1", "VNPAY-Ab_1", true},
		{keep, "a/b", "a%2fb", true},
		{only, "no", "no", true},
		{only, "yes", "yes", false},
		{fold, "", "", false},
		{fold, " \t", "", false},
		{fold, strings.Repeat("a", maxEncodedValue), strings.Repeat("a", maxEncodedValue), true},
		{fold, strings.Repeat("a", maxEncodedValue+1), strings.Repeat("a", maxEncodedValue+1), false},
		{fold, strings.Repeat("é", maxEncodedValue/6+1), strings.Repeat("%c3%a9", maxEncodedValue/6+1), false},
	} {
		got, indexed := c.index.Encode(c.value)
		if got != c.want || indexed != c.indexed {
			t.Errorf("%q: %q, %v; want %q, %v", c.value, got, indexed, c.want, c.indexed)
		}
	}
}

// Two values have the same key exactly if SQL compares them as equal.
func TestEncode_as_SQL_compares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := &Index{Case: rapid.SampledFrom([]Case{Fold, Escape, Keep}).Draw(t, "case")}
		text := rapid.StringMatching(`[ aAbBéÉ%:4161{]{0,4}`)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		keyA, _ := x.Encode(a)
		keyB, _ := x.Encode(b)
		if (keyA == keyB) != (x.Lookup(a) == x.Lookup(b)) {
			t.Fatalf("%q and %q: %q and %q", a, b, keyA, keyB)
		}
	})
}

// A document is JSON with the values of its row, whatever the row contains, and one value can be read without decoding
// the rest.
func TestDocument_any_row(t *testing.T) {
	text := rapid.String()
	rapid.Check(t, func(t *rapid.T) {
		row := make([]Cell, len(User.Fields))
		want := map[string]string{}
		for i, f := range User.Fields {
			c := &row[i]
			switch {
			case f.Kind == Object:
				c.T = `{"a":{"id":"9","x":"}\"{"},"b":[1,{"c":"]"}]}`
			case f.Kind.isText():
				c.T = text.Draw(t, f.Name)
				c.PT = &c.T
				want[f.Name] = strings.ToValidUTF8(c.T, "\ufffd")
			default:
				c.N = rapid.Int64Range(0, 1).Draw(t, f.Name)
				c.PN = &c.N
			}
		}
		var buf []byte
		d := testenv.Must(User.Document(row, &buf))(t)
		var got map[string]any
		if err := json.Unmarshal([]byte(d.JSON), &got); err != nil {
			t.Fatalf("document %s: %v", d.JSON, err)
		}
		for name, value := range want {
			if peeked, ok := PeekField(d.JSON, name); !ok || peeked != got[name] || peeked != value {
				t.Fatalf("%s is %q, peeked %q, was %q", name, got[name], peeked, value)
			}
		}
		for _, e := range d.IndexEntries {
			if !HasEntry(d.JSON, e) {
				t.Fatalf("%s has not %v", d.JSON, e)
			}
		}
		if _, ok := PeekField(d.JSON, "password"); ok {
			t.Fatal("there is no password")
		}
	})
}

// The document of an order without a note is unchanged from before notes existed. An empty note is a note.
func TestDocument_omitted(t *testing.T) {
	row := make([]Cell, len(Order.Fields))
	var buf []byte
	for note, want := range map[string]string{"-": `"receiverEmail":null,"totalPrice":0`, "": `"receiverNote":""`, "Gate\n7": `"receiverNote":"Gate\n7"`} {
		at := slices.IndexFunc(Order.Fields, func(f Field) bool { return f.Name == "receiverNote" })
		if row[at].PT = &note; note == "-" {
			row[at].PT = nil
		}
		d, err := Order.Document(row, &buf)
		if err != nil || !strings.Contains(d.JSON, want) || !json.Valid([]byte(d.JSON)) {
			t.Errorf("document with note %q = %s, %v, want %s in valid JSON", note, d.JSON, err, want)
		}
	}
}

func TestPeekField_missing(t *testing.T) {
	for _, doc := range []string{"", "{", "{}", "[]", "x", `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"b":1}`, `"a":1`, `{"a":null}`, `{"a":"`} {
		if v, ok := PeekField(doc, "a"); ok {
			t.Errorf("PeekField(%s) = %q, want none", doc, v)
		}
	}
}

func TestTextIn(t *testing.T) {
	for _, c := range []struct {
		texts        map[string]string
		locale, want string
	}{
		{map[string]string{"vi": "Phở", "en": "Noodles", "zh": "粉"}, "zh", "粉"},
		{map[string]string{"vi": "Phở", "en": "Noodles"}, "zh", "Phở"},
		{map[string]string{"vi": "", "en": "Noodles"}, "zh", "Noodles"},
		{map[string]string{"zh": "粉", "th": "ก๋วยเตี๋ยว"}, "vi", "ก๋วยเตี๋ยว"},
		{nil, "vi", ""},
	} {
		if got := TextIn(c.texts, c.locale); got != c.want {
			t.Errorf("%v in %s: %s", c.texts, c.locale, got)
		}
	}
}

// Every declaration refers only to earlier ones, as imports require.
func TestEntities(t *testing.T) {
	before, families := map[string]bool{}, map[any]bool{}
	for _, e := range Entities {
		for _, f := range e.Fields {
			if f.Refers != "" && !before[f.Refers] {
				t.Errorf("%s refers to %s, which comes later", e.Name, f.Refers)
			}
		}
		before[e.Name] = true
		for _, x := range e.Indexes {
			for _, k := range x.Keys {
				if families[k] {
					t.Errorf("a key of %s by %s is that of another index", e.Name, x.Name)
				}
				families[k] = true
			}
			if entry, ok := e.ParseEntry((IndexEntry{x, "a=b"}).String()); !ok || entry != (IndexEntry{x, "a=b"}) {
				t.Errorf("parsed entry = %v, want a=b", entry)
			}
		}
		if ByName(e.Name) != e || families[e.Keys] {
			t.Errorf("%s is not found by its name, or has the keys of another entity", e.Name)
		}
		families[e.Keys] = true
	}
	if len(before) != 9 || ByName("voucher") != nil {
		t.Errorf("entities = %v, want 9, and none named voucher", before)
	}
}

func TestWatermark(t *testing.T) {
	f := watermark{finished: map[int]string{}}
	var got []string
	for _, n := range []int{2, 0, 1, 4, 3} {
		after, moved := f.advance(n, string(rune('a'+n)))
		if !moved {
			after = "-"
		}
		got = append(got, after)
	}
	testenv.Equal(t, []string{"-", "a", "c", "-", "e"}, got)
}
