package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const serviceToken = "0123456789abcdef0123456789abcdef"

// journal is a log that tests read.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// records returns the request records in the order of their writing.
func (j *journal) records(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(j.String()) {
		var rec map[string]any
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if rec["msg"] == "request" {
			all = append(all, rec)
		}
	}
	return all
}

// harness is a started server on a real port with the routes of these tests.
type harness struct {
	*Server
	t      *testing.T
	log    *journal
	reg    *prometheus.Registry
	client *http.Client
	gate   chan struct{} // a request to /wait ends with each value
	inside chan struct{} // and a value here shows that it has begun
}

func newHarness(t *testing.T, change func(*Config), more ...func(*API)) *harness {
	t.Helper()
	c := Default()
	c.Listen, c.ServiceToken = "127.0.0.1:0", serviceToken
	if change != nil {
		change(&c)
	}
	h := &harness{t: t, log: &journal{}, reg: prometheus.NewRegistry(), client: &http.Client{
		Transport: &http.Transport{}, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	h.gate, h.inside = make(chan struct{}), make(chan struct{}, 100)
	log := slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := testenv.Must(New(c, log, h.reg))(t)
	h.Server = s
	h.routes(s.API())
	for _, register := range more {
		register(s.API())
	}
	testenv.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	return h
}

type findIn struct {
	GuestHeader
	ID   string `path:"id" maxLength:"26"`
	Page int    `query:"page" minimum:"1" maximum:"100" default:"1"`
}

type findOut struct {
	Body struct {
		ID       string `json:"id"`
		Page     int    `json:"page"`
		HasToken bool   `json:"hasToken"`
	}
}

type failIn struct {
	How string `query:"how" text:"exact"`
}

var failures = map[string]error{
	"sold_out": fault.New(fault.SoldOut, "sold_out", "Not enough left.").With("lines", []map[string]any{
		{"itemId": "11", "requested": 2, "available": 1},
	}).With("code", "forged"),
	"unknown":     io.ErrUnexpectedEOF,
	"unavailable": &fault.Error{Kind: fault.Unavailable, Detail: "Try later.", RetryAfter: 2500 * time.Millisecond},
	"unencodable": fault.New(fault.Conflict, "odd", "Odd.").With("f", func() {}),
}

func (h *harness) routes(a *API) {
	registerOrder(a)
	registerMenu(a)
	get := func(path string) huma.Operation {
		return huma.Operation{Method: http.MethodGet, Path: path, OperationID: path, Tags: []string{"t"}, Summary: path}
	}
	register(a, get("/orders/{id}"), Guest, func(_ context.Context, in *findIn) (*findOut, error) {
		out := &findOut{}
		out.Body.ID, out.Body.Page, out.Body.HasToken = in.ID, in.Page, in.CustomerToken != ""
		return out, nil
	})
	register(a, get("/fail"), Public, func(_ context.Context, in *failIn) (*struct{}, error) {
		if in.How == "panic" {
			panic("out of range")
		}
		return nil, failures[in.How]
	})
	register(a, get("/staff"), Staff, func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
	register(a, get("/wait"), Public, func(ctx context.Context, _ *struct{}) (*struct{}, error) {
		h.inside <- struct{}{}
		select {
		case <-h.gate:
			return nil, nil
		case <-ctx.Done():
			return nil, fault.Wrap("wait", ctx.Err())
		}
	})
	a.Handle(Route{Pattern: "POST /ipn", Policy: Gateway, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				Fail(w, r, err)
			}
		})})
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body string
}

func (a answer) problem(t *testing.T) map[string]any {
	t.Helper()
	testenv.Equal(t, problemType, a.Header.Get("Content-Type"))
	var p map[string]any
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
	return p
}

// send makes a request; headers are name, value, name, value.
func (h *harness) send(method, path, body string, headers ...string) answer {
	h.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	return h.do(r, method, path, headers...)
}

func (h *harness) do(body io.Reader, method, path string, headers ...string) answer {
	h.t.Helper()
	req := testenv.Must(http.NewRequestWithContext(h.t.Context(), method, "http://"+h.Addr().String()+path, body))(h.t)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	b := testenv.Must(io.ReadAll(res.Body))(h.t)
	return answer{res, string(b)}
}

func (h *harness) post(body string) answer {
	h.t.Helper()
	return h.send(http.MethodPost, "/cis/order/create", body, "Content-Type", "application/json")
}

// metric reads one sample by its labels, given as in the text format; 0 if there is none.
func (h *harness) metric(name string, labels map[string]string) float64 {
	h.t.Helper()
	families := testenv.Must(h.reg.Gather())(h.t)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	sample:
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if labels[l.GetName()] != l.GetValue() {
					continue sample
				}
			}
			if hist := m.GetHistogram(); hist != nil {
				return float64(hist.GetSampleCount())
			}
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return 0
}

func (h *harness) observed(route, method, status string) float64 {
	h.t.Helper()
	return h.metric("http_server_request_duration_seconds", map[string]string{
		"route": route, "method": method, "status": status,
	})
}
