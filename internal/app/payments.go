package app

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountsql"
	"comanda/internal/httpapi"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/payment"
	"comanda/internal/payment/linepay"
	"comanda/internal/payment/vnpay"
	"comanda/internal/sim/linepaysim"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
)

// Paths of the simulators.
const (
	vnpaySimPath   = "/sim/vnpay"
	linePaySimPath = "/sim/linepay"
)

// merchants are the clients of the gateways that are in use, real or simulated. A method whose client is nil is not
// offered.
type merchants struct {
	vnpay   *vnpay.Merchant
	linePay *linepay.Merchant
}

// methods returns the ways to pay besides cash at the counter.
func (m merchants) methods(sandbox bool) []payment.Method {
	var all []payment.Method
	if sandbox {
		all = append(all, payment.Sandbox)
	}
	if m.vnpay != nil {
		all = append(all, payment.VNPay)
	}
	if m.linePay != nil {
		all = append(all, payment.LINEPay)
	}
	return all
}

// byMethod returns the clients by method. The sandbox has none: its callback is a route.
func (m merchants) byMethod() map[payment.Method]payment.Gateway {
	all := map[payment.Method]payment.Gateway{}
	if m.vnpay != nil {
		all[payment.VNPay] = m.vnpay
	}
	if m.linePay != nil {
		all[payment.LINEPay] = m.linePay
	}
	return all
}

// gateways creates the clients of payment gateways. It also owns the simulators, which replace gateways without an
// account.
type gateways struct {
	client     *http.Client
	now        func() time.Time
	simVNPay   vnpay.Config // zero without simulators
	simLINEPay linepay.Config
	key        account.Key             // the simulators' secrets are derived from it
	pages      map[string]http.Handler // pages of simulators, by path
	close      []func()
}

// openGateways starts the simulators, if they are on. Neither it nor merchants calls a gateway, so an unreachable
// gateway does not keep the server from starting.
func openGateways(ctx context.Context, c Config, db *sqldb.DB) (_ *gateways, err error) {
	// Each call sets its own time-out.
	t := &gateways{client: &http.Client{}, now: db.Now, pages: map[string]http.Handler{}}
	if !c.Simulators {
		return t, nil
	}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	// The keys are read here, because NewCore reads them later.
	keys, err := accountsql.Keys(ctx, db)
	if err != nil {
		return nil, err
	}
	t.key = keys.Token
	if t.simVNPay, err = t.simulateVNPay(c, db.Now); err != nil {
		return nil, err
	}
	t.simLINEPay, err = t.simulateLINEPay(c, db.Now)
	return t, err
}

// merchants returns the clients of the accounts in a configuration, and of the simulators for gateways without an
// account.
func (t *gateways) merchants(c Config) (m merchants, err error) {
	if t.client == nil { // a command: it takes no payments
		return m, nil
	}
	v, l := c.VNPay, c.LINEPay
	if v.TmnCode == "" {
		v = t.simVNPay
	}
	if l.ChannelID == "" {
		l = t.simLINEPay
	}
	if v.TmnCode != "" {
		if m.vnpay, err = vnpay.New(v, t.client, t.now); err != nil {
			return merchants{}, fmt.Errorf("configuration: COMANDA_VNPAY_*: %w", err)
		}
	}
	if l.ChannelID != "" {
		if m.linePay, err = linepay.New(l, t.client, linepay.Nonce); err != nil {
			return merchants{}, fmt.Errorf("configuration: COMANDA_LINEPAY_*: %w", err)
		}
	}
	return m, nil
}

// validatePayments also refuses gateways that are configured only in part. A merchant code without its secret would
// offer a method that fails for every guest.
func (c Config) validatePayments() error {
	var errs []error
	if c.VNPay.TmnCode != "" || c.VNPay.HashSecret != "" {
		errs = append(errs, c.VNPay.Validate())
	}
	if c.LINEPay.ChannelID != "" || c.LINEPay.ChannelSecret != "" {
		errs = append(errs, c.LINEPay.Validate())
	}
	return errors.Join(errs...)
}

