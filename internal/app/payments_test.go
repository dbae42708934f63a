package app

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountsql"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// gatewaySite has the gateways of one server start, with simulators and the URL that browsers use.
type gatewaySite struct {
	t *testing.T
	*gateways
}

// startSite opens an installation's gateways. Pages opened before stay at the same URL and reach the new gateways.
func startSite(t *testing.T, db *sqldb.DB, front *http.Handler, url string) gatewaySite {
	t.Helper()
	opened := testenv.Must(openGateways(t.Context(), Config{Simulators: true, PublicURL: url}, db))(t)
	t.Cleanup(opened.Close)
	mux := http.NewServeMux()
	for path, h := range opened.pages {
		mux.Handle(path+"/", h)
	}
	*front = mux
	return gatewaySite{t, opened}
}

// page starts a payment and returns where the customer pays.
func (s gatewaySite) page(m payment.Method, c money.Currency) payment.Page {
	s.t.Helper()
	now := time.Now()
	a := payment.Attempt{ID: uid.New(now), Method: m, Amount: 50_000, Currency: c, CreatedAt: now}
	clients := testenv.Must(s.merchants(Config{}))(s.t)
	return testenv.Must(clients.byMethod()[m].Start(s.t.Context(), payment.Purchase{
		Attempt: a, OrderNumber: "A-001", BranchName: "Phở", ExpiresAt: now.Add(time.Hour), ReturnBaseURL: "http://127.0.0.1",
	}))(s.t)
}

func (s gatewaySite) opens(page payment.Page) int {
	s.t.Helper()
	r := testenv.Must(http.NewRequestWithContext(s.t.Context(), http.MethodGet, page.URL, http.NoBody))(s.t)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func openInstallation(t *testing.T) *sqldb.DB {
	t.Helper()
	dir := t.TempDir()
	db := testenv.Must(OpenDatabase(t.Context(), Config{DataDir: dir, DatabaseURL: "sqlite:" + dir + "/comanda.db"}))(t)
	t.Cleanup(db.Close)
	testenv.NoError(t, db.Migrate(t.Context()))
	return db
}

// A simulated page that was opened before a restart is still valid, for this installation only.
func TestSimulators_knowTheirPagesAfterARestart(t *testing.T) {
	var front http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { front.ServeHTTP(w, r) }))
	defer server.Close()
	db := openInstallation(t)
	before := startSite(t, db, &front, server.URL)
	page := before.page(payment.VNPay, money.VND)
	if got := before.opens(page); got != http.StatusOK {
		t.Fatalf("the page is answered %d", got)
	}
	before.Close()
	after := startSite(t, db, &front, server.URL)
	if got := after.opens(page); got != http.StatusOK {
		t.Errorf("after a restart the page is answered %d", got)
	}
	if before.page(payment.LINEPay, money.TWD).Ref == "" { // signed with the secret of the first start
		t.Error("LINE Pay does not know its merchant after a restart")
	}
	otherSite := startSite(t, openInstallation(t), &front, server.URL)
	if got := otherSite.opens(page); got != http.StatusBadRequest {
		t.Errorf("another installation answers %d", got)
	}
}

// A simulator's secret reveals neither the installation's key nor another gateway's secret.
func TestSimulatorSecret(t *testing.T) {
	keys := testenv.Must(accountsql.Keys(t.Context(), openInstallation(t)))(t)
	seen := map[string]bool{}
	for _, key := range []account.Key{keys.Token, account.NewKey()} {
		for _, m := range []payment.Method{payment.VNPay, payment.LINEPay} {
			one, err := simulatorSecret(key, string(m))
			again, _ := simulatorSecret(bytes.Clone(key), string(m))
			if err != nil || one != again || len(one) < 32 || strings.Contains(one, string(key)) || seen[one] {
				t.Errorf("%s: %q, then %q, %v", m, one, again, err)
			}
			seen[one] = true
		}
	}
}
