package e2e

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// roles returns the ids of all roles by name.
func (p *person) roles() map[string]string {
	p.s.t.Helper()
	var list struct {
		Items []struct{ ID, Name string } `json:"items"`
	}
	p.send(http.MethodGet, "/api/roles?size=100", nil).into(p.s.t, &list)
	ids := map[string]string{}
	for _, r := range list.Items {
		ids[r.Name] = r.ID
	}
	return ids
}

// A manager creates cashiers of their own branch and no other accounts. A cashier takes payments there and may do
// nothing else.
func TestRoles_manager(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		manager, abroad := s.createStaff("manager", "1"), s.createStaff("cashier", "2")
		roles := manager.roles()
		hire := func(role string, branches ...string) answer {
			return manager.send(http.MethodPost, "/api/users", map[string]any{
				"email": "anh@staff.example", "password": personPassword, "roleId": roles[role], "branches": branches,
			})
		}
		hire("CASHIER", "2").want(t, http.StatusNotFound, "branch_not_found")
		hire("CASHIER").want(t, http.StatusUnprocessableEntity, "branches_needed")
		hire("ADMIN").want(t, http.StatusForbidden, "rank_too_high")
		hire("OWNER").want(t, http.StatusForbidden, "rank_too_high")
		var made accountBody
		hire("CASHIER", "1").want(t, http.StatusCreated, "").into(t, &made)
		cashier := &person{s: s, id: made.ID, email: made.Email}
		if g := cashier.storeGrant(cashier.tryLogin(personPassword)); g.User.Role != "CASHIER" || fmt.Sprint(g.User.BranchIDs) != "[1]" {
			t.Errorf("the cashier is %+v", g.User)
		}

		g := s.guest(0)
		w := g.request(line{ItemID: phoGa, Qty: 1})
		w.PaymentMethod = counter
		o := g.place(w).want(t, http.StatusCreated, "").order(t)
		pay := map[string]any{"method": counter, "amount": o.Total}
		path := "/api/orders/" + o.ID
		abroad.send(http.MethodGet, path, nil).want(t, http.StatusNotFound, "order_not_found")
		abroad.send(http.MethodPost, path+"/payments", pay).want(t, http.StatusNotFound, "order_not_found")
		cashier.send(http.MethodGet, path, nil).want(t, http.StatusOK, "")
		cashier.send(http.MethodPost, path+"/payments", pay).want(t, http.StatusCreated, "")
		if o := g.get(o.ID).order(t); o.PaymentStatus != "PAID" {
			t.Errorf("an order that a cashier took the money for is %s", o.PaymentStatus)
		}
		for _, forbidden := range []struct {
			method, path string
			body         any
		}{
			{http.MethodGet, "/api/users", nil}, {http.MethodGet, "/api/audit", nil}, {http.MethodGet, "/api/roles", nil},
			{http.MethodPost, "/api/tables/1/rotate", map[string]any{}},
			{http.MethodPut, "/api/menu-items/" + pho + "/quota", map[string]any{"dailyQuota": 1}},
			{http.MethodPost, "/api/users/" + cashier.id + "/role", map[string]any{"roleId": roles["OWNER"]}},
		} {
			cashier.send(forbidden.method, forbidden.path, forbidden.body).want(t, http.StatusForbidden, "forbidden")
		}
		s.staff(http.MethodGet, "/api/users", nil).want(t, http.StatusForbidden, "account_needed")
		s.wantAuditEntry(t, s.createStaff("owner", ""), "user:"+cashier.id, "user_created")
	}, embedded, servers)
}

// wantAuditEntry expects an audit entry about a subject that the reader may see.
func (s *installation) wantAuditEntry(t *testing.T, reader *person, subject, action string) {
	t.Helper()
	var list struct {
		Items []struct{ Action, Actor, RequestID string } `json:"items"`
	}
	reader.send(http.MethodGet, "/api/audit?subject="+subject, nil).into(t, &list)
	for _, e := range list.Items {
		if e.Action == action {
			return
		}
	}
	t.Errorf("the audit log says of %s: %+v", subject, list.Items)
}

// A revoked right is gone at every server within five seconds, and the account's sessions end.
func TestRoles_revoked_permission(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		owner, waiter := s.createStaff("owner", ""), s.createStaff("staff", "1")
		roles := owner.roles()
		users := "/api/users/" + waiter.id
		waiter.wantAccepted()
		waiter.send(http.MethodGet, "/api/tables?branchId=1", nil).want(t, http.StatusOK, "")

		post := map[string]any{"roleId": roles["KITCHEN"], "branches": []string{"1"}}
		owner.sendTo(s.first(), http.MethodPost, users+"/role", post).want(t, http.StatusOK, "")
		waiter.wantRefused()
		if g := waiter.storeGrant(waiter.tryLogin(personPassword)); g.User.Role != "KITCHEN" {
			t.Errorf("after a change of role: %+v", g.User)
		}
		for _, v := range s.servers {
			waiter.sendTo(v, http.MethodGet, "/api/tables?branchId=1", nil).want(t, http.StatusForbidden, "forbidden")
		}

		// A change of a role's permissions takes effect at every server, and ends no session.
		reads := "/api/branches"
		waiter.sendTo(s.last(), http.MethodGet, reads, nil).want(t, http.StatusOK, "")
		owner.sendTo(s.first(), http.MethodPut, "/api/roles/"+roles["KITCHEN"]+"/permissions",
			map[string]any{"permissionIds": []string{owner.permission(http.MethodGet, "/me")}}).want(t, http.StatusOK, "")
		s.await(revocationLag, func() error {
			for _, v := range s.servers {
				if a := waiter.sendTo(v, http.MethodGet, reads, nil); a.status != http.StatusForbidden {
					return fmt.Errorf("%s answers %v", v.addr, a)
				}
			}
			return nil
		})
		waiter.wantAccepted()

		owner.sendTo(s.first(), http.MethodPost, users+"/disable", nil).want(t, http.StatusOK, "")
		waiter.wantRefused()
		waiter.tryLogin(personPassword).want(t, http.StatusForbidden, "account_disabled")
		s.refresh(s.last(), waiter.refresh).want(t, http.StatusUnauthorized, "refresh_token_invalid")
		owner.send(http.MethodPost, users+"/enable", nil).want(t, http.StatusOK, "")
		waiter.logIn()
		waiter.wantAccepted()
		s.wantAuditEntry(t, owner, "user:"+waiter.id, "user_disabled")
		if r := s.run("audit", "verify"); r.code != 0 {
			t.Errorf("the audit log: %+v", r)
		}
	}, embedded, pair)
}

