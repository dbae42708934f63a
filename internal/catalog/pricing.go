package catalog

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
	"comanda/internal/price"
)

// OrderKind is the way an order reaches its guest. Laws may tax them differently.
type OrderKind string

// The kinds of orders.
const (
	DineIn   OrderKind = "DINE_IN"  // brought to a table
	Delivery OrderKind = "DELIVERY" // brought to an address
	PickUp   OrderKind = "PICKUP"   // fetched
)

var orderKinds = []OrderKind{DineIn, Delivery, PickUp}

// Pricing has the rules by which an order of a branch is priced: whether prices contain taxes, how amounts are rounded,
// and the tax rates, service charges and discounts. The zero value is a branch without any: its orders are the sum of
// their lines. A change applies to orders placed after it; every order stores the numbers that it was priced with.
type Pricing struct {
	PriceMode        price.Mode     `json:"priceMode" enum:"INCLUSIVE,EXCLUSIVE" doc:"Whether the prices of menus contain the taxes."`
	TaxScope         price.TaxScope `json:"taxScope" enum:"BILL,LINE" doc:"Where taxes are rounded: once per rate and bill, or per line."`
	TaxRounding      price.Rounding `json:"taxRounding" enum:"HALF_UP,HALF_EVEN,HALF_DOWN,UP,DOWN"`
	DiscountRounding price.Rounding `json:"discountRounding" enum:"HALF_UP,HALF_EVEN,HALF_DOWN,UP,DOWN"`
	Rates            []TaxRate      `json:"rates" maxItems:"50" doc:"Without any, nothing is taxed."`
	Rules            []TaxRule      `json:"rules" maxItems:"50"`
	ServiceCharges   []ChargeRule   `json:"serviceCharges" maxItems:"10"`
	Discounts        []DiscountKind `json:"discounts" maxItems:"30" doc:"The discounts that staff may apply, and that vouchers name. A voucher whose discount is removed or loses its value is not accepted until the branch has a discount with that code and a value again; orders that already have it keep it."`
}

// TaxRate is a tax rate during a period. Several entries with one code are the history and the future of that rate.
type TaxRate struct {
	Code      string        `json:"code" pattern:"^[A-Z0-9_]{1,20}$" doc:"Entries with the same code must not overlap in time."`
	Name      string        `json:"name,omitempty" text:"line" maxLength:"60" doc:"For the staff, such as the law it comes from."`
	Percent   price.Percent `json:"percent" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"`
	ValidFrom string        `json:"validFrom,omitempty" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"First local date; absent: since ever."`
	ValidTo   string        `json:"validTo,omitempty" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"Last local date; absent: until further notice."`
}

// TaxRule assigns a tax rate to a tax class, for one kind of orders or for all.
type TaxRule struct {
	TaxClass string    `json:"taxClass" pattern:"^[A-Z0-9_]{1,20}$"`
	Kind     OrderKind `json:"kind,omitempty" enum:"DINE_IN,DELIVERY,PICKUP" doc:"Absent: for the kinds of orders without a rule of their own."`
	Rate     string    `json:"rate" pattern:"^[A-Z0-9_]{1,20}$" doc:"The code of a rate."`
}

// ChargeRule is added to every order of its kinds. It has a percent or an amount, and never both.
type ChargeRule struct {
	Names   Texts         `json:"names" text:"line"`
	Percent price.Percent `json:"percent,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"`
	Amount  *int64        `json:"amount,omitempty" minimum:"0" maximum:"1000000000" doc:"In minor units, per order."`
	Kinds   []OrderKind   `json:"kinds" text:"exact" maxItems:"3" doc:"Empty: all kinds of orders."`
	Base    price.Base    `json:"base,omitempty" enum:"POST,PRE" doc:"Whether a percent is taken after discounts (POST, the default) or before."`
	Taxed   bool          `json:"taxed,omitempty" doc:"Whether it is taxed like the dishes, in proportion to their rates."`
}

// DiscountType is the kind of a discount: a percentage, an amount, or everything.
type DiscountType string

// The types of discounts.
const (
	PercentOff DiscountType = "PERCENT"
	AmountOff  DiscountType = "AMOUNT"
	OnTheHouse DiscountType = "COMP" // everything
)

