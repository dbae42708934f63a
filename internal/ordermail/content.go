package ordermail

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/mail"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/price"
	"comanda/internal/seq"
)

// RestaurantInfo has the details of the restaurant that e-mails show.
type RestaurantInfo struct {
	URL     string // public URL
	Accent  string // brand colour with enough contrast on white; empty for none
	Address string // of its only branch; empty if it has several, or none is known
}

// Composer fills e-mails. It is safe for concurrent use if its functions are.
type Composer struct {
	Orders interface {
		Order(ctx context.Context, id string) (d ordering.Detail, found bool, err error)
	}
	Branch     func(ctx context.Context, id int64) (catalog.Branch, error)
	Restaurant func(ctx context.Context) (RestaurantInfo, error)
}

// Content returns the content of an e-mail, for mail.Sender.OrderContent.
func (c *Composer) Content(ctx context.Context, q mail.QueuedMessage) (mail.TemplateData, error) {
	d, found, err := c.Orders.Order(ctx, q.OrderID)
	if err != nil {
		return mail.TemplateData{}, err
	}
	if !found {
		return mail.TemplateData{}, fmt.Errorf("%w: its order does not exist", mail.ErrRefused)
	}
	b, err := c.Branch(ctx, d.Scope.Branch)
	if fault.KindOf(err) == fault.NotFound {
		return mail.TemplateData{}, fmt.Errorf("%w: its branch does not exist", mail.ErrRefused)
	}
	if err != nil {
		return mail.TemplateData{}, err
	}
	info, err := c.Restaurant(ctx)
	if err != nil {
		return mail.TemplateData{}, err
	}
	return ContentOf(kindOf(q.Template), q.Subject, q.Locale, d, b, info)
}

// ContentOf returns the content of an e-mail of a kind in a locale. refund is the id of the refund, if it is about one.
func ContentOf(
	k Kind, refund, locale string, d ordering.Detail, b catalog.Branch, info RestaurantInfo,
) (mail.TemplateData, error) {
	t := texts{locale, d.Currency, b.Calendar().Zone()}
	o := d.Order
	f := map[string]string{
		"name": o.Receiver.Name, "receiver": o.Receiver.Name, "branch": b.Name, "number": ordering.ShortNumber(o.Number),
		"placed": t.time(o.CreatedAt), "payBy": t.time(o.PayBy), "total": t.money(o.Total), "method": string(o.Method),
		"methodName": methodName(o.Method), "pickup": flag(o.Kind == ordering.PickUp),
		"delivery": flag(o.Kind == ordering.Delivery), "address": o.Receiver.Address,
		"counter": flag(o.Kind == ordering.PickUp && o.Method == payment.Counter),
		"byStaff": flag(o.CancelReason == ordering.StaffCanceled),
	}
	if o.Kind == ordering.PickUp {
		f["address"] = info.Address
	}
	if k == Canceled || k == Expired || k == Refunded { // nothing is left to pick up or to deliver
		delete(f, "pickup")
		delete(f, "delivery")
	}
	content := mail.TemplateData{Fields: f, Accent: info.Accent, Lists: map[string][]map[string]string{
		"lines": seq.Map(o.Items, t.line),
	}}
	if r, ok := o.Record(); ok {
		t.breakdown(content, r)
	}
	if info.URL != "" && o.UserID != 0 {
		f["link"] = info.URL + "/shop/orders/" + o.ID
		f["account"] = info.URL + "/shop/account"
		content.Links = []string{f["link"], f["account"]}
	}
	switch k {
	case Received:
		// The e-mail that the order was paid, or that it ended, states everything that this one would.
		if o.PaymentStatus != ordering.Unpaid && o.PaymentStatus != ordering.Confirming {
			return content, mail.ErrObsolete
		}
	case Paid:
		f["paidAt"] = t.time(o.PaidAt)
	case Expired:
		if o.CancelReason != ordering.Expired { // a late payment has revived it
			return content, mail.ErrObsolete
		}
	case Refunded:
		for _, r := range d.Refunds {
			if r.ID == refund {
				f["refund"], f["method"], f["methodName"] = t.money(r.Amount), string(r.Method), methodName(r.Method)
			}
		}
		if f["refund"] == "" {
			return content, fmt.Errorf("%w: its refund does not exist", mail.ErrRefused)
		}
	case Ready:
		if o.PaymentStatus == ordering.Refunded || o.PaymentStatus == ordering.RefundDue {
			return content, mail.ErrObsolete
		}
	}
	return content, nil
}

// flag returns a field that is true in a template if b is.
func flag(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// methodName returns what customers know a payment method as. The counter has a name in each language, which is in the
// templates.
func methodName(m payment.Method) string {
	switch m {
	case payment.VNPay:
		return "VNPay"
	case payment.LINEPay:
		return "LINE Pay"
	default:
		return string(m)
	}
}

// texts formats values for the reader of an e-mail.
type texts struct {
	locale   string
	currency money.Currency
	zone     *time.Location
}

func (t texts) money(minor int64) string { return t.currency.Localized(minor, t.locale) }

// time formats an instant as the branch's clocks show it, because customers come to the branch.
func (t texts) time(at time.Time) string {
	layout := map[string]string{"vi": "15:04 02/01/2006", "zh-TW": "2006/01/02 15:04"}[t.locale]
	if layout == "" {
		layout = "2 January 2006, 15:04"
	}
	return at.In(t.zone).Format(layout)
}

// line returns a line of the order as a row of the template. Its amount contains the options.
func (t texts) line(it ordering.Item) map[string]string {
	var options []string
	for o, qty := range catalog.All(it.OptionLines()) {
		name := cmp.Or(o.Names[catalog.Locale(t.locale)], o.Name)
		if qty > 1 {
			name = strconv.FormatInt(qty, 10) + " × " + name
		}
		options = append(options, name)
	}
	name := it.NameIn(func(have []catalog.Locale) catalog.Locale {
		for _, l := range have {
			if string(l) == t.locale {
				return l
			}
		}
		return ""
	})
	comma := ", "
	if t.locale == string(catalog.Chinese) {
		comma = "、"
	}
	return map[string]string{
		"qty": strconv.FormatInt(it.Qty, 10), "name": name, "options": strings.Join(options, comma),
		"notes": it.Notes, "amount": t.money(it.Price * it.Qty),
	}
}

// breakdown adds how the total was computed. Amounts of zero are left out.
func (t texts) breakdown(c mail.TemplateData, r price.QuoteRecord) {
	for field, amount := range map[string]int64{
		"goods": r.Result.Goods, "discount": r.Result.Discount, "service": r.Result.Service, "rounding": r.Result.Rounding,
	} {
		if amount != 0 {
			c.Fields[field] = t.money(amount)
		}
	}
	if all := r.DiscountNames(); all != nil {
		names := catalog.Texts{}
		for l, s := range all {
			names[catalog.Locale(l)] = s
		}
		c.Fields["discountName"] = names.In(catalog.Locale(t.locale))
	}
	c.Fields["inclusive"] = flag(r.Input.PriceMode == price.Inclusive)
	c.Lists["taxes"] = seq.Map(r.Result.Taxes, func(x price.Tax) map[string]string {
		return map[string]string{"rate": string(x.Rate), "amount": t.money(x.Amount)}
	})
}
