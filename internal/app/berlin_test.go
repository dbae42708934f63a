package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
	"comanda/internal/price"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// The lunch menu with a beer, a small schnitzel with cucumber salad, and two large apple spritzers: 15.90, 18.40 and
// 2 × 4.50 euros.
const berlinItems = `{"items":[` +
	`{"itemId":"44","qty":1,"options":[{"optionId":"20","qty":1},{"optionId":"24","qty":1}]},` +
	`{"itemId":"41","qty":1,"options":[{"optionId":"15","qty":1},{"optionId":"19","qty":1}]},` +
	`{"itemId":"47","qty":2,"options":[{"optionId":"27","qty":1}]}],"menuVersionId":"7"`

// An order in the demo's Berlin shows its service charge and both taxes before and after it is placed. The beer's part of
// the lunch menu is taxed like a drink: it is 4.90 of 20.80, so 3.75 of 15.90.
func TestBerlin(t *testing.T) {
	f := newFixture(t)
	tables := testenv.Must(f.core.Floor.Store.Tables(t.Context(), 3))(t)
	var landed landing
	f.must(f.ask("", "GET", "/cis/landing?qr="+tables[0].QR, "")).into(t, &landed)
	f.guest["berliner"] = landed.CustomerToken
	type answered struct {
		ID         string
		Currency   string
		Total      int64
		TotalPrice int64
		Breakdown  struct {
			PriceMode             price.Mode
			Goods, Service, Total int64
			Discount, Rounding    int64
			Taxes                 []price.Tax
		}
		Items []struct{ Name string }
	}
	check := func(what string, a answered) {
		t.Helper()
		b := a.Breakdown
		if a.Currency != "EUR" || a.Total+a.TotalPrice != 4763 || b.PriceMode != price.Inclusive || b.Goods != 4330 || b.Service != 433 || b.Total != 4763 {
			t.Errorf("%s = %+v, want 43.30 and 4.33 for service", what, a)
		}
		// 30.55 of food and 12.75 of drinks, each with its part of the service charge.
		want := []price.Tax{{Rate: "19", Base: 1402 - 224, Amount: 224}, {Rate: "7", Base: 3361 - 220, Amount: 220}}
		if d := cmp.Diff(want, b.Taxes); d != "" {
			t.Errorf("%s: taxes (-want +got):\n%s", what, d)
		}
	}
	var quoted, placed, read answered
	f.must(f.ask("berliner", "POST", "/cis/order/quote", berlinItems+`}`)).into(t, &quoted)
	check("the quote", quoted)
	f.must(f.ask("berliner", "POST", "/cis/order/create",
		f.fill(berlinItems+`,"paymentMethod":"COUNTER","clientTxnId":"{key}","expectedTotal":4763}`))).into(t, &placed)
	check("the order", placed)
	for locale, want := range map[string]string{"de": "Mittagsmenü", "en": "Lunch menu"} {
		f.must(f.ask("berliner", "GET", "/cis/order/"+placed.ID+"?locale="+locale, "")).into(t, &read)
		check("the stored order", read)
		if len(read.Items) != 3 || read.Items[0].Name != want {
			t.Errorf("the order's first line in %s is %+v, want %s", locale, read.Items, want)
		}
	}
	f.must(f.ask("owner", "GET", "/api/orders/"+placed.ID, "")).into(t, &read)
	check("the order that the staff see", read)
	if r := f.ask("kitchenA", "GET", "/api/orders/"+placed.ID, ""); r.status == http.StatusOK {
		t.Error("a cook of Hà Nội sees an order of Berlin")
	}
	if r := f.ask("berliner", "POST", "/cis/order/create", f.fill(berlinItems+
		`,"paymentMethod":"COUNTER","clientTxnId":"{key}2","expectedTotal":4330}`)); !strings.HasPrefix(r.refusal(), "409 price_changed") {
		t.Errorf("an order without the service charge: %s, want price_changed", r.refusal())
	}
}

// The demo's first two branches have neither taxes nor a service charge, and their orders are the sum of their lines.
func TestBerlin_other_branches_are_plain(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		for id, want := range map[int64]bool{1: true, 2: true, 3: false} {
			b := testenv.Must(k.Menus.Branch(t.Context(), id))(t)
			if got := b.Pricing.Plain(); got != want {
				t.Errorf("branch %d has a plain pricing: %t, want %t", id, got, want)
			}
		}
		b := testenv.Must(k.Menus.Branch(t.Context(), 3))(t)
		testenv.Equal(t, []catalog.Locale{catalog.German, catalog.English}, b.Locales)
	})
}
