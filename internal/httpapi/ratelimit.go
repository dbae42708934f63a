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

// The policies that apply to every request.
const (
	limitNetwork = "api_ip"
	limitToken   = "api_token"
)

// SetLimiter sets the rate limits, before Start. Without it nothing is limited.
func (s *Server) SetLimiter(l *limit.Limiter) { s.limits = l }

// Allow takes one request from the subject's budget under a policy, and sets the response's rate-limit headers. It
// returns the error to respond with when the budget is exhausted. Outside of a request, and without limits, everything
// is allowed.
func Allow(ctx context.Context, policy, subject string) error {
	return decide(ctx, func(l *limit.Limiter) limit.Result { return l.Reserve(ctx, policy, subject) })
}

// Peek is Allow without counting the request: for actions that count only if they fail.
func Peek(ctx context.Context, policy, subject string) error {
	return decide(ctx, func(l *limit.Limiter) limit.Result { return l.Peek(ctx, policy, subject) })
}

// decide queries the limiter for the request in ctx and writes the result into the response headers.
func decide(ctx context.Context, ask func(*limit.Limiter) limit.Result) error {
	x := exchangeOf(ctx)
	if x == nil || x.route == nil || x.route.s.limits == nil {
		return nil
	}
	v := ask(x.route.s.limits)
	setHeaders(x.Header(), v)
	return v.Err()
}

// limitRate applies the general limits: first to the client's network, then to the token, valid or not. Probes are
// exempt, and so is the service token, since other systems send as many requests as they need.
func (s *Server) limitRate(ctx context.Context, x *exchange, l *RouteInfo, r *http.Request) error {
	if s.limits == nil || l.Policy == Internal {
		return nil
	}
	token, ok := bearer(r)
	if ok && s.auth.service(token) {
		return nil
	}
	if given := r.Header[CustomerTokenHeader]; !ok && len(given) == 1 {
		token = given[0]
	}
	// The network is counted first: once its budget is exhausted, a client that invents tokens creates no counters for
	// them.
	v := s.limits.Reserve(ctx, limitNetwork, networkOf(x.client))
	if v.OK && token != "" {
		sum := sha256.Sum256([]byte(token)) // do not keep the secret itself
		v = s.limits.Reserve(ctx, limitToken, string(sum[:]))
	}
	setHeaders(x.Header(), v)
	return v.Err()
}

// setHeaders writes the headers of draft-ietf-httpapi-ratelimit-headers for the policy that was checked last, which is
// the most specific one.
func setHeaders(h http.Header, v limit.Result) {
	h["Ratelimit-Policy"] = quotas[v.Policy.Name]
	// The value is built without fmt, because every response carries it. 48 bytes are enough for every value.
	line := make([]byte, 0, 48)
	line = append(line, '"')
	line = append(line, v.Policy.Name...)
	line = append(line, `";r=`...)
	line = strconv.AppendInt(line, int64(v.Remaining), 10)
	line = append(line, ";t="...)
	line = strconv.AppendInt(line, seconds(v.Reset), 10)
	h["Ratelimit"] = []string{string(line)}
}

// quotas are the values of RateLimit-Policy. They are never modified.
var quotas = func() map[string][]string {
	m := map[string][]string{}
	for _, p := range limit.Policies() {
		m[p.Name] = []string{fmt.Sprintf(`"%s";q=%d;w=%d`, p.Name, p.Burst, seconds(p.Window()))}
	}
	return m
}()

func seconds(d time.Duration) int64 { return int64(math.Ceil(d.Seconds())) }
