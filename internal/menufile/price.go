package menufile

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"comanda/internal/money"
)

// symbols are the ways to write a currency beside an amount, in lower case and Unicode NFKC. If two symbols begin or
// end alike, the longer one comes first. A symbol that several currencies share is accepted for each of them.
var symbols = []struct {
	texts string
	of    []money.Currency
}{
	{"đồng vnđ vnd ₫ đ", []money.Currency{money.VND}},
	{"twd nt$ nt 元 圓", []money.Currency{money.TWD}},
	{"us$ usd", []money.Currency{money.USD}},
	{"$", []money.Currency{money.USD, money.TWD}},
	{"円 jpy yen ¥", []money.Currency{money.JPY}},
	{"eur €", []money.Currency{money.EUR}},
	{"sar sr ر.س. ر.س ریال", []money.Currency{money.SAR}},
	{"thb บาท ฿", []money.Currency{money.THB}},
	{"£ gbp ₩ cny", nil},
}

// thousands are the suffixes that multiply an amount by a thousand where people leave three zeros out.
var thousands = []string{"nghìn", "ngàn", "k"}

// priceProblem is a reason why a price was not read; an empty code means none.
type priceProblem struct {
	code    ProblemCode
	message string
}

var (
	unreadable = priceProblem{PriceUnreadable, "This is not a price."}
	ambiguous  = priceProblem{
		PriceAmbiguous, "It is not clear whether the separator stands for thousands or for decimals. Write the price without it.",
	}
)

// parsePrice reads an amount as people write it and returns it in minor units.
func parsePrice(s string, c money.Currency) (int64, priceProblem) {
	s = strings.ToLower(norm.NFKC.String(s))
	s = trimSpace(strings.NewReplacer("−", "-", "\u200e", "", "\u200f", "").Replace(s))
	s, p := trimCurrency(s, c)
	if p.code != "" {
		return 0, p
	}
	factor := int64(1)
	if c.Decimals() == 0 {
		for _, suffix := range thousands {
			if rest, ok := strings.CutSuffix(s, suffix); ok {
				s, factor = strings.TrimSpace(rest), 1000
				break
			}
		}
	}
	if rest, ok := strings.CutPrefix(s, "-"); ok && isAmount(strings.TrimSpace(rest)) {
		return 0, priceProblem{PriceNegative, "A price cannot be negative."}
	}
	if !isAmount(s) {
		return 0, unreadable
	}
	whole, fraction, p := splitAmount(s, c.Decimals(), factor > 1)
	if p.code != "" {
		return 0, p
	}
	return amount(whole, fraction, c, factor)
}

// trimCurrency removes the currency before or after an amount, and refuses another one.
func trimCurrency(s string, c money.Currency) (string, priceProblem) {
	for _, y := range symbols {
		for symbol := range strings.FieldsSeq(y.texts) {
			rest, ok := strings.CutSuffix(s, symbol)
			if !ok {
				rest, ok = strings.CutPrefix(s, symbol)
			}
			switch {
			case ok && slices.Contains(y.of, c):
				return strings.TrimSpace(rest), priceProblem{}
			case ok:
				return s, priceProblem{PriceCurrency, "This price is not in " + string(c) + ", the branch's currency."}
			}
		}
	}
	return s, priceProblem{}
}

// isAmount reports whether a text consists of digits and separators, and begins and ends with a digit.
func isAmount(s string) bool {
	if s == "" || !digit(s[0]) || !digit(s[len(s)-1]) {
		return false
	}
	return strings.Trim(s, "0123456789.,' ’") == ""
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// splitAmount separates the digits of an amount before and after the decimal point. In short notation, such as 1.5k, a
// separator is always a decimal point.
func splitAmount(s string, decimals int, short bool) (whole, fraction string, p priceProblem) {
	s = strings.ReplaceAll(s, "’", "'")
	last := strings.LastIndexAny(s, ".,' ")
	if last < 0 {
		return s, "", p
	}
	mark, before, after := s[last], s[:last], s[last+1:]
	others := strings.ContainsAny(before, ".,' ") && strings.IndexByte(before, mark) < 0
	once := strings.IndexByte(before, mark) < 0
	switch {
	case mark == ' ' || mark == '\'' || !once: // never decimals
		if !grouped(s) {
			return "", "", unreadable
		}
		return digits(s), "", p
	case others: // 1,234.50: the second kind of separator is the decimal point
		if !grouped(before) || len(after) > 2 && strings.Trim(after, "0") != "" {
			return "", "", unreadable
		}
		if len(after) > 2 {
			return "", "", ambiguous
		}
		return digits(before), after, p
	case short:
		if len(after) > 2 {
			return "", "", ambiguous
		}
		return before, after, p
	case len(after) == 3 && len(before) <= 3 && before != "0":
		if decimals > 0 {
			return "", "", ambiguous
		}
		return before + after, "", p
	case len(after) > 2:
		return "", "", unreadable
	case decimals == 0 && len(before) <= 3 && strings.Trim(after, "0") == "":
		return "", "", ambiguous // 65.00 may mean sixty-five, or be the beginning of 65.000
	}
	return before, after, p
}

// grouped reports whether an amount has one kind of separator, and three digits after each.
func grouped(s string) bool {
	at := strings.IndexAny(s, ".,' ")
	if at < 0 {
		return true
	}
	parts := strings.Split(s, s[at:at+1])
	for i, part := range parts {
		if strings.ContainsAny(part, ".,' ") || i > 0 && len(part) != 3 || len(part) == 0 || len(part) > 3 {
			return false
		}
	}
	return true
}

func digits(s string) string {
	return strings.NewReplacer(".", "", ",", "", "'", "", " ", "").Replace(s)
}

// amount returns an amount of digits in minor units.
func amount(whole, fraction string, c money.Currency, factor int64) (int64, priceProblem) {
	if factor > 1 {
		whole, fraction = whole+fraction+strings.Repeat("0", 3-len(fraction)), ""
	}
	if d := c.Decimals(); len(fraction) > d {
		if strings.Trim(fraction[d:], "0") != "" {
			return 0, priceProblem{PriceUnreadable, "Prices in " + string(c) + " have " + places(d) + "."}
		}
		fraction = fraction[:d]
	}
	plain := cmp.Or(strings.TrimLeft(whole, "0"), "0")
	if fraction != "" {
		plain += "." + fraction
	}
	n, err := c.Parse(plain)
	if err != nil || n > MaxPrice {
		return 0, priceProblem{PriceTooLarge, "This price is too high."}
	}
	return n, priceProblem{}
}

func places(decimals int) string {
	if decimals == 0 {
		return "no decimals"
	}
	return "two decimals"
}

// parseNumber parses the number of a spreadsheet's cell. It has at most one point: the decimal point.
func parseNumber(s string, c money.Currency) (int64, priceProblem) {
	s, ok := plainNumber(s)
	if !ok {
		return 0, unreadable
	}
	if strings.HasPrefix(s, "-") {
		return 0, priceProblem{PriceNegative, "A price cannot be negative."}
	}
	whole, fraction, _ := strings.Cut(s, ".")
	return amount(whole, fraction, c, 1)
}

// plainNumber returns a number of a spreadsheet without an exponent and without the noise of binary fractions: 0.1 + 0.2
// is stored as 0.30000000000000004. ok is false for anything but a number of moderate size.
func plainNumber(s string) (plain string, ok bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != f || f > 1e15 || f < -1e15 {
		return "", false
	}
	// Spreadsheet programs show fifteen digits.
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
