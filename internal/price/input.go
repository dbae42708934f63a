package price

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/money"
)

// Input is the input of Quote: the lines of an order or a bill, and the rules of the branch. Its JSON is the body of
// POST /api/price/quote and the input of comanda price quote.
type Input struct {
	Currency         string          `json:"currency" enum:"VND,TWD,JPY,USD,EUR,SAR,THB"`
	PriceMode        Mode            `json:"priceMode" enum:"INCLUSIVE,EXCLUSIVE" doc:"Whether prices contain the tax."`
	TaxScope         TaxScope        `json:"taxScope" enum:"BILL,LINE" doc:"Where taxes are rounded: once per rate and bill, or per line."`
	TaxRounding      Rounding        `json:"taxRounding" enum:"HALF_UP,HALF_EVEN,HALF_DOWN,UP,DOWN"`
	DiscountRounding Rounding        `json:"discountRounding,omitempty" enum:"HALF_UP,HALF_EVEN,HALF_DOWN,UP,DOWN" doc:"HALF_UP by default."`
	Lines            []Line          `json:"lines" minItems:"1" maxItems:"1000"`
	Discounts        []Discount      `json:"discounts,omitempty" maxItems:"20" doc:"Of the whole bill."`
	ServiceCharges   []ServiceCharge `json:"serviceCharges,omitempty" maxItems:"20"`
	CashRounding     int64           `json:"cashRounding,omitempty" minimum:"0" maximum:"9007199254740991" doc:"The total is rounded half up to a multiple of it; 0 for none."`
}

// Mode determines whether prices contain the tax.
type Mode string

// The modes.
const (
	Inclusive Mode = "INCLUSIVE"
	Exclusive Mode = "EXCLUSIVE"
)

// TaxScope determines the amounts whose taxes are rounded.
type TaxScope string

// The scopes.
const (
	PerBill TaxScope = "BILL"
	PerLine TaxScope = "LINE"
)

// Line is a dish with its quantity. It has either Rate or Components; a line with neither is not taxed.
type Line struct {
	Qty        int64       `json:"qty" minimum:"1" maximum:"9007199254740991"`
	UnitPrice  int64       `json:"unitPrice" minimum:"0" maximum:"9007199254740991"`
	Rate       Percent     `json:"rate,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$" doc:"Tax rate in percent. A line without rate and components is not taxed."`
	Components []Component `json:"components,omitempty" maxItems:"20" doc:"Instead of rate: parts of the price with rates of their own, such as food and drink of a combo."`
	Discounts  []Discount  `json:"discounts,omitempty" maxItems:"20" doc:"Of this line."`
}

// Component is a part of a line's price with a tax rate of its own. The price is allocated by weight.
type Component struct {
	Rate   Percent `json:"rate" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"`
	Weight int64   `json:"weight" minimum:"0" maximum:"9007199254740991"`
}

// Discount is a percent or an amount, and never both.
type Discount struct {
	Percent Percent `json:"percent,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"`
	Amount  *int64  `json:"amount,omitempty" minimum:"0" maximum:"9007199254740991" doc:"The discount is limited to the remaining amount."`
}

// ServiceCharge is a percent or an amount, and never both.
type ServiceCharge struct {
	Percent Percent `json:"percent,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"`
	Amount  *int64  `json:"amount,omitempty" minimum:"0" maximum:"9007199254740991"`
	Base    Base    `json:"base,omitempty" enum:"POST,PRE" doc:"What a percent is taken of: the goods after discounts (POST, the default) or before."`
	Taxed   bool    `json:"taxed,omitempty" doc:"Whether it is taxed like the lines, in proportion to their rates."`
}

// Base is the amount to which a service charge in percent applies.
type Base string

// The bases.
const (
	AfterDiscounts  Base = "POST"
	BeforeDiscounts Base = "PRE"
)

// Result is the computed price of an order or a bill.
type Result struct {
	Goods    int64 `json:"goods" doc:"Prices times quantities."`
	Discount int64 `json:"discount"`
	Service  int64 `json:"service"`
	Taxes    []Tax `json:"taxes" doc:"By rate, the highest first."`
	Rounding int64 `json:"rounding" doc:"What cash rounding has added to the total; negative where it took off."`
	Total    int64 `json:"total" doc:"Goods less discount, with service, rounding and, in exclusive mode, taxes."`
	Lines    []Sum `json:"lines" doc:"In the order of the input."`
}

// Tax is the tax of one rate.
type Tax struct {
	Rate   Percent `json:"rate" doc:"Without trailing zeros."`
	Base   int64   `json:"base" doc:"The amount without the tax."`
	Amount int64   `json:"amount"`
}

// Sum is a line's part of a quote.
type Sum struct {
	Gross    int64 `json:"gross" doc:"Price times quantity."`
	Discount int64 `json:"discount"`
	Service  int64 `json:"service"`
	Tax      int64 `json:"tax"`
}

// Percent is a percentage between 0 and 100 as a decimal string with at most four decimals, such as "8.875". A string
// keeps the exact decimal, of which most have no exact binary fraction.
type Percent string