// DiscountKind is a discount that staff may apply to an order. Without a value the staff enter it, up to Max.
type DiscountKind struct {
	Code           string        `json:"code" pattern:"^[A-Z0-9_]{1,20}$"`
	Names          Texts         `json:"names" text:"line"`
	Type           DiscountType  `json:"type" enum:"PERCENT,AMOUNT,COMP"`
	Percent        price.Percent `json:"percent,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$" doc:"For PERCENT, above 0; absent: entered by the staff."`
	Amount         *int64        `json:"amount,omitempty" minimum:"1" maximum:"1000000000" doc:"For AMOUNT; absent: entered by the staff."`
	MaxPercent     price.Percent `json:"maxPercent,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$" doc:"The most that managers may take off, as a part of the goods; owners and administrators may take off everything. Absent: no limit."`
	ReasonRequired bool          `json:"reasonRequired,omitempty"`
}

// The limits of a branch's pricing.
const (
	maxRates          = 50
	maxRules          = 50
	maxServiceCharges = 10
	maxDiscountKinds  = 30
	maxRateName       = 60
)

// ErrTaxMissing refuses a menu or a tax table that would sell a dish without a tax rate.
var ErrTaxMissing = fault.New(fault.Conflict, "tax_missing",
	"Some dishes have no tax class, or their class has no tax rate in this branch.")

// Plain reports whether orders are the sum of their lines.
func (p Pricing) Plain() bool { return len(p.Rates) == 0 && len(p.ServiceCharges) == 0 }

// Empty reports whether nothing is set.
func (p Pricing) Empty() bool {
	return p.Plain() && len(p.Rules) == 0 && len(p.Discounts) == 0 && p.PriceMode == ""
}

// Filled returns the pricing with defaults instead of empty fields, and without nil members, so that JSON has empty
// lists and not null.
func (p Pricing) Filled() Pricing {
	p.PriceMode = cmp.Or(p.PriceMode, price.Inclusive)
	p.TaxScope = cmp.Or(p.TaxScope, price.PerBill)
	p.TaxRounding = cmp.Or(p.TaxRounding, price.HalfUp)
	p.DiscountRounding = cmp.Or(p.DiscountRounding, price.HalfUp)
	p.Rates, p.Rules = orEmpty(p.Rates), orEmpty(p.Rules)
	p.ServiceCharges, p.Discounts = slices.Clone(orEmpty(p.ServiceCharges)), orEmpty(p.Discounts)
	for i := range p.ServiceCharges {
		p.ServiceCharges[i].Kinds = orEmpty(p.ServiceCharges[i].Kinds)
	}
	return p
}

func orEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// codePattern is the form of the codes of tax classes, tax rates and discounts.
var codePattern = regexp.MustCompile(`^[A-Z0-9_]{1,20}$`)

// Codes of refused fields.
const (
	codeUnknown = "unknown"
	codeOverlap = "overlap"
	codeTwice   = "twice"
	codeInvalid = "invalid"
	codeTooMany = "too_many"
)

// Check returns an Invalid fault that names every wrong field. classes are the restaurant's tax classes.
func (p Pricing) Check(classes []string) error {
	var wrong fault.Problems
	p.checkModes(&wrong)
	p.checkRates(&wrong)
	p.checkRules(&wrong, classes)
	p.checkCharges(&wrong)
	p.checkDiscounts(&wrong)
	return wrong.Err()
}

func (p Pricing) checkModes(wrong *fault.Problems) {
	// The engine knows the valid values. A line of nothing makes it check the other fields.
	in := p.Filled()
	_, err := price.Quote(price.Input{
		Currency: "VND", PriceMode: in.PriceMode, TaxScope: in.TaxScope, TaxRounding: in.TaxRounding,
		DiscountRounding: in.DiscountRounding, Lines: []price.Line{{Qty: 1}},
	})
	for _, f := range fault.FieldsOf(err) {
		*wrong = append(*wrong, f)
	}
}

