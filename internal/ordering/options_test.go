package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// optionMenu is a restaurant's catalog whose items have groups of options.
type optionMenu struct {
	orderingtest.Catalog
	groups map[int64][]catalog.OptionGroup
	off    []int64
}

func (m *optionMenu) Version(ctx context.Context, branch, version int64) (*catalog.Snapshot, error) {
	s, err := m.Catalog.Version(ctx, branch, version)
	if err != nil {
		return nil, err
	}
	items := slices.Clone(s.Items)
	for i := range items {
		items[i].Groups = m.groups[items[i].ID]
	}
	e := catalog.NewEdition(version, branch, nil, items)
	return &catalog.Snapshot{Branch: s.Branch, Edition: e, OffOptions: m.off}, nil
}

// Options of the menus below. The drink stands for item 104.
const (
	smallCup, largeCup, pearls, drink = 1, 2, 3, 4
	sizeGroup, toppingGroup           = 10, 11
	drinkGroup                        = 12
	component                         = 104
)

func text(name string) catalog.Texts {
	return catalog.Texts{catalog.Vietnamese: name, catalog.English: name + " (en)", catalog.Japanese: name + " (ja)"}
}

func sizes() catalog.OptionGroup {
	return catalog.OptionGroup{ID: sizeGroup, Kind: catalog.SizeGroup, Names: text("Cỡ"), Min: 1, Max: new(int64(1)), MaxEach: 1,
		DefaultsCharge: true, Options: []catalog.MenuOption{
			{ID: smallCup, Names: text("Nhỏ"), Price: 900}, {ID: largeCup, Names: text("Lớn"), ShortName: "L", Price: 1500},
		}}
}

func toppings() catalog.OptionGroup {
	return catalog.OptionGroup{ID: toppingGroup, Kind: catalog.ChoiceGroup, Names: text("Thêm"), MaxEach: 3, DefaultsCharge: true,
		Options: []catalog.MenuOption{{ID: pearls, Names: text("Trân châu"), Price: 200}}}
}

func drinks() catalog.OptionGroup {
	return catalog.OptionGroup{ID: drinkGroup, Kind: catalog.ComboGroup, Names: text("Nước"), MaxEach: 20, DefaultsCharge: true,
		Options: []catalog.MenuOption{{ID: drink, Names: text("Trà đá"), DishID: component, Component: component}}}
}

// stockRecipes are recipes by menu item and level.
type stockRecipes map[int64][]stock.Line

func (r stockRecipes) ForBranch(context.Context, int64) (map[int64][]stock.Line, error) {
	return r, nil
}

// optionService is service with items 101 to 105 of which 101 to 103 offer sizes, toppings or drinks, and 105 a drink.
func optionService(t testing.TB, db *sqldb.DB, g *admission, quotas ...int64) (
	*ordering.Service, *orderingtest.Restaurant, ordering.Guest, *optionMenu,
) {
	t.Helper()
	s, r, guest := service(t, db, g, quotas...)
	m := &optionMenu{Catalog: r.Catalog(t), groups: map[int64][]catalog.OptionGroup{
		101: {sizes(), toppings(), drinks()}, 102: {drinks()}, 103: {toppings(), drinks()}, 105: {drinks()},
	}}
	s.Catalog = m
	return s, r, guest, m
}

func chosen(option, qty int64) catalog.ChosenOption {
	return catalog.ChosenOption{OptionID: option, Qty: qty}
}

func wish(key string, items ...ordering.RequestItem) ordering.Request {
	return ordering.Request{Items: items, Method: payment.Sandbox, ClientTxnID: key, MenuVersionID: 1}
}

// shortOf returns the lines of a sold-out order as text.
func shortOf(err error) string {
	var out []string
	for _, l := range ordering.ShortLines(err) {
		out = append(out, fmt.Sprintf("%d/%d: %d of %d", l.ItemID, l.OptionID, l.Available, l.Requested))
	}
	return strings.Join(out, ", ")
}

