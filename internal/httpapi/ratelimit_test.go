package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/testenv"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/limit"
)

// newLimited is a harness with limits whose clock stands still until a test moves it.
func newLimited(t *testing.T, more ...func(*API)) (*harness, *atomic.Int64) {
	t.Helper()
	now := &atomic.Int64{}
	now.Store(time.Now().UnixMilli())
	trustAll := func(c *Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	h := newHarness(t, trustAll, append(more, func(a *API) {
		a.s.SetLimiter(&limit.Limiter{Local: limit.NewMemory(), Now: func() time.Time { return time.UnixMilli(now.Load()) }})
	})...)
	return h, now
}

func (h *harness) from(client, token string) answer {
	h.t.Helper()
	headers := []string{"X-Forwarded-For", client}
	if token != "" {
		headers = append(headers, CustomerTokenHeader, token)
	}
	return h.send(http.MethodGet, "/orders/1", "", headers...)
}

// A phone may send 40 requests at once and then ten a second. Another phone of the same network has its own limit.
func TestLimit_token(t *testing.T) {
	h, now := newLimited(t)
	for i := range 40 {
		a := h.from("203.0.113.1", "a phone")
		if a.StatusCode != http.StatusOK || a.Header.Get("RateLimit") != fmt.Sprintf(`"api_token";r=%d;t=%d`, 39-i, (i+10)/10) {
			t.Fatalf("request %d: %d %q", i, a.StatusCode, a.Header.Get("RateLimit"))
		}
	}
	a := h.from("203.0.113.1", "a phone")
	p := a.problem(t)
	if a.StatusCode != http.StatusTooManyRequests || p["code"] != "rate_limited" || a.Header.Get("Retry-After") != "1" ||
		a.Header.Get("RateLimit-Policy") != `"api_token";q=40;w=4` || a.Header.Get("RateLimit") != `"api_token";r=0;t=4` {
		t.Errorf("status %d, problem %v, headers %v, want 429 rate_limited with RateLimit headers", a.StatusCode, p, a.Header)
	}
	testenv.Equal(t, http.StatusOK, h.from("203.0.113.1", "another").StatusCode)
	if n := h.metric("http_server_rejected_total", map[string]string{"reason": "rate_limited"}); n != 1 {
		t.Errorf("%v refusals are counted", n)
	}
	now.Add(100)
	testenv.Equal(t, http.StatusOK, h.from("203.0.113.1", "a phone").StatusCode)
}

// A network may send 400 requests at once, whatever tokens it makes up. Another network has its own limit; an IPv6 /64
// is one network.
func TestLimit_network(t *testing.T) {
	h, _ := newLimited(t)
	refused := 0
	for i := range 450 {
		a := h.from(fmt.Sprintf("2001:db8:1:2::%x", i), fmt.Sprint("token ", i))
		if a.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	testenv.Equal(t, 50, refused)
	testenv.Equal(t, http.StatusOK, h.from("2001:db8:1:3::1", "").StatusCode)
	for _, free := range []struct{ path, token string }{{"/livez", ""}, {"/readyz", ""}, {"/staff", serviceToken}} {
		a := h.send(http.MethodGet, free.path, "", "X-Forwarded-For", "2001:db8:1:2::9", "Authorization", "Bearer "+free.token)
		if a.StatusCode >= 400 || a.Header.Get("RateLimit") != "" {
			t.Errorf("%s is limited: %d %v", free.path, a.StatusCode, a.Header)
		}
	}
	a := h.send(http.MethodGet, "/staff", "", "X-Forwarded-For", "2001:db8:1:2::9", "Authorization", "Bearer guess")
	if a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a guess at the service token from a network that is limited: %d", a.StatusCode)
	}
}

// The headers show the limits that a handler applies itself. Reading a limit takes nothing from it.
func TestLimit_headers_of_a_handler(t *testing.T) {
	h, _ := newLimited(t, func(a *API) {
		register(a, huma.Operation{Method: http.MethodGet, Path: "/scan", OperationID: "scan"}, Public,
			func(ctx context.Context, _ *struct{}) (*struct{}, error) {
				if err := Peek(ctx, "qr_fail_ip", ClientNetwork(ctx)); err != nil {
					return nil, err
				}
				return nil, Allow(ctx, "order_guest", ClientAddress(ctx))
			})
	})
	for i := range 4 {
		a := h.send(http.MethodGet, "/scan", "", "X-Forwarded-For", "203.0.113.9")
		want := http.StatusNoContent
		if i == 3 {
			want = http.StatusTooManyRequests
		}
		if a.StatusCode != want || a.Header.Get("RateLimit-Policy") != `"order_guest";q=3;w=9` {
			t.Errorf("request %d: %d %v", i, a.StatusCode, a.Header)
		}
		if i == 3 && a.Header.Get("Retry-After") != "3" {
			t.Errorf("come again after %s", a.Header.Get("Retry-After"))
		}
	}
}

func TestTake_outside(t *testing.T) {
	for range 10 {
		if Allow(t.Context(), "order_guest", "a") != nil || Peek(t.Context(), "order_guest", "a") != nil {
			t.Fatal("limited outside of a request")
		}
	}
	if ClientNetwork(t.Context()) != "unknown" || ClientAddress(t.Context()) != "" {
		t.Error("there is a client outside of a request")
	}
}
