package app

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/mail/mailtest"
	"comanda/internal/settings"
	"comanda/internal/sim/linepaysim"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

const testerSecret = "PLANTEDPLANTEDPLANTEDPLANTED1234"

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	// A client repeats a GET whose reused connection breaks, here with the same nonce.
	s.Config.SetKeepAlivesEnabled(false)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// simulated starts both gateways for one merchant.
func simulated(t *testing.T) (vnpayURL, linePayURL string, linePay *linepaysim.Simulator) {
	t.Helper()
	v := testenv.Must(vnpaysim.New(vnpaysim.Options{TmnCode: "QUANHOA1", HashSecret: testerSecret}))(t)
	t.Cleanup(v.Close)
	l := testenv.Must(linepaysim.New(linepaysim.Options{ChannelID: "1656000001", ChannelSecret: testerSecret}))(t)
	t.Cleanup(l.Close)
	return serve(t, v), serve(t, l), l
}

// unresponsive accepts connections and never answers.
func unresponsive(t *testing.T) string {
	t.Helper()
	l := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// Each code of a gateway becomes a result, which the audit log has without the detail.
func TestTesters_gateways(t *testing.T) {
	vnpayURL, linePayURL, linePay := simulated(t)
	dead, forbidden := "http://"+testenv.FreeAddr(t), serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	html := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	vnpay := func(site, secret, url string) map[string]string {
		return map[string]string{
			"vnpay_tmn_code": site, "vnpay_hash_secret": secret, "vnpay_pay_url": url + vnpaysim.PayPath,
			"vnpay_api_url": url + vnpaysim.APIPath,
		}
	}
	line := func(channel, secret, url string) map[string]string {
		return map[string]string{
			"linepay_channel_id": channel, "linepay_channel_secret": secret, "linepay_url": url, "linepay_prefix": "/v3",
		}
	}
	const other = "OTHEROTHEROTHEROTHEROTHEROTHER12"
	cases := []struct {
		values map[string]string
		fault  linepaysim.Fault
		code   settings.TestCode
		detail string
	}{
		{vnpay("QUANHOA1", testerSecret, vnpayURL), linepaysim.Fault{}, "ok", "91 Transaction not found"},
		{vnpay("QUANHOA1", other, vnpayURL), linepaysim.Fault{}, "credentials_refused", "97 Invalid checksum"},
		{vnpay("QUANHOA2", testerSecret, vnpayURL), linepaysim.Fault{}, "credentials_refused", "02 Invalid TmnCode"},
		{vnpay("QUANHOA1", testerSecret, dead), linepaysim.Fault{}, "unreachable", "the connection was refused"},
		{vnpay("QUANHOA1", testerSecret, forbidden), linepaysim.Fault{}, "ip_not_allowed", "HTTP status 403"},
		{vnpay("QUANHOA1", testerSecret, html), linepaysim.Fault{}, "unexpected", "vnpay: querydr: the response is not a JSON object"},
		{line("1656000001", testerSecret, linePayURL), linepaysim.Fault{}, "ok", "1150 Transaction record not found."},
		{line("1656000001", other, linePayURL), linepaysim.Fault{}, "credentials_refused", "1106 Header information error: the signature."},
		{line("1656000001", testerSecret, linePayURL), linepaysim.Fault{Code: "1104"}, "credentials_refused", "1104 Non-existing merchant."},
		{line("1656000001", testerSecret, linePayURL), linepaysim.Fault{Code: "1105"}, "account_inactive", "1105 The merchant cannot use LINE Pay."},
		{
			line("1656000001", testerSecret, linePayURL), linepaysim.Fault{Code: "1106", Message: "Ip address [1.2.3.4] is not allowed"},
			"ip_not_allowed", "1106 Ip address [1.2.3.4] is not allowed",
		},
		{line("1656000001", testerSecret, linePayURL), linepaysim.Fault{Code: "9000"}, "unexpected", "9000"},
		{line("1656000001", testerSecret, linePayURL), linepaysim.Fault{Response: linepaysim.Lost}, "unreachable", "the connection broke"},
		{line("1656000001", testerSecret, linePayURL), linepaysim.Fault{Response: linepaysim.Broken}, "unexpected", "HTTP status 500"},
		{line("1656000001", testerSecret, dead), linepaysim.Fault{}, "unreachable", "the connection was refused"},
	}
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := coreWithGateways(t, db, map[string]string{"COMANDA_SETTINGS_KEY": strings.Repeat("k", 32)})
		for i, c := range cases {
			subject := settings.TestLINEPay
			if c.values["vnpay_tmn_code"] != "" {
				subject = settings.TestVNPay
			}
			testenv.NoError(t, change(t, k, c.values))
			testenv.NoError(t, linePay.SetFaults(c.fault))
			got, err := k.Settings.Test(t.Context(), authz.System(), subject, settings.TestOptions{Locale: "en"})
			if want := (settings.TestResult{Code: c.code, Detail: c.detail}); err != nil || got != want {
				t.Errorf("test %d = %+v, want %+v; error %v", i, got, want, err)
			}
			if after := testEntries(t, db)[0].After; after != `{"result":"`+string(c.code)+`","subject":"`+string(subject)+`"}` {
				t.Errorf("entry of test %d = %s, want its code and subject", i, after)
			}
		}
		if n := len(testEntries(t, db)); n != len(cases) {
			t.Errorf("%d tests have %d entries, want one each", len(cases), n)
		}
	})
}

