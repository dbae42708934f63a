package catalog

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/price"
	"comanda/internal/testenv"
)

var taxClasses = []string{ClassFood, ClassSoftDrink, ClassAlcohol, ClassPackaging}

// Every profile is valid, taxes every class, and survives its JSON form.
func TestPricingProfiles(t *testing.T) {
	for _, p := range PricingProfiles() {
		if _, ok := p.Country.Profile(); !ok {
			t.Errorf("%s has taxes, but no country profile", p.Country)
		}
		if err := p.Pricing.Check(taxClasses); err != nil {
			t.Errorf("the profile %s of %s is refused: %v", p.Name, p.Country, err)
		}
		for _, c := range taxClasses {
			if !p.Pricing.Taxes(c) {
				t.Errorf("the profile %s of %s has no rate for %s", p.Name, p.Country, c)
			}
		}
		var read Pricing
		text := testenv.Must(json.Marshal(p.Pricing))(t)
		testenv.NoError(t, json.Unmarshal(text, &read))
		if again := testenv.Must(json.Marshal(read))(t); string(again) != string(text) {
			t.Errorf("the profile %s of %s becomes %s when it is stored, want %s", p.Name, p.Country, again, text)
		}
	}
}

func TestPricing_Check_refuses(t *testing.T) {
	rate := func(change func(*TaxRate)) func(*Pricing) {
		return func(p *Pricing) {
			r := TaxRate{Code: "X", Percent: "5"}
			change(&r)
			p.Rates = []TaxRate{r}
		}
	}
	charge := func(c ChargeRule) func(*Pricing) {
		return func(p *Pricing) { p.ServiceCharges = []ChargeRule{c} }
	}
	discount := func(d DiscountKind) func(*Pricing) {
		return func(p *Pricing) { p.Discounts = []DiscountKind{d} }
	}
	names := Texts{English: "Name"}
	for name, c := range map[string]struct {
		change func(*Pricing)
		field  string
	}{
		"mode":               {func(p *Pricing) { p.PriceMode = "NET" }, "priceMode"},
		"scope":              {func(p *Pricing) { p.TaxScope = "DISH" }, "taxScope"},
		"rounding":           {func(p *Pricing) { p.TaxRounding = "NEAREST" }, "taxRounding"},
		"rounding discounts": {func(p *Pricing) { p.DiscountRounding = "NEAREST" }, "discountRounding"},
		"negative rate":      {rate(func(r *TaxRate) { r.Percent = "-1" }), "rates[0].percent"},
		"rate above 100":     {rate(func(r *TaxRate) { r.Percent = "100.0001" }), "rates[0].percent"},
		"five decimals":      {rate(func(r *TaxRate) { r.Percent = "1.00001" }), "rates[0].percent"},
		"no code":            {rate(func(r *TaxRate) { r.Code = "" }), "rates[0].code"},
		"bad code":           {rate(func(r *TaxRate) { r.Code = "vat" }), "rates[0].code"},
		"long name":          {rate(func(r *TaxRate) { r.Name = strings.Repeat("x", 61) }), "rates[0].name"},
		"no date":            {rate(func(r *TaxRate) { r.ValidFrom = "2026-02-30" }), "rates[0].validFrom"},
		"no end date":        {rate(func(r *TaxRate) { r.ValidTo = "soon" }), "rates[0].validTo"},
		"end before start":   {rate(func(r *TaxRate) { r.ValidFrom, r.ValidTo = "2026-02-02", "2026-02-01" }), "rates[0].validTo"},
		"many rates":         {func(p *Pricing) { p.Rates = make([]TaxRate, 51) }, "rates"},
		"many rules":         {func(p *Pricing) { p.Rules = make([]TaxRule, 51) }, "rules"},
		"many charges":       {func(p *Pricing) { p.ServiceCharges = make([]ChargeRule, 11) }, "serviceCharges"},
		"many discounts":     {func(p *Pricing) { p.Discounts = make([]DiscountKind, 31) }, "discounts"},
		"overlap": {func(p *Pricing) {
			p.Rates = []TaxRate{{Code: "X", Percent: "5"}, {Code: "X", Percent: "6", ValidFrom: "2027-01-01"}}
		}, "rates[1].validFrom"},
		"unknown class":       {func(p *Pricing) { p.Rules = []TaxRule{{"BOOKS", "", "VAT"}} }, "rules[0].taxClass"},
		"unknown kind":        {func(p *Pricing) { p.Rules = []TaxRule{{ClassFood, "MAIL", "VAT"}} }, "rules[0].kind"},
		"unknown rate":        {func(p *Pricing) { p.Rules = []TaxRule{{ClassFood, "", "NONE"}} }, "rules[0].rate"},
		"repeated rule":       {func(p *Pricing) { p.Rules = append(p.Rules, TaxRule{ClassFood, "", "VAT"}) }, "rules[4]"},
		"charge of nothing":   {charge(ChargeRule{Names: names}), "serviceCharges[0]"},
		"charge of both":      {charge(ChargeRule{Names: names, Percent: "5", Amount: new(int64(1))}), "serviceCharges[0]"},
		"charge percent":      {charge(ChargeRule{Names: names, Percent: "x"}), "serviceCharges[0].percent"},
		"charge amount":       {charge(ChargeRule{Names: names, Amount: new(int64(-1))}), "serviceCharges[0].amount"},
		"charge kind":         {charge(ChargeRule{Names: names, Percent: "5", Kinds: []OrderKind{"MAIL"}}), "serviceCharges[0].kinds"},
		"charge base":         {charge(ChargeRule{Names: names, Percent: "5", Base: "MID"}), "serviceCharges[0].base"},
		"charge without name": {charge(ChargeRule{Percent: "5"}), "serviceCharges[0].names"},
		"discount type":       {discount(DiscountKind{Code: "A", Names: names, Type: "GIFT"}), "discounts[0].type"},
		"discount value":      {discount(DiscountKind{Code: "A", Names: names, Type: AmountOff, Percent: "5"}), "discounts[0]"},
		"discount percent":    {discount(DiscountKind{Code: "A", Names: names, Type: PercentOff, Percent: "500"}), "discounts[0].percent"},
		"discount of nothing": {discount(DiscountKind{Code: "A", Names: names, Type: PercentOff, Percent: "0.00"}), "discounts[0].percent"},
		"discount amount":     {discount(DiscountKind{Code: "A", Names: names, Type: AmountOff, Amount: new(int64(0))}), "discounts[0].amount"},
		"discount ceiling":    {discount(DiscountKind{Code: "A", Names: names, Type: PercentOff, MaxPercent: "x"}), "discounts[0].maxPercent"},
		"discount code":       {discount(DiscountKind{Code: "a b", Names: names, Type: OnTheHouse}), "discounts[0].code"},
		"repeated discount": {func(p *Pricing) {
			p.Discounts = []DiscountKind{{Code: "A", Names: names, Type: OnTheHouse}, {Code: "A", Names: names, Type: OnTheHouse}}
		}, "discounts[1].code"},
	} {
		p := inclusive([]TaxRate{{Code: "VAT", Percent: "5"}}, ruleFor("VAT", taxClasses...))
		c.change(&p)
		err := p.Check(taxClasses)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Invalid {
			t.Errorf("%s: the error is %v, want an Invalid fault", name, err)
			continue
		}
		found := false
		for _, field := range fault.FieldsOf(err) {
			found = found || field.Field == c.field
		}
		if !found {
			t.Errorf("%s: the fault %v does not name %s", name, err, c.field)
		}
	}
}

