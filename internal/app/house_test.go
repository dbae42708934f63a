package app

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/settings"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/system"
	"comanda/internal/testenv"
)

// coreWithGateways returns a process with gateways on a database. The environment overrides the test's own.
func coreWithGateways(t *testing.T, db *sqldb.DB, environment map[string]string) *Core {
	t.Helper()
	all := map[string]string{"COMANDA_DATA_DIR": t.TempDir()}
	maps.Copy(all, environment)
	c := testenv.Must(LoadConfig(all, nil, "", nil))(t)
	g := testenv.Must(openGateways(t.Context(), c, db))(t)
	k := testenv.Must(NewCore(t.Context(), Deps{
		Config: c, DB: db, Redis: redisdbtest.Embedded(t), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Gateways: g,
	}))(t)
	t.Cleanup(k.Close)
	return k
}

func change(t *testing.T, k *Core, values map[string]string) error {
	t.Helper()
	all := map[string]*string{}
	for name, v := range values {
		all[name] = &v
		if v == "" {
			all[name] = nil
		}
	}
	return k.Settings.Change(t.Context(), authz.System(), all)
}

func settingOf(t *testing.T, k *Core, name string) settings.Setting {
	t.Helper()
	all := testenv.Must(k.Settings.List(t.Context()))(t)
	i := slices.IndexFunc(all, func(s settings.Setting) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no setting %s", name)
	}
	return all[i]
}

var vnpayAccount = map[string]string{"vnpay_tmn_code": "QUANHOA1", "vnpay_hash_secret": "SECRETSECRETSECRETSECRETSECRET12"}

// A change applies at once in the process that makes it and with the next round of the loop in every other one.
func TestSettings_apply_while_servers_run(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		key := map[string]string{"COMANDA_SETTINGS_KEY": strings.Repeat("k", 32)}
		local, remote := coreWithGateways(t, db, key), coreWithGateways(t, db, key)
		values := map[string]string{
			"payment_window": "20m", "expiry_grace": "10s", "ticket_warn": "3m", "public_url": "https://hoa.example/",
		}
		maps.Copy(values, vnpayAccount)
		testenv.NoError(t, change(t, local, values))
		testenv.NoError(t, remote.syncSettings(t.Context()))
		for _, k := range []*Core{local, remote} {
			o := k.Orders.Settings()
			warn, late := k.ages()
			if o.PaymentWindow != 20*time.Minute || o.CounterWindow != time.Hour || o.ExpiryGrace != 10*time.Second ||
				warn != 3*time.Minute || late != 20*time.Minute || o.ReturnTo != "https://hoa.example" ||
				k.publicURL() != "https://hoa.example" || o.Methods.Check(payment.VNPay) != nil || o.Gateways[payment.VNPay] == nil {
				t.Errorf("settings in force = %+v, tickets %v and %v, want the stored ones", o, warn, late)
			}
		}
		testenv.NoError(t, change(t, remote,
			map[string]string{"payment_window": "", "vnpay_tmn_code": "", "vnpay_hash_secret": ""}))
		o := remote.Orders.Settings()
		if o.PaymentWindow != 15*time.Minute || o.CounterWindow != 45*time.Minute || o.Methods.Check(payment.VNPay) == nil {
			t.Errorf("settings after the removal = %+v, want the defaults", o)
		}
	})
}

// Settings that a part of the process failed to apply are applied again by the next round, although they have not changed since.
func TestSettings_applied_again(t *testing.T) {
	k := coreWithGateways(t, sqldbtest.SQLite(t), nil)
	fail, applied := errors.New("the disk is full"), 0
	k.onSettings(func(*houseSettings) error {
		applied++
		return fail
	})
	if err := change(t, k, map[string]string{"payment_window": "20m"}); !errors.Is(err, fail) {
		t.Fatalf("error %v, want %v", err, fail)
	}
	fail = nil
	for range 2 {
		testenv.NoError(t, k.syncSettings(t.Context()))
	}
	testenv.Equal(t, 2, applied)
}

