package ordering_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/price"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

// profile returns the pricing of a country's first profile.
func profile(t testing.TB, country catalog.Country) catalog.Pricing {
	t.Helper()
	for _, p := range catalog.PricingProfiles() {
		if p.Country == country {
			return p.Pricing
		}
	}
	t.Fatalf("there is no pricing profile of %s", country)
	return catalog.Pricing{}
}

// register is an ordering service of a branch with taxes, and its clock.
type register struct {
	*ordering.Service

	orders *orderingsql.Orders
	guest  ordering.Guest
	now    time.Time
	later  []time.Time // times that the ledger sees instead of now, one per command
}

// newRegister returns the service of a branch with three items for 1000 each: 101 has the first class, the others the last.
func newRegister(t testing.TB, db *sqldb.DB, p catalog.Pricing, classes ...string) *register {
	t.Helper()
	r := orderingtest.Open(t, db, 1, 100, 100, 100)
	c := &register{orders: orderingsql.NewOrders(db), now: time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)}
	l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, func() time.Time {
		if len(c.later) == 0 {
			return c.now
		}
		at := c.later[0]
		c.later = c.later[1:]
		c.now = at
		return at
	})
	t.Cleanup(l.Stop)
	c.Service = &ordering.Service{
		Settings: func() ordering.Settings {
			return ordering.Settings{Config: ordering.Defaults(), Methods: payment.NewMethods(payment.Sandbox, payment.Counter, payment.VNPay)}
		},
		Ledger: l, Admission: &admission{try: admit}, Reader: c.orders, Catalog: r.Catalog(t).Priced(p, classes...),
		Now: func() time.Time { return c.now },
	}
	counters := stocksql.NewReservations(db, orderingtest.NoAdmission{}, c.Now)
	t.Cleanup(counters.Stop)
	c.Vouchers = &ordering.Vouchers{
		Store: orderingsql.NewVouchers(db, counters, c.Now), Catalog: c.Catalog, Now: c.Now, Changed: func(context.Context, int64) {},
	}
	c.guest = ordering.Guest{Branch: 1, VisitID: r.Visit, Hash: "guest"}
	return c
}

// order places an order at the counter of 2 units of item 101 and 3 of item 102, and returns it as it is stored.
func (r *register) order(t testing.TB, key string) ordering.Order {
	t.Helper()
	req := request(key, ordering.RequestItem{ItemID: 101, Qty: 2}, ordering.RequestItem{ItemID: 102, Qty: 3})
	req.Method = payment.Counter
	placed := testenv.Must(r.Place(t.Context(), r.guest, req))(t)
	return r.stored(t, placed.Order.ID)
}

func (r *register) stored(t testing.TB, id string) ordering.Order {
	t.Helper()
	d, found, err := r.orders.Order(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("order %s is found: %t, %v", id, found, err)
	}
	return d.Order
}

// audit fails the test if the totals of the stored orders cannot be recomputed.
func (r *register) audit(t testing.TB) {
	t.Helper()
	a := testenv.Must(r.orders.AuditPrices(t.Context(), ""))(t)
	if len(a.Differences) > 0 || a.Unknown > 0 || a.Orders == 0 {
		t.Errorf("the audit of prices found %+v", a)
	}
}

func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.PublicCode() != code {
		t.Errorf("the error is %v, want the code %s", err, code)
	}
}