func TestService_Place_with_options(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r, g, _ := optionService(t, db, &admission{try: admit}, 20, 20, 20, 20, 20)
		line := ordering.RequestItem{ItemID: 101, Qty: 2, Options: []catalog.ChosenOption{
			chosen(drink, 1), chosen(pearls, 1), chosen(largeCup, 1), chosen(pearls, 1),
		}}
		req := wish("a", line, ordering.RequestItem{ItemID: 101, Qty: 1, Options: []catalog.ChosenOption{chosen(smallCup, 1)}})
		req.ExpectedTotal = new(int64(2*(1500+400) + 900))
		first := testenv.Must(s.Place(t.Context(), g, req))(t)
		if !first.New || first.Order.Total != *req.ExpectedTotal || first.Order.Items[0].Price != 1900 || first.Order.Items[1].Price != 900 {
			t.Errorf("placed %+v, want lines of 1900 and 900", first.Order)
		}
		if d := cmp.Diff([]stock.Count{{Item: 101, Cap: 20, Held: 3}, {Item: component, Cap: 20, Held: 2}}, r.Counts(t)); d != "" {
			t.Errorf("counts: two lines share the quota of their dish, and the drink takes its own (-want +got):\n%s", d)
		}
		// The same wish in another form is the same request (I11).
		req.Items[0].Options = []catalog.ChosenOption{chosen(pearls, 2), chosen(largeCup, 1), chosen(drink, 1)}
		again, err := s.Place(t.Context(), g, req)
		if err != nil || again.New || again.Order.ID != first.Order.ID {
			t.Errorf("repeated as %s, %t, %v, want %s again", again.Order.ID, again.New, err, first.Order.ID)
		}
		req.Items[0].Options = []catalog.ChosenOption{chosen(pearls, 1), chosen(largeCup, 1), chosen(drink, 1)}
		if _, err := s.Place(t.Context(), g, req); !errors.Is(err, ordering.ErrIdempotency) {
			t.Errorf("the key with another wish: error %v, want ErrIdempotency", err)
		}
		read := testenv.Must(s.Order(t.Context(), g, first.Order.ID))(t)
		want := []catalog.OptionLine{
			{GroupID: sizeGroup, OptionID: largeCup, Kind: catalog.SizeGroup, Name: "Lớn", ShortName: "L", Qty: 1, Price: 1500},
			{GroupID: toppingGroup, OptionID: pearls, Kind: catalog.ChoiceGroup, Name: "Trân châu", Qty: 2, Price: 200},
			{GroupID: drinkGroup, OptionID: drink, Kind: catalog.ComboGroup, Name: "Trà đá", Qty: 1, DishID: component, Component: component},
		}
		for i := range want {
			want[i].Names = catalog.Texts{catalog.Vietnamese: want[i].Name, catalog.English: want[i].Name + " (en)"}
		}
		testenv.Equal(t, want, read.Items[0].OptionLines())
		if drift := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), "2000-01-01", db.Now()))(t); len(drift) != 0 {
			t.Errorf("Drift = %q, want none", drift)
		}
		for name, c := range map[string]struct {
			item ordering.RequestItem
			code string
		}{
			"no size":           {ordering.RequestItem{ItemID: 101, Qty: 1}, "options_invalid"},
			"an unknown option": {ordering.RequestItem{ItemID: 102, Qty: 1, Options: []catalog.ChosenOption{chosen(pearls, 1)}}, "option_unknown"},
			"a plain dish":      {ordering.RequestItem{ItemID: 104, Qty: 1, Options: []catalog.ChosenOption{chosen(drink, 1)}}, "option_unknown"},
			"quantity 0":        {ordering.RequestItem{ItemID: 102, Qty: 1, Options: []catalog.ChosenOption{chosen(drink, 0)}}, "invalid"},
		} {
			_, err := s.Place(t.Context(), g, wish(name, c.item))
			var f *fault.Error
			if !errors.As(err, &f) || f.PublicCode() != c.code || f.Kind != fault.Invalid {
				t.Errorf("%s: error %v, want %s", name, err, c.code)
			}
		}
		testenv.Must(s.Place(t.Context(), g, wish("plain", ordering.RequestItem{ItemID: 102, Qty: 1})))(t) // no group is required
	})
}

