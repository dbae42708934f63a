package text

import "bytes"

// EscapesNUL reports whether a JSON text has an escaped character of code 0, which PostgreSQL cannot store. The text
// \\u0000, an escaped backslash before four zeros, has none.
func EscapesNUL(json []byte) bool {
	escape := []byte(`\u0000`)
	for i := 0; ; {
		n := bytes.Index(json[i:], escape)
		if n < 0 {
			return false
		}
		at := i + n
		// Backslashes before this one form pairs from the left, so after an odd number of them this one is escaped
		// itself.
		before := at - len(bytes.TrimRight(json[:at], `\`))
		if before%2 == 0 {
			return true
		}
		i = at + len(escape)
	}
}
