package text_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"comanda/internal/testenv"

	"golang.org/x/text/unicode/norm"

	"comanda/internal/text"
)

func TestClean(t *testing.T) {
	both := []text.Kind{text.Line, text.Lines}
	for _, c := range []struct {
		name, in, want string
		kinds          []text.Kind
	}{
		{"nothing", "", "", both},
		{"ASCII", "A 7", "A 7", both},
		{"white space around", " \t\r\n\u3000\u00a0Phở\u2003\n", "Phở", both},
		{"white space only", " \t\n\u3000", "", both},
		{"zero width around", "\ufeff\u200bPhở\u200b\u200d\u2060", "Phở", both},
		{"NFD", "Pho\u031b\u0309 bo\u0300", "Phở bò", both},
		{"conjoining jamo", "\u1112\u1161\u11ab", "한", both},
		{"a compatibility ideograph", "\uf92c", "郎", both},
		{"full width stays", "Ｐｈở", "Ｐｈở", both},
		{"an ideographic space inside", "小\u3000明", "小\u3000明", both},
		{"a heart", "❤️", "❤️", both},
		{"a family", "👨‍👩‍👧", "👨‍👩‍👧", both},
		{"the flag of Wales", "🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", "🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", both},
		{"a keycap", "7️⃣", "7️⃣", both},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم", both},
		{"Hindi", "क्\u200dष", "क्\u200dष", both},
		{"a chillu at the end", "അവന്\u200d", "അവന്\u200d", both},
		{"Khmer", "ខ្ញុំ\u200bទៅ", "ខ្ញុំ\u200bទៅ", both},
		{"Hebrew with a mark", "\u05d0 C++\u200e \u05d1", "\u05d0 C++\u200e \u05d1", both},
		{"an Arabic number sign", "\u0600١", "\u0600١", both},
		{"newer than the tables", "\U0001FAE9\U0003FFF0", "\U0001FAE9\U0003FFF0", both},
		{"private use", "\ue000", "\ue000", both},
		{"lines", "no ice\nlittle sugar", "no ice\nlittle sugar", []text.Kind{text.Lines}},
		{"CRLF", "a\r\n\r\nb\r\n", "a\n\nb", []text.Kind{text.Lines}},
		{"separators", "a\u2028b\u2029c", "a\nb\nc", []text.Kind{text.Lines}},
		{"exact", " a\x1b\u202e", " a\x1b\u202e", []text.Kind{text.Exact, 0}},
	} {
		for _, k := range c.kinds {
			got, err := k.Clean(c.in)
			if err != nil || got != c.want {
				t.Errorf("%s as %s: %q, %v; want %q", c.name, k, got, err, c.want)
			}
		}
	}
}

func TestClean_Refuses(t *testing.T) {
	type refusals map[string]error
	for k, cases := range map[text.Kind]refusals{
		text.Line:  {"a\nb": text.ErrOneLine, "a\r\nb": text.ErrOneLine, "a\u2028b": text.ErrOneLine, "a\rb": text.ErrOneLine},
		text.Lines: {"a\rb": text.ErrControl},
	} {
		for in, want := range cases {
			if got, err := k.Clean(in); !errors.Is(err, want) {
				t.Errorf("%q as %s: %q,: error %v, want %v", in, k, got, err, want)
			}
		}
	}
	inBoth := refusals{
		"a\tb": text.ErrControl, "\x1b[2J": text.ErrControl, "a\x1b@b": text.ErrControl, "\x00": text.ErrControl,
		"bell\a": text.ErrControl, "a\x7f": text.ErrControl, "a\u0085": text.ErrControl, "\va": text.ErrControl,
		"a\u009b31m": text.ErrControl, "\ufffe": text.ErrControl, "\U0001ffff": text.ErrControl, "a\u206eb": text.ErrControl,
		"a\ufff9b":  text.ErrControl,
		"\u202etxt": text.ErrDirection, "a\u202a": text.ErrDirection, "a\u2066b\u2069": text.ErrDirection,
		"\u200b": text.ErrInvisible, " \u200d\u200c ": text.ErrInvisible, "\ufeff": text.ErrInvisible,
		"\u3164": text.ErrInvisible, "\u2800\u2800": text.ErrInvisible, "\ufe0f": text.ErrInvisible,
		"\u00ad": text.ErrInvisible, "\u180e\u2060": text.ErrInvisible, "\U000e0041": text.ErrInvisible,
		"a\xff": text.ErrEncoding, "\xed\xa0\x80": text.ErrEncoding,
	}
	for in, want := range inBoth {
		for _, k := range []text.Kind{text.Line, text.Lines} {
			if got, err := k.Clean(in); !errors.Is(err, want) {
				t.Errorf("%q as %s: %q, %v; want %v", in, k, got, err, want)
			}
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":           "",
		"A 7":        "A 7",
		"no\x1b@ice": "no@ice", "\x1d\x56\x00": "V", "a\u202eb": "ab", "two\nlines\r\n": "two\nlines\n", "👨‍👩‍👧 ❤️": "👨‍👩‍👧 ❤️",
		"a\xffb": "a\ufffdb",
	} {
		if got := text.Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestKindOf(t *testing.T) {
	for _, k := range []text.Kind{text.Exact, text.Line, text.Lines} {
		testenv.Equal(t, k, text.KindOf(k.String()))
	}
	if text.KindOf("name") != 0 || text.Kind(0).String() != "" {
		t.Error("an unknown kind has a name")
	}
}

// An accepted text is unchanged by a second cleaning, is NFC, and contains no control sequences of terminals or
// printers.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"Phở", " a\r\nb ", "👨‍👩‍👧", "\u200b", "അവന്\u200d", "a\u0301\u202e", "\x1b[0m", "o\u031b\u0309"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range []text.Kind{text.Line, text.Lines} {
			got, err := k.Clean(s)
			if err != nil {
				continue
			}
			if again, err := k.Clean(got); err != nil || again != got {
				t.Fatalf("%q as %s becomes %q, and that %q, %v", s, k, got, again, err)
			}
			if !norm.NFC.IsNormalString(got) || !utf8.ValidString(got) || got != text.Printable(got) {
				t.Fatalf("%q as %s becomes %q", s, k, got)
			}
			if strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), unicode.IsControl) || k == text.Line && strings.Contains(got, "\n") {
				t.Fatalf("%q as %s keeps control characters: %q", s, k, got)
			}
		}
	})
}

func BenchmarkClean(b *testing.B) {
	for _, s := range []string{"no ice", "ít đá, nhiều chanh", "Pho\u031b\u0309"} {
		b.Run(s, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := text.Lines.Clean(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
