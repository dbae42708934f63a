package app

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
)

// A voucher is created in the console and used at a table and by members: the menu tells phones that there are codes, the
// quote names the discount, and a voucher for members is used once by each.
func TestVouchers(t *testing.T) {
	f := newFixture(t)
	ask := func(who, method, path, body string) reply {
		return f.ask(who, method, path, strings.ReplaceAll(body, "'", `"`))
	}
	shown := func() bool {
		t.Helper()
		var menu struct{ Vouchers bool }
		f.must(f.ask("", "POST", "/cis/menu/active", `{"branchId":"1"}`)).into(t, &menu)
		return menu.Vouchers
	}
	if shown() {
		t.Error("the branch has no vouchers, and its menu asks for codes")
	}
	f.must(ask("owner", "PUT", "/api/branches/1/pricing", `{'priceMode':'INCLUSIVE','taxScope':'BILL','taxRounding':'HALF_UP',`+
		`'discountRounding':'HALF_UP','rates':[],'rules':[],'serviceCharges':[],`+
		`'discounts':[{'code':'TEN','names':{'en':'Ten off','vi':'Giảm 10'},'type':'PERCENT','percent':'10'}]}`))
	create := func(code, more string) string {
		t.Helper()
		var v struct{ ID string }
		f.must(ask("owner", "POST", "/api/branches/1/vouchers", `{'voucher':'`+code+`','discount':'TEN'`+more+`}`)).into(t, &v)
		return v.ID
	}
	id := create("PHO 2026", `,'maxUses':1,'minGoods':60000`)
	create("MEMBERS", `,'oncePerMember':true`)
	if !shown() {
		t.Error("the branch has vouchers, and its menu does not ask for codes")
	}

	version := f.fill("{version}")
	quote := func(code string) reply {
		return ask("guest", "POST", "/cis/order/quote",
			`{'items':[{'itemId':'11','qty':1}],'menuVersionId':'`+version+`','voucher':'`+code+`'}`)
	}
	var quoted struct {
		Total     int64
		Breakdown struct {
			Discount      int64
			DiscountNames map[string]string
		}
	}
	f.must(quote("pho2026")).into(t, &quoted)
	if b := quoted.Breakdown; quoted.Total != 58500 || b.Discount != 6500 || b.DiscountNames["vi"] != "Giảm 10" {
		t.Errorf("the quote is %+v, want 10 %% off 65,000", quoted)
	}
	order := func(code string, total int64) reply {
		return ask("guest", "POST", "/cis/order/create", fmt.Sprintf(`{'items':[{'itemId':'11','qty':1}],'paymentMethod':'COUNTER',`+
			`'menuVersionId':'%s','clientTxnId':'%s','voucher':'%s','expectedTotal':%d}`, version, rand.Text(), code, total))
	}
	var placed struct {
		ID         string
		TotalPrice int64
	}
	f.must(order("Pho2026", 58500)).into(t, &placed)
	for name, got := range map[string]reply{
		"409 voucher_used_up: This voucher has been used up.":       order("PHO2026", 58500),
		"422 voucher_unknown: This voucher code is not valid here.": order("OTHER", 58500),
		"403 voucher_members_only: Log in to use this voucher.":     quote("MEMBERS"),
		"409 voucher_uses: More orders than that already use this voucher.": func() reply {
			f.must(ask("owner", "PUT", "/api/branches/1/vouchers/"+id, `{'maxUses':2}`))
			f.must(order("PHO2026", 58500))
			return ask("owner", "PUT", "/api/branches/1/vouchers/"+id, `{'maxUses':1}`)
		}(),
	} {
		if got.refusal() != name {
			t.Errorf("answered %s, want %s", got.refusal(), name)
		}
	}

	// A voucher is not a discount of the staff, who can set one besides it and remove it again.
	for _, c := range [][3]string{
		{"GET", "", ""}, {"PUT", `{'code':'TEN'}`, "TEN"}, {"DELETE", "", ""},
	} {
		path := "/api/orders/" + placed.ID
		if c[0] != "GET" {
			path += "/discount"
		}
		var got struct{ DiscountCode string }
		f.must(ask("owner", c[0], path, c[1])).into(t, &got)
		if got.DiscountCode != c[2] {
			t.Errorf("after %s the discount of the staff is %q, want %q", c[0], got.DiscountCode, c[2])
		}
	}

	checkout := func(who, code string) reply {
		f.must(ask(who, "POST", "/cart/add-dish", `{'dishId':'5','quantity':1}`))
		return ask(who, "POST", "/cart/checkout", `{'kind':'PICKUP','receiverName':'Lan','receiverPhone':'0912345678',`+
			`'paymentMethod':'SANDBOX','clientTxnId':'`+rand.Text()+`','voucher':'`+code+`'}`)
	}
	var first struct {
		OrderID    string
		TotalPrice int64
	}
	f.must(checkout("member", "members")).into(t, &first)
	if again := checkout("member", "MEMBERS").refusal(); again != "409 voucher_taken: You have used this voucher already." {
		t.Errorf("the second use by a member is answered %s", again)
	}
	if q := ask("member", "POST", "/cart/quote", `{'kind':'PICKUP','voucher':'MEMBERS'}`).refusal(); !strings.HasPrefix(q, "409 voucher_taken") {
		t.Errorf("the quote of a second use is answered %s", q)
	}
	f.must(checkout("other", "MEMBERS"))
	f.must(f.ask("member", "POST", "/orders/"+first.OrderID+"/cancel", ""))
	f.must(checkout("member", "MEMBERS"))

	var all struct {
		Items []struct {
			Hint       string
			Held, Used int64
		}
	}
	f.must(f.ask("managerA", "GET", "/api/branches/1/vouchers", "")).into(t, &all)
	if got := fmt.Sprintf("%+v", all.Items); got != "[{Hint:ME Held:2 Used:0} {Hint:PH Held:2 Used:0}]" {
		t.Errorf("the vouchers are %s", got)
	}
	if body := string(f.must(f.ask("owner", "GET", "/api/stock/items?branchId=1&size=100", "")).body); strings.Contains(body, "voucher") {
		t.Errorf("the stock has the counters of vouchers: %s", body)
	}
	f.must(f.ask("owner", "DELETE", "/api/branches/1/vouchers/"+id, ""))
	if got := order("PHO2026", 58500).refusal(); !strings.HasPrefix(got, "422 voucher_unknown") {
		t.Errorf("an ended voucher is answered %s", got)
	}
}
