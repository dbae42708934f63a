package linepay_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"comanda/internal/payment"
	"comanda/internal/payment/linepay"
	"comanda/internal/sim/linepaysim"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

func TestMerchant_TestCredentials(t *testing.T) {
	const channel, secret = "1656000001", "a917ab6a2367b536f8e5a6e2977e06f4"
	sim := testenv.Must(linepaysim.New(linepaysim.Options{ChannelID: channel, ChannelSecret: secret}))(t)
	t.Cleanup(sim.Close)
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	const address = "Header information error. Ip address [203.0.113.7] is not allowed to access this API"
	for name, c := range map[string]struct {
		channel, secret string
		fault           linepaysim.Fault
		state           payment.CredentialState
		code            string
	}{
		"right":              {channel, secret, linepaysim.Fault{}, payment.CredentialsAccepted, "1150"},
		"wrong secret":       {channel, "another", linepaysim.Fault{}, payment.CredentialsRefused, "1106"},
		"wrong channel":      {"1656000002", secret, linepaysim.Fault{}, payment.CredentialsRefused, "1106"},
		"no merchant":        {channel, secret, linepaysim.Fault{Code: "1104"}, payment.CredentialsRefused, "1104"},
		"not active":         {channel, secret, linepaysim.Fault{Code: "1105"}, payment.MerchantInactive, "1105"},
		"address not listed": {channel, secret, linepaysim.Fault{Code: "1106", Message: address}, payment.AddressRefused, "1106"},
		"maintenance":        {channel, secret, linepaysim.Fault{Code: "9000"}, payment.CredentialsUnclear, "9000"},
	} {
		for _, prefix := range []string{"/v3", "/v4"} {
			testenv.NoError(t, sim.SetFaults(c.fault))
			m := testenv.Must(linepay.New(linepay.Config{
				ChannelID: c.channel, ChannelSecret: telemetry.Secret(c.secret), Host: server.URL, Prefix: prefix,
			}, server.Client(), linepay.Nonce))(t)
			got, err := m.TestCredentials(t.Context())
			if err != nil || got.State != c.state || got.Code != c.code || got.Message == "" && c.code != "9000" {
				t.Errorf("TestCredentials with %s at %s = %+v, %v, want %s with code %s", name, prefix, got, err, c.state, c.code)
			}
		}
	}
	if all := sim.Payments(); len(all) != 0 {
		t.Errorf("the tests left payments: %+v", all)
	}
}

// A response that is not LINE Pay's proves nothing.
func TestMerchant_TestCredentials_unproven(t *testing.T) {
	l := newFixture(t, "/v4")
	for _, response := range []linepaysim.ResponseFault{linepaysim.Lost, linepaysim.Garbled, linepaysim.Broken, linepaysim.Redirect} {
		l.faults(linepaysim.Fault{Call: linepaysim.Details, Response: response})
		if got, err := l.TestCredentials(t.Context()); err == nil {
			t.Errorf("TestCredentials after %s = %+v, want an error", response, got)
		}
	}
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	m := testenv.Must(linepay.New(linepay.Config{ChannelID: "1", ChannelSecret: "1", Host: server.URL}, server.Client(),
		linepay.Nonce))(t)
	if got, err := m.TestCredentials(t.Context()); err == nil {
		t.Errorf("TestCredentials after status 404 = %+v, want an error", got)
	}
}
