package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"comanda/internal/audit"
	"comanda/internal/keyspace/keyaudit"
	"comanda/internal/queue"
	"comanda/internal/system"
	"comanda/internal/testenv"
)

// Operators' pages show a running installation with data.
func TestSystem_readiness_about_and_outbox(t *testing.T) {
	f := newFixture(t)
	f.order("SANDBOX")
	f.made["{letter}"] = f.deadLetter()
	var ready struct {
		Status string
		Checks map[string]struct{ Status string }
	}
	f.must(f.ask("owner", "GET", "/api/system/readiness", "")).into(t, &ready)
	if ready.Status != "ok" || ready.Checks["sql"].Status != "ok" || ready.Checks["redis"].Status != "ok" ||
		ready.Checks["redis_memory"].Status != "ok" {
		t.Errorf("readiness: %+v", ready)
	}
	var about system.About
	f.must(f.ask("owner", "GET", "/api/system/about", "")).into(t, &about)
	if !strings.HasPrefix(about.Engines.SQL, "sqlite 3.") || !strings.HasPrefix(about.Engines.Redis, "embedded") ||
		fmt.Sprint(about.Roles) != "[api]" || about.UptimeSeconds <= 0 || about.GoVersion == "" || len(about.RedisServers) != 0 {
		t.Errorf("about: %+v", about)
	}
	var out system.Outbox
	f.must(f.ask("owner", "GET", "/api/system/outbox", "")).into(t, &out)
	if out.Pending != 1 || out.ByType[0].Type != "order.placed" || len(out.Dead) != 1 || out.Dead[0].Consumer != "daybook" {
		t.Errorf("outbox: %+v", out)
	}
	if h := out.LastHour; h.Waiting != 1 || h.Published+h.Retrying != 0 || h.Dead != 1 {
		t.Errorf("the last hour of the outbox: %+v, want one event that waits and one that failed", h)
	}
	var keys keyaudit.Report
	f.must(f.ask("owner", "GET", "/api/system/keys-audit", "")).into(t, &keys)
	if !keys.Clean || keys.Keys == 0 || len(keys.Largest) == 0 || len(keys.Families[0].Longest) == 0 {
		t.Errorf("keys: %+v", keys)
	}
	var all, one system.Reconciliation
	f.must(f.ask("owner", "POST", "/api/system/reconcile", "")).into(t, &all)
	f.must(f.ask("service", "POST", "/api/system/reconcile?branchId=2", "")).into(t, &one)
	cacheOf := map[bool]string{true: system.CacheCompared, false: system.CacheNotLoaded}
	if !all.Clean || !one.Clean || one.Scopes > all.Scopes || all.Cache != cacheOf[all.Scopes > 0] || one.Cache != cacheOf[one.Scopes > 0] {
		t.Errorf("reconciled: %+v, %+v", all, one)
	}
	testenv.Eventually(t, within, func() bool { // the projector writes the documents concurrently with the start
		var x system.Index
		f.must(f.ask("owner", "GET", "/api/system/index", "")).into(t, &x)
		return x.Whole && x.Documents > 0 && x.Verification != nil && x.Verification.Clean
	})
}

