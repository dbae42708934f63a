package visit

import (
	"encoding/base64"
	"testing"
)

// A token is well-formed exactly if it is the base64url encoding of the right number of bytes.
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