// Orders of each country's profile, with 2 units of food and 3 of alcohol at 1000.
func TestService_Place_taxes(t *testing.T) {
	for name, c := range map[string]struct {
		pricing catalog.Pricing
		want    price.Result
	}{
		"VN": {profile(t, "VN"), price.Result{
			Goods: 5000, Total: 5000, Taxes: []price.Tax{{Rate: "10", Base: 2727, Amount: 273}, {Rate: "8", Base: 1852, Amount: 148}},
		}},
		"DE": {profile(t, "DE"), price.Result{
			Goods: 5000, Total: 5000, Taxes: []price.Tax{{Rate: "19", Base: 2521, Amount: 479}, {Rate: "7", Base: 1869, Amount: 131}},
		}},
		"TW": {profile(t, "TW"), price.Result{
			Goods: 5000, Service: 500, Total: 5500, Taxes: []price.Tax{{Rate: "5", Base: 5238, Amount: 262}},
		}},
		"US": {profile(t, "US"), price.Result{
			Goods: 5000, Total: 5444, Taxes: []price.Tax{{Rate: "8.875", Base: 5000, Amount: 444}},
		}},
		"JP": {profile(t, "JP"), price.Result{
			Goods: 5000, Total: 5000, Taxes: []price.Tax{{Rate: "10", Base: 4546, Amount: 454}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegister(t, sqldbtest.SQLite(t), c.pricing, catalog.ClassFood, catalog.ClassAlcohol)
			o := r.order(t, "a")
			record, ok := o.Record()
			record.Result.Lines = nil
			if !ok || !cmp.Equal(record.Result, c.want) {
				t.Errorf("the stored quote differs (-want +got):\n%s", cmp.Diff(c.want, record.Result))
			}
			if o.Total != c.want.Total || o.Service != c.want.Service || o.Tax != record.Result.TaxAmount() {
				t.Errorf("total %d, service %d and tax %d are stored, want those of the quote %+v", o.Total, o.Service, o.Tax, c.want)
			}
			r.audit(t)
		})
	}
}

// An order of a branch without taxes and service charges is the sum of its lines and stores no quote.
func TestService_Place_plain(t *testing.T) {
	r := newRegister(t, sqldbtest.SQLite(t), catalog.Pricing{}, "")
	if o := r.order(t, "a"); o.Quote != "" || o.Total != 5000 {
		t.Errorf("the order costs %d and has the quote %q, want 5000 and none", o.Total, o.Quote)
	}
	r.audit(t)
}

// The rate of an order is that of the instant at which the ledger decides it: 8 % until 2026-12-31 in Hà Nội, then 10 %.
func TestService_Place_rate_changes_at_midnight(t *testing.T) {
	newYear := time.Date(2026, 12, 31, 17, 0, 0, 0, time.UTC) // 2027-01-01 00:00 in Hà Nội
	for name, c := range map[string]struct {
		priced  time.Time
		decided []time.Time
		want    price.Percent
	}{
		"a moment before":           {newYear.Add(-100 * time.Millisecond), nil, "8"},
		"a moment later":            {newYear, nil, "10"},
		"decided a moment later":    {newYear.Add(-100 * time.Millisecond), []time.Time{newYear}, "10"},
		"decided a moment earlier":  {newYear.Add(-200 * time.Millisecond), []time.Time{newYear.Add(-time.Millisecond)}, "8"},
		"ten years after that rule": {newYear.AddDate(10, 0, 0), nil, "10"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegister(t, sqldbtest.SQLite(t), profile(t, "VN"), catalog.ClassFood)
			r.now, r.later = c.priced, c.decided
			o := r.order(t, "a")
			record, _ := o.Record()
			testenv.Equal(t, c.want, record.Input.Lines[0].Rate)
			r.now = newYear.AddDate(10, 0, 0)
			r.audit(t)
		})
	}
}

