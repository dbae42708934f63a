package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountoidc"
	"comanda/internal/account/accountsql"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
	"comanda/internal/worker"
)

// googlePath is the page of the guest app to which Google returns.
const googlePath = "/shop/google"

// googleConfig is the operator's client at Google.
type googleConfig struct {
	ClientID     string
	ClientSecret telemetry.Secret
	Issuer       string
}

// validate returns an error if the client is incomplete, or the issuer cannot be trusted.
func (c googleConfig) validate() error {
	if (c.ClientID == "") != (c.ClientSecret == "") {
		return errors.New("set COMANDA_GOOGLE_CLIENT_ID and COMANDA_GOOGLE_CLIENT_SECRET together")
	}
	u, err := url.Parse(c.Issuer)
	if c.ClientID != "" && (err != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
		return errors.New("COMANDA_GOOGLE_ISSUER is not an https:// URL")
	}
	return nil
}

// google returns the sign-in with Google. It is off without a client. Nothing is sent to Google before the first sign-in.
func (k *Core) google() *account.Google {
	g := &account.Google{Store: k.AccountStore, Accounts: k.Accounts}
	if c := k.Config.Google; c.ClientID != "" {
		g.Provider = accountoidc.New(accountoidc.Config{
			Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: string(c.ClientSecret), Now: k.DB.Now,
			RedirectURL: func() string { return k.house.Load().config.PublicURL + googlePath },
		})
	}
	return g
}

// trustConfig is the restaurant's rules for trust scores, as settings.
type trustConfig struct{ Expired, NoShow, Chargeback, Days, Prepay int }

// validate returns an error if a value is out of range.
func (c trustConfig) validate() error {
	var errs []error
	for _, v := range []struct {
		name               string
		value, least, most int
	}{
		{"trust_expired", c.Expired, 0, account.FullTrust},
		{"trust_no_show", c.NoShow, 0, account.FullTrust},
		{"trust_chargeback", c.Chargeback, 0, account.FullTrust},
		{"trust_days", c.Days, 1, 730},
		{"trust_prepay", c.Prepay, 0, account.FullTrust},
	} {
		if v.value < v.least || v.value > v.most {
			errs = append(errs, fault.InField(v.name, "number_range",
				fmt.Errorf("must be from %d to %d", v.least, v.most)))
		}
	}
	return errors.Join(errs...)
}

// trust returns the rules in the form of package account.
func (c Config) trust() account.TrustRules {
	t := c.Trust
	return account.TrustRules{
		ExpiredOrder: t.Expired, NoShow: t.NoShow, Chargeback: t.Chargeback,
		Period: time.Duration(t.Days) * 24 * time.Hour, PrepayBelow: t.Prepay,
	}
}

// trustRules returns the current rules.
func (k *Core) trustRules() account.TrustRules { return k.house.Load().config.trust() }

// expiryFlags connects expired orders with the flags of their members.
func expiryFlags(db *sqldb.DB, rules func(context.Context) (account.TrustRules, error)) orderingsql.ExpiryFlags {
	return orderingsql.ExpiryFlags{
		Save: func(ctx context.Context, tx sqldb.Tx, expired, others map[string]int64) error {
			r, err := rules(ctx)
			if err != nil {
				return err
			}
			return accountsql.FollowExpiredOrders(ctx, tx, expired, others, r, db.Now())
		},
	}
}

// unpaidOfMember is ordering.Service.UnpaidOfMember. It reads one row by its primary key, and only if the rule is on.
func (k *Core) unpaidOfMember(ctx context.Context, user int64) (int, error) {
	below := k.trustRules().PrepayBelow
	if below == 0 {
		return 0, nil
	}
	score, err := accountsql.NewUserAdmin(k.DB).Score(ctx, user)
	switch {
	case errors.Is(err, authz.ErrUser): // deleted meanwhile; the order is decided by other rules
		return 0, nil
	case err != nil || score >= below:
		return 0, err
	}
	return 1, nil
}

// trustLoop computes the scores again, because flags end with time and rules change.
func (k *Core) trustLoop() worker.Loop {
	users := accountsql.NewUserAdmin(k.DB)
	return whenReliable(k.DB.Clock(), worker.Loop{
		Name: "trust", Every: time.Hour, Timeout: 10 * time.Minute,
		Run: func(ctx context.Context) error { return users.RefreshScores(ctx, k.trustRules(), k.DB.Now()) },
	})
}
