package authz

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func TestGrantedByDefault(t *testing.T) {
	for _, c := range []struct {
		method, path, module string
		own                  bool
		roles                string // first letters of the roles with the permission
	}{
		{"GET", "/me", "MEMBERS", true, "OAMCKSU"},
		{"GET", "/api/branches", "BRANCHES", false, "OAMCKS"},
		{"PATCH", "/api/branches/{id}", "BRANCHES", false, "OAM"},
		{"POST", "/api/branches/{id}/pause", "BRANCHES", false, "OAM"},
		{"POST", "/api/branches", "BRANCHES", false, "OA"},
		{"POST", "/api/branches/{id}/copy", "BRANCHES", false, "OA"},
		{"POST", "/api/menu-versions/{id}/publish", "MENUS", false, "OAM"},
		{"PUT", "/api/menu-items/{id}/quota", "MENUS", false, "OAM"},
		{"POST", "/api/menu-items/{id}/86", "MENUS", false, "OAMK"},
		{"POST", "/api/branches/{id}/options/{optionId}/off", "MENUS", false, "OAMK"},
		{"PUT", "/api/menu-versions/{id}/items/{itemId}/groups", "MENUS", false, "OAM"},
		{"GET", "/api/stock/items", "STOCK", false, "OAMK"},
		{"GET", "/api/stock/reservations", "STOCK", false, "OAM"},
		{"GET", "/api/tables", "TABLES", false, "OAMCS"},
		{"POST", "/api/tables/{id}/rotate", "TABLES", false, "OAM"},
		{"PUT", "/api/branches/{id}/floor-plan", "TABLES", false, "OAM"},
		{"POST", "/api/visits/{id}/close", "VISITS", false, "OAMCS"},
		{"GET", "/api/orders/{id}", "ORDERS", false, "OAMCKS"},
		{"POST", "/api/orders/{id}/payments", "ORDERS", false, "OAMC"},
		{"GET", "/api/reports/day", "REPORTS", false, "OAM"},
		{"POST", "/api/users", "USERS", false, "OAM"},
		{"GET", "/api/roles", "ROLES", false, "OAM"},
		{"PUT", "/api/roles/{id}/permissions", "ROLES", false, "OA"},
		{"GET", "/api/audit", "AUDIT", false, "OAM"},
		{"GET", "/api/reports/payments", "REPORTS", false, "OAM"},
		{"GET", "/api/system/outbox", "SYSTEM", false, "OA"},
		{"POST", "/api/system/reconcile", "SYSTEM", false, "OA"},
		{"DELETE", "/api/everything", "UNKNOWN", false, "OA"},
	} {
		p := Permission{Method: c.method, Path: c.path, Module: c.module, Own: c.own}
		got := ""
		for _, r := range Delivered() {
			if GrantedByDefault(r.Name, p) {
				got += r.Name[:1]
			}
		}
		if got != c.roles {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.roles)
		}
		if GrantedByDefault("CHEF", p) != c.own {
			t.Errorf("%s %s: granted to a custom role: %t", c.method, c.path, !c.own)
		}
	}
}

func TestRole_Check(t *testing.T) {
	long := Role{Name: "CHEF", Description: string(make([]byte, maxRoleText+1))}
	for name, ok := range map[string]bool{
		"CHEF": true, "CHEF_2": true, "Shift lead": true, "領班": true, strings.Repeat("Đ", 32): true,
		"C": false, strings.Repeat("Đ", 33): false, "": false,
	} {
		if err := (Role{Name: name}).Check(); (err == nil) != ok {
			t.Errorf("Check of role %q = %v, want success %t", name, err, ok)
		}
	}
	if long.Check() == nil {
		t.Error("a description of any length was accepted")
	}
}

func TestRole_CheckName(t *testing.T) {
	all := []Role{{ID: 1, Name: RoleOwner}, {ID: 8, Name: "SHIFT_LEAD"}, {ID: 9, Name: "領班"}}
	for name, want := range map[string]error{
		"Shift leader": nil, "領班 2": nil, "Quản lý": nil,
		"Owner": ErrRoleName, "ówner": ErrRoleName, "shift-lead": ErrRoleName, "Shift Lead": ErrRoleName, "領班": ErrRoleName,
	} {
		if err := (Role{Name: name}).CheckName(all); !errors.Is(err, want) {
			t.Errorf("CheckName of %q = %v, want %v", name, err, want)
		}
	}
	if err := (Role{ID: 8, Name: "Shift lead"}).CheckName(all); err != nil {
		t.Errorf("a role with another spelling of its own name: %v", err)
	}
}

// grantStore is a GrantStore that a test sets.
type grantStore struct {
	versions map[int64]int64
	granted  map[int64][]RouteKey
	err      error
	read     int
}