// The parts of a dish with options have the tax rates of their own classes: toppings without a class that of the dish, a
// beer that of alcohol, and the dishes of a combo each their own, in proportion to their prices. An option has the part of
// the price that the guest pays for it.
func TestService_Place_taxes_of_options(t *testing.T) {
	names := catalog.Texts{catalog.English: "Option"}
	toppings := catalog.OptionGroup{
		ID: 1, Kind: catalog.ChoiceGroup, MaxEach: 2, DefaultsCharge: true, Names: names, Options: []catalog.MenuOption{
			{ID: 11, Names: names, Price: 200}, {ID: 12, Names: names, Price: 500, TaxClass: catalog.ClassAlcohol},
		},
	}
	combo := catalog.OptionGroup{
		ID: 2, Kind: catalog.ComboGroup, MaxEach: 1, DefaultsCharge: true, Names: names, Options: []catalog.MenuOption{
			{ID: 21, Names: names, DishID: 102, Component: 102}, {ID: 22, Names: names, DishID: 103, Component: 103},
		},
	}
	rum := []catalog.MenuOption{{ID: 31, Names: names, Price: 500, TaxClass: catalog.ClassAlcohol}}
	free := catalog.OptionGroup{ID: 3, Kind: catalog.ChoiceGroup, MaxEach: 3, Free: 1, Names: names, Options: rum}
	included := catalog.OptionGroup{
		ID: 4, Kind: catalog.ChoiceGroup, MaxEach: 2, Names: names, Options: []catalog.MenuOption{
			{ID: 41, Names: names, Price: 500, Default: true, TaxClass: catalog.ClassAlcohol},
		},
	}
	exchange := catalog.OptionGroup{
		ID: 5, Kind: catalog.ChoiceGroup, MaxEach: 1, Credit: true, Names: names, Options: []catalog.MenuOption{
			{ID: 51, Names: names, Price: 300, Default: true}, {ID: 52, Names: names, Price: 500, TaxClass: catalog.ClassAlcohol},
		},
	}
	nested := catalog.OptionGroup{
		ID: 6, Kind: catalog.ChoiceGroup, MaxEach: 2, DefaultsCharge: true, Names: names, Options: []catalog.MenuOption{
			{ID: 61, Names: names, Price: 100, Groups: []catalog.OptionGroup{{
				ID: 7, Kind: catalog.ChoiceGroup, MaxEach: 2, Free: 1, Names: names,
				Options: []catalog.MenuOption{{ID: 71, Names: names, Price: 500, TaxClass: catalog.ClassAlcohol}},
			}}},
		},
	}
	both := func(alcohol, food int64) []price.Component {
		return []price.Component{{Rate: "19", Weight: alcohol}, {Rate: "7", Weight: food}}
	}
	one := func(ids ...int64) (all []catalog.ChosenOption) {
		for _, id := range ids {
			all = append(all, catalog.ChosenOption{OptionID: id, Qty: 1})
		}
		return all
	}
	for name, c := range map[string]struct {
		chosen []catalog.ChosenOption
		want   price.Line
	}{
		"none":               {nil, price.Line{Qty: 1, UnitPrice: 1000, Rate: "7"}},
		"a topping":          {one(11), price.Line{Qty: 1, UnitPrice: 1200, Rate: "7"}},
		"a topping, a rum":   {one(11, 12), price.Line{Qty: 1, UnitPrice: 1700, Components: []price.Component{{Rate: "19", Weight: 500}, {Rate: "7", Weight: 1200}}}},
		"a combo":            {one(21, 22), price.Line{Qty: 1, UnitPrice: 1000, Components: []price.Component{{Rate: "7", Weight: 1000}, {Rate: "19", Weight: 300}}}},
		"a combo, a topping": {one(21, 22, 11), price.Line{Qty: 1, UnitPrice: 1200, Components: []price.Component{{Rate: "7", Weight: 1000}, {Rate: "19", Weight: 300}}}},
		"a combo, a rum":     {one(21, 12), price.Line{Qty: 1, UnitPrice: 1500, Components: []price.Component{{Rate: "19", Weight: 500}, {Rate: "7", Weight: 1000}}}},
		// 500 of 1500 are the rum; the rest is divided 1000 : 300.
		"a mixed combo, a rum": {one(21, 22, 12), price.Line{Qty: 1, UnitPrice: 1500, Components: []price.Component{{Rate: "19", Weight: 731}, {Rate: "7", Weight: 769}}}},
		"a free rum":           {one(31), price.Line{Qty: 1, UnitPrice: 1000, Rate: "7"}},
		"a free rum and two":   {one(31, 31, 31), price.Line{Qty: 1, UnitPrice: 2000, Components: both(1000, 1000)}},
		"a combo, a free rum":  {one(21, 31), price.Line{Qty: 1, UnitPrice: 1000, Rate: "7"}},
		"a rum by default":     {one(41), price.Line{Qty: 1, UnitPrice: 1000, Rate: "7"}},
		"and another one":      {one(41, 41), price.Line{Qty: 1, UnitPrice: 1500, Components: both(500, 1000)}},
		"a default, exchanged": {one(52), price.Line{Qty: 1, UnitPrice: 1200, Components: both(200, 1000)}},
		"and kept":             {one(51), price.Line{Qty: 1, UnitPrice: 1000, Rate: "7"}},
		"a free rum, nested": {
			[]catalog.ChosenOption{{OptionID: 61, Qty: 2, Options: one(71)}}, price.Line{Qty: 1, UnitPrice: 1200, Rate: "7"},
		},
		"and two of them": { // in each of the two, one is free
			[]catalog.ChosenOption{{OptionID: 61, Qty: 2, Options: one(71, 71)}},
			price.Line{Qty: 1, UnitPrice: 2200, Components: both(1000, 1200)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegister(t, sqldbtest.SQLite(t), profile(t, "DE"), catalog.ClassFood)
			k, ok := r.Catalog.(orderingtest.Catalog)
			if !ok {
				t.Fatal("the register has another catalog")
			}
			r.Catalog = k.Edit(func(items []catalog.Item) {
				items[0].Groups = []catalog.OptionGroup{toppings, combo, free, included, exchange, nested}
				items[2].Price, items[2].TaxClass = 300, catalog.ClassAlcohol
			})
			quoted := testenv.Must(r.Quote(t.Context(), 1, ordering.QuoteRequest{
				MenuVersionID: 1, Kind: ordering.DineIn, Items: []ordering.RequestItem{{ItemID: 101, Qty: 1, Options: c.chosen}},
			}))(t)
			testenv.Equal(t, c.want, quoted.Record.Input.Lines[0])
		})
	}
}

