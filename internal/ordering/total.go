package ordering

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/price"
	"comanda/internal/seq"
)

// Priced are the lines of a request with their names and prices, and what they cost together.
type Priced struct {
	Branch catalog.Branch
	Items  []Item
	Total  int64
	// Record is the computation of the total; nil if it is the sum of the lines.
	Record *price.QuoteRecord
	// Options are the options of each line; nil if no line has any.
	Options lineOptions
	// Until is when the tax rates change that the total was computed with; zero: never.
	Until time.Time
	// Versions are the menu versions of the lines, each once. They must be published when the order is decided.
	Versions []int64
}

// QuoteRequest has the content of an order that is only priced.
type QuoteRequest struct {
	MenuVersionID int64
	Kind          Kind
	Items         []RequestItem
	Voucher       string // code of a voucher; empty for none
	Member        int64  // 0: a guest
}

// Quote returns what an order would cost now. It reserves and stores nothing.
func (s *Service) Quote(ctx context.Context, branch int64, r QuoteRequest) (Priced, error) {
	if err := checkItems(r.Items); err != nil {
		return Priced{}, err
	}
	menu, err := s.menuOf(ctx, branch, r.MenuVersionID)
	if err != nil {
		return Priced{}, err
	}
	voucher, err := s.Vouchers.apply(ctx, menu.Branch, r.Voucher, r.Member)
	if err != nil {
		return Priced{}, err
	}
	return priced(menu, r.Kind, r.Items, voucher, s.Now())
}

// QuoteCart returns what an order of the member's cart would cost now; an empty cart costs nothing.
func (s *Service) QuoteCart(
	ctx context.Context, actor authz.Actor, branch int64, kind Kind, voucher string,
) (Priced, error) {
	v, err := s.Carts.Get(ctx, actor, branch)
	if err != nil || len(v.Items) == 0 {
		return Priced{Branch: v.Branch}, err
	}
	lines, err := cartLines(v.For(kind))
	if err != nil {
		return Priced{}, err
	}
	return s.Quote(ctx, v.Branch.ID, QuoteRequest{
		MenuVersionID: v.MenuVersionID, Kind: kind, Items: lines, Voucher: voucher, Member: actor.UserID,
	})
}

// menuOf returns the menu of a version that the branch has or had published. An id that was never a version is refused
// like an old version: in both cases the app reloads the menu.
func (s *Service) menuOf(ctx context.Context, branch, version int64) (*catalog.Snapshot, error) {
	menu, err := s.Catalog.Version(ctx, branch, version)
	if errors.Is(err, catalog.ErrVersion) {
		return nil, ErrVersionClosed
	}
	return menu, err
}

// errTooHigh refuses a total that overflows.
var errTooHigh = fault.New(fault.Invalid, "invalid", "The order total is too high.")

// priced returns the lines with the names and prices of the menu version, and what they cost at an instant. Names are
// copied because orders show what the dish was called then. It refuses items that are not on the menu, options that an
// item does not offer or that are off, and a total that overflows.
func priced(
	menu *catalog.Snapshot, kind Kind, lines []RequestItem, voucher *appliedVoucher, at time.Time,
) (Priced, error) {
	p := Priced{Branch: menu.Branch, Items: make([]Item, len(lines))}
	plain := menu.Branch.Pricing.Plain() && voucher == nil // most orders: no quote is computed or stored
	var shares [][]taxShare
	var off []ShortLine
	for i, l := range lines {
		it, ok := menu.Item(l.ItemID)
		switch {
		case !ok || !it.Offered(kind):
			return p, fault.New(fault.Invalid, "item_unknown", "An item is not on this menu.").
				With("itemId", formatID(l.ItemID))
		case !menu.InForce(it, kind, at):
			return p, ErrVersionClosed
		}
		if v := menu.VersionOf(it); !slices.Contains(p.Versions, v) {
			p.Versions = append(p.Versions, v)
		}
		configured, err := it.Configure(l.Options, menu.Branch.Locales)
		if err != nil {
			return p, err
		}
		off = append(off, offLines(menu, l, configured.Options)...)
		amount, ok := money.Times(configured.Price, l.Qty)
		if ok {
			p.Total, ok = money.Plus(p.Total, amount)
		}
		if !ok {
			return p, errTooHigh
		}
		p.Items[i] = Item{
			ItemID: it.ID, DishID: it.DishID, Name: it.Names.In(menu.Branch.Locales...),
			Names: menu.EncodedNames(it), Price: configured.Price, Qty: l.Qty, Notes: l.Notes,
			Options: catalog.EncodeOptionLines(configured.Options),
		}
		if !plain {
			shares = append(shares, taxShares(menu, it, configured))
		}
		if len(configured.Options) > 0 {
			if p.Options == nil {
				p.Options = make(lineOptions, len(lines))
			}
			p.Options[i] = configured.Options
		}
	}
	if len(off) > 0 {
		return p, ErrSoldOut.With("lines", off)
	}
	if voucher != nil && p.Total < voucher.MinGoods {
		return p, errVoucherMinimum.With("minGoods", voucher.MinGoods)
	}
	if plain {
		return p, nil
	}
	return p.quoted(kind, shares, voucher, at)
}