// Each refused setting has a code of its own, by which clients choose their text.
func TestSettings_refused_fields(t *testing.T) {
	k := coreWithGateways(t, sqldbtest.SQLite(t), map[string]string{"COMANDA_SIMULATORS": "on"})
	const url, secret = "https://pay.example/x", "abcdefghijklmnop"
	for _, c := range []struct {
		values      map[string]string
		field, code string
	}{
		{map[string]string{"payment_window": "soon"}, "payment_window", "no_value"},
		{map[string]string{"payment_window": "25h"}, "payment_window", "window_range"},
		{map[string]string{"counter_window": "25h"}, "counter_window", "window_range"},
		{map[string]string{"expiry_grace": "2h"}, "expiry_grace", "grace_range"},
		{map[string]string{"ticket_late": "1m"}, "ticket_late", "ticket_order"},
		{map[string]string{"public_url": "quán hoa"}, "public_url", "no_url"},
		{map[string]string{"public_url": "https://hoa.example/order"}, "public_url", "no_url"},
		{map[string]string{"public_url": "https://hoa.example//"}, "public_url", "no_url"},
		{map[string]string{"public_url": "https://hoa.example"}, "public_url", "trial_only"},
		{map[string]string{"mail_from": "Hoa"}, "mail_from", "no_sender"},
		{map[string]string{"smtp_url": "http://mail.example", "mail_from": "a@b.example"}, "smtp_url", "no_mail_server"},
		{map[string]string{"vnpay_tmn_code": "QUANHOA1"}, "vnpay_hash_secret", "hash_secret"},
		{map[string]string{"vnpay_tmn_code": "Q", "vnpay_hash_secret": secret}, "vnpay_tmn_code", "site_code"},
		{map[string]string{"vnpay_tmn_code": "QUANHOA1", "vnpay_hash_secret": secret, "vnpay_pay_url": url}, "vnpay_api_url", "both_urls"},
		{map[string]string{"vnpay_tmn_code": "QUANHOA1", "vnpay_hash_secret": secret, "vnpay_pay_url": "http://vnpay.example/p", "vnpay_api_url": url}, "vnpay_pay_url", "no_tls"},
		{map[string]string{"linepay_channel_id": "1"}, "linepay_channel_secret", "one_word"},
		{map[string]string{"linepay_channel_id": "1", "linepay_channel_secret": "s", "linepay_url": "http://line.example"}, "linepay_url", "no_tls"},
		{map[string]string{"linepay_channel_id": "1", "linepay_channel_secret": "s", "linepay_url": url + "/"}, "linepay_url", "end_slash"},
		{map[string]string{"linepay_channel_id": "1", "linepay_channel_secret": "s", "linepay_prefix": "/v5"}, "linepay_prefix", "api_version"},
		{map[string]string{"mail_from": strings.Repeat("x", settings.MaxValue+1)}, "mail_from", "too_long"},
	} {
		err := change(t, k, c.values)
		f := (*fault.Error)(nil)
		if !errors.As(err, &f) || f.Code != "setting_invalid" {
			t.Errorf("change to %v: error %v, want setting_invalid", c.values, err)
			continue
		}
		var fields []struct{ Field, Code, Message string }
		text, _ := json.Marshal(f.Extra["errors"]) // always marshals
		if err := json.Unmarshal(text, &fields); err != nil || len(fields) != 1 || fields[0].Field != c.field ||
			fields[0].Code != c.code || fields[0].Message == "" || strings.Contains(string(text), secret) {
			t.Errorf("change to %v: fields %s, want only %s with code %s", c.values, text, c.field, c.code)
		}
		// Only a trial depends on settings that the API cannot change.
		variable := strings.Contains(f.Detail, "COMANDA_") && c.code != "trial_only"
		if !strings.HasPrefix(f.Detail, c.field+" ") || !strings.HasSuffix(f.Detail, ".") || variable {
			t.Errorf("change to %v: detail %q, want a sentence about %s without a variable", c.values, f.Detail, c.field)
		}
	}
}

