package price

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"

	"comanda/internal/money"
	"comanda/internal/seq"
)

// Quote computes the price of an order or a bill. It returns an Invalid fault that names every wrong field if the
// input breaks a limit, or if the total is above money.Max.
func Quote(in Input) (Result, error) {
	b, err := check(in)
	if err != nil {
		return Result{}, err
	}
	b.sort()
	b.discount()
	if err := b.serve(); err != nil {
		return Result{}, err
	}
	b.tax()
	return b.result()
}

// bill is a quote that is being computed. Its amounts are not negative.
type bill struct {
	Input

	lines     []*line // in canonical order once sorted
	discounts []portion
	charges   []charge
	taxes     []Tax
}

// line is a line of a bill.
type line struct {
	index     int // in the input
	input     Line
	gross     int64
	left      int64 // gross less the discounts so far
	service   int64
	taxable   int64 // the part of service that is taxed
	taxed     int64
	discounts []portion
	rates     []ratePart
}

// portion is a discount or a service charge: millionths of a base, or an amount.
type portion struct {
	relative bool
	percent  int64
	amount   int64
}

func (p portion) of(base int64, r Rounding) int64 {
	if p.relative {
		return r.share(base, p.percent, whole)
	}
	return p.amount
}

type charge struct {
	portion

	base  Base
	taxed bool
}

// ratePart is a share of a line that is taxed at one rate, in millionths.
type ratePart struct{ rate, weight int64 }

// sort sorts the lines by rate, amount and content, so that their order does not depend on that of the input. An
// allocation assigns a remaining unit to the first of equal remainders. Without the sort, a permutation of the lines
// could move a unit from one rate to another and change the tax (P2).
func (b *bill) sort() {
	content := make(map[*line]string, len(b.lines))
	for _, l := range b.lines {
		slices.SortFunc(l.rates, func(x, y ratePart) int {
			return cmp.Or(cmp.Compare(y.rate, x.rate), cmp.Compare(y.weight, x.weight))
		})
		text, _ := json.Marshal(l.input) // strings and integers
		content[l] = string(text)
	}
	slices.SortFunc(b.lines, func(x, y *line) int {
		return cmp.Or(
			slices.CompareFunc(y.rates, x.rates, func(a, b ratePart) int { return cmp.Compare(a.rate, b.rate) }),
			cmp.Compare(y.gross, x.gross), cmp.Compare(content[x], content[y]), cmp.Compare(x.index, y.index),
		)
	})
}

// discount subtracts the discounts, in the order of the package comment.
func (b *bill) discount() {
	for _, l := range b.lines {
		for _, d := range l.discounts {
			if d.relative {
				l.left -= min(l.left, d.of(l.gross, b.DiscountRounding))
			}
		}
	}
	b.spread(true)
	for _, l := range b.lines {
		for _, d := range l.discounts {
			if !d.relative {
				l.left -= min(l.left, d.amount)
			}
		}
	}
	b.spread(false)
}

// spread allocates the percents or the amounts of the whole bill to the lines.
func (b *bill) spread(relative bool) {
	base := sumOf(b.amounts(left))
	for _, d := range b.discounts {
		if d.relative != relative {
			continue
		}
		weights := b.amounts(left)
		for i, part := range allocate(min(sumOf(weights), d.of(base, b.DiscountRounding)), weights) {
			b.lines[i].left -= part
		}
	}
}

// serve adds the service charges. An allocation needs a weight above 0. If nothing is left of a bill, a charge is
// allocated by the prices; if the bill was free from the start, in equal parts.
func (b *bill) serve() error {
	weights := b.amounts(left)
	if sumOf(weights) == 0 {
		weights = b.amounts(gross)
	}
	if sumOf(weights) == 0 {
		weights = b.amounts(func(*line) int64 { return 1 })
	}
	bases := map[Base]int64{AfterDiscounts: sumOf(b.amounts(left)), BeforeDiscounts: sumOf(b.amounts(gross))}
	for _, c := range b.charges {
		sum := c.of(bases[c.base], HalfUp)
		for i, part := range allocate(sum, weights) {
			b.lines[i].service += part
			if c.taxed {
				b.lines[i].taxable += part
			}
		}
	}
	if bases[AfterDiscounts]+sumOf(b.amounts(service)) > money.Max {
		return refusal("serviceCharges", codeRange, "must not raise the total above %d", money.Max)
	}
	return nil
}

// contribution is an amount of a line that is taxed at one rate.
type contribution struct {
	line   *line
	amount int64
}

// tax computes the taxes per rate, and each line's part of them.
func (b *bill) tax() {
	byRate := map[int64][]contribution{}
	for _, l := range b.lines {
		weights := make([]int64, len(l.rates))
		for i, p := range l.rates {
			weights[i] = p.weight
		}
		for i, part := range allocate(l.left+l.taxable, weights) {
			rate := l.rates[i].rate
			byRate[rate] = append(byRate[rate], contribution{l, part})
		}
	}
	for rate, all := range byRate {
		amounts := make([]int64, len(all))
		for i, c := range all {
			amounts[i] = c.amount
		}
		sum := sumOf(amounts)
		parts := make([]int64, len(all))
		if b.TaxScope == PerBill {
			parts = allocate(b.taxOf(sum, rate), amounts)
		} else {
			for i, amount := range amounts {
				parts[i] = b.taxOf(amount, rate)
			}
		}
		for i, part := range parts {
			all[i].line.taxed += part
		}
		t := Tax{Rate: percentOf(rate), Base: sum, Amount: sumOf(parts)}
		if b.PriceMode == Inclusive {
			t.Base -= t.Amount
		}
		b.taxes = append(b.taxes, t)
	}
	slices.SortFunc(b.taxes, func(x, y Tax) int {
		m, _ := x.Rate.millionths() // made by percentOf
		n, _ := y.Rate.millionths()
		return cmp.Compare(n, m)
	})
}

