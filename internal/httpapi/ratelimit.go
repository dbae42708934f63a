package httpapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"comanda/internal/limit"
)

// The policies that every request is under, whatever its route.
const (
	limitNetwork = "api_ip"
	limitToken   = "api_token"
)

// Limit sets the limits of requests, before Start. Without it nothing is limited.
func (s *Server) Limit(l *limit.Limiter) { s.limits = l }

// Take takes one of what a policy grants a subject, and tells the client in the answer's headers; the error is what to
// answer when there is none. Outside of a request, and where no limits are set, everything is granted.
func Take(ctx context.Context, policy, subject string) error {
	return decide(ctx, func(l *limit.Limiter) limit.Result { return l.Reserve(ctx, policy, subject) })
}

// Spare is Take without taking: for what is counted only when it fails.
func Spare(ctx context.Context, policy, subject string) error {
	return decide(ctx, func(l *limit.Limiter) limit.Result { return l.Peek(ctx, policy, subject) })
}

func decide(ctx context.Context, ask func(*limit.Limiter) limit.Result) error {
	x := exchangeOf(ctx)
	if x == nil || x.route == nil || x.route.s.limits == nil {
		return nil
	}
	v := ask(x.route.s.limits)
	tell(x.Header(), v)
	return v.Err()
}

// limitRate applies the general limits: first to the client's network, then to the token that it brings, whatever that is
// worth. Probes are free, and so is the service token, which other systems use as fast as they need.
func (s *Server) limitRate(ctx context.Context, x *exchange, l *Listing, r *http.Request) error {
	if s.limits == nil || l.Policy == Internal {
		return nil
	}
	token, ok := bearer(r)
	if ok && s.guard.service(token) {
		return nil
	}
	if given := r.Header[CustomerTokenHeader]; !ok && len(given) == 1 {
		token = given[0]
	}
	v := s.limits.Reserve(ctx, limitNetwork, networkOf(x.client))
	if v.OK && token != "" {
		sum := sha256.Sum256([]byte(token)) // a secret is not kept as it is
		v = s.limits.Reserve(ctx, limitToken, string(sum[:]))
	}
	tell(x.Header(), v)
	return v.Err()
}

// tell writes the headers of draft-ietf-httpapi-ratelimit-headers: of the policy that was asked for last, which is the
// one that the route is about.
func tell(h http.Header, v limit.Result) {
	h["Ratelimit-Policy"] = quotas[v.Policy.Name]
	line := make([]byte, 0, 48)
	line = append(line, '"')
	line = append(line, v.Policy.Name...)
	line = append(line, `";r=`...)
	line = strconv.AppendInt(line, int64(v.Remaining), 10)
	line = append(line, ";t="...)
	line = strconv.AppendInt(line, seconds(v.Reset), 10)
	h["Ratelimit"] = []string{string(line)}
}

// quotas are the values of RateLimit-Policy. They are never changed, only sent.
var quotas = func() map[string][]string {
	m := map[string][]string{}
	for _, p := range limit.Policies() {
		m[p.Name] = []string{fmt.Sprintf(`"%s";q=%d;w=%d`, p.Name, p.Burst, seconds(p.Window()))}
	}
	return m
}()

func seconds(d time.Duration) int64 { return int64(math.Ceil(d.Seconds())) }
