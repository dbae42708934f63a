package app

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A second menu is offered beside the first one or instead of it, at its hours and to its kinds of orders. An order names
// the menus that its phone showed, and is refused once one of them is withdrawn.
func TestMenus_together(t *testing.T) {
	f := newFixture(t)
	lunch := f.field("managerA", "POST", "/api/menus", `{"branchId":"1","name":"Lunch"}`, "id")
	draft := f.field("managerA", "POST", "/api/menus/"+lunch+"/versions", "", "id")
	// Dish 4 is item 11 of the main menu, for 65,000.
	item := f.field("managerA", "POST", "/api/menu-versions/"+draft+"/items",
		`{"dishId":"4","price":50000,"dailyQuota":2,"isActive":true}`, "itemId")
	f.must(f.ask("managerA", "POST", "/api/menu-versions/"+draft+"/publish", ""))
	schedule := func(text string) {
		t.Helper()
		body := strings.NewReplacer("'", `"`, "TODAY", today(f), "{}", `{}`).Replace(text)
		f.must(f.ask("managerA", "PUT", "/api/menus/"+lunch+"/schedule", body))
	}
	type shown struct {
		MenuVersionID string
		MenuChange    *time.Time
		Categories    []struct {
			Items []struct {
				ItemID, DishID string
				Price          int64
				Offer          *struct {
					RegularPrice int64
					Until        *time.Time
				}
			}
		}
	}
	// menu returns the menu at a table or to take away, and how dish 4 is offered there.
	menu := func(table string) (m shown, dish4 string) {
		t.Helper()
		f.must(f.ask("", "POST", "/cis/menu/active", `{"branchId":"1"`+table+`}`)).into(t, &m)
		for _, c := range m.Categories {
			for _, it := range c.Items {
				if it.DishID == "4" {
					dish4 += fmt.Sprintf("%s for %d;", it.ItemID, it.Price)
					if o := it.Offer; (o != nil) != (it.Price == 50000 && len(m.Categories) > 1) || o != nil && (o.RegularPrice != 65000 || o.Until == nil) {
						t.Errorf("dish 4 for %d has the offer %+v", it.Price, o)
					}
				}
			}
		}
		return m, dish4
	}
	atTable := `,"tableId":"` + fmt.Sprint(f.codes[0].ID) + `"`
	want := func(what, table, dish4 string) shown {
		t.Helper()
		m, got := menu(table)
		if got != dish4 {
			t.Errorf("%s: dish 4 is %q, want %q", what, got, dish4)
		}
		return m
	}
	order := func(version, item string) reply {
		return f.ask("guest", "POST", "/cis/order/create", `{"items":[{"itemId":"`+item+`","qty":1},{"itemId":"12","qty":1}],`+
			`"paymentMethod":"COUNTER","menuVersionId":"`+version+`","clientTxnId":"`+rand.Text()+`"}`)
	}
	own := item + " for 50000;"
	const main = "11 for 65000;"

	// Menus without hours are taken by their age, so the main menu sells the dish.
	want("two menus without hours", atTable, main)
	schedule(`{'weekly':{},'fromDate':'TODAY','throughDate':'TODAY','kinds':['DINE_IN'],'priority':0}`)
	both := want("lunch today at the table", atTable, own)
	want("lunch is not to take away", "", main)
	if both.MenuChange == nil || len(both.MenuVersionID) != 18 {
		t.Errorf("version %s changes at %v", both.MenuVersionID, both.MenuChange)
	}
	if r := f.ask("member", "POST", "/cart/add-dish", `{"dishId":"4","quantity":1}`); r.status != 201 && r.status != 200 {
		t.Errorf("a member's cart: %s", r.refusal())
	}
	f.must(order(both.MenuVersionID, item))
	if r := order(both.MenuVersionID, "11"); !strings.HasPrefix(r.refusal(), "422 item_unknown") {
		t.Errorf("the main menu's item of the dish: %s", r.refusal())
	}

	schedule(`{'weekly':{},'fromDate':'','throughDate':'','kinds':[],'priority':5}`)
	alone := want("instead of the main menu", atTable, own)
	if len(alone.Categories) != 1 || alone.MenuVersionID != draft {
		t.Errorf("instead of the main menu: version %s with %d categories, want %s with 1", alone.MenuVersionID, len(alone.Categories), draft)
	}
	schedule(`{'weekly':{},'fromDate':'','throughDate':'2020-01-01','kinds':[],'priority':5}`)
	after := want("a menu of the past", atTable, main)
	if after.MenuVersionID != "5" {
		t.Errorf("a menu of the past: version %s, want that of the main menu", after.MenuVersionID)
	}
	// Lunch ended long before the grace.
	if r := order(both.MenuVersionID, item); !strings.HasPrefix(r.refusal(), "409 menu_version_closed") {
		t.Errorf("an order from lunch after its hours: %s", r.refusal())
	}

	schedule(`{'weekly':{},'fromDate':'','throughDate':'','kinds':['DINE_IN'],'priority':0}`)
	f.must(f.ask("managerA", "POST", "/api/menus/"+lunch+"/withdraw", ""))
	want("a withdrawn menu", atTable, main)
	if r := order(both.MenuVersionID, item); !strings.HasPrefix(r.refusal(), "409 menu_version_closed") {
		t.Errorf("an order from a withdrawn menu: %s", r.refusal())
	}
	if r := f.ask("managerA", "PUT", "/api/menus/"+lunch+"/schedule",
		`{"weekly":{"mon":[{"from":"10:00","to":"10:99"}]},"fromDate":"","throughDate":"","kinds":[],"priority":0}`); r.status != 422 {
		t.Errorf("a time that does not exist: %s", r.refusal())
	}
}

// A dish costs more on the menu for delivery. A member's cart has the price of the kind of the order.
func TestMenus_for_delivery(t *testing.T) {
	f := newFixture(t)
	menu := f.field("managerA", "POST", "/api/menus", `{"branchId":"1","name":"Delivery"}`, "id")
	draft := f.field("managerA", "POST", "/api/menus/"+menu+"/versions", "", "id")
	f.must(f.ask("managerA", "POST", "/api/menu-versions/"+draft+"/items",
		`{"dishId":"4","price":75000,"dailyQuota":null,"isActive":true}`))
	f.must(f.ask("managerA", "POST", "/api/menu-versions/"+draft+"/publish", ""))
	f.must(f.ask("managerA", "PUT", "/api/menus/"+menu+"/schedule",
		`{"weekly":{},"fromDate":"","throughDate":"","kinds":["DELIVERY"],"priority":1}`))
	f.must(f.ask("member", "POST", "/cart/add-dish", `{"dishId":"4","quantity":1,"branchId":"1"}`))
	for kind, want := range map[string]string{"PICKUP": "65000", "DELIVERY": "75000"} {
		r := f.ask("member", "POST", "/cart/quote", `{"branchId":"1","kind":"`+kind+`"}`)
		if r.status != 200 || !strings.Contains(string(r.body), `"total":`+want) {
			t.Errorf("%s: %d %s, want %s", kind, r.status, r.body, want)
		}
	}
}

// today returns the business date of branch 1.
func today(f *fixture) string {
	return f.field("", "POST", "/cis/menu/active", `{"branchId":"1"}`, "bizDate")
}
