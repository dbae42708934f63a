package ordermail_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/mail"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/ordermail"
	"comanda/internal/payment"
	"comanda/internal/price"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC) // in Hà Nội

func branch(t *testing.T) catalog.Branch {
	t.Helper()
	return testenv.Must(catalog.NewBranch(catalog.Branch{
		ID: 1, Name: "Phở Hàng Bạc", Currency: money.VND, Timezone: "Asia/Ho_Chi_Minh", DayStart: 4,
		Locales: []catalog.Locale{catalog.Vietnamese, catalog.English}, AutoClose: time.Hour,
	}))(t)
}

var house = ordermail.RestaurantInfo{URL: "https://pho.example", Accent: "#a8321f", Address: "12 Hàng Bạc, Hà Nội"}

// order is an unpaid order to pick up.
func order() ordering.Detail {
	names := catalog.Texts{"vi": "Phở bò", "en": "Beef noodle soup"}.Encode("vi", "en")
	options := catalog.EncodeOptionLines([]catalog.OptionLine{
		{Name: "Lớn", Names: catalog.Texts{"vi": "Lớn", "en": "Large"}, Kind: catalog.SizeGroup, Qty: 1}, {Name: "Chanh", Qty: 2},
	})
	return ordering.Detail{Order: ordering.Order{
		ID: "o1", Scope: stock.Scope{Branch: 1, Date: "2026-02-26"}, Kind: ordering.PickUp, UserID: 7, Number: 12,
		Receiver: ordering.Receiver{Name: "Lan"}, Status: ordering.Placed, PaymentStatus: ordering.Unpaid,
		Method: payment.VNPay, Currency: money.VND, Total: 165000, CreatedAt: noon, PayBy: noon.Add(15 * time.Minute),
		Items: []ordering.Item{
			{Name: "Phở bò", Names: names, Price: 65000, Qty: 2, Notes: "no onions"}, {Name: "Trà đá", Price: 35000, Qty: 1, Options: options},
		},
	}}
}

// delivered makes an order one to deliver, with a discount, a service charge and taxes.
func delivered(t *testing.T, d ordering.Detail) ordering.Detail {
	t.Helper()
	d.Kind, d.Receiver.Address = ordering.Delivery, "5 Lý Thái Tổ"
	r := testenv.Must(price.NewQuoteRecord(price.Input{
		Currency: "VND", PriceMode: price.Inclusive, TaxScope: "BILL", TaxRounding: "HALF_UP",
		Lines:     []price.Line{{Qty: 2, UnitPrice: 65000, Rate: "8"}, {Qty: 1, UnitPrice: 35000, Rate: "10"}},
		Discounts: []price.Discount{{Percent: "10"}}, ServiceCharges: []price.ServiceCharge{{Percent: "5"}},
	}))(t)
	r.Discount = &price.DiscountLabel{Code: "MEMBER", Names: map[string]string{"en": "Members", "vi": "Thành viên"}}
	d.Quote, d.Total = string(testenv.Must(json.Marshal(r))(t)), r.Result.Total
	return d
}

func paid(d ordering.Detail) ordering.Detail {
	d.PaymentStatus, d.PaidAt = ordering.Paid, noon.Add(3*time.Minute)
	return d
}

func ended(d ordering.Detail, reason ordering.CancelReason) ordering.Detail {
	d.Status, d.PaymentStatus, d.CancelReason = ordering.Canceled, ordering.PaymentCanceled, reason
	return d
}

// counter makes an order one that is paid at the counter.
func counter(d ordering.Detail) ordering.Detail {
	d.Method = payment.Counter
	return d
}