// testEntries returns the audit log's entries about tests, the newest first.
func testEntries(t *testing.T, db *sqldb.DB) []audit.Entry {
	t.Helper()
	all, _ := testenv.Must2(auditsql.NewLog(db).Entries(t.Context(),
		audit.Filter{Action: audit.ActionSettingsTested, EveryBranch: true, To: db.Now().Add(time.Hour), Limit: 100}))(t)
	return all
}

// Without settings there is nothing to test. A simulator in place of a gateway does not count as a setting.
func TestTesters_not_set(t *testing.T) {
	db, folder := sqldbtest.SQLite(t), t.TempDir()
	k := coreWithGateways(t, db, map[string]string{"COMANDA_SIMULATORS": "on", "COMANDA_DATA_DIR": folder})
	for _, subject := range []settings.TestSubject{settings.TestVNPay, settings.TestLINEPay, settings.TestMail} {
		got, err := k.Settings.Test(t.Context(), authz.System(), subject, settings.TestOptions{Locale: "en"})
		if want := (settings.TestResult{Code: settings.TestNotSet}); err != nil || got != want {
			t.Errorf("test of %s = %+v, %v, want not_set", subject, got, err)
		}
	}
	if _, err := k.Settings.Test(t.Context(), authz.System(), "sandbox", settings.TestOptions{Locale: "en"}); !errors.Is(err, settings.ErrSubject) {
		t.Errorf("an unknown subject: error %v, want ErrSubject", err)
	}
	if n := len(testEntries(t, db)); n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
	testenv.NoError(t, change(t, k, vnpayAccount))
	withoutKey := coreWithGateways(t, db, nil) // without the settings key
	got, err := withoutKey.Settings.Test(t.Context(), authz.System(), settings.TestVNPay, settings.TestOptions{Locale: "en"})
	if err != nil || got.Code != settings.TestNotSet || got.Detail != "the settings key cannot decrypt vnpay_hash_secret" {
		t.Errorf("test without the key = %+v, %v, want not_set", got, err)
	}
}