func TestService_Place_expected_total_includes_taxes(t *testing.T) {
	r := newRegister(t, sqldbtest.SQLite(t), profile(t, "US"), catalog.ClassFood)
	quoted := testenv.Must(r.Quote(t.Context(), 1, ordering.QuoteRequest{
		MenuVersionID: 1, Kind: ordering.DineIn, Items: []ordering.RequestItem{{ItemID: 101, Qty: 2}},
	}))(t)
	if quoted.Total != 2178 || quoted.Record.Result.TaxAmount() != 178 {
		t.Fatalf("the quote is %+v, want a total of 2178 with 178 tax", quoted)
	}
	req := request("a", ordering.RequestItem{ItemID: 101, Qty: 2})
	req.ExpectedTotal = new(int64(2000))
	_, err := r.Place(t.Context(), r.guest, req)
	wantCode(t, err, "price_changed")
	req.ExpectedTotal = &quoted.Total
	testenv.Equal(t, 2178, testenv.Must(r.Place(t.Context(), r.guest, req))(t).Order.Total)
}

// The audit finds a total that was changed in the database, and a quote of other lines.
func TestOrders_AuditPrices_finds_differences(t *testing.T) {
	r := newRegister(t, sqldbtest.SQLite(t), profile(t, "DE"), catalog.ClassFood)
	o := r.order(t, "a")
	for name, change := range map[string]func(*ordering.Order){
		"total":  func(o *ordering.Order) { o.Total++ },
		"tax":    func(o *ordering.Order) { o.Tax-- },
		"line":   func(o *ordering.Order) { o.Items[0].Qty++ },
		"quote":  func(o *ordering.Order) { o.Quote = "{" },
		"result": func(o *ordering.Order) { o.Quote = o.Quote[:len(o.Quote)-3] + "1}]}}" },
		"none":   func(o *ordering.Order) { o.Quote = ""; o.Total++ },
	} {
		changed := o
		changed.Items = append([]ordering.Item{}, o.Items...)
		change(&changed)
		if difference, err := changed.PriceDifference(); difference == "" || err != nil {
			t.Errorf("a changed %s is reported as %q, %v; want a difference", name, difference, err)
		}
	}
	if difference, err := o.PriceDifference(); difference != "" || err != nil {
		t.Errorf("the unchanged order has the difference %q, %v; want none", difference, err)
	}
}

