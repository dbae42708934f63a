package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/testenv"
)

// shownOption is an option of a line in an answer.
type shownOption struct {
	GroupID, OptionID, Name string
	Qty, Price              int64
	Options                 []shownOption
}

type shownLine struct {
	ItemID  string
	Price   int64
	Qty     int64
	Options []shownOption
}

const milkTea = `"options":[{"optionId":"6","qty":1},{"optionId":"2","qty":1},{"optionId":"4","qty":1},{"optionId":"6","qty":1}]`

// The options of the demo's milk tea and lunch set go from the menu into carts and orders, to the kitchen and into
// documents.
func TestOptions(t *testing.T) {
	f := newFixture(t)
	lines := func(r reply, list ...string) (all []shownLine) {
		t.Helper()
		body := r.body
		for _, name := range list {
			var v map[string]json.RawMessage
			testenv.NoError(t, json.Unmarshal(body, &v))
			if body = v[name]; strings.HasPrefix(string(body), "[") && name != "items" {
				var one []json.RawMessage
				testenv.NoError(t, json.Unmarshal(body, &one))
				body = one[0]
			}
		}
		testenv.NoError(t, json.Unmarshal(body, &all))
		return all
	}
	tea := func(names ...string) []shownOption {
		return []shownOption{
			{GroupID: "1", OptionID: "2", Name: names[0], Qty: 1, Price: 45000}, {GroupID: "2", OptionID: "4", Name: names[1], Qty: 1},
			{GroupID: "3", OptionID: "6", Name: names[2], Qty: 2, Price: 8000},
		}
	}
	want := func(what string, got []shownLine, want ...shownLine) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	set := func(names ...string) []shownOption {
		return []shownOption{
			{GroupID: "4", OptionID: "11", Name: names[0], Qty: 1, Price: 5000},
			{GroupID: "5", OptionID: "14", Name: names[1], Qty: 1, Price: 10000, Options: []shownOption{
				{GroupID: "3", OptionID: "8", Name: names[2], Qty: 1, Price: 7000},
			}},
		}
	}
	vi, viSet := tea("Lớn", "Ít đường", "Trân châu đen"), set("Bún chả", "Trà sữa Hà Nội", "Thạch dừa")
	body := f.fill(`{"items":[{"itemId":"36","qty":2,` + milkTea + `},{"itemId":"37","qty":1,"options":[{"optionId":"11","qty":1},` +
		`{"optionId":"14","qty":1,"options":[{"optionId":"8","qty":1}]}]}],"paymentMethod":"SANDBOX","menuVersionId":"{version}",` +
		`"clientTxnId":"{key}","expectedTotal":239000}`)
	var order struct {
		ID         string
		TotalPrice int64
	}
	f.must(f.ask("guest", "POST", "/cis/order/create", body)).into(t, &order)
	asGuest := f.must(f.ask("guest", "GET", "/cis/order/"+order.ID+"?locale=vi", ""))
	want("lines of a guest's order", lines(asGuest, "items"), shownLine{"36", 61000, 2, vi}, shownLine{"37", 117000, 1, viSet})
	inEnglish := f.must(f.ask("guest", "GET", "/cis/order/"+order.ID+"?locale=en", ""))
	want("lines in English", lines(inEnglish, "items"), shownLine{"36", 61000, 2, tea("Large", "Half sugar", "Black pearls")},
		shownLine{"37", 117000, 1, set("Bun cha", "Hanoi milk tea", "Coconut jelly")})
	asStaff := f.must(f.ask("cashierA", "GET", "/api/orders/"+order.ID, ""))
	want("lines that the staff see", lines(asStaff, "items"), shownLine{"36", 61000, 2, vi}, shownLine{"37", 117000, 1, viSet})

	f.must(f.ask("", "POST", "/cis/payments/mock-callback", `{"orderId":"`+order.ID+`","method":"SANDBOX","result":"SUCCESS"}`))
	var board struct {
		Tickets []struct{ Items []shownLine }
		AllDay  []struct {
			DishID, Size string
			Qty          int64
			Options      []shownOption
		}
	}
	f.must(f.ask("kitchenA", "GET", "/api/boards/1", "")).into(t, &board)
	kitchen := board.Tickets[len(board.Tickets)-1].Items
	want("lines on the ticket", kitchen, shownLine{"36", 0, 2, tea("L", "50%", "TC đen")},
		shownLine{"37", 0, 1, set("Bún chả", "Trà sữa Hà Nội", "Thạch")})
	for _, d := range board.AllDay {
		if d.DishID == "29" && (d.Size != "L" || d.Qty != 2 || len(d.Options) != 2 || d.Options[1].Qty != 4) {
			t.Errorf("all day = %+v, want two large milk teas with four portions of pearls", d)
		}
	}

	// A member's cart has a line for each choice, and checks out with them.
	add := func(options string) reply {
		return f.ask("member", "POST", "/cart/add-dish", `{"dishId":"29","quantity":1`+options+`}`)
	}
	if r := add(""); !strings.HasPrefix(r.refusal(), "422 options_invalid") {
		t.Errorf("a milk tea without a size: %s, want options_invalid", r.refusal())
	}
	f.must(add("," + milkTea))
	f.must(add("," + milkTea))
	f.must(add(`,"options":[{"optionId":"1","qty":1},{"optionId":"3","qty":1}]`))
	var cart struct {
		Items []struct {
			Quantity, Price int64
			Options         []shownOption
		}
		TotalPrice int64
	}
	f.must(f.ask("member", "GET", "/cart?locale=vi", "")).into(t, &cart)
	if len(cart.Items) != 2 || cart.Items[0].Quantity != 2 || cart.TotalPrice != 2*61000+35000 || cmp.Diff(vi, cart.Items[0].Options) != "" {
		t.Errorf("cart = %+v, want two large teas and a medium one", cart)
	}
	var placed struct{ OrderID string }
	f.must(f.ask("member", "POST", "/cart/checkout", f.fill(`{"receiverName":"Lan","receiverPhone":"0912345678","kind":"PICKUP",`+
		`"paymentMethod":"SANDBOX","clientTxnId":"{key}2","expectedTotal":157000}`))).into(t, &placed)
	asMember := f.must(f.ask("member", "GET", "/orders/"+placed.OrderID+"?locale=vi", ""))
	want("lines of a member's order", lines(asMember, "items"), shownLine{"36", 61000, 2, vi}, shownLine{"36", 35000, 1, []shownOption{
		{GroupID: "1", OptionID: "1", Name: "Vừa", Qty: 1, Price: 35000}, {GroupID: "2", OptionID: "3", Name: "Đường vừa", Qty: 1},
	}})

	// What is off is refused under its line, also in a cart.
	f.must(f.ask("kitchenA", "POST", "/api/branches/1/options/6/off", `{"until":"RESTORED"}`))
	refused := f.ask("guest", "POST", "/cis/order/create", strings.Replace(body, `"clientTxnId":"`, `"clientTxnId":"off-`, 1))
	if line := `"lines":[{"itemId":"36","optionId":"6","requested":4,"available":0}]`; refused.status != 409 || !strings.Contains(string(refused.body), line) {
		t.Errorf("pearls are off: %d %s, want 409 with %s", refused.status, refused.body, line)
	}
	if again := f.must(f.ask("guest", "POST", "/cis/order/create", body)); !strings.Contains(string(again.body), order.ID) {
		t.Errorf("the repeated request answers %s, want order %s", again.body, order.ID)
	}
}
