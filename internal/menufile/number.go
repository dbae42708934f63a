package menufile

import (
	"math/big"
	"strconv"
	"strings"
)

// plainNumber returns a number of a spreadsheet without an exponent and without the noise of binary fractions: 0.1 + 0.2
// is stored as 0.30000000000000004. ok is false for anything but a number of moderate size.
func plainNumber(s string) (plain string, ok bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != f || f > 1e15 || f < -1e15 {
		return "", false
	}
	// Fifteen digits are those that spreadsheet programs show.
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', 14, 64))
	if !ok {
		return "", false
	}
	plain = r.FloatString(9)
	if strings.Contains(plain, ".") {
		plain = strings.TrimRight(strings.TrimRight(plain, "0"), ".")
	}
	if plain == "-0" {
		plain = "0"
	}
	return plain, true
}

// parseQuota reads a daily quota.
func parseQuota(c cell) (n int64, ok bool) {
	s := trimSpace(c.text)
	if c.number {
		if s, ok = plainNumber(s); !ok {
			return 0, false
		}
	}
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n <= MaxQuota
}
