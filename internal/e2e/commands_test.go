package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// Migrations go up, down and up again, and report their state. The doctor reports a database that is behind.
func TestCommands_migrate(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := bare(t, k, nil)
		s.must("migrate", "up")
		all := s.migrations()
		if len(all) == 0 || slices.Contains(all, false) {
			t.Fatalf("after migrate up: %v", all)
		}
		for n := range slices.Backward(all) { // the newest is reverted first
			s.must("migrate", "down")
			if n%8 > 0 { // a status takes as long as a step
				continue
			}
			if now := s.migrations(); slices.Contains(now[:n], false) || slices.Contains(now[n:], true) {
				t.Errorf("with the newest %d taken back: %v", len(all)-n, now)
			}
		}
		s.wantFailure("no next version", "migrate", "down")
		if r := s.run("doctor", "--json"); r.code != 1 || !strings.Contains(r.out, "comanda migrate up") {
			t.Errorf("the doctor of an empty database: %d %s", r.code, r.out)
		}
		s.must("migrate", "up")
		if now := s.migrations(); slices.Contains(now, false) {
			t.Errorf("after migrate up again: %v", now)
		}
	}, embedded, servers)
}

// migrations returns for each migration, in order, whether it is applied.
func (s *installation) migrations() (applied []bool) {
	s.t.Helper()
	var all []struct {
		Applied bool `json:"applied"`
	}
	s.readJSON(&all, "migrate", "status")
	for _, m := range all {
		applied = append(applied, m.Applied)
	}
	return applied
}

// wantFailure runs a command that must exit with code 1 and print the reason on standard error.
func (s *installation) wantFailure(why string, args ...string) {
	s.t.Helper()
	if r := s.run(args...); r.code != 1 || !strings.Contains(r.err, why) {
		s.t.Errorf("comanda %s: exit code %d, %s%s; want 1 and %q", strings.Join(args, " "), r.code, r.out, r.err, why)
	}
}

// Commands beside a running server print output for scripts, and exit with a code on errors.
func TestCommands(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		var links []struct {
			QR  string `json:"qrToken"`
			URL string `json:"url"`
		}
		s.readJSON(&links, "tables")
		listen := s.env["LISTEN"]
		s.env["LISTEN"] = testenv.FreeAddr(t) // commands use the server's address, not this setting
		s.readJSON(&links, "tables")
		s.env["LISTEN"] = listen
		for _, l := range links {
			if len(l.QR) != 22 || l.URL != "http://"+s.servers[0].addr+"/m/"+l.QR {
				t.Errorf("a table's link is %+v", l)
			}
		}
		if len(links) != 18 || links[0].QR != s.tables[0].QR {
			t.Errorf("%d tables, the first with %q", len(links), links[0].QR)
		}
		s.must("demo", "load") // a second load changes nothing
		s.quotas()
		var d struct {
			Findings []struct {
				What string `json:"what"`
				OK   bool   `json:"ok"`
			} `json:"findings"`
		}
		s.readJSON(&d, "doctor") // exits with 1 if anything is wrong
		if len(d.Findings) < 6 {
			t.Errorf("the doctor looked at %+v only", d.Findings)
		}
		var replayed map[string]int
		if s.readJSON(&replayed, "outbox", "replay"); fmt.Sprint(replayed) != "map[applied:0 failed:0 relayed:0 revived:0]" {
			t.Errorf("replaying nothing has done %v", replayed)
		}
		s.awaitPublished()
		s.wantFailure("not a consumer", "outbox", "replay", "--consumer", "nobody")
		s.wantFailure("unknown command", "nonsense")
		s.wantFailure("not a role", "serve", "--roles", "cook")
		s.env["LISTN"] = "a misspelt name"
		s.wantFailure("COMANDA_LISTN is not a setting", "tables")
		delete(s.env, "LISTN")
	}, embedded, servers)
}

// quotas sets a quota and removes it; guests see both.
func (s *installation) quotas() {
	t := s.t
	t.Helper()
	var set struct {
		ItemID string `json:"itemId"`
		Daily  *int64 `json:"dailyQuota"`
	}
	s.readJSON(&set, "quota", "set", "--item", phoGa, "--daily", "7")
	if set.ItemID != phoGa || set.Daily == nil || *set.Daily != 7 {
		t.Errorf("quota set answers %+v", set)
	}
	s.wantStock(phoGa, 7, 0, 0)
	s.await(patience, func() error {
		if d := s.menu().dish(phoGa); d.Remaining == nil || *d.Remaining != 7 {
			return fmt.Errorf("the menu shows %+v", d)
		}
		return nil
	})
	s.must("quota", "set", "--item", phoGa, "--unlimited")
	if l := s.stock(phoGa); l.Cap != nil || l.Left != nil {
		t.Errorf("an unlimited item is limited: %+v", l)
	}
	s.wantFailure("--daily N or --unlimited", "quota", "set", "--item", phoGa)
	s.wantFailure("Menu item not found.", "quota", "set", "--item", "999", "--daily", "7")
	s.wantFailure("whole number", "quota", "set", "--item", phoGa, "--daily", "-1")
}