// permission returns the id of the permission for a route.
func (p *person) permission(method, path string) string {
	p.s.t.Helper()
	var list struct {
		Items []struct{ ID, Method, APIPath string } `json:"items"`
	}
	p.send(http.MethodGet, "/api/permissions?size=100", nil).into(p.s.t, &list)
	for _, r := range list.Items {
		if r.Method == method && r.APIPath == path {
			return r.ID
		}
	}
	p.s.t.Fatalf("no permission for %s %s", method, path)
	return ""
}

var setupCode = regexp.MustCompile(`(?m)^Set-up code +(\S+)$`)

// setupCode waits for the code that a server prints.
func (v *server) setupCode() (code string) {
	v.s.t.Helper()
	v.s.await(patience, func() error {
		out, err := os.ReadFile(v.out())
		m := setupCode.FindSubmatch(out)
		if err != nil || m == nil {
			return fmt.Errorf("printed is %q (%w)", out, err)
		}
		code = string(m[1])
		return nil
	})
	return code
}

// An installation without the demo has no account and no password. The code that the server prints creates the first
// owner. Of concurrent attempts one succeeds, and no later one does.
func TestSetup_first_owner(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := bare(t, k, settings{"LOG_LEVEL": "debug"})
		for _, v := range s.servers {
			v.args = nil
			v.start()
		}
		codes := make([]string, 8) // each server's, several times
		for i := range codes {
			v := s.servers[i%len(s.servers)]
			if codes[i] = v.setupCode(); len(codes[i]) != 43 {
				t.Fatalf("the set-up code is %q", codes[i])
			}
		}
		setUp := func(i int, code string) answer {
			return s.send(http.MethodPost, "/auth/setup", map[string]string{
				"code": code, "email": fmt.Sprintf("owner%d@example.com", i), "password": personPassword,
			})
		}
		setUp(0, strings.Repeat("A", 43)).want(t, http.StatusForbidden, "setup_code_invalid")
		s.send(http.MethodPost, "/auth/setup", map[string]string{
			"code": codes[0], "email": "owner@example.com", "password": "fourteen chars",
		}).want(t, http.StatusUnprocessableEntity, "")

		answers, owners := make([]answer, len(codes)), 0
		inParallel(len(codes), func(i int) { answers[i] = setUp(i, codes[i]) })
		var p *person
		for i, a := range answers {
			if a.status == http.StatusCreated {
				owners++
				p = &person{s: s, email: fmt.Sprintf("owner%d@example.com", i)}
				continue
			}
			a.want(t, http.StatusForbidden, "setup_code_invalid")
		}
		if owners != 1 {
			t.Fatalf("%d owners were made", owners)
		}
		if g := p.storeGrant(p.tryLogin(personPassword)); g.User.Role != "OWNER" {
			t.Errorf("the first owner is %+v", g.User)
		}
		p.wantAccepted()
		p.send(http.MethodGet, "/api/users", nil).want(t, http.StatusOK, "")
		p.wantSettingEverywhere("ticket_warn", "9m0s")

		v := s.servers[0]
		v.stop()
		v.start()
		setUp(9, codes[0]).want(t, http.StatusForbidden, "setup_code_invalid")
		v.stop() // its output is complete by then
		if out, err := os.ReadFile(v.out()); err != nil || setupCode.Match(out) || !strings.Contains(string(out), "listens on") {
			t.Errorf("a house with an owner prints %q, %v", out, err)
		}
		if log, err := os.ReadFile(v.log); err != nil || strings.Contains(string(log), codes[0]) {
			t.Errorf("the set-up code is logged, %v", err)
		}
	}, embedded, pair)
}

// wantSettingEverywhere changes a setting in one process and waits until all use it, at most five seconds.
func (p *person) wantSettingEverywhere(name, value string) {
	p.s.t.Helper()
	p.send(http.MethodPatch, "/api/settings", map[string]any{"values": []any{map[string]string{"name": name, "value": value}}}).
		want(p.s.t, http.StatusOK, "")
	for _, v := range p.s.servers {
		p.s.await(5*time.Second, func() error {
			var all struct {
				Items []struct{ Name, Value string }
			}
			p.sendTo(v, http.MethodGet, "/api/settings", nil).into(p.s.t, &all)
			for _, i := range all.Items {
				if i.Name == name && i.Value == value {
					return nil
				}
			}
			return fmt.Errorf("%s uses %v", v.addr, all.Items)
		})
	}
}