// taxOf returns the tax in an amount (INCLUSIVE), or on one (EXCLUSIVE).
func (b *bill) taxOf(amount, rate int64) int64 {
	if b.PriceMode == Inclusive {
		return b.TaxRounding.share(amount, rate, whole+rate)
	}
	return b.TaxRounding.share(amount, rate, whole)
}

// result adds the bill up, and rounds the total for cash.
func (b *bill) result() (Result, error) {
	r := Result{Taxes: b.taxes, Lines: make([]Sum, len(b.lines)), Service: sumOf(b.amounts(service))}
	if r.Taxes == nil {
		r.Taxes = []Tax{}
	}
	for _, l := range b.lines {
		r.Lines[l.index] = Sum{Gross: l.gross, Discount: l.gross - l.left, Service: l.service, Tax: l.taxed}
		r.Goods += l.gross
		r.Discount += l.gross - l.left
		if b.PriceMode == Exclusive {
			r.Total += l.taxed
		}
	}
	r.Total += r.Goods - r.Discount + r.Service
	if unit := b.CashRounding; unit > 0 && r.Total <= money.Max {
		rounded := HalfUp.share(r.Total, 1, unit) * unit
		r.Total, r.Rounding = rounded, rounded-r.Total
	}
	if r.Total > money.Max {
		return Result{}, refusal("total", codeRange, "must be at most %d", money.Max)
	}
	return r, nil
}

func left(l *line) int64    { return l.left }
func gross(l *line) int64   { return l.gross }
func service(l *line) int64 { return l.service }

// amounts returns one amount of each line.
func (b *bill) amounts(of func(*line) int64) []int64 { return seq.Map(b.lines, of) }

// MaxParts is the maximum number of weights of Allocate. A bill of a whole wedding has fewer lines.
const MaxParts = 10_000

// Allocate splits a total in proportion to weights, so that the parts add up to it exactly. Each part is rounded down,
// and the units that are left go to the parts with the largest remainders; of equal remainders the first one counts.
// The method is Hamilton's, as in moneyphp's allocate. A total of 0 is split into zeros. It returns an Invalid fault if
// an amount is negative, if total or the sum of the weights is above money.Max, or if there is a total and no weight
// above 0.
func Allocate(total int64, weights []int64) ([]int64, error) {
	sum := int64(0)
	for i, w := range weights {
		var ok bool
		if sum, ok = money.Plus(sum, w); !ok {
			return nil, refusal(fmt.Sprintf("weights[%d]", i), codeRange, badWeights, money.Max)
		}
	}
	switch {
	case len(weights) > MaxParts:
		return nil, refusal("weights", codeTooMany, "must have at most %d entries", MaxParts)
	case total < 0 || total > money.Max:
		return nil, refusal("total", codeRange, "must be between 0 and %d", money.Max)
	case total > 0 && sum == 0:
		return nil, refusal("weights", codeAllZero, "must have a weight above 0 to split a total")
	}
	return allocate(total, weights), nil
}

// allocate is Allocate without the validation of its arguments.
func allocate(total int64, weights []int64) []int64 {
	parts := make([]int64, len(weights))
	sum := sumOf(weights)
	if total == 0 || sum == 0 {
		return parts
	}
	remainders := make([]uint64, len(weights))
	byRemainder := make([]int, len(weights))
	left := total
	for i, w := range weights {
		q, r := mulDiv(uint64(total), uint64(w), uint64(sum))    //nolint:gosec // amounts are not negative
		parts[i], remainders[i], byRemainder[i] = int64(q), r, i //nolint:gosec // at most total
		left -= parts[i]
	}
	slices.SortStableFunc(byRemainder, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	// Fewer units are left than parts have a remainder, so a part with weight 0 never gets one.
	for _, i := range byRemainder[:left] {
		parts[i]++
	}
	return parts
}

// mulDiv returns a*b/c and its remainder. The product has 128 bits; the quotient must fit into 64.
func mulDiv(a, b, c uint64) (quotient, remainder uint64) {
	hi, lo := bits.Mul64(a, b)
	return bits.Div64(hi, lo, c)
}

func sumOf(amounts []int64) (sum int64) {
	for _, a := range amounts {
		sum += a
	}
	return sum
}

// Rounding determines how a fraction of the smallest unit is rounded. Square rounds taxes HALF_EVEN, Clover HALF_UP,
// Japanese restaurants usually DOWN; Toast offers HALF_UP, HALF_EVEN, always up and always down.
type Rounding string

// The roundings. No amount is negative where they apply, so UP is towards infinity.
const (
	HalfUp   Rounding = "HALF_UP"
	HalfEven Rounding = "HALF_EVEN"
	HalfDown Rounding = "HALF_DOWN"
	Up       Rounding = "UP"
	Down     Rounding = "DOWN"
)

// roundings lists all roundings.
var roundings = []Rounding{HalfUp, HalfEven, HalfDown, Up, Down}

// share returns amount*part/of, rounded. The arguments are not negative, of is positive, and the result fits.
func (r Rounding) share(amount, part, of int64) int64 {
	q, rem := mulDiv(uint64(amount), uint64(part), uint64(of)) //nolint:gosec // not negative
	rest := uint64(of) - rem                                   //nolint:gosec // positive
	up := false
	switch r {
	case HalfUp:
		up = rem >= rest
	case HalfEven:
		up = rem > rest || rem == rest && q%2 == 1
	case HalfDown:
		up = rem > rest
	case Up:
		up = rem > 0
	case Down:
	}
	if up {
		q++
	}
	return int64(q) //nolint:gosec // a share of an amount
}