// Bad values are refused together with the good ones in the same request.
func TestSettings_refuse(t *testing.T) {
	db := sqldbtest.SQLite(t)
	k := coreWithGateways(t, db, map[string]string{"COMANDA_TICKET_WARN": "5m", "COMANDA_SIMULATORS": "on"})
	for name, c := range map[string]struct {
		values map[string]string
		code   string
	}{
		"unknown":              {map[string]string{"payment_windw": "20m"}, "setting_unknown"},
		"not of the house":     {map[string]string{"database_url": "sqlite:other.db"}, "setting_unknown"},
		"fixed":                {map[string]string{"ticket_warn": "6m"}, "setting_fixed"},
		"no duration":          {map[string]string{"payment_window": "soon"}, "setting_invalid"},
		"too long a window":    {map[string]string{"payment_window": "25h"}, "setting_invalid"},
		"half an account":      {map[string]string{"vnpay_tmn_code": "QUANHOA1"}, "setting_invalid"},
		"no URL":               {map[string]string{"public_url": "quán hoa"}, "setting_invalid"},
		"trial on the network": {map[string]string{"public_url": "https://hoa.example"}, "setting_invalid"},
		"no sender":            {map[string]string{"mail_from": "Hoa"}, "setting_invalid"},
		"too long":             {map[string]string{"mail_from": strings.Repeat("x", settings.MaxValue+1)}, "setting_invalid"},
	} {
		c.values["ticket_late"] = "30m"
		err := change(t, k, c.values)
		if f := (*fault.Error)(nil); !errors.As(err, &f) || f.Code != c.code {
			t.Errorf("%s: error %v, want code %s", name, err, c.code)
		}
		for _, secret := range []string{"SECRET"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error contains a secret", name)
			}
		}
	}
	if err := change(t, k, map[string]string{"ticket_warn": "6m"}); !strings.Contains(fault.PublicText(err), "ticket_warn") {
		t.Errorf("change to a fixed setting: error %v, want its name", err)
	}
	if s := settingOf(t, k, "ticket_late"); s.Source != settings.FromDefault || s.Value != "20m0s" {
		t.Errorf("ticket_late after a refused change = %+v, want the default", s)
	}
	if s := settingOf(t, k, "ticket_warn"); s.Source != settings.FromProcess || !s.Fixed || s.Value != "5m0s" {
		t.Errorf("ticket_warn = %+v, want that of the environment", s)
	}
}

// In a process that has it, the environment takes precedence over a stored value.
func TestSettings_environment_wins(t *testing.T) {
	db := sqldbtest.SQLite(t)
	testenv.NoError(t, change(t, coreWithGateways(t, db, nil), map[string]string{"payment_window": "20m"}))
	k := coreWithGateways(t, db, map[string]string{"COMANDA_PAYMENT_WINDOW": "7m"})
	if w := k.Orders.Settings().PaymentWindow; w != 7*time.Minute {
		t.Errorf("window = %v, want 7m of the environment", w)
	}
}

// Without the settings key, only the settings encrypted with it have no value, until the key is restored.
func TestSettings_lost_key(t *testing.T) {
	db, folder := sqldbtest.SQLite(t), t.TempDir()
	withKey := coreWithGateways(t, db, map[string]string{"COMANDA_DATA_DIR": folder})
	values := map[string]string{"payment_window": "20m"}
	maps.Copy(values, vnpayAccount)
	testenv.NoError(t, change(t, withKey, values))
	file := filepath.Join(folder, "settings.key")
	key := testenv.Must(os.ReadFile(file))(t)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v, want mode 0600", info, err)
	}
	rows := testenv.Must(withKey.Settings.Store.Rows(t.Context()))(t)
	for _, r := range rows {
		if strings.Contains(r.Value, "SECRET") || r.Encrypted != (r.Name == "vnpay_hash_secret") {
			t.Errorf("stored row = %+v, want only the secret, encrypted", r)
		}
	}
	if s := settingOf(t, withKey, "vnpay_hash_secret"); s.Value != "" || !s.Set {
		t.Errorf("secret = %+v, want it set and not shown", s)
	}
	otherFolder := t.TempDir() // another machine, without the key
	k := coreWithGateways(t, db, map[string]string{"COMANDA_DATA_DIR": otherFolder})
	o := k.Orders.Settings()
	if o.PaymentWindow != 20*time.Minute || o.Methods.Check(payment.VNPay) == nil || k.checkSettings(t.Context()) == nil {
		t.Errorf("settings without the key = %+v, check %v, want VNPay off and a failing check", o, k.checkSettings(t.Context()))
	}
	if s := settingOf(t, k, "vnpay_hash_secret"); !s.Unreadable {
		t.Errorf("secret without the key = %+v, want it unreadable", s)
	}
	testenv.NoError(t, os.WriteFile(filepath.Join(otherFolder, "settings.key"), key, 0o600))
	testenv.NoError(t, k.syncSettings(t.Context()))
	if o := k.Orders.Settings(); o.Methods.Check(payment.VNPay) != nil || k.checkSettings(t.Context()) != nil {
		t.Errorf("settings with the key again = %+v, check %v, want VNPay on", o, k.checkSettings(t.Context()))
	}
}

