package visit

import (
	"encoding/base64"
	"testing"
)

// A well-formed token is the base64url encoding of exactly as many bytes as a token has.
func FuzzWellFormed(f *testing.F) {
	for _, seed := range []string{"", NewQRToken(), NewCustomerToken(), "../../etc/passwd-12345", "ộộộộộộộ1", "AAAAAAAAAAAAAAAAAAAAA="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, n := range []int{qrBytes, customerBytes} {
			b, err := base64.RawURLEncoding.DecodeString(s)
			if wellFormed(s, n) && (err != nil || len(b) != n) {
				t.Errorf("wellFormed(%q, %d) is true: %v", s, n, err)
			}
		}
	})
}
