package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"comanda/internal/telemetry"
)

// minToken is the least length of a service token on a machine of one's own. Where strangers can reach the server, the
// composition root asks for 128 bits.
const minToken = 8

// Config is what an operator may set. Default gives values for every field.
type Config struct {
	Listen  string // host:port; port 0 takes a free one
	Title   string // of the OpenAPI document
	Version string // of the OpenAPI document

	// ServiceToken opens staff routes to whoever sends it as a bearer. Without one they answer 401 to everybody.
	ServiceToken telemetry.Secret

	// TrustedOrigins, such as "https://order.example.com", may send state-changing requests although the Host header
	// differs: the public origins of a proxy that rewrites it. No other origin than the server's own may.
	TrustedOrigins []string

	// TrustedProxies may say in X-Forwarded-For whom they were called by. Without any, whoever connects is the client.
	TrustedProxies []netip.Prefix

	HSTS      bool // tell browsers to come back by TLS only; set when the public address is https
	AccessLog bool // one record for each request; failures are logged in any case

	ReadHeaderTimeout time.Duration // for the request line and the headers
	ReadTimeout       time.Duration // for the whole request
	WriteTimeout      time.Duration // from the end of the headers to the end of the answer
	IdleTimeout       time.Duration // of a kept connection between requests
	RequestTimeout    time.Duration // the deadline of a handler's context; zero means none
	DrainDelay        time.Duration // between failing readiness and closing the listener, for a balancer to notice

	StreamBeat       time.Duration // of a stream that has nothing to say: proxies close what is silent for a minute or so
	StreamLook       time.Duration // how often streams look when nobody wakes them, at most; zero: as they like
	MaxStreams       int           // server-sent event streams at a time; more are answered 503 overloaded
	MaxStreamsPerKey int           // of one phone or account; more are answered 429 too_many_streams

	MaxInFlight    int64 // requests at a time; more are answered 503 overloaded at once
	MaxHeaderBytes int   // net/http reads 4 KB more before it refuses
	MaxBodyBytes   int64 // where a route sets nothing else
	MaxURLBytes    int   // path and query as sent
}

// Default are the values that the documentation promises.
func Default() Config {
	return Config{
		Listen: "127.0.0.1:8080", Title: "Comanda", Version: "devel", AccessLog: true,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 60 * time.Second, RequestTimeout: 8 * time.Second,
		StreamBeat: 15 * time.Second, MaxStreams: 5000, MaxStreamsPerKey: 5, MaxInFlight: 2048,
		MaxHeaderBytes: 16 << 10, MaxBodyBytes: 64 << 10, MaxURLBytes: 2 << 10,
	}
}

// Validate tells everything that is wrong.
func (c Config) Validate() error {
	var errs []error
	if n := len(c.ServiceToken); n > 0 && n < minToken {
		errs = append(errs, fmt.Errorf("httpapi: the service token has %d characters, at least %d are needed", n, minToken))
	}
	for name, d := range map[string]time.Duration{
		"read header timeout": c.ReadHeaderTimeout, "read timeout": c.ReadTimeout, "write timeout": c.WriteTimeout,
		"idle timeout": c.IdleTimeout,
	} {
		if d <= 0 { // zero would mean no limit at all to net/http
			errs = append(errs, fmt.Errorf("httpapi: the %s must be positive", name))
		}
	}
	if c.RequestTimeout >= c.ReadTimeout { // net/http ends a context then as if the client had gone
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

// crossOrigin guards against requests that another site makes a browser send.
func (c Config) crossOrigin() (*http.CrossOriginProtection, error) {
	p := http.NewCrossOriginProtection()
	for _, origin := range c.TrustedOrigins {
		if err := p.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("httpapi: trusted origin: %w", err)
		}
	}
	return p, nil
}