func (p Pricing) checkRates(wrong *fault.Problems) {
	if len(p.Rates) > maxRates {
		wrong.Addf("rates", codeTooMany, "must have at most %d entries", maxRates)
		return
	}
	for i, r := range p.Rates {
		at := fmt.Sprintf("rates[%d]", i)
		if !codePattern.MatchString(r.Code) {
			wrong.Addf(at+".code", codeInvalid, "must have 1 to 20 capital letters, digits or underscores")
		}
		if !r.Percent.Valid() {
			wrong.Addf(at+".percent", "percent_invalid", "must be 0 to 100 percent with at most four decimals")
		}
		if utf8.RuneCountInString(r.Name) > maxRateName {
			wrong.Addf(at+".name", codeTooMany, "must have at most %d characters", maxRateName)
		}
		from, to := validDate(r.ValidFrom), validDate(r.ValidTo)
		switch {
		case r.ValidFrom != "" && !from:
			wrong.Addf(at+".validFrom", codeInvalid, "must be a date such as 2027-01-01")
		case r.ValidTo != "" && !to:
			wrong.Addf(at+".validTo", codeInvalid, "must be a date such as 2026-12-31")
		case from && to && r.ValidTo < r.ValidFrom:
			wrong.Addf(at+".validTo", codeInvalid, "must not be before validFrom")
		}
		for j := range i {
			if o := p.Rates[j]; o.Code == r.Code && o.overlaps(r) {
				wrong.Addf(at+".validFrom", codeOverlap, "must not overlap with another entry of %s", r.Code)
			}
		}
	}
}

func validDate(s string) bool {
	_, err := time.Parse(dateLayout, s)
	return err == nil
}

// overlaps reports whether two periods have a date in common.
func (r TaxRate) overlaps(o TaxRate) bool {
	return (r.ValidTo == "" || o.ValidFrom <= r.ValidTo) && (o.ValidTo == "" || r.ValidFrom <= o.ValidTo)
}

// on reports whether the rate is valid on a local date.
func (r TaxRate) on(date string) bool {
	return r.ValidFrom <= date && (r.ValidTo == "" || date <= r.ValidTo)
}

// checkRules reports tax rules that refer to an unknown class, kind or rate, and rules that contradict each other.
func (p Pricing) checkRules(wrong *fault.Problems, classes []string) {
	if len(p.Rules) > maxRules {
		wrong.Addf("rules", codeTooMany, "must have at most %d entries", maxRules)
		return
	}
	for i, r := range p.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		if !slices.Contains(classes, r.TaxClass) {
			wrong.Addf(at+".taxClass", codeUnknown, "must be a tax class")
		}
		if r.Kind != "" && !slices.Contains(orderKinds, r.Kind) {
			wrong.Addf(at+".kind", codeUnknown, "must be one of %v", orderKinds)
		}
		if !slices.ContainsFunc(p.Rates, func(t TaxRate) bool { return t.Code == r.Rate }) {
			wrong.Addf(at+".rate", codeUnknown, "must be the code of a rate")
		}
		if slices.ContainsFunc(p.Rules[:i], func(o TaxRule) bool { return o.TaxClass == r.TaxClass && o.Kind == r.Kind }) {
			wrong.Addf(at, codeTwice, "must not repeat the tax class and kind of another rule")
		}
	}
}

// checkCharges reports service charges with a wrong value.
func (p Pricing) checkCharges(wrong *fault.Problems) {
	if len(p.ServiceCharges) > maxServiceCharges {
		wrong.Addf("serviceCharges", codeTooMany, "must have at most %d entries", maxServiceCharges)
		return
	}
	for i, c := range p.ServiceCharges {
		at := fmt.Sprintf("serviceCharges[%d]", i)
		checkNames(wrong, at, c.Names)
		switch {
		case (c.Percent == "") == (c.Amount == nil):
			wrong.Addf(at, "one_of", "must have a percent or an amount, but not both")
		case c.Amount != nil && (*c.Amount < 0 || *c.Amount > MaxPrice):
			wrong.Addf(at+".amount", "out_of_range", "must be between 0 and %d", MaxPrice)
		case c.Percent != "" && !c.Percent.Valid():
			wrong.Addf(at+".percent", "percent_invalid", "must be 0 to 100 percent with at most four decimals")
		}
		for _, k := range c.Kinds {
			if !slices.Contains(orderKinds, k) {
				wrong.Addf(at+".kinds", codeUnknown, "must have kinds from %v", orderKinds)
			}
		}
		if c.Base != "" && c.Base != price.AfterDiscounts && c.Base != price.BeforeDiscounts {
			wrong.Addf(at+".base", codeUnknown, "must be POST or PRE")
		}
	}
}

// checkNames requires a name in at least one language.
func checkNames(wrong *fault.Problems, at string, names Texts) {
	if err := names.Check("This", MaxName); err != nil {
		wrong.Addf(at+".names", codeInvalid, "must have a name in at least one language, each of 1 to %d characters", MaxName)
	}
}

