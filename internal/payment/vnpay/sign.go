package vnpay

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"comanda/internal/seq"
)

// The parameters of the signature, which are not signed themselves (PAY, "checksum"). The type was part of version 2.0 and
// must not be sent any more; a received one is skipped, because it is not signed.
const (
	hashKey     = "vnp_SecureHash"
	hashTypeKey = "vnp_SecureHashType"
)

// pair is one parameter, either decoded or as it was received.
type pair struct{ key, value string }

// escape encodes like PHP's urlencode, which VNPay signs: a space is +, and even ~ is encoded.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "~", "%7E") }

// canonical returns the signed text: encoded parameters without empty ones, sorted by key. It sorts pairs in place.
// VNPay's samples differ in whether they sign empty parameters, so none is sent.
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

// mac returns the HMAC-SHA512 of a text. The key is the secret's text itself, even if it looks like an encoding of
// bytes.
func (m *Merchant) mac(text string) []byte {
	h := hmac.New(sha512.New, []byte(string(m.conf.HashSecret)))
	h.Write([]byte(text))
	return h.Sum(nil)
}

// sign returns the signature in lower case, as VNPay sends its own.
func (m *Merchant) sign(text string) string { return hex.EncodeToString(m.mac(text)) }

// verify compares a received signature in constant time. Upper and lower case are accepted. A text that is not
// hexadecimal is a wrong signature.
func (m *Merchant) verify(text, hash string) bool {
	got, err := hex.DecodeString(hash)
	return err == nil && hmac.Equal(got, m.mac(text))
}

// query is a parsed query before its signature is verified.
type query struct {
	raw  []pair // signed parameters as received; the value is the whole piece
	vals []pair // the same, decoded
	hash string
}

// parse parses a raw query and ignores parameters that are not VNPay's. It fails if one of VNPay's parameters is
// repeated, has an encoded name, or cannot be decoded: VNPay never sends such a query, and two parsers might read it
// differently.
func parse(rawQuery string) (query, bool) {
	var q query
	seen := map[string]bool{}
	for piece := range strings.SplitSeq(rawQuery, "&") {
		key, raw, _ := strings.Cut(piece, "=")
		// Parameters of other parties, such as trackers, are skipped, even malformed ones: they are not signed and not read.
		name, err := url.QueryUnescape(key)
		if err != nil || !strings.HasPrefix(name, "vnp_") {
			continue
		}
		value, err := url.QueryUnescape(raw)
		// An encoded name would be sorted differently by a parser that decodes first.
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

// verifyQuery verifies a query as received, which does not depend on an encoder, and otherwise encoded again, for
// proxies that rewrite + as %20. Both signatures require the secret, so either one is proof.
func (m *Merchant) verifyQuery(q query) bool {
	slices.SortFunc(q.raw, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	pieces := seq.Map(q.raw, func(p pair) string { return p.value })
	return m.verify(strings.Join(pieces, "&"), q.hash) || m.verify(canonical(q.vals), q.hash)
}

// get returns a parameter, or an empty string if it is missing.
func (q query) get(key string) string {
	for _, p := range q.vals {
		if p.key == key {
			return p.value
		}
	}
	return ""
}
