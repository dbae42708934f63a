// Package accountoidc signs people in at Google by OpenID Connect: authorization code flow with PKCE.
package accountoidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"comanda/internal/account"
)

const (
	// timeout bounds each exchange with Google. A person waits for it.
	timeout = 5 * time.Second
	// retryAfter is the pause after a failed discovery, so that a flood of sign-ins does not become one of requests.
	retryAfter = 5 * time.Second
)

// Config is the client that the operator has registered at Google.
type Config struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	// RedirectURL returns the page to which Google returns. It is registered at Google too.
	RedirectURL func() string
	Now         func() time.Time
}

// Provider is account.GoogleProvider. It reads the issuer's configuration at the first sign-in and not at the start, so that
// no process waits for Google. It is safe for concurrent use.
type Provider struct {
	config Config
	client *http.Client

	mu     sync.Mutex // held for a moment only, never while the issuer is asked
	latest *discovery // nil before the first
}

// discovery is one request of the issuer's configuration. Its callers share it.
type discovery struct {
	done     chan struct{} // closed at its end; the other fields are set by then
	found    *oidc.Provider
	err      error
	failedAt time.Time // its end
}

// New returns a provider. It sends nothing.
func New(c Config) *Provider {
	return &Provider{config: c, client: &http.Client{Timeout: timeout, Transport: http.DefaultTransport}}
}

// discover returns the issuer's configuration. A caller waits until its context or the discovery ends, and the client limits
// the discovery.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	d := p.discovery()
	select {
	case <-d.done:
		return d.found, d.err
	case <-ctx.Done():
		return nil, account.ErrGoogleUnavailable.Because(ctx.Err())
	}
}

// discovery returns the latest discovery, or starts one if there is none or the latest failed a while ago. It continues
// without the caller that started it, because others wait for it.
func (p *Provider) discovery() *discovery {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.latest; d != nil && !p.failedBefore(d) {
		return d
	}
	d := &discovery{done: make(chan struct{})}
	p.latest = d
	go func() {
		defer close(d.done)
		// The key set keeps this context, which therefore never ends.
		found, err := oidc.NewProvider(oidc.ClientContext(context.Background(), p.client), p.config.Issuer)
		if d.found = found; err != nil {
			d.found, d.err, d.failedAt = nil, account.ErrGoogleUnavailable.Because(err), p.config.Now()
		}
	}()
	return d
}

// failedBefore reports whether a discovery failed at least retryAfter ago. The time counts from its end: one that fails by
// its timeout has taken as long already.
func (p *Provider) failedBefore(d *discovery) bool {
	select {
	case <-d.done:
		return d.err != nil && !p.config.Now().Before(d.failedAt.Add(retryAfter))
	default:
		return false
	}
}

func (p *Provider) oauth(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, Endpoint: found.Endpoint(),
		RedirectURL: p.config.RedirectURL(), Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// AuthURL implements account.GoogleProvider.
func (p *Provider) AuthURL(ctx context.Context, f account.GoogleFlow) (string, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.oauth(found).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Exchange implements account.GoogleProvider.
func (p *Provider) Exchange(ctx context.Context, f account.GoogleFlow, code string) (id account.GoogleIdentity, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return id, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), timeout)
	defer cancel()
	token, err := p.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		if _, refused := errors.AsType[*oauth2.RetrieveError](err); refused {
			// The cause is left out: it quotes the response.
			return id, account.ErrGoogleRefused
		}
		return id, account.ErrGoogleUnavailable.Because(err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return id, account.ErrGoogleRefused
	}
	verified, err := found.Verifier(&oidc.Config{ClientID: p.config.ClientID, Now: p.config.Now}).Verify(ctx, raw)
	if err != nil {
		return id, account.ErrGoogleRefused.Because(err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(f.Nonce)) != 1 {
		return id, account.ErrGoogleRefused.Because(errors.New("accountoidc: the nonce is another one"))
	}
	var claims struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"` //nolint:tagliatelle // names of OpenID Connect
		Hosted   string `json:"hd"`
		Given    string `json:"given_name"`  //nolint:tagliatelle // as above
		Family   string `json:"family_name"` //nolint:tagliatelle // as above
	}
	if err := verified.Claims(&claims); err != nil || verified.Subject == "" || len(verified.Subject) > 255 {
		return id, account.ErrGoogleRefused.Because(fmt.Errorf("accountoidc: the claims are not complete: %w", err))
	}
	return account.GoogleIdentity{
		Subject: verified.Subject, Email: claims.Email, Verified: claims.Verified, Hosted: claims.Hosted != "",
		FirstName: claims.Given, Surname: claims.Family,
	}, nil
}
