package report

import (
	"fmt"
	"strings"
	"testing"

	"comanda/internal/catalog"
)

// Options are counted by dish and group, those of options too, beside the portions of the dish without any.
func TestOptionSales(t *testing.T) {
	line := func(group, option, qty int64, more ...catalog.OptionLine) catalog.OptionLine {
		return catalog.OptionLine{
			GroupID: group, OptionID: option, Qty: qty, Names: catalog.Texts{"en": fmt.Sprint("option ", option)}, Options: more,
		}
	}
	sales := []ConfiguredSale{
		{DishID: 1, Qty: 3, Options: catalog.EncodeOptionLines([]catalog.OptionLine{line(10, 100, 1), line(11, 110, 2, line(12, 120, 1))})},
		{DishID: 1, Qty: 5, Options: catalog.EncodeOptionLines([]catalog.OptionLine{line(10, 101, 1)})},
		{DishID: 1, Qty: 2},
		{DishID: 2, Qty: 40, Options: catalog.EncodeOptionLines([]catalog.OptionLine{line(10, 100, 1)})},
	}
	var got []string
	for _, o := range OptionSales(sales, map[int64]catalog.Texts{10: {"en": "Size"}}) {
		got = append(got, fmt.Sprintf("%d %s/%s %d of %d", o.DishID, o.Group["en"], o.Option["en"], o.Qty, o.Portions))
	}
	want := []string{
		"2 Size/option 100 40 of 40", "1 Size/option 101 5 of 10", "1 Size/option 100 3 of 10", "1 /option 110 6 of 10", "1 /option 120 6 of 10",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("counted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
