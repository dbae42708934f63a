package vnpay

import (
	"strings"
	"unicode"
)

// letters lists Vietnamese letters in groups, each after its letter without diacritics.
const letters = "aàáảãạăằắẳẵặâầấẩẫậ eèéẻẽẹêềếểễệ iìíỉĩị oòóỏõọôồốổỗộơờớởỡợ uùúủũụưừứửữự yỳýỷỹỵ dđ"

// baseLetter maps each letter, in both cases, to its base. Texts are in NFC, where a Vietnamese letter is one
// character; combining marks of other spellings are dropped by asciiText.
var baseLetter = func() map[rune]rune {
	m := map[rune]rune{}
	for row := range strings.FieldsSeq(letters) {
		first := rune(row[0])
		for _, r := range row {
			m[r], m[unicode.ToUpper(r)] = first, unicode.ToUpper(first)
		}
	}
	return m
}()

// asciiText reduces a text to what VNPay always accepts: A-Z, a-z, 0-9 and single spaces, at most n bytes (PAY,
// vnp_OrderInfo: "Vietnamese without diacritics and no special characters"). It drops combining marks and replaces
// every other character with a space.
func asciiText(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch b, ok := baseLetter[r]; {
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