// discounts are the discounts of the test's branch.
func discounts(p catalog.Pricing) catalog.Pricing {
	p.Discounts = []catalog.DiscountKind{
		{Code: "REGULAR", Names: catalog.Texts{catalog.English: "Regulars"}, Type: catalog.PercentOff, Percent: "10"},
		{Code: "OPEN", Names: catalog.Texts{catalog.English: "Apology"}, Type: catalog.PercentOff, MaxPercent: "20", ReasonRequired: true},
		{Code: "AMOUNT", Names: catalog.Texts{catalog.English: "Voucher"}, Type: catalog.AmountOff, Amount: new(int64(700))},
		{Code: "FREE", Names: catalog.Texts{catalog.English: "On the house"}, Type: catalog.OnTheHouse, MaxPercent: "0"},
	}
	return p
}

var (
	manager = authz.Actor{Kind: authz.Account, UserID: 7, Role: authz.RoleManager, Branches: []int64{1}}
	owner   = authz.Actor{Kind: authz.Account, UserID: 8, Role: authz.RoleOwner, AllBranches: true}
)

func TestService_Discount(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRegister(t, db, discounts(profile(t, "TW")), catalog.ClassFood)
		o := r.order(t, "a") // 5000 + 10 % service
		for _, c := range []struct {
			by       authz.Actor
			d        ordering.DiscountRequest
			code     string
			total    int64
			discount int64
		}{
			{manager, ordering.DiscountRequest{Code: "REGULAR"}, "", 4950, 500},
			{manager, ordering.DiscountRequest{Code: "AMOUNT"}, "", 4730, 700},
			{manager, ordering.DiscountRequest{Code: "OPEN", Percent: "20", Reason: "cold soup"}, "", 4400, 1000},
			{manager, ordering.DiscountRequest{Code: "OPEN", Percent: "20.1", Reason: "cold soup"}, "discount_ceiling", 4400, 1000},
			{manager, ordering.DiscountRequest{Code: "OPEN", Percent: "20"}, "invalid", 4400, 1000},
			{manager, ordering.DiscountRequest{Code: "OPEN", Percent: "120", Reason: "x"}, "discount_invalid", 4400, 1000},
			{manager, ordering.DiscountRequest{Code: "OPEN", Percent: "0", Reason: "x"}, "discount_invalid", 4400, 1000},
			{manager, ordering.DiscountRequest{Code: "REGULAR", Percent: "50"}, "discount_invalid", 4400, 1000},
			{manager, ordering.DiscountRequest{Code: "NONE"}, "discount_unknown", 4400, 1000},
			{manager, ordering.DiscountRequest{Code: "FREE"}, "discount_ceiling", 4400, 1000},
			{owner, ordering.DiscountRequest{Code: "FREE"}, "", 0, 5000},
			{manager, ordering.DiscountRequest{}, "", 5500, 0},
			{manager, ordering.DiscountRequest{Code: "REGULAR"}, "", 4950, 500},
		} {
			_, err := r.Discount(t.Context(), c.by, o.ID, c.d)
			if c.code != "" {
				wantCode(t, err, c.code)
			} else if err != nil {
				t.Errorf("%+v is refused: %v", c.d, err)
			}
			got := r.stored(t, o.ID)
			if got.Total != c.total || got.Discount != c.discount {
				t.Errorf("after %+v the total is %d and the discount %d, want %d and %d", c.d, got.Total, got.Discount, c.total, c.discount)
			}
			r.audit(t)
		}
		_, err := r.TakeAtCounter(t.Context(), manager, o.ID, 5500, false)
		wantCode(t, err, "amount_mismatch")
		if paid := testenv.Must(r.TakeAtCounter(t.Context(), manager, o.ID, 4950, false))(t); paid.PaymentStatus != ordering.Paid {
			t.Errorf("the order is %s after its payment, want PAID", paid.PaymentStatus)
		}
		_, err = r.Discount(t.Context(), manager, o.ID, ordering.DiscountRequest{Code: "REGULAR"})
		wantCode(t, err, "already_paid")
		if drift := testenv.Must(r.orders.Drift(t.Context(), "", r.now))(t); len(drift) > 0 {
			t.Errorf("reconciliation found %q", drift)
		}
	})
}

