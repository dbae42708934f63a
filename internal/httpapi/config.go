package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"comanda/internal/telemetry"
)

// minToken is the minimum length of a service token on a local machine. If the server is publicly reachable, package
// app requires 128 bits.
const minToken = 8

// Config are the server's settings. Default sets every field.
type Config struct {
	Listen  string // host:port; port 0 picks a free port
	Title   string // in the OpenAPI document
	Version string // in the OpenAPI document

	// ServiceToken is a bearer token that grants access to staff routes. Without it, requests need an account.
	ServiceToken telemetry.Secret

	// TrustedOrigins, such as "https://order.example.com", are further origins that may send state-changing requests:
	// the public origins of a proxy that rewrites the Host header.
	TrustedOrigins []string

	// TrustedProxies may set X-Forwarded-For. Without any, the address of the connection is the client's.
	TrustedProxies []netip.Prefix

	HSTS      bool // send Strict-Transport-Security; set if the public address is https
	AccessLog bool // log every request; failures are always logged

	ReadHeaderTimeout time.Duration // limit for the request line and the headers
	ReadTimeout       time.Duration // limit for the whole request
	WriteTimeout      time.Duration // limit from the end of the headers to the end of the response
	IdleTimeout       time.Duration // limit for an idle connection between requests
	RequestTimeout    time.Duration // deadline of a handler's context; zero means none
	DrainDelay        time.Duration // from failing readiness to closing the listener, for load balancers to notice

	StreamBeat       time.Duration // heartbeat of an idle stream; proxies close silent connections after a minute or so
	StreamLook       time.Duration // minimum poll interval of streams; zero leaves it to the stream
	MaxStreams       int           // server-sent event streams open at once; more get 503 overloaded
	MaxStreamsPerKey int           // per phone or account; more get 429 too_many_streams

	MaxInFlight    int64 // concurrent requests; more get 503 overloaded at once
	MaxHeaderBytes int   // net/http allows 4 KB more
	MaxBodyBytes   int64 // unless the route sets another limit
	MaxURLBytes    int   // path and query as sent
}

// Default returns the documented defaults.
func Default() Config {
	return Config{
		// By default the server does not listen on the network. WriteTimeout leaves a slow client 22 s after the
		// longest handler.
		Listen: "127.0.0.1:8080", Title: "Comanda", Version: "devel", AccessLog: true,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 60 * time.Second, RequestTimeout: 8 * time.Second,
		StreamBeat: 15 * time.Second, MaxStreams: 5000, MaxStreamsPerKey: 5, MaxInFlight: 2048,
		MaxHeaderBytes: 16 << 10, MaxBodyBytes: 64 << 10, MaxURLBytes: 2 << 10,
	}
}

// Validate returns all errors of the configuration.
func (c Config) Validate() error {
	var errs []error
	if n := len(c.ServiceToken); n > 0 && n < minToken {
		errs = append(errs, fmt.Errorf("httpapi: the service token has %d characters, at least %d are needed", n, minToken))
	}
	for name, d := range map[string]time.Duration{
		"read header timeout": c.ReadHeaderTimeout, "read timeout": c.ReadTimeout, "write timeout": c.WriteTimeout,
		"idle timeout": c.IdleTimeout,
	} {
		if d <= 0 { // zero would disable the limit in net/http
			errs = append(errs, fmt.Errorf("httpapi: the %s must be positive", name))
		}
	}
	if c.RequestTimeout >= c.ReadTimeout { // net/http would cancel the context as if the client had disconnected
		errs = append(errs, errors.New("httpapi: the request timeout must be shorter than the read timeout"))
	}
	if c.RequestTimeout < 0 || c.DrainDelay < 0 || c.StreamLook < 0 {
		errs = append(errs, errors.New("httpapi: request timeout, drain delay and looks of streams must not be negative"))
	}
	if c.MaxStreams <= 0 || c.MaxStreamsPerKey <= 0 || c.StreamBeat <= 0 {
		errs = append(errs, errors.New("httpapi: the limits of streams and their heartbeat must be positive"))
	}
	if c.MaxInFlight <= 0 || c.MaxHeaderBytes <= 0 || c.MaxBodyBytes <= 0 || c.MaxURLBytes <= 0 {
		errs = append(errs, errors.New("httpapi: the limits of requests, headers, bodies and URLs must be positive"))
	}
	_, err := c.crossOrigin()
	return errors.Join(append(errs, err)...)
}

// crossOrigin returns the protection against cross-site request forgery. Requests of the server's own origin and of
// programs other than browsers need no entry in TrustedOrigins.
func (c Config) crossOrigin() (*http.CrossOriginProtection, error) {
	p := http.NewCrossOriginProtection()
	for _, origin := range c.TrustedOrigins {
		if err := p.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("httpapi: trusted origin: %w", err)
		}
	}
	return p, nil
}
