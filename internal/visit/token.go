package visit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// Sizes of the secrets in random bytes.
const (
	qrBytes       = 16 // 22 characters
	customerBytes = 32 // 43 characters
)

// NewQRToken makes the token that is printed on a table.
func NewQRToken() string { return random(qrBytes) }

// NewCustomerToken makes the token of one guest's phone.
func NewCustomerToken() string { return random(customerBytes) }

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return base64.RawURLEncoding.EncodeToString(b)
}

// Hash is what is kept of a customer token: its SHA-256 in hexadecimal. The token has 256 random bits, so neither salt
// nor a slow function would add anything.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// formed tells whether a text could be a token of n random bytes. What cannot be one is refused without asking anybody.
func formed(token string, n int) bool {
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