// A discount on an order without taxes stores a quote; its removal removes the quote.
func TestService_Discount_plain(t *testing.T) {
	r := newRegister(t, sqldbtest.SQLite(t), discounts(catalog.Pricing{}), "")
	o := r.order(t, "a")
	testenv.Must(r.Discount(t.Context(), manager, o.ID, ordering.DiscountRequest{Code: "REGULAR"}))(t)
	got := r.stored(t, o.ID)
	record, ok := got.Record()
	if !ok || got.Total != 4500 || record.Discount == nil || record.Discount.Names["en"] != "Regulars" {
		t.Errorf("the order costs %d with the record %+v, want 4500 with the discount's name", got.Total, record)
	}
	testenv.Must(r.Discount(t.Context(), manager, o.ID, ordering.DiscountRequest{}))(t)
	if got := r.stored(t, o.ID); got.Quote != "" || got.Total != 5000 {
		t.Errorf("without its discount the order costs %d and has the quote %q, want 5000 and none", got.Total, got.Quote)
	}
	r.audit(t)
}

// A repeated request changes nothing: neither the version nor the attempts grow.
func TestService_Discount_repeated(t *testing.T) {
	r := newRegister(t, sqldbtest.SQLite(t), discounts(profile(t, "TW")), catalog.ClassFood)
	o := r.order(t, "a")
	for range 3 {
		testenv.Must(r.Discount(t.Context(), manager, o.ID, ordering.DiscountRequest{Code: "REGULAR"}))(t)
	}
	d, _, err := r.orders.Order(t.Context(), o.ID)
	if err != nil || d.Version != o.Version+1 || len(d.Attempts) != 2 {
		t.Errorf("after three equal requests the version is %d and there are %d attempts, %v; want version %d and two attempts",
			d.Version, len(d.Attempts), err, o.Version+1)
	}
	for _, a := range d.Attempts {
		if old := a.Amount == o.Total; old != (a.State == payment.Canceled) {
			t.Errorf("the attempt of %d is %s, want only that of the old total canceled", a.Amount, a.State)
		}
	}
}

// A guest may be paying the old total on an open page, so the total stays.
func TestService_Discount_with_an_open_payment(t *testing.T) {
	r := newRegister(t, sqldbtest.SQLite(t), discounts(catalog.Pricing{}), "")
	req := request("a", ordering.RequestItem{ItemID: 101, Qty: 20})
	req.Method = payment.VNPay
	o := testenv.Must(r.Place(t.Context(), r.guest, req))(t).Order
	_, err := r.Discount(t.Context(), manager, o.ID, ordering.DiscountRequest{Code: "REGULAR"})
	wantCode(t, err, "payment_open")
	testenv.Equal(t, 20_000, r.stored(t, o.ID).Total)
	// Without its gateway, the order gets no page.
	r.Settings = func() ordering.Settings { return ordering.Settings{Methods: payment.NewMethods()} }
	testenv.Must(r.Discount(t.Context(), manager, o.ID, ordering.DiscountRequest{Code: "REGULAR"}))(t)
	d, _, err := r.orders.Order(t.Context(), o.ID)
	if err != nil || d.Total != 18_000 || len(d.Attempts) != 1 || d.Attempts[0].State != payment.Canceled {
		t.Errorf("without the method the total is %d with the attempts %+v, %v; want 18000 and a canceled one", d.Total, d.Attempts, err)
	}
}

// gateway reports the state of the first payment of a VNPay order.
func (r *register) gateway(t testing.TB, o ordering.Order, state payment.State, amount int64) {
	t.Helper()
	testenv.Must(r.Ledger.Do(t.Context(), &ordering.Settle{
		OrderID: o.ID, AttemptID: o.PaymentRef, State: state, Amount: amount, Source: ordering.SourceCallback, Raw: "{}",
		Today: o.Scope.Date,
	}))(t)
}