func TestService_Place_reports_short_options(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r, g, m := optionService(t, db, &admission{try: admit}, 20, 3, 20, 2, 20)
		place := func(key string, items ...ordering.RequestItem) error {
			t.Helper()
			_, err := s.Place(t.Context(), g, wish(key, items...))
			return err
		}
		withDrink := func(item, qty int64) ordering.RequestItem {
			return ordering.RequestItem{ItemID: item, Qty: qty, Options: []catalog.ChosenOption{chosen(drink, 1)}}
		}
		want := func(err error, lines string) {
			t.Helper()
			if !errors.Is(err, ordering.ErrSoldOut) || shortOf(err) != lines {
				t.Errorf("error %v with %q, want sold_out with %q", err, shortOf(err), lines)
			}
		}
		want(place("parts", withDrink(102, 2), withDrink(105, 1)), "102/4: 2 of 3, 105/4: 2 of 3")
		want(place("both", ordering.RequestItem{ItemID: component, Qty: 1}, withDrink(102, 4)),
			"102/0: 3 of 4, 102/4: 2 of 5, 104/0: 2 of 5")
		m.off = []int64{pearls}
		topped := ordering.RequestItem{ItemID: 103, Qty: 2, Options: []catalog.ChosenOption{chosen(pearls, 2)}}
		want(place("off", topped), "103/3: 0 of 4")
		// This process has not been notified yet, but the ledger reads it.
		m.off = nil
		off(t, db, pearls)
		want(place("off in SQL", topped), "103/3: 0 of 4")
		if counts := r.Counts(t); slices.ContainsFunc(counts, func(c stock.Count) bool { return c.Held != 0 }) {
			t.Errorf("refused orders left %+v", counts)
		}
		if err := place("without it", ordering.RequestItem{ItemID: 103, Qty: 1}); err != nil {
			t.Errorf("the dish without the option: %v", err)
		}
	})
}

// off marks an option as off in branch 1, as the staff do.
func off(t *testing.T, db *sqldb.DB, option int64) {
	t.Helper()
	rows := sqldb.Load(fstest.MapFS{
		"group.sql":  {Data: []byte(`INSERT INTO option_group (id, kind, names, created_at, updated_at) VALUES (1, 'CHOICE', '{"en":"x"}', 0, 0)`)},
		"choice.sql": {Data: []byte(`INSERT INTO option_choice (id, group_id, names, sort) VALUES ($1, 1, '{"en":"x"}', 0)`)},
		"off.sql":    {Data: []byte(`INSERT INTO choice_off (branch_id, choice_id, off_at, off_by) VALUES (1, $1, 0, 'x')`)},
	})
	testenv.Must(db.Exec(t.Context(), rows.Must("group")))(t)
	testenv.Must(db.Exec(t.Context(), rows.Must("choice"), option))(t)
	testenv.Must(db.Exec(t.Context(), rows.Must("off"), option))(t)
}

func TestService_Place_takes_the_recipes_of_options(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var held stock.Hold
		g := &admission{try: func(h stock.Hold) stock.AdmissionResult {
			held = h
			return stock.AdmissionResult{Status: stock.Refused, Short: []stock.Shortage{{Item: 7, Available: 3, Stock: true}}}
		}}
		s, _, guest, _ := optionService(t, db, g, 20, 20, 20, 20, 20)
		s.Recipes = stockRecipes{
			101: {{Item: 6, Qty: 1}}, catalog.OptionLevel(largeCup): {{Item: 6, Qty: 2}}, // a large cup takes two instead of one
			catalog.OptionLevel(pearls): {{Item: 7, Qty: 2}}, component: {{Item: 8, Qty: 1}},
		}
		_, err := s.Place(t.Context(), guest, wish("a",
			ordering.RequestItem{ItemID: 101, Qty: 2, Options: []catalog.ChosenOption{chosen(largeCup, 1), chosen(pearls, 1), chosen(drink, 2)}},
			ordering.RequestItem{ItemID: 101, Qty: 1, Options: []catalog.ChosenOption{chosen(smallCup, 1)}}))
		testenv.Equal(t, []stock.Line{{Item: 6, Qty: 5}, {Item: 7, Qty: 4}, {Item: 8, Qty: 4}}, held.Stock)
		if got, want := shortOf(err), "101/3: 1 of 2"; !errors.Is(err, ordering.ErrSoldOut) || got != want {
			t.Errorf("error %v with %q, want sold_out with %q", err, got, want)
		}
	})
}

func TestService_Place_refuses_too_many_parts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, _, g, m := optionService(t, db, &admission{try: admit}, 20, 20, 20, 20, 20)
		many := catalog.OptionGroup{ID: 13, Kind: catalog.ComboGroup, MaxEach: 1}
		var all [2][]catalog.ChosenOption
		for n := range int64(stock.MaxLines) {
			many.Options = append(many.Options, catalog.MenuOption{ID: 100 + n, Component: 1000 + n})
			all[n/25] = append(all[n/25], chosen(100+n, 1))
		}
		m.groups[102], m.groups[103] = []catalog.OptionGroup{many}, []catalog.OptionGroup{many}
		_, err := s.Place(t.Context(), g, wish("a", ordering.RequestItem{ItemID: 102, Qty: 1, Options: all[0]},
			ordering.RequestItem{ItemID: 103, Qty: 1, Options: all[1]}))
		testenv.ErrorIs(t, ordering.ErrTooManyParts, err, "52 parts")
	})
}

