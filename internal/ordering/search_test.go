package ordering_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