// A service that accepts the connection and never answers does not hold the request for longer than its limit.
func TestTesters_end_in_time(t *testing.T) {
	k := coreWithGateways(t, sqldbtest.SQLite(t), nil)
	values := map[string]string{
		"vnpay_pay_url": "http://" + unresponsive(t) + vnpaysim.PayPath, "vnpay_api_url": "http://" + unresponsive(t) + vnpaysim.APIPath,
	}
	maps.Copy(values, vnpayAccount)
	testenv.NoError(t, change(t, k, values))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // as the request's own deadline would
	defer cancel()
	got, err := k.Settings.Test(ctx, authz.System(), settings.TestVNPay, settings.TestOptions{Locale: "en"})
	if want := (settings.TestResult{Code: settings.TestUnreachable, Detail: "no answer in time"}); err != nil || got != want {
		t.Errorf("test of VNPay = %+v, %v, want unreachable", got, err) // recorded although the client's time has passed
	}
	if n := len(testEntries(t, k.DB)); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

type testAnswer struct {
	OK           bool
	Code, Detail string
}

// test runs a test over HTTP.
func (f *fixture) test(principal, subject string) (a testAnswer) {
	f.t.Helper()
	r := f.must(f.ask(principal, "POST", "/api/settings/test", `{"subject":"`+subject+`"}`))
	r.into(f.t, &a)
	if strings.Contains(string(r.body), testerSecret) {
		f.t.Errorf("answer with a secret: %s", r.body)
	}
	return a
}

// The message goes to the account's own address, in the language of the request.
func TestTesters_mail(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, "127.0.0.1:0", "house", testerSecret)
	refusing := mailtest.New(t)
	refusing.Reply("RCPT", "550 5.7.1 your password is "+testerSecret)
	f := newFixture(t)
	for _, c := range []struct {
		url          string
		code, detail string
	}{
		{"smtp://house:" + testerSecret + "@" + server.Addr(), "ok", email("owner")},
		{"smtp://house:wrong@" + server.Addr(), "credentials_refused", "535"},
		{"smtp://" + server.Addr(), "credentials_refused", "530"},
		{refusing.URL(), "message_refused", "550"},
		{"smtp://" + testenv.FreeAddr(t), "unreachable", "the connection was refused"},
		{"smtp://" + unresponsive(t), "unreachable", "no answer in time"},
	} {
		testenv.NoError(t, change(t, f.core, map[string]string{"smtp_url": c.url}))
		if got, want := f.test("owner", "mail"), (testAnswer{c.code == "ok", c.code, c.detail}); got != want {
			t.Errorf("test of %s = %+v, want %+v", c.url, got, want)
		}
	}
	got, raw := server.Messages()
	if len(got) != 1 || got[0].Header.Get("To") != "<"+email("owner")+">" || !strings.Contains(raw[0], "E-mail is set up") {
		t.Errorf("messages = %q, want one to the owner", raw)
	}
	for _, e := range testEntries(t, f.core.DB) {
		if line, _ := json.Marshal(e); strings.Contains(string(line), testerSecret) || strings.Contains(e.After, "@") {
			t.Errorf("entry = %s, want neither a secret nor an address", line)
		}
	}
}