// Many guests want the last six portions of one drink, in three dishes and a combo: exactly six are sold.
func TestService_Place_sells_the_last_portions_of_an_option(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const portions, guests = 6, 60
		s, r, g, _ := optionService(t, db, &admission{try: admit}, stock.Unlimited, stock.Unlimited, stock.Unlimited, portions, 1000)
		limited(s, ordering.Limits{})
		lines := []ordering.RequestItem{
			{ItemID: 101, Qty: 1, Options: []catalog.ChosenOption{chosen(smallCup, 1), chosen(drink, 1)}},
			{ItemID: 102, Qty: 1, Options: []catalog.ChosenOption{chosen(drink, 1)}},
			{ItemID: 103, Qty: 1, Options: []catalog.ChosenOption{chosen(drink, 1), chosen(pearls, 2)}},
			{ItemID: 105, Qty: 1, Options: []catalog.ChosenOption{chosen(drink, 1)}},
		}
		errs := make([]error, guests)
		var wg sync.WaitGroup
		for n := range guests {
			wg.Go(func() {
				_, errs[n] = s.Place(context.WithoutCancel(t.Context()), g, wish(fmt.Sprint("race-", n), lines[n%len(lines)]))
			})
		}
		wg.Wait()
		sold, orders := 0, map[int64]int64{}
		for n, err := range errs {
			line := lines[n%len(lines)]
			switch {
			case err == nil:
				sold++
				orders[line.ItemID]++
			case !errors.Is(err, ordering.ErrSoldOut):
				t.Errorf("guest %d: %v, want an order or sold_out", n, err)
			case shortOf(err) != fmt.Sprintf("%d/%d: 0 of 1", line.ItemID, drink):
				t.Errorf("guest %d: short of %q, want of the drink", n, shortOf(err))
			}
		}
		testenv.Equal(t, portions, sold)
		for _, c := range r.Counts(t) {
			want := orders[c.Item]
			if c.Item == component {
				want = portions
			}
			if c.Held != want {
				t.Errorf("item %d: %d units are held, want %d", c.Item, c.Held, want)
			}
		}
		if drift := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), "2000-01-01", db.Now()))(t); len(drift) != 0 {
			t.Errorf("Drift = %q, want none", drift)
		}
	})
}

// An expired order whose option was taken off is not revived by late money.
func TestLedger_late_payment_of_an_option_that_is_off(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r, _, _ := optionService(t, db, &admission{try: admit}, 20, 20, 20)
		pay := func(key string) ordering.PaymentStatus {
			t.Helper()
			c := r.Place(key, db.Now(), 0, stock.Line{Item: 103, Qty: 1})
			c.Order.Items[0].Options = catalog.EncodeOptionLines([]catalog.OptionLine{{GroupID: toppingGroup, OptionID: pearls, Qty: 1}})
			id := testenv.Must(s.Ledger.Do(t.Context(), c))(t).Order.ID
			if o := testenv.Must(s.Ledger.Do(t.Context(), orderingtest.End(id, ordering.Expired)))(t).Order; o.Status != ordering.Canceled {
				t.Fatalf("the order is %s, want CANCELED", o.Status)
			}
			return testenv.Must(s.Ledger.Do(t.Context(), orderingtest.Pay(id, db.Now())))(t).Order.PaymentStatus
		}
		if got := pay("on sale"); got != ordering.Paid {
			t.Errorf("late money for an option on sale: %s, want PAID", got)
		}
		off(t, db, pearls)
		if got := pay("off"); got != ordering.RefundDue {
			t.Errorf("late money for an option that is off: %s, want REFUND_DUE", got)
		}
	})
}

// The check of stored orders finds a hold that lacks the dish of a combo.
func TestOrders_Drift_finds_missing_parts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, _, g, _ := optionService(t, db, &admission{try: admit}, 20, 20, 20, 20, 20)
		o := testenv.Must(s.Place(t.Context(), g, wish("a",
			ordering.RequestItem{ItemID: 102, Qty: 2, Options: []catalog.ChosenOption{chosen(drink, 1)}})))(t).Order
		rows := sqldb.Load(fstest.MapFS{"lines.sql": {Data: []byte(`UPDATE hold SET lines = '102:2' WHERE id = $1`)}})
		testenv.Must(db.Exec(t.Context(), rows.Must("lines"), o.HoldID))(t)
		drift := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), "2000-01-01", db.Now()))(t)
		want := []string{fmt.Sprintf("order %s takes %q with its options, and its hold has %q (item:quantity)", o.ID, "102:2 104:2", "102:2")}
		testenv.Equal(t, want, drift)
	})
}
