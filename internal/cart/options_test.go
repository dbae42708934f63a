package cart

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/testenv"
)

// optionBoard returns branch 1 with dish 4 (item 11) in two sizes with toppings. off are options that are off.
func optionBoard(t *testing.T, off ...int64) *catalog.LiveMenu {
	t.Helper()
	names := func(s string) catalog.Texts { return catalog.Texts{catalog.English: s} }
	it := catalogtest.Item(11, 65000)
	it.Groups = []catalog.OptionGroup{
		{ID: 1, Kind: catalog.SizeGroup, Min: 1, Max: new(int64(1)), MaxEach: 1, Options: []catalog.MenuOption{
			{ID: 16, Names: names("S"), Price: 50000}, {ID: 17, Names: names("L"), Price: 70000},
		}},
		{ID: 2, Kind: catalog.ChoiceGroup, MaxEach: 2, DefaultsCharge: true, Options: []catalog.MenuOption{{ID: 18, Names: names("Egg"), Price: 5000}}},
	}
	content := catalogtest.Content(5, nil, it)
	content.OffOptions = off
	shelf := catalogtest.NewMemorySource()
	b := catalogtest.Branch()
	b.SharedCart = true
	shelf.Put(b, content)
	now := func() time.Time { return morning }
	return testenv.Must(catalog.NewLiveMenus(catalog.NewMenuCache(shelf, catalog.NoSharedCache{}, now), &catalogtest.Levels{},
		now).Get(t.Context(), 1))(t)
}

func TestNewView_options(t *testing.T) {
	for name, c := range map[string]struct {
		options              string
		off                  []int64
		price                int64
		available, isSoldOut bool
		shown                int // options
	}{
		"a size":                         {large, nil, 70000, true, false, 1},
		"a size and two eggs":            {`[{"o":17,"q":1},{"o":18,"q":2}]`, nil, 80000, true, false, 2},
		"the size is off":                {large, []int64{17}, 70000, true, true, 1},
		"another option is off":          {large, []int64{18}, 70000, true, false, 1},
		"a size is required by now":      {"", nil, 65000, false, false, 0},
		"an option has left the menu":    {`[{"o":17,"q":1},{"o":99,"q":1}]`, nil, 65000, false, false, 0},
		"more of one than by now":        {`[{"o":17,"q":1},{"o":18,"q":3}]`, nil, 65000, false, false, 0},
		"a text that was edited by hand": {`{`, nil, 65000, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cart := Cart{ID: 3, Lines: []Line{{ID: 40, DishID: 4, Quantity: 2, Price: 70000, Options: c.options}}}
			v := newView(cart, optionBoard(t, c.off...), nil, toTakeAway...)
			it := v.Items[0]
			if it.Price != c.price || it.Available != c.available || it.SoldOut() != c.isSoldOut || len(it.Configured) != c.shown {
				t.Errorf("line = %+v, want price %d, available %t, sold out %t, %d options", it, c.price, c.available, c.isSoldOut, c.shown)
			}
			if want := map[bool]int64{true: 2 * c.price}[c.available]; v.Total != want {
				t.Errorf("total %d, want %d", v.Total, want)
			}
		})
	}
}

func TestService_Add_with_options(t *testing.T) {
	h := &viewStore{branch: 1}
	s := &Service{Store: h, LiveMenus: only{optionBoard(t)}}
	actor := authz.Actor{UserID: 7}
	egg, size := catalog.ChosenOption{OptionID: 18, Qty: 1}, catalog.ChosenOption{OptionID: 17, Qty: 1}
	v, it := testenv.Must2(s.Add(t.Context(), actor, 4, 2, 0, egg, size, egg))(t)
	add := Add{DishID: 4, Quantity: 2, Price: 80000, Options: `[{"o":17,"q":1},{"o":18,"q":2}]`}
	if d := cmp.Diff([]Change{{UserID: 7, Add: &add}}, h.changes); d != "" || it.Price != 80000 || v.Total != 160000 {
		t.Errorf("line of %d, total %d, want 80000 and 160000; changes (-want +got):\n%s", it.Price, v.Total, d)
	}
	v, it = testenv.Must2(s.Add(t.Context(), actor, 4, 1, 0, size))(t)
	if len(v.Items) != 2 || it.Options != large {
		t.Errorf("%d lines, the last with %s, want two", len(v.Items), it.Options)
	}
	h.changes = nil
	_, _, missing := s.Add(t.Context(), actor, 4, 1, 0)
	_, _, unknown := s.Add(t.Context(), actor, 4, 1, 0, catalog.ChosenOption{OptionID: 99, Qty: 1})
	if !errors.Is(missing, catalog.ErrOptions) || !errors.Is(unknown, catalog.ErrOption) || len(h.changes) != 0 {
		t.Errorf("without a size: %v; an unknown option: %v; want ErrOptions, ErrOption and no change", missing, unknown)
	}
}

func TestSharedService_Put_with_options(t *testing.T) {
	store := &oneTable{cart: Shared{VisitID: "v"}}
	s := &SharedService{Store: store, LiveMenus: only{optionBoard(t)}, Phones: store, Now: func() time.Time { return noon }}
	an := Guest{Branch: 1, VisitID: "v", Hash: "an"}
	line := SharedLine{ID: "an-1", ItemID: 11, Quantity: 1}
	size, other := catalog.ChosenOption{OptionID: 17, Qty: 1}, catalog.ChosenOption{OptionID: 16, Qty: 1}
	v := testenv.Must(s.Put(t.Context(), an, line, size))(t)
	if v.Items[0].Options != large || v.Items[0].Price != 70000 || v.Items[0].Configured[0].OptionID != 17 {
		t.Errorf("line = %+v, want a large one for 70000", v.Items[0])
	}
	if v = testenv.Must(s.Put(t.Context(), an, line, other))(t); len(v.Items) != 1 || v.Items[0].Options != `[{"o":16,"q":1}]` {
		t.Errorf("lines = %+v, want one with the other size", v.Items)
	}
	testenv.ErrorIs(t, catalog.ErrOptions, testenv.Err(s.Put(t.Context(), an, line)), "without a size")
}

// An order takes a line of a shared cart only with the options that its guest saw.
func TestSharedDraft_Has_compares_options(t *testing.T) {
	seen := SharedLine{ID: "an-1", ItemID: 11, Quantity: 1, Options: large}
	d := NewSharedDraft(Shared{VisitID: "v", Lines: []SharedLine{seen}})
	if !d.Has([]SharedLine{seen}) {
		t.Error("the line as its guest saw it is refused")
	}
	seen.Options = ""
	if d.Has([]SharedLine{seen}) {
		t.Error("the line is ordered with other options than its guest saw")
	}
}

func TestCart_Equal_compares_options(t *testing.T) {
	one := Cart{ID: 3, Version: 1, Lines: []Line{{ID: 40, DishID: 4, Quantity: 1, Options: large}}}
	other := Cart{ID: 3, Version: 1, Lines: []Line{{ID: 40, DishID: 4, Quantity: 1}}}
	if !one.Equal(one) || one.Equal(other) {
		t.Error("carts with different options are equal, or one with itself is not")
	}
}
