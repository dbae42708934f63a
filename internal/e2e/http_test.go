package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// answer is a response. A status of 0 means that there was none, and err has the reason.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d %s", a.status, bytes.TrimSpace(a.body))
}

// problem is the body of a refusal (RFC 9457).
type problem struct {
	Status    int    `json:"status"`
	Code      string `json:"code"`
	RequestID string `json:"requestId"`
	Lines     []struct {
		ItemID    string `json:"itemId"`
		OptionID  string `json:"optionId"`
		Requested int64  `json:"requested"`
		Available int64  `json:"available"`
	} `json:"lines"`
}

// problem decodes a refusal. ok is false if the response is not a well-formed one.
func (a answer) problem() (p problem, ok bool) {
	err := json.Unmarshal(a.body, &p)
	return p, err == nil && a.header.Get("Content-Type") == "application/problem+json" &&
		p.Status == a.status && p.Code != "" && p.RequestID != ""
}

// want fails the test unless the response has the status and, if a code is given, is a refusal with that code.
func (a answer) want(t testing.TB, status int, code string) answer {
	t.Helper()
	p, ok := a.problem()
	if a.status != status || code != "" && (!ok || p.Code != code) {
		t.Fatalf("want %d %s, got %v", status, code, a)
	}
	return a
}

// into decodes the body of a success.
func (a answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil || a.status/100 != 2 {
		t.Fatalf("answer %v (%v), want 2xx with JSON", a, err)
	}
}

// order decodes an order.
func (a answer) order(t testing.TB) order {
	t.Helper()
	var o order
	a.into(t, &o)
	return o
}

func newClient() *http.Client {
	return &http.Client{
		Timeout:       30 * time.Second,
		Transport:     &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send sends a request to the next server in turn. It never fails the test, so any goroutine may call it. headers are
// pairs of name and value.
func (s *installation) send(method, path string, body any, headers ...string) answer {
	turn := int(s.next.Add(1)) % len(s.servers)
	return s.sendTo(s.servers[turn].addr, method, path, body, headers...)
}

func (s *installation) sendTo(addr, method, path string, body any, headers ...string) answer {
	raw, ready := body.([]byte)
	if !ready && body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return answer{err: err}
		}
	}
	r, err := http.NewRequest(method, "http://"+addr+path, bytes.NewReader(raw))
	if err != nil {
		return answer{err: err}
	}
	if raw != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.http.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil { // a partial response counts as none
		return answer{err: err}
	}
	return answer{status: res.StatusCode, header: res.Header, body: text}
}

// staff sends a request with the service token.
func (s *installation) staff(method, path string, body any) answer {
	return s.send(method, path, body, "Authorization", "Bearer "+s.secret)
}

// metric reads a metric of the first server. It returns -1 if the metric does not exist yet.
func (s *installation) metric(name string) int { return s.metricOf(s.servers[0], name) }

// metricOf reads a metric of a given server, like metric.
func (s *installation) metricOf(v *server, name string) int {
	for line := range strings.Lines(string(s.sendTo(v.addr, http.MethodGet, "/metrics", nil).body)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				return int(v)
			}
		}
	}
	return -1
}