// Any change that bypasses the ledger is found and named, and makes the command exit with 1.
func TestCommands_reconcile(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		g := s.guest(0)
		held, paid := g.mustPlace(t, line{ItemID: pho, Qty: 2}), g.mustPlace(t, line{ItemID: pho, Qty: 1})
		s.pay(paid.ID)
		s.awaitConsistent()
		s.servers[0].stop()
		counter := "UPDATE sales_quota_counter SET held_qty = held_qty %s 1 WHERE menu_item_id = " + pho
		hold := "UPDATE hold SET state = '%s' WHERE id = '" + held.ID + "'"
		order := "UPDATE order_info SET payment_status = '%s' WHERE id = '" + paid.ID + "'"
		for corrupted, repaired := range map[string]string{
			fmt.Sprintf(counter, "+"):      fmt.Sprintf(counter, "-"),
			fmt.Sprintf(hold, "RELEASED"):  fmt.Sprintf(hold, "HELD"),
			fmt.Sprintf(order, "REFUNDED"): fmt.Sprintf(order, "PAID"),
		} {
			s.changeRow(corrupted)
			r, code := s.reconcile()
			if code != 1 || r.Clean || len(r.Differences) == 0 {
				text, _ := json.Marshal(r) // plain figures
				t.Errorf("%s: exit code %d, %s", corrupted, code, text)
			}
			s.changeRow(repaired)
		}
		if r, code := s.reconcile(); code != 0 || !r.Clean {
			t.Errorf("after the repair: exit code %d, %v", code, r.Differences)
		}
		s.servers[0].start()
		s.staff(http.MethodGet, "/api/orders/"+held.ID, nil).want(t, http.StatusOK, "")
	}, embedded, servers)
}

// The price engine returns the same results and refusals on the command line and over HTTP.
func TestPrice(t *testing.T) {
	t.Parallel()
	s := open(t, embedded, nil)
	const good = `{"currency":"VND","priceMode":"INCLUSIVE","taxScope":"BILL","taxRounding":"HALF_UP",
		"lines":[{"qty":2,"unitPrice":65000,"rate":"8","discounts":[{"percent":"10"},{"amount":500}]}],
		"discounts":[{"percent":"10"}],"serviceCharges":[{"percent":"10","taxed":true}],"cashRounding":0}`
	code, out, errs := s.pipe(good, "price", "quote")
	if want := `{"goods":130000,"discount":25200,"service":10480,"taxes":[{"rate":"8","base":106741,"amount":8539}],` +
		`"rounding":0,"total":115280,"lines":[{"gross":130000,"discount":25200,"service":10480,"tax":8539}]}`; code != 0 || out != want {
		t.Errorf("price quote: code %d, output %s, errors %s, want 0 and %s", code, out, errs, want)
	}
	a := s.staff(http.MethodPost, "/api/price/quote", []byte(good)).want(t, http.StatusOK, "")
	if served := strings.TrimSpace(string(a.body)); served != out {
		t.Errorf("over HTTP %s, on the command line %s", served, out)
	}
	for name, bad := range map[string]string{
		"rate":            strings.Replace(good, `"rate":"8"`, `"rate":"8.00001"`, 1),
		"negative amount": strings.Replace(good, `"amount":500`, `"amount":-500`, 1),
		"two kinds":       strings.Replace(good, `{"amount":500}`, `{"amount":500,"percent":"1"}`, 1),
		"unknown field":   strings.Replace(good, `"cashRounding"`, `"cashRound"`, 1),
		"number":          strings.Replace(good, `"rate":"8"`, `"rate":8`, 1),
		"fraction":        strings.Replace(good, `"unitPrice":65000`, `"unitPrice":65000.5`, 1),
		"too much":        strings.Replace(good, `"unitPrice":65000`, `"unitPrice":9007199254740991`, 1),
	} {
		s.staff(http.MethodPost, "/api/price/quote", []byte(bad)).want(t, http.StatusUnprocessableEntity, "invalid")
		if code, out, errs := s.pipe(bad, "price", "quote"); code != 1 || out != "" || errs == "" {
			t.Errorf("price quote with %s: code %d, output %s, errors %s, want 1 and an error", name, code, out, errs)
		}
	}
	s.send(http.MethodPost, "/api/price/quote", []byte(good)).want(t, http.StatusUnauthorized, "")

	if code, out, _ := s.pipe(`{"total":100,"weights":[1,1,1]}`, "price", "allocate"); code != 0 || out != `{"parts":[34,33,33]}` {
		t.Errorf("price allocate: code %d, output %s, want 0 and 34, 33, 33", code, out)
	}
	for _, bad := range []string{`{"weights":[1]}`, `{"total":1,"weights":[0,0]}`, `{"total":-1,"weights":[1]}`, `{"total":1}{}`, ``} {
		if code, out, errs := s.pipe(bad, "price", "allocate"); code != 1 || out != "" || errs == "" {
			t.Errorf("price allocate of %s: code %d, output %s, errors %s, want 1 and an error", bad, code, out, errs)
		}
	}
}

// pipe runs a command with text on its standard input.
func (s *installation) pipe(text string, args ...string) (code int, out, errs string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.environ(nil), strings.NewReader(text), &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(stdout.String()), stderr.String()
}
