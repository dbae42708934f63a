package menufile

import (
	"strings"
	"testing"

	"comanda/internal/testenv"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/money"
)

func TestReadOptions(t *testing.T) {
	size := OptionGroupCell{Kind: kindSize, Name: "Size", Min: 1, Max: new(int64(1)), MaxEach: 1,
		Options: []OptionCell{{Name: "M", Price: 45000}, {Name: "L", Price: 55000, Default: true}}}
	toppings := OptionGroupCell{Kind: kindChoice, Name: "Toppings", Max: new(int64(3)), MaxEach: 2, Free: 1,
		Options: []OptionCell{{Name: "Pearls", Price: 8000}, {Name: "Pudding"}}}
	for text, want := range map[string]OptionsCell{
		"":                                  {},
		"-":                                 {Given: true},
		"Size (size): M = 45,000; L=55000*": {true, []OptionGroupCell{size}},
		"Size (size): M=45k; L = 55k * | Toppings (0-3, each 2, free 1): Pearls = 8000; Pudding;": {true, []OptionGroupCell{size, toppings}},
		`Ice \| sugar: A\=B\; c (hot) = 1000`: {true, []OptionGroupCell{
			{Kind: kindChoice, Name: "Ice | sugar", MaxEach: 1, Options: []OptionCell{{Name: "A=B; c (hot)", Price: 1000}}},
		}},
		"Egg (2 pieces): hard": {true, []OptionGroupCell{{Kind: kindChoice, Name: "Egg (2 pieces)", MaxEach: 1, Options: []OptionCell{{Name: "hard"}}}}},
		"Main (combo, 1, credit, included): Pho": {true, []OptionGroupCell{
			{Kind: kindCombo, Name: "Main", Min: 1, Max: new(int64(1)), MaxEach: 1, Credit: true, Included: true, Options: []OptionCell{{Name: "Pho"}}},
		}},
		"Sauce (1+): Soy": {true, []OptionGroupCell{{Kind: kindChoice, Name: "Sauce", Min: 1, MaxEach: 1, Options: []OptionCell{{Name: "Soy"}}}}},
	} {
		row, problems := readOne(text)
		if d := cmp.Diff(want, row); d != "" || len(problems) > 0 {
			t.Errorf("%q: %v (-want +got):\n%s", text, problems, d)
		}
	}
	for _, text := range []string{
		"Size", "Size: ", ": M", "Size: M: L", "Size (size): M = x", "A: B = 1 = 2", "A: B; b", "A: B | a: C", "A: = 1000", "A: B = -1",
	} {
		if row, problems := readOne(text); len(problems) != 1 || problems[0].Code != OptionsUnreadable || problems[0].Column != "options" {
			t.Errorf("%q is read as %+v, %v", text, row, problems)
		}
	}
}

// readOne reads a file of one dish with a cell of options.
func readOne(options string) (OptionsCell, []CellProblem) {
	r := &report{}
	rows := interpret([]sheetRow{
		{1, []cell{{text: "category"}, {text: "name"}, {text: "price"}, {text: "options"}}},
		{2, []cell{{text: "Tea"}, {text: "Milk tea"}, {text: "45000"}, {text: options}}},
	}, Options{Currency: money.VND, Locales: []string{"en"}}, nil, r)
	return rows[0].Options, r.problems
}

func TestOptionsCell_survives_a_file(t *testing.T) {
	name := rapid.StringMatching(`[A-Za-zé|;:=*()\\][A-Za-zé |;:=*()\\0-9+-]{0,12}[A-Za-zé|;:=*()\\]`)
	rapid.Check(t, func(r *rapid.T) {
		currency := rapid.SampledFrom([]money.Currency{money.VND, "EUR"}).Draw(r, "currency")
		o := Options{Currency: currency, Locales: []string{"en"}}
		group := rapid.Custom(func(t *rapid.T) OptionGroupCell {
			g := OptionGroupCell{
				Kind: rapid.SampledFrom([]string{kindSize, kindChoice, kindCombo}).Draw(t, "kind"), Name: name.Draw(t, "group"),
				Min: rapid.Int64Range(0, 3).Draw(t, "min"), MaxEach: rapid.Int64Range(1, 3).Draw(t, "each"),
				Free: rapid.Int64Range(0, 2).Draw(t, "free"), Credit: rapid.Bool().Draw(t, "credit"), Included: rapid.Bool().Draw(t, "included"),
			}
			if rapid.Bool().Draw(t, "limited") {
				g.Max = new(g.Min + rapid.Int64Range(0, 3).Draw(t, "more"))
			}
			g.Options = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) OptionCell {
				return OptionCell{
					Name: name.Draw(t, "option"), Price: rapid.Int64Range(0, 99_999).Draw(t, "price"), Default: rapid.Bool().Draw(t, "default"),
				}
			}), 1, 3, func(p OptionCell) string { return Fold(p.Name) }).Draw(t, "options")
			return g
		})
		want := rapid.SliceOfNDistinct(group, 1, 3, func(g OptionGroupCell) string { return Fold(g.Name) }).Draw(r, "groups")
		cell := OptionsCell{true, want}
		var got []OptionGroupCell
		for _, part := range split(cell.Text(o), '|') {
			g, problem := readOptionGroup(part, currency)
			if problem != "" {
				r.Fatalf("%q is refused: %s", part, problem)
			}
			got = append(got, g)
		}
		if d := cmp.Diff(want, got); d != "" {
			r.Fatalf("%q (-want +got):\n%s", cell.Text(o), d)
		}
	})
}

// The names of options in a further language are read in the order of the first one, and written again.
func TestOptionsCell_further_languages(t *testing.T) {
	o := Options{Currency: money.VND, Locales: []string{"vi", "en"}}
	read := func(base, english string) (OptionsCell, []CellProblem) {
		r := &report{}
		rows := interpret([]sheetRow{
			{1, []cell{{text: "category"}, {text: "name"}, {text: "price"}, {text: "options"}, {text: "options:en"}}},
			{2, []cell{{text: "Trà"}, {text: "Trà sữa"}, {text: "45000"}, {text: base}, {text: english}}},
		}, o, nil, r)
		return rows[0].Options, r.problems
	}
	const groups, names = "Cỡ (size): Vừa = 45,000; Lớn = 55,000 | Thêm: Trân châu = 8,000", `Size: M; L | Extra\: more: Pearls`
	got, problems := read(groups, names)
	if len(problems) > 0 || got.Groups[0].Options[1].Names["en"] != "L" || got.Groups[1].Names["en"] != "Extra: more" {
		t.Errorf("read as %+v, %v", got, problems)
	}
	testenv.Equal(t, names, got.names("en"))
	long := strings.Repeat("x", MaxName+1)
	for _, wrong := range []string{"Size: M; L", "Size: M; " + long + " | Extra: Pearls", long + ": M; L | Extra: Pearls", "Size: M | Extra: Pearls", "Size: M; L | Pearls", ": M; L | Extra: Pearls", "Size: M; L; | Extra: "} {
		if _, problems := read(groups, wrong); len(problems) != 1 || problems[0].Code != OptionsUnreadable || problems[0].Column != "options:en" {
			t.Errorf("%q: problems %v, want one of options:en", wrong, problems)
		}
	}
	got.Groups[1].Options[0].Names = nil
	if text := got.names("en"); text != "" {
		t.Errorf("a name is missing, and the cell is %q", text)
	}
}
