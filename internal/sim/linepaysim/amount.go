package linepaysim

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// maxHundredths is far above any bill, and far below an overflow in multiplications and sums.
const maxHundredths = 1_000_000_000_000

// hundredths parses an amount; ok is false if it has more decimals than its currency allows. All currencies are counted
// in hundredths, which is exact for the two decimals of THB and USD. The limit of length keeps a number with a thousand
// digits from being computed.
func hundredths(currency string, n json.Number) (amount int64, ok bool) {
	if len(n) > 20 || strings.ContainsAny(string(n), "eE") {
		return 0, false
	}
	// Exact fractions instead of floats: 0.1 and 0.10 are one amount, and 1.005 is none.
	exact, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return 0, false
	}
	exact.Mul(exact, big.NewRat(100, 1))
	if !exact.IsInt() || !exact.Num().IsInt64() {
		return 0, false
	}
	amount = exact.Num().Int64()
	if currency == "TWD" && amount%100 != 0 || amount > maxHundredths || amount < -maxHundredths {
		return 0, false
	}
	return amount, true
}

// decimal formats hundredths as a JSON number without trailing zeros. Real responses are numbers, so it returns one and
// not a text.
func decimal(amount int64) json.Number {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	fraction := strings.TrimRight(strconv.FormatInt(100+amount%100, 10)[1:], "0")
	if fraction != "" {
		fraction = "." + fraction
	}
	return json.Number(sign + strconv.FormatInt(amount/100, 10) + fraction)
}
