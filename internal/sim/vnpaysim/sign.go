package vnpaysim

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// encode is PHP's urlencode, which VNPay's samples sign with. It is written byte by byte instead of with net/url, so
// that an error in the escaping of package vnpay shows.
func encode(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.':
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// hashData returns the signed text; the samples use the same name.
func hashData(params map[string]string) string {
	var data []string
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if params[key] != "" {
			data = append(data, encode(key)+"="+encode(params[key]))
		}
	}
	return strings.Join(data, "&")
}

// hmac returns the signature of a text in lower case.
func (s *Simulator) hmac(data string) string {
	h := hmac.New(sha512.New, []byte(s.o.HashSecret))
	h.Write([]byte(data))
	return hex.EncodeToString(h.Sum(nil))
}

// verify accepts both cases, and compares in constant time.
func (s *Simulator) verify(data, hash string) bool {
	return hmac.Equal([]byte(s.hmac(data)), []byte(strings.ToLower(hash)))
}