// The texts of every e-mail in every language are in testdata; go test -update writes them.
func TestContentOf_texts(t *testing.T) {
	refunded := paid(order())
	refunded.Refunds = []payment.Refund{{ID: "r1", Method: payment.VNPay, Amount: 65000}}
	for _, locale := range mail.Locales() {
		t.Run(locale, func(t *testing.T) {
			var all strings.Builder
			for _, c := range []struct {
				kind   ordermail.Kind
				order  ordering.Detail
				refund string
			}{
				{ordermail.Received, order(), ""}, {ordermail.Received, counter(order()), ""},
				{ordermail.Paid, paid(delivered(t, order())), ""}, {ordermail.Paid, paid(counter(order())), ""},
				{ordermail.Canceled, ended(order(), ordering.UserCanceled), ""},
				{ordermail.Canceled, ended(order(), ordering.StaffCanceled), ""},
				{ordermail.Expired, ended(order(), ordering.Expired), ""}, {ordermail.Refunded, refunded, "r1"},
				{ordermail.Ready, paid(order()), ""}, {ordermail.Ready, paid(delivered(t, order())), ""},
			} {
				content := testenv.Must(ordermail.ContentOf(c.kind, c.refund, locale, c.order, branch(t), house))(t)
				m := testenv.Must(content.Render(c.kind.Template(), locale))(t)
				fmt.Fprintf(&all, "=== %s\n%s\n\n%s", c.kind, m.Subject, m.Text)
				// Both parts have the same content.
				for line := range strings.Lines(m.Text) {
					if !strings.Contains(m.HTML, strings.TrimSpace(line)) {
						t.Errorf("%s: the HTML part has no %q", c.kind, line)
					}
				}
				if !strings.Contains(m.HTML, `<a href="https://pho.example/shop/orders/o1" style="color:#a8321f">`) {
					t.Errorf("%s: the HTML part has no link in the colour of the brand:\n%s", c.kind, m.HTML)
				}
				if linked := strings.Contains(m.Text, "/shop/account"); linked != c.kind.Optional() {
					t.Errorf("%s: links to the choice of e-mails: %t", c.kind, linked)
				}
			}
			file := "testdata/" + locale + ".txt"
			if *update {
				testenv.NoError(t, os.WriteFile(file, []byte(all.String()), 0o644))
			}
			testenv.Equal(t, string(testenv.Must(os.ReadFile(file))(t)), all.String())
		})
	}
}

// What users write can fill a line, and neither starts one nor becomes a link (E4).
func TestContentOf_users_texts(t *testing.T) {
	d := delivered(t, order())
	d.Receiver = ordering.Receiver{Name: "a\r\nhttps://evil.example", Address: "x\nhttps://evil.example"}
	d.Items[0].Notes = "n\n\nhttps://evil.example"
	m := testenv.Must(testenv.Must(ordermail.ContentOf(ordermail.Received, "", "en", d, branch(t), house))(t).
		Render("order_received", "en"))(t)
	for line := range strings.Lines(m.Text) {
		if strings.HasPrefix(line, "https://evil") {
			t.Errorf("a user began a line:\n%s", m.Text)
		}
	}
	if strings.Contains(m.HTML, `href="https://evil`) {
		t.Errorf("a user made a link:\n%s", m.HTML)
	}
}

// An e-mail that is not true any more is not sent.
func TestContentOf_obsolete(t *testing.T) {
	refunded := paid(order())
	refunded.PaymentStatus = ordering.Refunded
	for name, c := range map[string]struct {
		kind  ordermail.Kind
		order ordering.Detail
		want  error
	}{
		"received, then paid":      {ordermail.Received, paid(order()), mail.ErrObsolete},
		"received, then cancelled": {ordermail.Received, ended(order(), ordering.UserCanceled), mail.ErrObsolete},
		"expired, then revived":    {ordermail.Expired, paid(order()), mail.ErrObsolete},
		"ready, but refunded":      {ordermail.Ready, refunded, mail.ErrObsolete},
		"unknown refund":           {ordermail.Refunded, paid(order()), mail.ErrRefused},
	} {
		if _, err := ordermail.ContentOf(c.kind, "r9", "en", c.order, branch(t), house); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// orders is a reader with one order.
type orders struct {
	d     ordering.Detail
	found bool
	err   error
}

func (o orders) Order(context.Context, string) (ordering.Detail, bool, error) {
	return o.d, o.found, o.err
}

// Only an e-mail that can never be sent is refused. If the database cannot answer, the e-mail waits.
func TestComposer_errors(t *testing.T) {
	down := errors.New("database is down")
	for name, c := range map[string]struct {
		orders  orders
		branch  error
		house   error
		refused bool
	}{
		"no order":         {orders{}, nil, nil, true},
		"orders not read":  {orders{err: down}, nil, nil, false},
		"no branch":        {orders{order(), true, nil}, catalog.ErrBranch, nil, true},
		"branch not read":  {orders{order(), true, nil}, down, nil, false},
		"house not read":   {orders{order(), true, nil}, nil, down, false},
		"branch forbidden": {orders{order(), true, nil}, fault.New(fault.Forbidden, "x", ""), nil, false},
	} {
		composer := ordermail.Composer{
			Orders:     c.orders,
			Branch:     func(context.Context, int64) (catalog.Branch, error) { return branch(t), c.branch },
			Restaurant: func(context.Context) (ordermail.RestaurantInfo, error) { return house, c.house },
		}
		_, err := composer.Content(t.Context(), mail.QueuedMessage{OrderID: "o1", Template: "order_received", Locale: "vi"})
		if err == nil || errors.Is(err, mail.ErrRefused) != c.refused {
			t.Errorf("%s: %v, want refused: %t", name, err, c.refused)
		}
	}
}