// whole is 100 % in millionths, the unit in which percents are computed.
const whole = 1_000_000

// decimals is the maximum number of decimals of a percent: 0.0001 % is a millionth.
const decimals = 4

// millionths returns the percent in millionths; ok is false if it is malformed or above 100.
func (p Percent) millionths() (n int64, ok bool) {
	integer, fraction, point := strings.Cut(string(p), ".")
	if integer == "" || len(integer) > 2 && integer != "100" || len(fraction) > decimals || point && fraction == "" {
		return 0, false
	}
	digits := integer + fraction + strings.Repeat("0", decimals-len(fraction))
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n <= whole && strings.Trim(digits, "0123456789") == ""
}

// percentOf is the inverse of millionths, without trailing zeros.
func percentOf(millionths int64) Percent {
	digits := strconv.FormatInt(millionths, 10)
	digits = strings.Repeat("0", max(0, decimals+1-len(digits))) + digits
	integer, fraction := digits[:len(digits)-decimals], strings.TrimRight(digits[len(digits)-decimals:], "0")
	if fraction == "" {
		return Percent(integer)
	}
	return Percent(integer + "." + fraction)
}

// Valid reports whether the percent is between 0 and 100 and has at most four decimals.
func (p Percent) Valid() bool {
	_, ok := p.millionths()
	return ok
}

// Covers reports whether part is at most the percent of an amount, rounded up. So a discount of exactly the percent is
// covered, however it was rounded.
func (p Percent) Covers(part, of int64) bool {
	n, _ := p.millionths()
	return part <= Up.share(of, n, whole)
}

// Compare returns -1, 0 or 1. An empty percent is less than any other.
func (p Percent) Compare(q Percent) int {
	value := func(p Percent) int64 {
		if n, ok := p.millionths(); ok {
			return n
		}
		return -1
	}
	return cmp.Compare(value(p), value(q))
}

// Codes of refused fields.
const (
	codeRange   = "out_of_range"
	codeTooMany = "too_many"
	codeMissing = "missing"
	codeUnknown = "unknown"
	codePercent = "percent_invalid"
	codeOneOf   = "one_of"
	codeAllZero = "all_zero"
)

// Limits of a quote. A bill of fifty guests has a few hundred lines; each list of discounts or charges has a few entries.
const (
	MaxLines   = 1000
	MaxEntries = 20 // discounts, service charges or components in one list
)

// badWeights is the message about weights, with money.Max.
const badWeights = "must be at least 0, and the weights must add up to at most %d"

// checker collects the mistakes of an input, so that one response names all of them.
type checker struct{ fault.Problems }

// refusal returns the fault of one field.
func refusal(field, code, format string, args ...any) error {
	var p fault.Problems
	p.Addf(field, code, format, args...)
	return p.Err()
}

func (c *checker) amount(field string, n, least int64) {
	if n < least || n > money.Max {
		c.Addf(field, codeRange, "must be between %d and %d", least, money.Max)
	}
}

func (c *checker) percent(field string, p Percent) (millionths int64) {
	n, ok := p.millionths()
	if !ok {
		c.Addf(field, codePercent, "must be 0 to 100 percent with at most %d decimals, not %.20q", decimals, string(p))
	}
	return n
}

func (c *checker) count(field string, n, most int) {
	if n > most {
		c.Addf(field, codeTooMany, "must have at most %d entries", most)
	}
}

func oneOf[T ~string](c *checker, field string, v T, known ...T) {
	if !slices.Contains(known, v) {
		c.Addf(field, codeUnknown, "must be one of %v", known)
	}
}

// share checks a discount or a service charge: a percent or an amount.
func (c *checker) share(field string, percent Percent, amount *int64) (s portion) {
	switch {
	case (percent == "") == (amount == nil):
		c.Addf(field, codeOneOf, "must have a percent or an amount, but not both")
	case amount != nil:
		c.amount(field+".amount", *amount, 0)
		s.amount = *amount
	default:
		s.percent, s.relative = c.percent(field+".percent", percent), true
	}
	return s
}

func (c *checker) discounts(field string, list []Discount) []portion {
	c.count(field, len(list), MaxEntries)
	all := make([]portion, len(list))
	for i, d := range list {
		all[i] = c.share(fmt.Sprintf("%s[%d]", field, i), d.Percent, d.Amount)
	}
	return all
}

// rates validates the tax rates of a line, and returns the part of the line that each rate applies to.
func (c *checker) rates(field string, l Line) []ratePart {
	if l.Rate != "" {
		if len(l.Components) > 0 {
			c.Addf(field, codeOneOf, "must have a rate or components, but not both")
		}
		return []ratePart{{c.percent(field+".rate", l.Rate), 1}}
	}
	c.count(field+".components", len(l.Components), MaxEntries)
	parts := make([]ratePart, len(l.Components))
	sum := int64(0)
	for i, part := range l.Components {
		at := fmt.Sprintf("%s.components[%d]", field, i)
		parts[i] = ratePart{c.percent(at+".rate", part.Rate), part.Weight}
		var ok bool
		if sum, ok = money.Plus(sum, part.Weight); !ok {
			c.Addf(at+".weight", codeRange, badWeights, money.Max)
			return nil
		}
	}
	if len(parts) > 0 && sum == 0 {
		c.Addf(field+".components", codeAllZero, "must have a component with a weight above 0")
	}
	return parts
}

