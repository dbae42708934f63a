package vnpay

import (
	"strings"
	"unicode"
)

// letters are those of Vietnamese with what remains of each without its marks, which comes first.
const letters = "aàáảãạăằắẳẵặâầấẩẫậ eèéẻẽẹêềếểễệ iìíỉĩị oòóỏõọôồốổỗộơờớởỡợ uùúủũụưừứửữự yỳýỷỹỵ dđ"

var bare = func() map[rune]rune {
	m := map[rune]rune{}
	for row := range strings.FieldsSeq(letters) {
		first := rune(row[0])
		for _, r := range row {
			m[r], m[unicode.ToUpper(r)] = first, unicode.ToUpper(first)
		}
	}
	return m
}()

// plain reduces a text to what VNPay takes everywhere: A-Z, a-z, 0-9 and single spaces, at most n bytes (PAY,
// vnp_OrderInfo: "Vietnamese without diacritics and no special characters"). Marks that stand for themselves, as after
// decomposition, fall away; every other character is a space.
func plain(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch b, ok := bare[r]; {
		case ok:
			return b
		case unicode.Is(unicode.Mn, r):
			return -1
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			return r
		}
		return ' '
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimSpace(s[:min(n, len(s))])
}

// storable makes what was received fit for a column of any database: it may be no UTF-8, and PostgreSQL takes no NUL.
func storable(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?") }