// Operators see a dead letter without its secrets and replay it. Then it is gone, and the audit log names the account.
func TestSystem_deadLetters(t *testing.T) {
	f := newFixture(t)
	id := f.deadLetter()
	second := f.deadLetter()
	type list struct {
		Items []struct {
			ID, Consumer, Type, Reason string
			Payload                    json.RawMessage
		}
		Total int64
	}
	letters := func(query string) (l list) {
		t.Helper()
		f.must(f.ask("owner", "GET", "/api/system/dead-letters"+query, "")).into(t, &l)
		return l
	}
	if l := letters("?size=1"); l.Total != 2 || len(l.Items) != 1 || l.Items[0].ID != second || l.Items[0].Consumer != "daybook" ||
		l.Items[0].Reason != "broken" || !strings.Contains(string(l.Items[0].Payload), `"orderId":"o"`) {
		t.Errorf("dead letters = %+v, want two, the first of daybook with its order", l)
	}
	for query, want := range map[string]int64{
		"?consumer=daybook": 2, "?consumer=relay": 0, "?consumer=redis": 0, "?type=order.paid": 2, "?type=order.placed": 0,
	} {
		if l := letters(query); l.Total != want || l.Items == nil {
			t.Errorf("dead letters of %s = %+v, want total %d", query, l, want)
		}
	}
	var sum system.Replayed
	f.must(f.ask("admin", "POST", "/api/system/dead-letters/"+id+"/replay", "")).into(t, &sum)
	if sum != (system.Replayed{Applied: 1}) {
		t.Errorf("replay = %+v, want one applied", sum)
	}
	if r := f.ask("admin", "POST", "/api/system/dead-letters/"+id+"/replay", ""); r.status != http.StatusNotFound {
		t.Errorf("once more: %d %s", r.status, r.body)
	}
	var rest struct {
		system.Replayed
		Left int64
	}
	f.must(f.ask("owner", "POST", "/api/system/dead-letters/replay-all", "")).into(t, &rest)
	if rest.Applied != 1 || rest.Left != 0 || letters("").Total != 0 {
		t.Errorf("replay-all = %+v, want one applied and none left", rest)
	}
	var day struct{ Paid int64 }
	f.must(f.ask("owner", "GET", "/api/reports/day?branchId=1&date=2026-02-26", "")).into(t, &day)
	if got := f.ask("owner", "GET", "/api/reports/day?branchId=1&date=2026-02-30", ""); got.status != http.StatusUnprocessableEntity {
		t.Errorf("the day of a date that does not exist: status %d, want 422", got.status)
	}
	if day.Paid != 2 {
		t.Errorf("the daybook has counted %d", day.Paid)
	}
	var log struct {
		Items []struct{ Actor, Subject string }
		Total int
	}
	f.must(f.ask("owner", "GET", "/api/audit?action="+audit.ActionReplayed, "")).into(t, &log)
	if log.Total != 2 || log.Items[0].Subject != "deadLetter:all" || log.Items[1].Subject != "deadLetter:"+id {
		t.Errorf("audit log = %+v, want the replays of all and of one", log)
	}
}

// Operators see the changes that Redis refused too often, and can retry them.
func TestSystem_redisLetters(t *testing.T) {
	f := newFixture(t)
	causeFault(t, f.core.DB, "dead", "e1", f.core.DB.Now().UnixMilli())
	var l struct {
		Items []struct{ ID, Consumer, About string }
		Total int64
	}
	f.must(f.ask("owner", "GET", "/api/system/dead-letters?consumer=redis", "")).into(t, &l)
	if l.Total != 1 || l.Items[0].ID != "e1" || l.Items[0].Consumer != queue.RedisConsumer {
		t.Fatalf("dead letters = %+v, want only e1 of redis", l)
	}
	var sum system.Replayed
	f.must(f.ask("owner", "POST", "/api/system/dead-letters/e1/replay", "")).into(t, &sum)
	if sum != (system.Replayed{Revived: 1}) {
		t.Errorf("replay = %+v, want one revived", sum)
	}
}

// Staff of single branches see nothing that concerns all branches, whatever permissions their role has.
func TestSystem_after_faults(t *testing.T) {
	f := newFixture(t)
	role := f.field("owner", "POST", "/api/roles", `{"name":"OPERATOR"}`, "id")
	all := testenv.Must(f.core.Roles.Store.Permissions(t.Context()))(t)
	var ids []string
	for _, p := range all {
		if p.Module == "SYSTEM" {
			ids = append(ids, strconv.FormatInt(p.ID, 10))
		}
	}
	text := testenv.Must(json.Marshal(map[string]any{"permissionIds": ids}))(t)
	f.must(f.ask("owner", "PUT", "/api/roles/"+role+"/permissions", string(text)))
	f.must(f.ask("owner", "POST", "/api/users", fmt.Sprintf(
		`{"email":"operator@matrix.example","password":%q,"roleId":%q,"branches":["1"]}`, matrixPassword, role)))
	f.bearer["operator"] = f.tokens("operator@matrix.example").AccessToken
	for path, want := range map[string]int{
		"GET /api/system/outbox":                   http.StatusOK,
		"POST /api/system/reconcile?branchId=1":    http.StatusOK,
		"POST /api/system/reconcile?branchId=2":    http.StatusNotFound,
		"POST /api/system/reconcile":               http.StatusForbidden,
		"GET /api/system/dead-letters":             http.StatusForbidden,
		"POST /api/system/dead-letters/x/replay":   http.StatusForbidden,
		"POST /api/system/dead-letters/replay-all": http.StatusForbidden,
		"GET /api/system/mail":                     http.StatusForbidden,
		"POST /api/system/mail/x/send-again":       http.StatusForbidden,
		"GET /api/system/keys-audit":               http.StatusForbidden,
		"GET /api/system/index":                    http.StatusForbidden,
	} {
		method, path, _ := strings.Cut(path, " ")
		if r := f.ask("operator", method, path, ""); r.status != want {
			t.Errorf("%s %s: %d %s, want %d", method, path, r.status, r.body, want)
		}
	}
}
