package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

type auditReport struct {
	Clean   bool    `json:"clean"`
	Keys    int     `json:"keys"`
	Seconds float64 `json:"seconds"`
	Nodes   []struct {
		Keys int `json:"keys"`
	} `json:"nodes"`
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

// audit runs `comanda keys audit`, at full speed unless args say otherwise.
func (s *installation) audit(args ...string) (r auditReport, code int) {
	s.t.Helper()
	run := s.run(append([]string{"keys", "audit", "--json", "--rate", "0"}, args...)...)
	if err := json.Unmarshal([]byte(run.out), &r); err != nil {
		s.t.Fatalf("keys audit: %v\n%s%s", err, run.out, run.err)
	}
	return r, run.code
}

// awaitKeysDeclared waits until the audit finds no undeclared key and none whose time to live is too long.
func (s *installation) awaitKeysDeclared() {
	s.t.Helper()
	s.await(repairTime, func() error {
		r, code := s.audit()
		if code != 0 || !r.Clean || r.Keys == 0 {
			return fmt.Errorf("exit code %d, %d keys: %+v", code, r.Keys, r.Findings)
		}
		return nil
	})
}

// The keys of a normal load are all declared.
func TestKeys(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, limited)
		s.quota(pho, 10)
		g := s.guest(0)
		s.pay(g.mustPlace(t, line{ItemID: pho, Qty: 2}).ID)
		g.cancel(g.mustPlace(t, line{ItemID: phoGa, Qty: 1}).ID).want(t, http.StatusOK, "")
		s.awaitConsistent()
		s.awaitKeysDeclared()
		r, _ := s.audit()
		seen := map[string]int{}
		for _, f := range r.Families {
			seen[f.Pattern] = f.Keys * f.Bytes
		}
		wanted := []string{"q:cap:{b%branch%}:%date%", "visit:byCustomer:%tokenHash%"}
		if k != embedded { // a single process has its limits in memory
			wanted = append(wanted, "app:rate:%action%:%subject%")
		}
		for _, want := range wanted {
			if seen[want] <= 0 {
				t.Errorf("no key of %s among %v", want, seen)
			}
		}
	}, embedded, servers)
}

// corruptions has one fault for each kind of finding: how to cause it, how to repair it, and the expected report.
var corruptions = map[string]struct{ plant, repair, sample string }{
	"unknown_key":  {"SET stranger x", "DEL stranger", "stranger: a string"},
	"wrong_type":   {"RPUSH cis:menu:active:v2:991 x", "DEL cis:menu:active:v2:991", "cis:menu:active:v2:991: a list"},
	"missing_ttl":  {"SET cis:menu:active:v2:992 x", "DEL cis:menu:active:v2:992", "cis:menu:active:v2:992: may live 5m"},
	"ttl_too_long": {"SET cis:menu:active:v2:993 x EX 99999", "DEL cis:menu:active:v2:993", "cis:menu:active:v2:993: lives 27h"},
	"unexpected_ttl": {
		"EXPIRE permission:list 5000", "PERSIST permission:list", "permission:list: goes in 1h",
	},
	"index_without_document": {
		"SET user:index:email:gone@example.com 9991", "DEL user:index:email:gone@example.com",
		"user:index:email:gone@example.com: there is no user:9991",
	},
	"orphan_entry":        {"SADD user:list 9992", "SREM user:list 9992", "user:list: there is no user:9992"},
	"document_not_listed": {"SET user:9993 {}", "DEL user:9993", "user:9993"},
}

// Every fault of a key is found while the installation is busy, reported to people and to scripts, and makes the
// command exit with 1. Correct keys are not reported.
func TestKeys_finds_and_repairs_corruption(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		s.awaitDocuments()
		d := newOrderLoad(s, 3)
		s.await(patience, func() error { return d.wantAtLeast(20) })
		s.awaitKeysDeclared()
		for _, what := range corruptions {
			s.redisCommand(what.plant)
		}
		r, code := s.audit()
		if code != 1 || r.Clean || len(r.Findings) != len(corruptions) {
			t.Errorf("exit code %d, findings %+v", code, r.Findings)
		}
		for _, f := range r.Findings {
			if want := corruptions[f.Kind].sample; f.Count != 1 || len(f.Samples) != 1 || !strings.HasPrefix(f.Samples[0], want) {
				t.Errorf("%s: %d, %q, want %q", f.Kind, f.Count, f.Samples, want)
			}
		}
		output := s.run("keys", "audit", "--samples", "1")
		for kind, what := range corruptions {
			if !strings.Contains(output.out, kind+": 1\n  "+what.sample) {
				t.Errorf("%s is not reported", kind)
			}
		}
		if output.code != 1 || output.err != "" { // no progress bar without a terminal
			t.Errorf("exit code %d, said %q", output.code, output.err)
		}
		for _, what := range corruptions {
			s.redisCommand(what.repair)
		}
		s.awaitKeysDeclared()
		d.end()
	}, embedded, servers, cluster)
}

// An audit scans every node of a Cluster, within the rate limit of its flag.
func TestKeys_pace(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		s.awaitDocuments()
		whole, _ := s.audit()
		rate := max(1, whole.Keys/2)
		r, code := s.audit("--rate", strconv.Itoa(rate))
		if least := 0.9 * float64(r.Keys) / float64(rate); code != 0 || r.Seconds < least {
			t.Errorf("exit code %d; %d keys at %d a second took %.2f s", code, r.Keys, rate, r.Seconds)
		}
		held, nodes := 0, 1
		if k == cluster {
			nodes = 3
		}
		for _, n := range r.Nodes {
			if held += n.Keys; n.Keys == 0 {
				t.Error("a node has no keys")
			}
		}
		// The server works during the two seconds of the scan: keys are created and deleted, and SCAN may return a key
		// twice.
		if len(r.Nodes) != nodes || 2*held < r.Keys || 2*r.Keys < held {
			t.Errorf("%d nodes with %d keys, %d were looked at", len(r.Nodes), held, r.Keys)
		}
	}, embedded, servers, cluster)
}

// On a terminal the command shows its progress.
func TestKeys_terminal(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		r, shown := s.runOnTerminal("keys", "audit")
		if r.code != 0 || !strings.Contains(r.out, "clean") || !strings.Contains(shown, "of about") {
			t.Errorf("exit code %d, printed %q, shown %q", r.code, r.out, shown)
		}
	}, embedded)
}

// The registry can be printed without a server.
func TestKeys_registry(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := bare(t, k, nil)
		var list []struct {
			Pattern string `json:"pattern"`
			Class   string `json:"class"`
		}
		s.readJSON(&list, "keys", "list")
		if len(list) < 10 {
			t.Errorf("%d declarations", len(list))
		}
		docs := s.must("keys", "docs")
		for _, d := range list {
			if !strings.Contains(docs, "`"+d.Pattern+"`") {
				t.Fatalf("%s is not documented", d.Pattern)
			}
		}
		if out := s.must("keys", "lint"); !strings.Contains(out, " 0 findings") {
			t.Error(out)
		}
		if r := s.run("keys", "audit"); r.code != 1 || !strings.Contains(r.err, "no server uses this data directory") {
			t.Errorf("an audit of nothing: %+v", r)
		}
	}, embedded)
}