// Money for the total before a discount is refunded. If the order can still be paid, the counter takes the new total.
func TestService_Discount_then_late_success(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRegister(t, db, discounts(catalog.Pricing{}), "")
		for name, c := range map[string]struct {
			expires bool
			want    ordering.PaymentStatus
		}{
			"open":    {false, ordering.Unpaid},
			"expired": {true, ordering.RefundDue},
		} {
			req := request(name, ordering.RequestItem{ItemID: 101, Qty: 20})
			req.Method = payment.VNPay
			o := testenv.Must(r.Place(t.Context(), r.guest, req))(t).Order
			r.gateway(t, o, payment.Failed, 20_000)
			testenv.Must(r.Discount(t.Context(), manager, o.ID, ordering.DiscountRequest{Code: "REGULAR"}))(t)
			if c.expires {
				r.now = r.now.Add(40 * time.Minute)
				testenv.Must(r.Ledger.Do(t.Context(), &ordering.End{OrderID: o.ID, Reason: ordering.Expired}))(t)
			}
			r.gateway(t, o, payment.Paid, 20_000)
			d, _, err := r.orders.Order(t.Context(), o.ID)
			if err != nil || d.PaymentStatus != c.want || len(d.Refunds) != 1 || d.Refunds[0].Reason != payment.Repriced ||
				d.Refunds[0].Amount != 20_000 {
				t.Errorf("%s: status %s with the refunds %+v, %v; want %s with one of 20000 for %s",
					name, d.PaymentStatus, d.Refunds, err, c.want, payment.Repriced)
			}
			if !c.expires {
				testenv.Must(r.TakeAtCounter(t.Context(), manager, o.ID, 18_000, false))(t)
			}
		}
		if drift := testenv.Must(r.orders.Drift(t.Context(), "", r.now))(t); len(drift) > 0 {
			t.Errorf("reconciliation found %q", drift)
		}
		r.audit(t)
	})
}

// The counter takes the discounted total of an order, also if a newer attempt had another method.
func TestService_Discount_then_counter(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRegister(t, db, discounts(catalog.Pricing{}), "")
		o := r.order(t, "a")
		testenv.Must2(r.Pay(t.Context(), r.guest, o.ID, payment.Sandbox, ordering.Client{}))(t)
		testenv.Must(r.Discount(t.Context(), manager, o.ID, ordering.DiscountRequest{Code: "REGULAR"}))(t)
		paid := testenv.Must(r.TakeAtCounter(t.Context(), manager, o.ID, 4500, false))(t)
		testenv.Equal(t, ordering.Paid, paid.PaymentStatus)
		if e := testenv.Must(r.orders.Exceptions(t.Context(), 1, 10))(t); len(e.Mismatches) > 0 {
			t.Errorf("mismatches = %+v, want none", e.Mismatches)
		}
		if drift := testenv.Must(r.orders.Drift(t.Context(), "", r.now))(t); len(drift) > 0 {
			t.Errorf("reconciliation found %q", drift)
		}
	})
}

// An order that was paid at the counter has no attempt left that would wait for ever.
func TestService_TakeAtCounter_ends_attempts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := newRegister(t, db, catalog.Pricing{}, "")
		o := r.order(t, "a")
		testenv.Must2(r.Pay(t.Context(), r.guest, o.ID, payment.Sandbox, ordering.Client{}))(t)
		testenv.Must(r.TakeAtCounter(t.Context(), manager, o.ID, o.Total, false))(t)
		var states []payment.State
		for _, a := range testenv.Must(r.Order(t.Context(), ordering.Staff(manager), o.ID))(t).Attempts {
			states = append(states, a.State)
		}
		testenv.Equal(t, []payment.State{payment.Paid, payment.Canceled}, states)
	})
}

func TestService_Discount_of_another_branch(t *testing.T) {
	r := newRegister(t, sqldbtest.SQLite(t), discounts(catalog.Pricing{}), "")
	o := r.order(t, "a")
	stranger := manager
	stranger.Branches = []int64{2}
	_, err := r.Discount(t.Context(), stranger, o.ID, ordering.DiscountRequest{Code: "REGULAR"})
	wantCode(t, err, "order_not_found")
}
