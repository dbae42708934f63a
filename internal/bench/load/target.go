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

// ErrNotLoopback refuses a server that is not on this machine (L1).
var ErrNotLoopback = errors.New("load: only an http address of this machine is measured, such as http://127.0.0.1:8080")

const dialTimeout = 2 * time.Second

// Target is a server on this machine.
type Target struct{ addr string }

// ParseTarget reads a base URL. Anything but plain HTTP on a loopback address is ErrNotLoopback.
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

// URL is the base URL.
func (t Target) URL() string { return "http://" + t.addr }

// dial connects, and looks once more where it has arrived: localhost is only a name.
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

// Client is an ordinary client for what is asked once, before a measurement. It asks nobody but the target, whatever
// the URL says, and follows no redirect.
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

// Request builds the bytes of a request. Headers are names and values in turn; a body is JSON.
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