// quoted returns p with the branch's taxes and service charges, and with a voucher if there is one.
func (p Priced) quoted(kind Kind, shares [][]taxShare, voucher *appliedVoucher, at time.Time) (Priced, error) {
	in := quoteInput(p.Branch, p.Items)
	for i := range shares {
		p.setRates(&in.Lines[i], shares[i], kind, at)
	}
	for _, c := range p.Branch.Pricing.Charges(kind) {
		in.ServiceCharges = append(in.ServiceCharges, price.ServiceCharge{
			Percent: c.Percent, Amount: c.Amount, Base: c.Base, Taxed: c.Taxed,
		})
	}
	if voucher != nil {
		in.Discounts = []price.Discount{voucher.value}
	}
	record, err := price.NewQuoteRecord(in)
	if err != nil {
		return p, errTooHigh.Because(err) // the branch's numbers were checked when they were stored
	}
	if voucher != nil {
		record.Voucher = labelOf(voucher.kind)
	}
	p.Record, p.Total, p.Until = &record, record.Result.Total, p.Branch.RatesUntil(at)
	return p, nil
}

// taxShare is the part of a line's price that has a tax class.
type taxShare struct {
	class  string
	weight int64
}

// taxShares divides the price of one unit of a dish among tax classes. An option with a class of its own, such as a beer
// with a meal, has the part that the guest pays for it: none if it is free. The dishes of a combo have parts of the rest in
// proportion to their own prices on the menu, as UStAE 10.1 (11) divides a single price for goods of several rates.
func taxShares(menu *catalog.Snapshot, it catalog.Item, c catalog.Configured) []taxShare {
	if len(c.Options) == 0 {
		return []taxShare{{it.TaxClass, 1}}
	}
	var combo, extras []taxShare
	rest := c.Price
	for o, qty := range catalog.All(c.Options) {
		if component, ok := menu.Item(o.Component); ok && o.Component != 0 {
			combo = append(combo, taxShare{cmp.Or(o.TaxClass, component.TaxClass, it.TaxClass), component.Price * qty})
			continue
		}
		if o.TaxClass != "" && o.TaxClass != it.TaxClass {
			part := min(rest, o.Charge)
			extras, rest = append(extras, taxShare{o.TaxClass, part}), rest-part
		}
	}
	weighted := slices.ContainsFunc(combo, func(s taxShare) bool { return s.weight > 0 })
	switch {
	case !weighted:
		return append(extras, taxShare{it.TaxClass, rest})
	case len(extras) == 0:
		return combo
	}
	parts, err := price.Allocate(rest, seq.Map(combo, func(s taxShare) int64 { return s.weight }))
	if err != nil {
		return append(extras, taxShare{it.TaxClass, rest})
	}
	for i := range combo {
		combo[i].weight = parts[i]
	}
	return append(extras, combo...)
}

