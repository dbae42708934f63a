package price

import (
	"cmp"
	"fmt"
	"slices"

	"comanda/internal/fault"
	"comanda/internal/money"
)

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

// Limits of a quote. A bill of fifty guests has some hundred lines; each list of discounts or charges has a few entries.
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
