package vnpay

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// The parameters that carry a signature and are not signed (PAY, "checksum"). The type was part of version 2.0 and must
// not be sent any more; it is known here because whoever still adds it does not sign it.
const (
	hashKey     = "vnp_SecureHash"
	hashTypeKey = "vnp_SecureHashType"
)

// pair is one parameter, either decoded or as it was received.
type pair struct{ key, value string }

// escape is the form encoding that VNPay signs, that of PHP: a space is +, and even ~ is encoded.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "~", "%7E") }

// canonical is the text that is signed: parameters in the order of their keys' bytes, encoded, without empty ones.
func canonical(pairs []pair) string {
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	var b strings.Builder
	for _, p := range pairs {
		if p.value == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(escape(p.key))
		b.WriteByte('=')
		b.WriteString(escape(p.value))
	}
	return b.String()
}

// sum is the signature of a text.
func (m *Merchant) sum(text string) []byte {
	h := hmac.New(sha512.New, []byte(string(m.conf.HashSecret)))
	h.Write([]byte(text))
	return h.Sum(nil)
}

func (m *Merchant) sign(text string) string { return hex.EncodeToString(m.sum(text)) }

// holds compares a received signature, in upper or lower case, in constant time.
func (m *Merchant) holds(text, hash string) bool {
	got, err := hex.DecodeString(hash)
	return err == nil && hmac.Equal(got, m.sum(text))
}

// query is a received query, taken apart and not yet believed.
type query struct {
	raw  []pair // signed parameters as received; the value is the whole piece
	vals []pair // the same, decoded
	hash string
}

// parse takes a raw query apart. Parameters that are not VNPay's are left out. It fails where one of VNPay's stands twice,
// hides behind an encoded name, or cannot be decoded: VNPay sends nothing like it, and two readers might read it apart.
func parse(rawQuery string) (query, bool) {
	var q query
	seen := map[string]bool{}
	for piece := range strings.SplitSeq(rawQuery, "&") {
		key, raw, _ := strings.Cut(piece, "=")
		name, err := url.QueryUnescape(key)
		if err != nil || !strings.HasPrefix(name, "vnp_") {
			continue
		}
		value, err := url.QueryUnescape(raw)
		if err != nil || name != key || seen[name] {
			return query{}, false
		}
		seen[name] = true
		switch name {
		case hashKey:
			q.hash = value
		case hashTypeKey:
		default:
			q.raw = append(q.raw, pair{name, piece})
			q.vals = append(q.vals, pair{name, value})
		}
	}
	return q, true
}

// signed verifies a query: first the bytes as they came, which no difference between encoders can touch, then encoded
// anew, for proxies that rewrite + as %20. Both need the secret, so either is proof.
func (m *Merchant) signed(q query) bool {
	slices.SortFunc(q.raw, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	pieces := make([]string, len(q.raw))
	for i, p := range q.raw {
		pieces[i] = p.value
	}
	return m.holds(strings.Join(pieces, "&"), q.hash) || m.holds(canonical(q.vals), q.hash)
}

// get gives a parameter, empty when it is not there.
func (q query) get(key string) string {
	for _, p := range q.vals {
		if p.key == key {
			return p.value
		}
	}
	return ""
}
