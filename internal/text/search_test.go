package text

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"

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
	if got := ParseQuery("불고기").String(); got != "불고기" {
		t.Errorf("Korean is shown as %q", got)
	}
}
