package bench

import (
	"net/http"
	"testing"
	"time"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/vnpay"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

// Reports equal those of VNPay: a merchant with the same secret accepts them, and one with another secret does not.
func TestSite_notice(t *testing.T) {
	site := Site{"BENCH001", "0123456789abcdef"}
	merchant := func(secret string) *vnpay.Merchant {
		return testenv.Must(vnpay.New(vnpay.Config{TmnCode: site.TmnCode, HashSecret: telemetry.Secret(secret)},
			http.DefaultClient, time.Now))(t)
	}
	u := unpaid{"06gvuscuuto016fpbesbo18ko8", 30_000}
	n, err := merchant(site.HashSecret).Read(site.notice(u, 7))
	if err != nil || n.AttemptID != u.id || n.State != payment.Paid || n.Amount != u.amount || n.Currency != money.VND {
		t.Errorf("Read(notice) = %+v, %v, want %s paid with %d dong", n, err, u.id, u.amount)
	}
	if other, _ := merchant(site.HashSecret).Read(site.notice(u, 8)); other.Ref == n.Ref || n.Ref == "" {
		t.Errorf("two payments are both %q", n.Ref)
	}
	if _, err := merchant("another-secret").Read(site.notice(u, 7)); err == nil {
		t.Error("a merchant with another secret accepts it")
	}
}

// Every payment is reported by one connection, and only once.
func TestNotices(t *testing.T) {
	p, reports := stub(t), map[string]int{}
	owed := make([]unpaid, 2*p.conns+3)
	for i := range owed {
		owed[i] = unpaid{run(), 30_000}
	}
	for _, next := range p.notices(Site{"BENCH001", "0123456789abcdef"}, owed) {
		for text := next(); text != nil; text = next() {
			r, _ := parseRequest(t, text)
			if r.Method != http.MethodGet || r.URL.Path != noticePath {
				t.Fatalf("request = %s %s, want GET %s", r.Method, r.URL.Path, noticePath)
			}
			reports[r.URL.Query().Get("vnp_TxnRef")]++
		}
	}
	for _, u := range owed {
		if reports[u.id] != 1 {
			t.Errorf("%s is reported %d times", u.id, reports[u.id])
		}
	}
}