// The doctor shows the stored settings, and reports those that no key can decrypt, as the server's check does.
func TestDoctor_settings(t *testing.T) {
	dir := t.TempDir()
	address := "sqlite:" + filepath.Join(dir, "comanda.db")
	sqldbtest.WriteSQLite(t, filepath.Join(dir, "comanda.db"))
	db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: address}))(t)
	t.Cleanup(db.Close)
	k := coreWithGateways(t, db, map[string]string{"COMANDA_DATA_DIR": dir, "COMANDA_DATABASE_URL": address})
	values := map[string]string{"payment_window": "20m"}
	maps.Copy(values, vnpayAccount)
	testenv.NoError(t, change(t, k, values))
	diagnosis := func() (window string, finding system.Finding) {
		d := Diagnose(t.Context(), k.Config)
		shown := slices.IndexFunc(d.Settings, func(s Shown) bool { return s.Name == "COMANDA_PAYMENT_WINDOW" })
		found := slices.IndexFunc(d.Findings, func(f system.Finding) bool { return f.What == "settings" })
		if shown < 0 || found < 0 {
			t.Fatalf("diagnosis = %+v, want the payment window and a finding about the settings", d)
		}
		return d.Settings[shown].Value, d.Findings[found]
	}
	if window, f := diagnosis(); window != "20m0s" || !f.OK {
		t.Errorf("payment window = %s, finding %+v; want the stored 20m0s and no fault", window, f)
	}
	testenv.NoError(t, os.Remove(filepath.Join(dir, "settings.key")))
	if window, f := diagnosis(); window != "20m0s" || f.OK || !strings.Contains(f.Detail, "vnpay_hash_secret") {
		t.Errorf("payment window = %s, finding %+v; want 20m0s and a fault that names the secret", window, f)
	}
}

// With RabbitMQ a changed payment window takes effect at once, and the setting reports that the timer queue changes
// with the next start. A process that starts with the stored value needs no restart.
func TestSettings_needs_restart(t *testing.T) {
	db := sqldbtest.SQLite(t)
	broker := map[string]string{"COMANDA_AMQP_URL": "amqp://127.0.0.1:1"}
	k := coreWithGateways(t, db, broker)
	for _, c := range []struct {
		window string
		want   bool
	}{{"20m", true}, {"15m", false}, {"20m", true}} {
		testenv.NoError(t, change(t, k, map[string]string{"payment_window": c.window, "ticket_late": "25m"}))
		if s := settingOf(t, k, "payment_window"); s.Restart != c.want {
			t.Errorf("payment_window of %s = %+v, want restart %t", c.window, s, c.want)
		}
		if s := settingOf(t, k, "ticket_late"); s.Restart {
			t.Errorf("ticket_late = %+v, want no restart", s)
		}
	}
	if w := k.Orders.Settings().PaymentWindow; w != 20*time.Minute {
		t.Errorf("window in force = %v, want 20m", w)
	}
	again := coreWithGateways(t, db, broker)
	if s := settingOf(t, again, "payment_window"); s.Restart {
		t.Errorf("payment_window after a restart = %+v, want no restart", s)
	}
	if w := again.house.Load().config.rabbit(nil, nil, nil).PaymentWindow; w != 20*time.Minute {
		t.Errorf("window of the timer queue = %v, want 20m", w)
	}
	without := coreWithGateways(t, db, nil)
	testenv.NoError(t, change(t, without, map[string]string{"payment_window": "30m"}))
	if s := settingOf(t, without, "payment_window"); s.Restart {
		t.Errorf("payment_window without RabbitMQ = %+v, want no restart", s)
	}
}
