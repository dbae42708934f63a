package price

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"comanda/internal/money"
)

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
