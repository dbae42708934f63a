package orderinghttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// network connects browsers and servers in a test.
type network interface {
	// listen reserves an address and returns it with a function that starts to serve a handler there.
	listen(t *testing.T) (url string, serve func(http.Handler))
	// client returns a client that follows redirects, like a browser without cookies.
	client() *http.Client
}

// sockets is the machine's loopback network. It leaves no connection open.
type sockets struct{}

func (*sockets) listen(t *testing.T) (url string, serve func(http.Handler)) {
	s := httptest.NewUnstartedServer(nil)
	t.Cleanup(s.Close)
	return "http://" + s.Listener.Addr().String(), func(h http.Handler) {
		s.Config.Handler = h
		s.Start()
	}
}

func (*sockets) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
}

// memoryNetwork is a network within the process. Tests with many thousands of requests use it.
type memoryNetwork struct {
	mu      sync.Mutex
	servers map[string]http.Handler
}

func (w *memoryNetwork) listen(*testing.T) (url string, serve func(http.Handler)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.servers == nil {
		w.servers = map[string]http.Handler{}
	}
	host := fmt.Sprint("127.0.0.1:", len(w.servers)+1)
	w.servers[host] = http.NotFoundHandler()
	return "http://" + host, func(h http.Handler) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.servers[host] = h
	}
}

func (w *memoryNetwork) client() *http.Client { return &http.Client{Transport: w} }

// RoundTrip implements http.RoundTripper. A handler that panics with http.ErrAbortHandler results in a connection
// error.
func (w *memoryNetwork) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	w.mu.Lock()
	server := w.servers[r.URL.Host]
	w.mu.Unlock()
	defer func() {
		if p := recover(); p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			resp, err = nil, errors.New("connection reset by peer")
		} else if p != nil {
			panic(p)
		}
	}()
	in := r.Clone(r.Context())
	in.RequestURI, in.Host, in.RemoteAddr = r.URL.RequestURI(), r.URL.Host, "127.0.0.1:1"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	server.ServeHTTP(rec, in)
	return rec.Result(), nil
}
