package ordering_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/ordering"
)

func TestParseSearch(t *testing.T) {
	for text, want := range map[string]ordering.Search{
		" B-042 ":           {Numbers: []int64{1041}, Table: "b-042"},
		"T5":                {Numbers: []int64{19*999 + 5}, Table: "t5"}, // table T5, or number 5 of series T
		"Sân 2":             {Table: "san 2", Words: []string{"san"}},
		"0912 345-678":      {Table: "0912 345-678", Phone: "912345678"},
		"+84 912 345 678":   {Table: "+84 912 345 678", Phone: "912345678"},
		"5678":              {Table: "5678", Phone: "5678"},
		"Đặng  thị an":      {Table: "dang  thi an", Words: []string{"an", "dang", "thi"}},
		"lan mai LAN l":     {Table: "lan mai lan l", Words: []string{"lan", "mai"}},
		"王小":                {Table: "王小", Words: []string{"王小"}},
		"%_'; DROP TABLE x": {Table: "%_'; drop table x", Words: []string{"drop", "table"}},
	} {
		if diff := cmp.Diff(want, ordering.ParseSearch(text)); diff != "" {
			t.Errorf("ParseSearch(%q) (-want +got):\n%s", text, diff)
		}
	}
	digits := ordering.ParseSearch("42").Numbers
	if len(digits) != 27 || digits[0] != 42 || digits[1] != 1041 {
		t.Errorf("the digits alone mean %v", digits)
	}
}

func TestNameWords(t *testing.T) {
	for name, want := range map[string][]string{
		"Nguyễn Thị Lan": {"lan", "nguyen", "thi"},
		"Lan, LAN":       {"lan"},
		"王小明":            {"小明", "明", "王小明"},
		"José O’Neill":   {"jose", "neill", "o"},
		"🍜":              nil,
	} {
		if diff := cmp.Diff(want, ordering.NameWords(name)); diff != "" {
			t.Errorf("NameWords(%q) (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]ordering.NumberFilter{
		"": {}, "  ": {}, "42": {Digits: 42}, "042": {Digits: 42}, "7": {Digits: 7}, "A-042": {Whole: 42}, "a042": {Whole: 42},
		"b 1": {Whole: 1000}, " A-7 ": {Whole: 7},
	} {
		if got, err := ordering.ParseNumber(text); err != nil || got != want {
			t.Errorf("ParseNumber(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "A-000", "1000", "A-1000", "A", "-", "A--1", "4 2", "%", "' OR 1", "ABCDE-1", "Ä-1", "٣"} {
		if _, err := ordering.ParseNumber(text); !errors.Is(err, ordering.ErrInvalidNumber) {
			t.Errorf("ParseNumber(%q): error %v, want ErrInvalidNumber", text, err)
		}
	}
}

// ParseNumber reads what ShortNumber writes, in either case.
func TestParseNumber_readsShortNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 2_000_000).Draw(t, "n")
		for _, text := range []string{ordering.ShortNumber(n), strings.ToLower(ordering.ShortNumber(n))} {
			if got, err := ordering.ParseNumber(text); err != nil || got.Whole != n || got.Digits != 0 {
				t.Fatalf("%s is %d: %+v, %v", text, n, got, err)
			}
		}
	})
}
