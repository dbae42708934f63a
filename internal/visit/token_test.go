package visit

import (
	"encoding/base64"
	"testing"
)

// What passes for a token is the base64url of exactly as many bytes as a token has.
func FuzzFormed(f *testing.F) {
	for _, seed := range []string{"", NewQRToken(), NewCustomerToken(), "../../etc/passwd-12345", "ộộộộộộộ1", "AAAAAAAAAAAAAAAAAAAAA="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, n := range []int{qrBytes, customerBytes} {
			b, err := base64.RawURLEncoding.DecodeString(s)
			if formed(s, n) && (err != nil || len(b) != n) {
				t.Errorf("%q passes for a token of %d bytes: %v", s, n, err)
			}
		}
	})
}