func branchWith(t testing.TB, zone string, p Pricing) Branch {
	t.Helper()
	return testenv.Must(NewBranch(Branch{
		Name: "Test", Currency: "VND", Timezone: zone, DayStart: 4, Locales: []Locale{English}, AutoClose: time.Hour, Pricing: p,
	}))(t)
}

// Rates change at local midnight, although the business day goes on until four.
func TestBranch_Rate(t *testing.T) {
	at := func(s string) time.Time { return testenv.Must(time.Parse(time.RFC3339, s))(t) }
	var vietnam, japan Pricing
	for _, p := range PricingProfiles() {
		switch {
		case p.Country == "VN" && p.Name == "Restaurant":
			vietnam = p.Pricing
		case p.Country == "JP":
			japan = p.Pricing
		}
	}
	hanoi, tokyo := branchWith(t, "Asia/Ho_Chi_Minh", vietnam), branchWith(t, "Asia/Tokyo", japan)
	for _, c := range []struct {
		branch Branch
		class  string
		kind   OrderKind
		at     string
		want   price.Percent
		until  string
	}{
		{hanoi, ClassFood, DineIn, "2026-12-31T23:59:59.9+07:00", "8", "2027-01-01T00:00:00+07:00"},
		{hanoi, ClassFood, DineIn, "2027-01-01T00:00:00+07:00", "10", ""},
		{hanoi, ClassAlcohol, DineIn, "2026-02-26T12:00:00+07:00", "10", "2027-01-01T00:00:00+07:00"},
		{hanoi, "BOOKS", DineIn, "2026-02-26T12:00:00+07:00", "", "2027-01-01T00:00:00+07:00"},
		{tokyo, ClassFood, DineIn, "2026-02-26T12:00:00+09:00", "10", ""},
		{tokyo, ClassFood, PickUp, "2026-02-26T12:00:00+09:00", "8", ""},
		{tokyo, ClassAlcohol, Delivery, "2026-02-26T12:00:00+09:00", "10", ""},
	} {
		if got := c.branch.Rate(c.class, c.kind, at(c.at)); got != c.want {
			t.Errorf("%s %s at %s is taxed with %q, want %q", c.kind, c.class, c.at, got, c.want)
		}
		var want time.Time
		if c.until != "" {
			want = at(c.until)
		}
		if got := c.branch.RatesUntil(at(c.at)); !got.Equal(want) {
			t.Errorf("the rates of %s change at %v, want %v", c.at, got, want)
		}
	}
}

func TestPricing_Charges(t *testing.T) {
	all, dineIn := ChargeRule{Percent: "1"}, ChargeRule{Percent: "2", Kinds: []OrderKind{DineIn}}
	p := Pricing{ServiceCharges: []ChargeRule{all, dineIn}}
	if got := p.Charges(DineIn); len(got) != 2 {
		t.Errorf("%d charges are added at the table, want 2", len(got))
	}
	if got := p.Charges(PickUp); len(got) != 1 || got[0].Percent != "1" {
		t.Errorf("the charges of a pick-up are %v, want the one for all orders", got)
	}
}