func (b *grantStore) RoleVersions(context.Context) (map[int64]int64, error) {
	return maps.Clone(b.versions), b.err
}

func (b *grantStore) Grants(context.Context) (map[int64][]RouteKey, error) {
	b.read++
	return b.granted, b.err
}

func TestAuthorizer(t *testing.T) {
	get, post := RouteKey{"GET", "/a"}, RouteKey{"POST", "/a"}
	b := &grantStore{versions: map[int64]int64{7: 1}, granted: map[int64][]RouteKey{7: {get, {"GET", "/gone"}}}}
	now := time.Unix(1000, 0)
	r := NewAuthorizer(b, func() time.Time { return now }, map[RouteKey]int{get: 3, post: 130})
	cook, boss, gone := &Actor{RoleID: 7, Role: "CHEF"}, &Actor{RoleID: 1, Role: RoleOwner}, &Actor{RoleID: 8}
	want := func(what string, a *Actor, route int, code string) {
		t.Helper()
		err, got := r.Authorize(a, route), ""
		if f, ok := errors.AsType[*fault.Error](err); ok {
			got = f.Code
		}
		if got != code {
			t.Errorf("%s: error %v, want code %q", what, err, code)
		}
	}
	want("before the first refresh", cook, 3, "identity_stale")
	want("an owner before the first refresh", boss, 130, "")
	follow := func() error { return r.Refresh(t.Context()) }
	testenv.NoError(t, follow())
	want("a granted route", cook, 3, "")
	want("another route", cook, 130, "forbidden")
	want("beyond the table", cook, 100_000, "forbidden")
	want("a deleted role", gone, 3, "forbidden")

	if err := follow(); err != nil || b.read != 1 {
		t.Errorf("read %d times without a change, %v", b.read, err)
	}
	b.versions[7], b.granted = 2, map[int64][]RouteKey{7: {post}}
	testenv.NoError(t, follow())
	want("a revoked route", cook, 3, "forbidden")
	want("a newly granted route", cook, 130, "")

	b.err = errors.New("out of reach")
	now = now.Add(maxGrantAge)
	if follow() == nil {
		t.Error("Refresh hid an error")
	}
	want("five seconds later", cook, 130, "")
	now = now.Add(time.Millisecond)
	want("after more than that", cook, 130, "identity_stale")
	want("an owner", boss, 130, "")
}

func BenchmarkAuthorizer_Authorize(b *testing.B) {
	get := RouteKey{"GET", "/a"}
	r := NewAuthorizer(&grantStore{granted: map[int64][]RouteKey{7: {get}}}, time.Now, map[RouteKey]int{get: 70})
	testenv.NoError(b, r.Refresh(b.Context()))
	a := &Actor{RoleID: 7}
	for b.Loop() {
		if r.Authorize(a, 70) != nil {
			b.Fatal("refused")
		}
	}
}

func TestSetOf(t *testing.T) {
	for _, c := range []struct {
		method, path, module string
		want                 PermissionSet
	}{
		{"GET", "/api/orders/{id}", "ORDERS", SetView},
		{"GET", "/api/tables", "TABLES", SetServe},
		{"POST", "/api/tables", "TABLES", SetBranch},
		{"POST", "/api/visits/{id}/close", "VISITS", SetServe},
		{"POST", "/api/orders/{id}/start", "ORDERS", SetCook},
		{"POST", "/api/orders/{id}/serve", "ORDERS", SetHandOver},
		{"POST", "/api/menu-items/{id}/86", "MENUS", SetSellOut},
		{"POST", "/api/branches/{id}/options/{optionId}/on", "MENUS", SetSellOut},
		{"POST", "/api/orders/{id}/refunds", "ORDERS", SetMoney},
		{"GET", "/api/payments", "PAYMENTS", SetMoney},
		{"POST", "/api/orders/{id}/payments/{paymentId}/mismatch", "PAYMENTS", SetBranch},
		{"POST", "/api/menu-versions/{id}/publish", "MENUS", SetMenu},
		{"POST", "/api/branches/{id}/pause", "BRANCHES", SetBranch},
		{"POST", "/api/branches", "BRANCHES", SetAdmin},
		{"GET", "/api/roles", "ROLES", SetPeople},
		{"PUT", "/api/roles/{id}/permissions", "ROLES", SetAdmin},
		{"GET", "/orders/{id}", "ORDERS", SetOwn},
		{"GET", "/api/loyalty", "LOYALTY", ""},
	} {
		if got := SetOf(Permission{Method: c.method, Path: c.path, Module: c.module}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.method, c.path, got, c.want)
		}
	}
}