// simulateVNPay mounts a simulator of VNPay. Like the real one, it notifies the server over HTTP.
func (t *gateways) simulateVNPay(c Config, now func() time.Time) (vnpay.Config, error) {
	code := "COMANDA1"
	secret, err := simulatorSecret(t.key, string(payment.VNPay))
	if err != nil {
		return vnpay.Config{}, err
	}
	sim, err := vnpaysim.New(vnpaysim.Options{
		TmnCode: code, HashSecret: secret, IPN: c.PublicURL + "/payment/vnpay/ipn", Now: now,
	})
	if err != nil {
		return vnpay.Config{}, err
	}
	t.mount(vnpaySimPath, sim, sim.Close)
	base := c.PublicURL + vnpaySimPath
	return vnpay.Config{
		TmnCode: code, HashSecret: telemetry.Secret(secret), PayURL: base + vnpaysim.PayPath, APIURL: base + vnpaysim.APIPath,
	}, nil
}

// simulateLINEPay mounts a simulator of LINE Pay. The server calls it over its own public URL, as it would call the
// real one.
func (t *gateways) simulateLINEPay(c Config, now func() time.Time) (linepay.Config, error) {
	id := "1234567890"
	secret, err := simulatorSecret(t.key, string(payment.LINEPay))
	if err != nil {
		return linepay.Config{}, err
	}
	base := c.PublicURL + linePaySimPath
	sim, err := linepaysim.New(linepaysim.Options{ChannelID: id, ChannelSecret: secret, Base: base, Now: now})
	if err != nil {
		return linepay.Config{}, err
	}
	t.mount(linePaySimPath, sim, sim.Close)
	return linepay.Config{ChannelID: id, ChannelSecret: telemetry.Secret(secret), Host: base}, nil
}

// simulatorSecret returns the secret that an installation shares with its simulator of a gateway. It is the same after
// every start, so that a page opened before a restart still has a valid signature.
func simulatorSecret(key account.Key, gateway string) (string, error) {
	secret, err := hkdf.Key(sha256.New, key, nil, "comanda simulator "+gateway, account.KeyBytes)
	return hex.EncodeToString(secret), err
}

// mount adds a simulator's pages, and the function that Close calls to stop it.
func (t *gateways) mount(path string, h http.Handler, end func()) {
	t.pages[path] = http.StripPrefix(path, h)
	t.close = append(t.close, end)
}

// Close closes the simulators.
func (t *gateways) Close() {
	for _, end := range t.close {
		end()
	}
}

// register adds the routes of the gateways and of the simulators.
func (t *gateways) register(a *httpapi.API, k *Core) {
	g := orderinghttp.Gateways{
		OrderPage: appPage("/app/orders/"), MemberPage: appPage("/shop/orders/"),
		VNPay: func() (orderinghttp.VNPay, bool) {
			m := k.house.Load().merchants.vnpay
			return vnpayCalls{m}, m != nil
		},
		LINEPay: func() (orderinghttp.LINEPay, bool) {
			return linePayReturns{}, k.house.Load().merchants.linePay != nil
		},
	}
	orderinghttp.RegisterGateways(a, k.Orders, g)
	for path, h := range t.pages {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
			a.Handle(httpapi.Route{Pattern: method + " " + path + "/{path...}", Policy: httpapi.Gateway, Handler: h})
		}
	}
}

// vnpayCalls implements orderinghttp.VNPay.
type vnpayCalls struct{ *vnpay.Merchant }

// Read implements orderinghttp.VNPay.
func (v vnpayCalls) Read(rawQuery string) (string, payment.Report, error) {
	n, err := v.Merchant.Read(rawQuery)
	return n.AttemptID, n.Report, err
}

// Message implements orderinghttp.VNPay.
func (vnpayCalls) Message(code string) string { return vnpay.ReplyFor(code).Message }

// linePayReturns implements orderinghttp.LINEPay.
type linePayReturns struct{}

// Read implements orderinghttp.LINEPay.
func (linePayReturns) Read(rawQuery string) (ref, transaction string, err error) {
	r, err := linepay.Read(rawQuery)
	return r.AttemptID, r.TransactionID, err
}

// measurePayments counts payment attempts that need attention. The states are listed, so that a state without attempts
// is exported as 0.
func (k *Core) measurePayments(ctx context.Context) error {
	stuck, err := k.Ledger.Stuck(ctx)
	if err != nil {
		return err
	}
	for _, s := range []payment.State{payment.Review, payment.Unknown, payment.Confirming} {
		k.Metrics.stuck.WithLabelValues(string(s)).Set(float64(stuck[s]))
	}
	return nil
}
