package text

import "unicode/utf8"

// AppendJSON appends s to b as a string of JSON. It escapes only what JSON requires (RFC 8259, section 7), and replaces
// invalid UTF-8 by U+FFFD. encoding/json also escapes what HTML would interpret, and allocates each
// text.
func AppendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			// Invalid UTF-8 would make the whole document invalid JSON.
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			b = append(b, s[from:i]...)
			b = appendEscape(b, c)
			from = i + 1
		}
		i++
	}
	return append(append(b, s[from:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
