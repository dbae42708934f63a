package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ErrNotLoopback reports a server that is not on this machine (L1).
var ErrNotLoopback = errors.New("load: only an http address of this machine is measured, such as http://127.0.0.1:8080")

// dialTimeout is ample on one machine: only a full accept queue delays a connection there.
const dialTimeout = 2 * time.Second

// Target is a server on this machine. Its only field is unexported, so every Target has passed ParseTarget or is zero.
type Target struct{ addr string }

// ParseTarget parses a base URL. It returns ErrNotLoopback for anything but plain HTTP on a loopback address. A path is
// refused, because requests have their own.
func ParseTarget(base string) (Target, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return Target{}, fmt.Errorf("%w; not %q", ErrNotLoopback, base)
	}
	host, port := u.Hostname(), u.Port()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return Target{}, fmt.Errorf("%w; not %q", ErrNotLoopback, base)
	}
	if port == "" {
		port = "80"
	}
	return Target{net.JoinHostPort(host, port)}, nil
}

// URL returns the base URL.
func (t Target) URL() string { return "http://" + t.addr }

// dial connects, and verifies the address of the connection, because localhost is only a name.
func (t Target) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return nil, err
	}
	if a, ok := c.RemoteAddr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		_ = c.Close()
		return nil, ErrNotLoopback
	}
	return c, nil
}

// Client returns an HTTP client for single requests before a measurement. It connects only to the target, whatever the
// URL, and follows no redirects. One connection is enough for requests that follow each other.
func (t Target) Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return t.dial(ctx) },
			MaxConnsPerHost: 1,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Request returns the bytes of a request. Headers are alternating names and values; a body is JSON. Values are written
// as they are, so they must not contain line ends. The caller may use the bytes for many requests.
func (t Target) Request(method, path, body string, headers ...string) []byte {
	var b strings.Builder
	b.WriteString(method + " " + path + " HTTP/1.1\r\nHost: " + t.addr + "\r\n")
	for i := 0; i+1 < len(headers); i += 2 {
		b.WriteString(headers[i] + ": " + headers[i+1] + "\r\n")
	}
	if body != "" {
		b.WriteString("Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}
