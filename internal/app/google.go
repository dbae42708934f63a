package app

import (
	"errors"
	"net/url"

	"comanda/internal/account"
	"comanda/internal/account/accountoidc"
	"comanda/internal/telemetry"
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
		return errors.New("configuration: set COMANDA_GOOGLE_CLIENT_ID and COMANDA_GOOGLE_CLIENT_SECRET together")
	}
	u, err := url.Parse(c.Issuer)
	if c.ClientID != "" && (err != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
		return errors.New("configuration: COMANDA_GOOGLE_ISSUER is not an https:// URL")
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
