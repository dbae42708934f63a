package text

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"comanda/internal/testenv"
)

// The cases are shared with search.spec.ts of the guest app, so that the server and the phone find the same dishes.
func TestQuery_shared_cases(t *testing.T) {
	var shared struct {
		Folds   map[string]string
		Matches []struct {
			Query, Text string
			Found       bool
		}
	}
	testenv.NoError(t, json.Unmarshal(testenv.Must(os.ReadFile("testdata/search.json"))(t), &shared))
	for in, want := range shared.Folds {
		if got := Fold(in); got != want {
			t.Errorf("%q is folded to %q, want %q", in, got, want)
		}
	}
	for _, c := range shared.Matches {
		if got := ParseQuery(c.Query).In(Fold(c.Text)); got != c.Found {
			t.Errorf("%q in %q: %t, want %t", c.Query, c.Text, got, c.Found)
		}
	}
	if len(shared.Folds) < 10 || len(shared.Matches) < 20 {
		t.Error("cases are missing")
	}
}

// A query finds the text that it was taken from, and folding it again changes nothing.
func TestQuery_any(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typed := rapid.String().Draw(t, "text")
		q := ParseQuery(typed)
		if !q.In(Fold(typed)) || q.Empty() && strings.ContainsFunc(typed, unicode.IsLetter) {
			t.Fatalf("%q does not find itself", typed)
		}
		if again := ParseQuery(q.String()); again.String() != q.String() || again.In(q.folded) != true {
			t.Fatalf("%q becomes %q", q, again)
		}
	})
}

func TestQuery_Begins(t *testing.T) {
	q := ParseQuery(" Phở  bò")
	if !q.Begins(Fold("Phở bò tái")) || q.Begins(Fold("Bún, phở bò")) || q.String() != "pho bo" {
		t.Errorf("%q begins other texts", q)
	}
	testenv.Equal(t, "불고기", ParseQuery("불고기").String())
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Nguyễn Đỗ ÁNH": "nguyen do anh", "BÀN 7": "ban 7", "Ａ１": "a1", "Straße": "straße", "陳小姐": "陳小姐", "": "",
	} {
		if got := Fold(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	long := strings.Repeat("nguyen ", 20)
	for in, want := range map[string]string{
		"Quán Hoa": "quan-hoa", "  Phở & Bún – Đà Nẵng (Q.1) ": "pho-bun-da-nang-q-1", "Café Zoë": "cafe-zoe",
		"鼎泰豐 信義店": "鼎泰豐-信義店", "ガスト": "ガスト", "ร้านอาหาร": "ร้านอาหาร", "🍜": "", "...": "", "101": "101", "A/B?c#d%e": "a-b-c-d-e",
		long: strings.TrimSuffix(strings.Repeat("nguyen-", 5), "-"), strings.Repeat("x", 50): strings.Repeat("x", 40),
	} {
		if got := Slug(in, 40); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// The slug of any text is short, one segment of a path, and its own slug.
func TestSlug_any(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Slug(rapid.String().Draw(t, "text"), 40)
		if utf8.RuneCountInString(s) > 40 || strings.ContainsAny(s, "/?#%&. ") || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") {
			t.Fatalf("slug = %q, want at most 40 characters of one segment", s)
		}
		testenv.Equal(t, s, Slug(s, 40))
	})
}