// checkDiscounts reports wrong kinds of discounts. Codes are unique because orders and reports name a discount by its code.
func (p Pricing) checkDiscounts(wrong *fault.Problems) {
	if len(p.Discounts) > maxDiscountKinds {
		wrong.Addf("discounts", codeTooMany, "must have at most %d entries", maxDiscountKinds)
		return
	}
	for i, d := range p.Discounts {
		at := fmt.Sprintf("discounts[%d]", i)
		checkNames(wrong, at, d.Names)
		if !codePattern.MatchString(d.Code) {
			wrong.Addf(at+".code", codeInvalid, "must have 1 to 20 capital letters, digits or underscores")
		}
		if slices.ContainsFunc(p.Discounts[:i], func(o DiscountKind) bool { return o.Code == d.Code }) {
			wrong.Addf(at+".code", codeTwice, "must not be the code of another discount")
		}
		switch {
		case d.Type != PercentOff && d.Type != AmountOff && d.Type != OnTheHouse:
			wrong.Addf(at+".type", codeUnknown, "must be PERCENT, AMOUNT or COMP")
		case d.Percent != "" && d.Type != PercentOff, d.Amount != nil && d.Type != AmountOff:
			wrong.Addf(at, "one_of", "must have only the value of its type")
		case d.Percent != "" && (!d.Percent.Valid() || d.Percent.Compare("0") == 0):
			wrong.Addf(at+".percent", "percent_invalid", "must be above 0 and at most 100 percent, with at most four decimals")
		case d.Amount != nil && (*d.Amount < 1 || *d.Amount > MaxPrice):
			wrong.Addf(at+".amount", "out_of_range", "must be between 1 and %d", MaxPrice)
		}
		if d.MaxPercent != "" && !d.MaxPercent.Valid() {
			wrong.Addf(at+".maxPercent", "percent_invalid", "must be 0 to 100 percent with at most four decimals")
		}
	}
}

// rule returns the rule for a class and a kind of orders: its own, or else that of all kinds.
func (p Pricing) rule(class string, kind OrderKind) (rate string, ok bool) {
	for _, r := range p.Rules {
		if r.TaxClass == class && (r.Kind == kind || r.Kind == "" && !ok) {
			rate, ok = r.Rate, true
			if r.Kind == kind {
				return rate, true
			}
		}
	}
	return rate, ok
}

// Taxes reports whether a class has a rate for every kind of orders. A branch without rates taxes nothing, so that no
// class is missing.
func (p Pricing) Taxes(class string) bool {
	if len(p.Rates) == 0 {
		return true
	}
	return !slices.ContainsFunc(orderKinds, func(k OrderKind) bool {
		_, ok := p.rule(class, k)
		return !ok
	})
}

// Rate returns the tax rate of a class for a kind of orders at an instant; empty if the branch does not tax it then.
func (b Branch) Rate(class string, kind OrderKind, at time.Time) price.Percent {
	code, ok := b.Pricing.rule(class, kind)
	if !ok {
		return ""
	}
	date := at.In(b.calendar.Zone()).Format(dateLayout)
	for _, r := range b.Pricing.Rates {
		if r.Code == code && r.on(date) {
			return r.Percent
		}
	}
	return ""
}

// RatesUntil returns the instant at which the tax rates that are valid at an instant change next; the zero time for
// never. Rates change at local midnight, unlike business dates.
func (b Branch) RatesUntil(at time.Time) time.Time {
	midnights := Calendar{zone: b.calendar.Zone()}
	var next time.Time
	consider := func(date string, days int) {
		d, err := time.Parse(dateLayout, date)
		if err != nil {
			return
		}
		if t := midnights.boundary(d.AddDate(0, 0, days)); t.After(at) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, r := range b.Pricing.Rates {
		consider(r.ValidFrom, 0)
		consider(r.ValidTo, 1)
	}
	return next
}

// Charges returns the service charges of a kind of orders.
func (p Pricing) Charges(kind OrderKind) []ChargeRule {
	var all []ChargeRule
	for _, c := range p.ServiceCharges {
		if len(c.Kinds) == 0 || slices.Contains(c.Kinds, kind) {
			all = append(all, c)
		}
	}
	return all
}
