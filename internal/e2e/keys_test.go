package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

type auditReport struct {
	Clean    bool `json:"clean"`
	Keys     int  `json:"keys"`
	Findings []struct {
		Kind    string   `json:"kind"`
		Count   int      `json:"count"`
		Samples []string `json:"samples"`
	} `json:"findings"`
	Families []struct {
		Pattern string `json:"pattern"`
		Keys    int    `json:"keys"`
		Bytes   int    `json:"bytes"`
	} `json:"families"`
}

// audit runs `comanda keys audit`.
func (s *site) audit() (r auditReport, code int) {
	s.t.Helper()
	run := s.run("keys", "audit", "--json", "--rate", "0")
	if err := json.Unmarshal([]byte(run.out), &r); err != nil {
		s.t.Fatalf("keys audit: %v\n%s%s", err, run.out, run.err)
	}
	return r, run.code
}

// audited waits until nothing is found in Redis that nobody declared, and nothing that lives for too long.
func (s *site) audited() {
	s.t.Helper()
	s.await(repairTime, func() error {
		r, code := s.audit()
		if code != 0 || !r.Clean || r.Keys == 0 {
			return fmt.Errorf("exit code %d, %d keys: %+v", code, r.Keys, r.Findings)
		}
		return nil
	})
}

// An evening's keys are those that are declared; a stranger's is found.
func TestKeys(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := open(t, k, limited)
		s.quota(pho, 10)
		g := s.guest(0)
		s.paid(g.orders(t, line{ItemID: pho, Qty: 2}).ID)
		g.cancel(g.orders(t, line{ItemID: phoGa, Qty: 1}).ID).want(t, http.StatusOK, "")
		s.agrees()
		s.audited()
		r, _ := s.audit()
		seen := map[string]int{}
		for _, f := range r.Families {
			seen[f.Pattern] = f.Keys * f.Bytes
		}
		for _, want := range []string{"q:cap:{b%branch%}:%date%", "visit:byCustomer:%tokenHash%", "app:rate:%action%:%subject%"} {
			if seen[want] <= 0 {
				t.Errorf("no key of %s among %v", want, seen)
			}
		}
		s.redisSays("*3\r\n$3\r\nSET\r\n$8\r\nstranger\r\n$1\r\nx\r\n")
		r, code := s.audit()
		if code != 1 || r.Clean || len(r.Findings) != 1 || r.Findings[0].Kind != "unknown_key" ||
			!strings.HasPrefix(r.Findings[0].Samples[0], "stranger") {
			t.Errorf("exit code %d, %+v", code, r.Findings)
		}
	}, embedded, servers)
}

// The registry can be read without any server.
func TestKeys_registry(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := prepare(t, k, nil)
		var list []struct {
			Pattern string `json:"pattern"`
			Class   string `json:"class"`
		}
		s.read(&list, "keys", "list")
		if len(list) < 10 {
			t.Errorf("%d declarations", len(list))
		}
		for _, d := range list {
			if docs := s.must("keys", "docs"); !strings.Contains(docs, "`"+d.Pattern+"`") {
				t.Fatalf("%s is not documented", d.Pattern)
			}
		}
		if out := s.must("keys", "lint"); !strings.Contains(out, " 0 findings") {
			t.Error(out)
		}
		if r := s.run("keys", "audit"); r.code != 1 || !strings.Contains(r.err, "no server runs") {
			t.Errorf("an audit of nothing: %+v", r)
		}
	}, embedded)
}
