package visit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/fault"
)

func TestParseLabels(t *testing.T) {
	for list, want := range map[string]string{
		"A1-A3,T1-T2":              "A1 A2 A3 T1 T2",
		"A1-3":                     "A1 A2 A3",
		"T08-T11":                  "T08 T09 T10 T11",
		"T8-T10":                   "T8 T9 T10",
		"1-3":                      "1 2 3",
		"Bar":                      "Bar",
		"Bar-1":                    "Bar-1",
		"A1-terrace":               "A1-terrace",
		" A1 - A2 , Bàn 9":         "A1 A2 Bàn 9",
		"A5-A5":                    "A5",
		"A1-A2,A1":                 "A1 A2 A1", // AddTables refuses the repetition, like labels in use
		"A1-A200":                  "*200",
		"A3-A1":                    "invalid",
		"A1-B3":                    "invalid",
		"A1-A201":                  "too_many_tables",
		"A1-A150,B1-B150":          "too_many_tables",
		"A0-A99999999999999999999": "invalid",
		"A1,,A2":                   "invalid",
		"":                         "invalid",
		"a\u202eb":                 "invalid",
		strings.Repeat("x", 17):    "invalid",
		"ABCDEFGHIJKLMNO8-10":      "invalid", // the tenth label is too long
	} {
		got, err := ParseLabels(list)
		shown := strings.Join(got, " ")
		if f, ok := errors.AsType[*fault.Error](err); ok {
			shown = f.PublicCode()
		} else if len(got) == MaxTablesAtOnce && got[199] == "A200" {
			shown = "*200"
		}
		if d := cmp.Diff(want, shown); d != "" {
			t.Errorf("labels of %q (-want +got):\n%s", list, d)
		}
	}
}