// lines validates the lines and computes their amounts.
func (c *checker) lines(list []Line) []*line {
	if len(list) == 0 {
		c.Addf("lines", codeMissing, "must have at least one line")
	}
	c.count("lines", len(list), MaxLines)
	all := make([]*line, len(list))
	goods := int64(0)
	for i, l := range list {
		at := fmt.Sprintf("lines[%d]", i)
		c.amount(at+".qty", l.Qty, 1)
		c.amount(at+".unitPrice", l.UnitPrice, 0)
		gross, ok := money.Times(l.UnitPrice, l.Qty)
		if ok {
			goods, ok = money.Plus(goods, gross)
		}
		if !ok && l.Qty > 0 && l.UnitPrice >= 0 {
			c.Addf(at, codeRange, "must not raise the sum of the lines above %d", money.Max)
			return nil
		}
		all[i] = &line{
			index: i, input: l, gross: gross, left: gross,
			discounts: c.discounts(at+".discounts", l.Discounts), rates: c.rates(at, l),
		}
	}
	return all
}

// check returns the bill that an input describes, or a fault with all mistakes of the input.
func check(in Input) (*bill, error) {
	c := &checker{}
	if !money.Currency(in.Currency).Valid() {
		c.Addf("currency", codeUnknown, "must be an accepted currency, not %.10q", in.Currency)
	}
	oneOf(c, "priceMode", in.PriceMode, Inclusive, Exclusive)
	oneOf(c, "taxScope", in.TaxScope, PerBill, PerLine)
	oneOf(c, "taxRounding", in.TaxRounding, roundings...)
	in.DiscountRounding = cmp.Or(in.DiscountRounding, HalfUp)
	oneOf(c, "discountRounding", in.DiscountRounding, roundings...)
	c.amount("cashRounding", in.CashRounding, 0)
	b := &bill{Input: in, lines: c.lines(in.Lines), discounts: c.discounts("discounts", in.Discounts)}
	c.count("serviceCharges", len(in.ServiceCharges), MaxEntries)
	for i, s := range in.ServiceCharges {
		at := fmt.Sprintf("serviceCharges[%d]", i)
		s.Base = cmp.Or(s.Base, AfterDiscounts)
		oneOf(c, at+".base", s.Base, AfterDiscounts, BeforeDiscounts)
		b.charges = append(b.charges, charge{c.share(at, s.Percent, s.Amount), s.Base, s.Taxed})
	}
	return b, c.Err()
}

// Version is the version of the engine's rules. It grows with every change that can change a result, and older rules stay
// available to Recompute, so that the total of an old order can be checked at any time.
const Version = 1

// QuoteRecord is the computation by which an order or a bill was priced. It is stored with the order.
type QuoteRecord struct {
	Engine int    `json:"engine"`
	Input  Input  `json:"input"`
	Result Result `json:"result"`
	// Discount names the discount that the staff set; nil if there is none. The engine does not read it.
	Discount *DiscountLabel `json:"discount,omitempty"`
	// Voucher names the discount of a voucher, which is the first one of the input; nil if there is none.
	Voucher *DiscountLabel `json:"voucher,omitempty"`
}

// DiscountNames returns the names of everything that was taken off, by locale; nil if there is nothing. A name that is
// missing in a locale is missing there.
func (r QuoteRecord) DiscountNames() map[string]string {
	var names map[string]string
	for _, label := range []*DiscountLabel{r.Voucher, r.Discount} {
		if label == nil {
			continue
		}
		if names == nil {
			names = map[string]string{}
		}
		for l, name := range label.Names {
			if names[l] != "" {
				name = names[l] + " + " + name
			}
			names[l] = name
		}
	}
	return names
}

// DiscountLabel is the name of a discount at the time when it was set.
type DiscountLabel struct {
	Code  string            `json:"code"`
	Names map[string]string `json:"names"` // by locale
}

// NewQuoteRecord computes a price and returns it as a record.
func NewQuoteRecord(in Input) (QuoteRecord, error) {
	r, err := Quote(in)
	return QuoteRecord{Engine: Version, Input: in, Result: r}, err
}

// Recompute computes the result of a record again with the rules that it was computed with. ok is false if this release
// does not have them.
func (r QuoteRecord) Recompute() (result Result, ok bool, err error) {
	if r.Engine != Version {
		return Result{}, false, nil
	}
	result, err = Quote(r.Input)
	return result, true, err
}

// TaxAmount returns the sum of the taxes.
func (r Result) TaxAmount() (sum int64) {
	for _, t := range r.Taxes {
		sum += t.Amount
	}
	return sum
}
