package vnpay

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

func TestMerchant_TestCredentials(t *testing.T) {
	const site, secret = "COMANDA1", "the contract's own secret of the site"
	sim := testenv.Must(vnpaysim.New(vnpaysim.Options{TmnCode: site, HashSecret: strings.ReplaceAll(secret, " ", "-")}))(t)
	t.Cleanup(sim.Close)
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		site, secret string
		want         payment.CredentialReport
	}{
		"right":               {site, secret, payment.CredentialReport{State: payment.CredentialsAccepted, Code: "91", Message: "Transaction not found"}},
		"wrong secret":        {site, "another secret", payment.CredentialReport{State: payment.CredentialsRefused, Code: "97", Message: "Invalid checksum"}},
		"unknown site":        {"COMANDA2", secret, payment.CredentialReport{State: payment.CredentialsRefused, Code: "02", Message: "Invalid TmnCode"}},
		"both are of another": {"COMANDA2", "another secret", payment.CredentialReport{State: payment.CredentialsRefused, Code: "02", Message: "Invalid TmnCode"}},
	} {
		m := testenv.Must(New(Config{
			TmnCode: c.site, HashSecret: telemetry.Secret(strings.ReplaceAll(c.secret, " ", "-")), PayURL: server.URL + vnpaysim.PayPath,
			APIURL: server.URL + vnpaysim.APIPath,
		}, server.Client(), sim.Now))(t)
		for range 2 { // a repetition is another request to VNPay, not a duplicate (94)
			if got, err := m.TestCredentials(t.Context()); err != nil || got != c.want {
				t.Errorf("TestCredentials with %s = %+v, %v, want %+v", name, got, err, c.want)
			}
		}
	}
	if all := sim.Payments(); len(all) != 0 {
		t.Errorf("the tests left payments: %+v", all)
	}
}

// Only a signed response proves the credentials. Refusals count without a signature.
func TestMerchant_TestCredentials_unproven(t *testing.T) {
	for _, answer := range []string{
		`{"vnp_ResponseCode":"91","vnp_Message":"Transaction not found"}`, `{"vnp_ResponseCode":"00"}`, `{}`, `<html>`,
	} {
		if got, err := merchantAt(t, &api{answer: answer}).TestCredentials(t.Context()); err == nil {
			t.Errorf("TestCredentials with answer %s = %+v, want an error", answer, got)
		}
	}
	m := merchantAt(t, &api{answer: `{"vnp_ResponseCode":"97","vnp_Message":"` + strings.Repeat("ñ", 300) + `\u0000"}`})
	got, err := m.TestCredentials(t.Context())
	if err != nil || got.State != payment.CredentialsRefused || len(got.Message) > payment.MaxCredentialMessage {
		t.Errorf("TestCredentials = %+v, %v, want REFUSED with a short message", got, err)
	}
	_, err = merchantAt(t, &api{status: http.StatusForbidden}).TestCredentials(t.Context())
	if status, ok := errors.AsType[gatewayhttp.StatusError](err); !ok || status != http.StatusForbidden {
		t.Errorf("TestCredentials with status 403: error %v, want that status", err)
	}
	server := httptest.NewServer(&api{})
	m = testMerchant(t, server.Client(), server.URL)
	server.Close()
	_, err = m.TestCredentials(t.Context())
	if _, ok := errors.AsType[*url.Error](err); !ok {
		t.Errorf("closed: %v", err)
	}
}
