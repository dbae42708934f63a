package gatewayhttp

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

func TestCheckURL(t *testing.T) {
	for address, want := range map[string]error{
		"https://pay.example/api": nil, "http://localhost:8080/x": nil, "http://127.0.0.1": nil, "http://[::1]:9/": nil,
		"http://pay.example": ErrTLS, "http://10.0.0.1": ErrTLS,
		"": ErrURL, "pay.example": ErrURL, "ftp://pay.example": ErrURL, "https://:443": ErrURL, "https://a:b@pay.example": ErrURL,
		"https://pay.example?x": ErrURL, "https://pay.example?": ErrURL, "https://pay.example#x": ErrURL,
	} {
		if err := CheckURL(address); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", address, err, want)
		}
	}
}

func TestCheckPage(t *testing.T) {
	for address, want := range map[string]error{
		"https://pay.example/page": nil, "http://localhost:8080/x": nil, "http://127.0.0.1": nil, "http://[::1]:9/": nil,
		"http://192.168.1.20:8080/sim": nil, "http://10.0.0.1": nil, "http://[fd00::1]": nil, "http://169.254.1.1": nil,
		"http://pay.example": ErrPageTLS, "http://203.0.113.7": ErrPageTLS, "http://[2001:db8::1]": ErrPageTLS,
		"": ErrURL, "ftp://pay.example": ErrURL, "https://a:b@pay.example": ErrURL, "https://pay.example?x": ErrURL,
	} {
		if err := CheckPage(address); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", address, err, want)
		}
	}
}

func TestStorable(t *testing.T) {
	for in, want := range map[string]string{
		"phở": "phở", "a\x00b": "a\uFFFDb", "a\xff": "a\uFFFD", "1234567": "123456", "12345ở": "12345", "\x00\x00\x00": "\uFFFD\uFFFD",
	} {
		if got := Storable(in, 6); got != want {
			t.Errorf("%q is stored as %q, want %q", in, got, want)
		}
	}
}

// A gateway can neither set cookies nor redirect a signed request, and its response is limited.
func TestClient_Do(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		body   string
		fails  bool
	}{
		"ok": {func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Header.Get("Cookie") + "{}")) }, "{}", false},
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			"<a href=\"/elsewhere\">Found</a>.\n\n", true},
		"error": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusBadGateway) }, "down\n", true},
		"too long": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, MaxBody+5)) },
			strings.Repeat("\x00", MaxBody+1), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.answer)
			defer s.Close()
			r := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody))(t)
			body, err := NewClient(s.Client()).Do(r)
			if string(body) != c.body || (err != nil) != c.fails {
				t.Errorf("Do = %.80q, %v, want %.80q and failure %t", body, err, c.body, c.fails)
			}
		})
	}
}
