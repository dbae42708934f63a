package visit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// The sizes of tokens in random bytes.
const (
	// A printed code must be small to be read well, and each guess costs a rate-limited request.
	qrBytes       = 16 // 22 characters
	customerBytes = 32 // 43 characters
)

// NewQRToken returns a token to print on a table.
func NewQRToken() string { return random(qrBytes) }

// NewCustomerToken returns a token for one guest's phone.
func NewCustomerToken() string { return random(customerBytes) }

// random returns n random bytes in base64url without padding, which needs no escaping in URLs.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return base64.RawURLEncoding.EncodeToString(b)
}

// HashToken returns the SHA-256 of a customer token in hexadecimal, which is all that SQL stores (V5). A token has 256
// random bits, so a salt or a slow hash would add nothing.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// wellFormed reports whether a text can be a token of n random bytes. Other texts are refused without a query.
func wellFormed(token string, n int) bool {
	if len(token) != base64.RawURLEncoding.EncodedLen(n) {
		return false
	}
	for i := range len(token) {
		c := token[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
