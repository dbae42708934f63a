package linepay

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

const returned = "transactionId=" + ref + "&orderId=" + attemptID

func TestRead(t *testing.T) {
	for query, ok := range map[string]bool{
		returned: true,
		"orderId=" + attemptID + "&transactionId=" + ref:   true,
		returned + "&utm_source=line":                      true,
		"order%49d=" + attemptID + "&transactionId=" + ref: true,
		"":                                 false,
		"transactionId=" + ref:             false,
		"orderId=" + attemptID:             false,
		returned + "&orderId=" + attemptID: false,
		returned + "&order%49d=06g5s3p1q8n7q0a1b2c3d4e5f9":         false,
		returned + "&transactionId=2026112109876543213":            false,
		returned + "&a=1&a=2":                                      false,
		returned + ";a=1":                                          false,
		returned + "&%zz=1":                                        false,
		"transactionId=123&orderId=" + attemptID:                   false,
		"transactionId=" + ref + "%0A&orderId=" + attemptID:        false,
		"transactionId=" + ref + "&orderId=" + attemptID + "0":     false,
		"transactionId=" + ref + "&orderId='%20or%201=1":           false,
		returned + "&x=" + strings.Repeat("x", maxQuery):           false,
		"transactionId=2.0261121098765433e18&orderId=" + attemptID: false,
	} {
		r, err := Read(query)
		if ok && (err != nil || r != Return{ref, attemptID}) || !ok && !errors.Is(err, ErrForm) {
			t.Errorf("Read(%q) = %+v, %v, want success %t", query, r, err, ok)
		}
	}
}

// An accepted query has both parameters once, in their formats.
func FuzzRead(f *testing.F) {
	f.Add(returned)
	f.Add(returned + "&orderId=x")
	f.Add("transactionId=%32026112109876543211&orderId=" + attemptID)
	f.Fuzz(func(t *testing.T, query string) {
		r, err := Read(query)
		if err != nil {
			return
		}
		q, err := url.ParseQuery(query)
		if err != nil || len(q["transactionId"]) != 1 || len(q["orderId"]) != 1 {
			t.Fatalf("%q was accepted", query)
		}
		if len(r.TransactionID) != 19 || strings.Trim(r.TransactionID, "0123456789") != "" || len(r.AttemptID) != 26 {
			t.Errorf("%q is read as %+v", query, r)
		}
		if again, err := Read("transactionId=" + r.TransactionID + "&orderId=" + r.AttemptID); err != nil || again != r {
			t.Errorf("%+v is not what it was read from: %+v, %v", r, again, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if _, err := Read(returned); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerchant_Confirm(b *testing.B) {
	l := &fakeServer{}
	m := merchantOf(b, l)
	text := confirmText(ref, attemptID, "300", "60")
	for b.Loop() {
		*l = *failingLINEPay(200, text, nil)
		if r, err := m.Confirm(b.Context(), attempt()); err != nil || r.Amount != 360 {
			b.Fatal(r, err)
		}
	}
}
