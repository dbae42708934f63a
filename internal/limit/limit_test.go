package limit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/testenv"

	"comanda/internal/fault"
	"comanda/internal/limit"
	"comanda/internal/limit/limittest"
)

func TestMemory(t *testing.T) { limittest.Store(t, limit.NewMemory()) }

// The documented limits.
func TestPolicies(t *testing.T) {
	want := map[string][2]any{
		"login_account_ip": {time.Minute, 5}, "login_account": {time.Minute, 20}, "login_ip": {time.Second, 60},
		"login_instance": {50 * time.Millisecond, 40}, "otp_verify_ip": {2 * time.Minute, 30},
		"register_ip": {2 * time.Minute, 30}, "qr_ip": {500 * time.Millisecond, 60}, "qr_fail_ip": {10 * time.Second, 20},
		"voucher": {2 * time.Second, 15}, "profile_account": {time.Minute, 10},
		"call_visit": {20 * time.Second, 6}, "cart_visit": {time.Second / 4, 80}, "settings_test": {10 * time.Second, 6}, "mailing": {time.Minute, 10}, "google_ip": {2 * time.Second, 60}, "pin_account": {3 * time.Minute, 5}, "order_guest": {3 * time.Second, 3}, "order_visit": {20 * time.Second, 30},
		"views_device": {2 * time.Second, 15}, "push_reader": {10 * time.Second, 10}, "odd_notice_ip": {10 * time.Second, 30}, "api_token": {100 * time.Millisecond, 40}, "api_ip": {10 * time.Millisecond, 400},
	}
	for _, p := range limit.Policies() {
		if w, ok := want[p.Name]; !ok || p.Interval != w[0] || p.Burst != w[1] {
			t.Errorf("%s: 1 per %v, burst %d", p.Name, p.Interval, p.Burst)
		}
		if p.Interval%time.Millisecond != 0 || p.Window() > time.Hour {
			t.Errorf("%s cannot be kept: 1 per %v, window %v", p.Name, p.Interval, p.Window())
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// No window grants more than twice the burst, however requests are spread (L1).
func TestReserve_never_grants_more_than_twice(t *testing.T) {
	p := limit.Policies()[0]
	var tat int64
	var granted []int64
	for now := int64(1_000_000); now < 1_000_000+10*p.Window().Milliseconds(); now += 997 {
		next, v := p.Reserve(tat, now)
		if tat = next; v.OK {
			granted = append(granted, now)
		}
	}
	for i, from := range granted {
		n := slices.IndexFunc(granted[i:], func(at int64) bool { return at >= from+p.Window().Milliseconds() })
		if n > 2*p.Burst {
			t.Fatalf("%d within a window of %d", n, p.Burst)
		}
	}
	if len(granted) < 10*p.Burst {
		t.Errorf("only %d in ten windows", len(granted))
	}
}

// failingStore is an unreachable shared store.
type failingStore struct{ calls atomic.Int64 }

func (f *failingStore) Reserve(context.Context, *limit.Policy, string, time.Time) (limit.Result, error) {
	f.calls.Add(1)
	return limit.Result{}, errors.New("down")
}

func (f *failingStore) Peek(ctx context.Context, p *limit.Policy, subject string, now time.Time) (limit.Result, error) {
	return f.Reserve(ctx, p, subject, now)
}

// Without Redis the same limits apply per process (L2). Requests refused locally cause no call to Redis (L4).
func TestLimiter_without_redis(t *testing.T) {
	var refused []string
	shared, now := &failingStore{}, time.Now()
	l := &limit.Limiter{
		Local: limit.NewMemory(), Shared: shared, Now: func() time.Time { return now },
		Rejected: func(p string) { refused = append(refused, p) },
	}
	for i := range 8 {
		retry, ok := l.Allow(t.Context(), "order_guest", "a phone")
		if ok != (i < 3) || !ok && retry != 3*time.Second {
			t.Errorf("request %d: %t, %v", i, ok, retry)
		}
	}
	testenv.Equal(t, 3, shared.calls.Load())
	if len(refused) != 5 || refused[0] != "order_guest" {
		t.Errorf("counted %v", refused)
	}
	if v := l.Peek(t.Context(), "order_guest", "a phone"); v.OK || v.Retry != 3*time.Second {
		t.Errorf("a look shows %+v", v)
	}
	now = now.Add(3 * time.Second)
	if v := l.Peek(t.Context(), "order_guest", "a phone"); !v.OK || v.Err() != nil {
		t.Errorf("a look shows %+v", v)
	}
	if _, ok := l.Allow(t.Context(), "api_ip", "here"); !ok || shared.calls.Load() != 4 { // none for api_ip
		t.Errorf("a local policy reached redis: %d calls", shared.calls.Load())
	}
}

// exhaustedStore is a shared store whose limits another process has used up.
type exhaustedStore struct{}

func (exhaustedStore) Reserve(_ context.Context, p *limit.Policy, _ string, _ time.Time) (limit.Result, error) {
	return limit.Result{Policy: p, Retry: time.Second}, nil
}

func (s exhaustedStore) Peek(ctx context.Context, p *limit.Policy, subject string, now time.Time) (limit.Result, error) {
	return s.Reserve(ctx, p, subject, now)
}

func TestLimiter_exhausted_by_another_process(t *testing.T) {
	l := &limit.Limiter{Local: limit.NewMemory(), Shared: exhaustedStore{}, Now: time.Now}
	v := l.Reserve(t.Context(), "qr_ip", "here")
	var f *fault.Error
	if !errors.As(v.Err(), &f) || f.Kind != fault.TooMany || f.Code != "rate_limited" || f.RetryAfter != time.Second {
		t.Errorf("%+v: error %v", v, v.Err())
	}
}

func TestLimiter_off(t *testing.T) {
	var l *limit.Limiter
	for range 1000 {
		if retry, ok := l.Allow(t.Context(), "order_guest", "a phone"); !ok || retry != 0 {
			t.Fatal("a nil limiter refused")
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown policy was allowed")
		}
	}()
	l.Allow(t.Context(), "order_gest", "a phone")
}

// A flood of subjects takes bounded memory, and limited subjects stay limited while there is room.
func TestMemory_is_bounded(t *testing.T) {
	m, now := limit.NewMemory(), time.Now()
	l := &limit.Limiter{Local: m, Now: func() time.Time { return now }}
	for i := range 400_000 {
		l.Allow(t.Context(), "login_ip", fmt.Sprint(i))
		if i == 1000 {
			now = now.Add(time.Minute) // the first ones expire
		}
	}
	if n := m.Len(); n > 300_000 || n < 100_000 {
		t.Errorf("%d subjects are stored", n)
	}
}

func BenchmarkLimiter_local(b *testing.B) {
	l := &limit.Limiter{Local: limit.NewMemory(), Now: time.Now}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Allow(b.Context(), "api_ip", "192.0.2.7")
		}
	})
}