// The message has the sender of later e-mails: the restaurant's name, or the name of a branch with its own address.
func TestTesters_mail_sender(t *testing.T) {
	server := mailtest.New(t)
	f := newFixture(t)
	branch := func(body string) {
		t.Helper()
		f.must(f.ask("owner", "PATCH", "/api/branches/1", body))
	}
	set := func(name, value string) func() {
		return func() {
			t.Helper()
			testenv.NoError(t, change(t, f.core, map[string]string{name: value}))
		}
	}
	set("smtp_url", server.URL())()
	first := testenv.Must(f.core.Branches.Store.Branch(t.Context(), 1))(t)
	for i, c := range []struct {
		before        func()
		body          string
		name, address string
	}{
		{func() {}, `{"subject":"mail"}`, first.Name, "no-reply@localhost.localdomain"},
		{func() { f.must(f.ask("owner", "PATCH", "/api/brand", `{"name":"Quán Hoa"}`)) }, `{"subject":"mail"}`, "Quán Hoa", "no-reply@localhost.localdomain"},
		{func() {}, `{"subject":"mail","branchId":"1"}`, first.Name, "no-reply@localhost.localdomain"},
		{set("mail_from", "hello@house.example"), `{"subject":"mail"}`, "Quán Hoa", "hello@house.example"},
		{set("mail_from", "Hoa & Co. <hello@house.example>"), `{"subject":"mail"}`, "Hoa & Co.", "hello@house.example"},
		{func() {}, `{"subject":"mail","branchId":"1"}`, first.Name, "hello@house.example"},
		{func() { branch(`{"mailFrom":"q1@house.example"}`) }, `{"subject":"mail","branchId":"1"}`, first.Name, "q1@house.example"},
		{func() { branch(`{"mailFrom":"Quận 1 <q1@house.example>"}`) }, `{"subject":"mail","branchId":"1"}`, "Quận 1", "q1@house.example"},
		{func() {}, `{"subject":"mail"}`, "Hoa & Co.", "hello@house.example"},
		{func() { branch(`{"mailFrom":""}`) }, `{"subject":"mail","branchId":"1"}`, first.Name, "hello@house.example"},
	} {
		c.before()
		if r := f.must(f.ask("owner", "POST", "/api/settings/test", c.body)); !strings.Contains(string(r.body), `"ok":true`) {
			t.Fatalf("test %d = %s, want ok", i, r.body)
		}
		all, _ := server.Messages()
		from, err := all[len(all)-1].Header.AddressList("From")
		if err != nil || len(all) != i+1 || from[0].Name != c.name || from[0].Address != c.address {
			t.Errorf("%d: %v, %v; want %s <%s>", i, from, err, c.name, c.address)
		}
	}
	if r := f.ask("owner", "POST", "/api/settings/test", `{"subject":"mail","branchId":"99"}`); r.status != http.StatusNotFound {
		t.Errorf("unknown branch: status %d with body %s, want 404", r.status, r.body)
	}
	for _, bad := range []string{"nobody", "a@b.example, c@d.example", `x@y.example\r\nBcc: c@d.example`} {
		if r := f.ask("owner", "PATCH", "/api/branches/1", `{"mailFrom":"`+bad+`"}`); r.status != http.StatusUnprocessableEntity {
			t.Errorf("mailFrom %s of a branch: status %d with body %s, want 422", bad, r.status, r.body)
		}
		if r := f.ask("owner", "PATCH", "/api/settings", `{"values":[{"name":"mail_from","value":"`+bad+`"}]}`); r.status != http.StatusUnprocessableEntity {
			t.Errorf("mail_from %s: status %d with body %s, want 422", bad, r.status, r.body)
		}
	}
	twice := `{"values":[{"name":"ticket_warn","value":"5m"},{"name":"ticket_warn","value":"6m"}]}`
	if r := f.ask("owner", "PATCH", "/api/settings", twice); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.refusal(), "setting_twice") {
		t.Errorf("a setting twice: status %d with body %s, want 422 setting_twice", r.status, r.body)
	}
}

// An account may test six times at once, and every ten seconds after that.
func TestTesters_limit(t *testing.T) {
	c := testenv.Must(LoadConfig(map[string]string{"COMANDA_DATA_DIR": dataDir(t), "COMANDA_LISTEN": "127.0.0.1:0"}, nil,
		"", nil))(t)
	f := (&fixture{t: t}).withConfig(c)
	f.login("owner")
	for range 6 {
		if got := f.test("owner", "vnpay"); got.Code != "not_set" {
			t.Errorf("test of VNPay = %+v, want not_set", got)
		}
	}
	if r := f.ask("owner", "POST", "/api/settings/test", `{"subject":"mail"}`); r.status != http.StatusTooManyRequests {
		t.Errorf("seventh test: status %d with body %s, want 429", r.status, r.body)
	}
	if n := len(testEntries(t, f.core.DB)); n != 6 {
		t.Errorf("%d entries, want 6", n)
	}
}