// setRates sets the tax rate of a line, or the rates of its parts if there are several.
func (p Priced) setRates(l *price.Line, shares []taxShare, kind Kind, at time.Time) {
	var parts []price.Component
	for _, s := range shares {
		rate := p.Branch.Rate(s.class, kind, at)
		i := slices.IndexFunc(parts, func(c price.Component) bool { return c.Rate == rate })
		if i < 0 {
			i, parts = len(parts), append(parts, price.Component{Rate: rate})
		}
		parts[i].Weight += s.weight
	}
	// A part without a price has no tax. A line without a price still names the rate of its dish.
	priced := slices.DeleteFunc(slices.Clone(parts), func(c price.Component) bool { return c.Weight == 0 })
	if len(priced) < 2 {
		l.Rate = append(priced, parts[len(parts)-1])[0].Rate
		return
	}
	parts = priced
	for i := range parts {
		parts[i].Rate = cmp.Or(parts[i].Rate, "0") // a part without a rate
	}
	l.Components = parts
}

// quoteInput returns the input of the price engine for the lines of an order, without taxes and charges.
func quoteInput(b catalog.Branch, items []Item) price.Input {
	rules := b.Pricing.Filled()
	in := price.Input{
		Currency: string(b.Currency), PriceMode: rules.PriceMode, TaxScope: rules.TaxScope,
		TaxRounding: rules.TaxRounding, DiscountRounding: rules.DiscountRounding, Lines: make([]price.Line, len(items)),
	}
	for i, it := range items {
		in.Lines[i] = price.Line{Qty: it.Qty, UnitPrice: it.Price}
	}
	return in
}

// apply sets the total of an order.
func (p Priced) apply(o *Order) {
	o.Items, o.Total, o.Currency = p.Items, p.Total, p.Branch.Currency
	if p.Record != nil {
		o.setRecord(*p.Record)
	}
}

// setRecord sets the total of an order and how it was computed.
func (o *Order) setRecord(r price.QuoteRecord) {
	text, _ := json.Marshal(r) // strings and integers
	o.Quote, o.Total = string(text), r.Result.Total
	o.Discount, o.Service, o.Tax = r.Result.Discount, r.Result.Service, r.Result.TaxAmount()
}

// Record returns how the total was computed; ok is false if it is the sum of the lines.
func (o *Order) Record() (r price.QuoteRecord, ok bool) {
	return r, o.Quote != "" && json.Unmarshal([]byte(o.Quote), &r) == nil
}

// ErrEngine reports that this release cannot recompute a total, because another version of the price engine computed it.
var ErrEngine = errors.New("computed by another version of the price engine")

// PriceDifference recomputes the total of an order and returns a sentence about the first difference from what is
// stored, or an empty text. It returns ErrEngine if it cannot.
func (o *Order) PriceDifference() (string, error) {
	sum := int64(0)
	for _, it := range o.Items {
		sum += it.Price * it.Qty
	}
	if o.Quote == "" {
		if sum != o.Total {
			return fmt.Sprintf("the total is %d, and the lines add up to %d", o.Total, sum), nil
		}
		return "", nil
	}
	stored, ok := o.Record()
	if !ok {
		return "the stored quote is not readable", nil
	}
	now, ok, err := stored.Recompute()
	switch {
	case !ok:
		return "", ErrEngine
	case err != nil:
		return fmt.Sprintf("the stored quote is refused: %v", err), nil
	case !slices.EqualFunc(stored.Input.Lines, o.Items, func(l price.Line, it Item) bool {
		return l.Qty == it.Qty && l.UnitPrice == it.Price
	}):
		return "the lines of the order are not those of its quote", nil
	case !reflect.DeepEqual(now, stored.Result):
		return fmt.Sprintf("the quote was %+v, and is %+v when recomputed", stored.Result, now), nil
	case now.Total != o.Total || now.Discount != o.Discount || now.Service != o.Service || now.TaxAmount() != o.Tax:
		return fmt.Sprintf("total %d, discount %d, service %d and tax %d are stored; the quote has %d, %d, %d and %d",
			o.Total, o.Discount, o.Service, o.Tax, now.Total, now.Discount, now.Service, now.TaxAmount()), nil
	}
	return "", nil
}
