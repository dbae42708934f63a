package authz

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func role(name string, permissions ...int64) Role { return Role{Name: name, Permissions: permissions} }

var (
	owner       = Principal{ID: 1, Role: role(RoleOwner)}
	admin       = Principal{ID: 2, Role: role(RoleAdmin, 1, 2, 3, 4)}
	manager     = Principal{ID: 3, Role: role(RoleManager, 1, 2), Branches: []int64{1, 2}}
	cashier     = Principal{ID: 4, Role: role(RoleCashier, 1), Branches: []int64{1}}
	abroad      = Principal{ID: 5, Role: role(RoleCashier, 1), Branches: []int64{2, 3}}
	otherBranch = Principal{ID: 6, Role: role(RoleCashier, 1), Branches: []int64{3}}
	member      = Principal{ID: 7, Role: role(RoleUser)}
)

func TestPrincipal_MayChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		by, of Principal
		want   error
	}{
		{"an owner an owner", owner, owner, nil}, {"an owner, another account", owner, member, nil},
		{"an administrator an owner", admin, owner, ErrRank}, {"an administrator another", admin, admin, nil},
		{"an administrator a manager", admin, manager, nil}, {"a manager an owner", manager, owner, ErrUser},
		{"a manager an administrator", manager, admin, ErrUser}, {"a manager a member", manager, member, ErrUser},
		{"a manager their cashier", manager, cashier, nil}, {"a manager one of elsewhere too", manager, abroad, ErrOtherBranches},
		{"a manager one of elsewhere", manager, otherBranch, ErrUser}, {"a cashier a manager", cashier, manager, ErrRank},
		{"the console an owner", OperatorPrincipal(), owner, nil},
	} {
		if err := c.by.MayChange(c.of); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestPrincipal_MayAssign(t *testing.T) {
	for _, c := range []struct {
		name     string
		by       Principal
		role     Role
		branches []int64
		want     error
	}{
		{"the owner's own", owner, role(RoleOwner), nil, nil},
		{"more than the owner's role lists", owner, role("CHEF", 99), []int64{9}, nil},
		{"an administrator owner", admin, role(RoleOwner), nil, ErrRank},
		{"an administrator a role that may more", admin, role("CHEF", 1, 9), []int64{1}, ErrExceedsOwnRights},
		{"a manager administrator", manager, role(RoleAdmin), nil, ErrRank},
		{"a manager their equal", manager, role(RoleManager, 1, 2), []int64{2}, nil},
		{"a manager elsewhere", manager, role(RoleCashier, 1), []int64{1, 3}, ErrNoBranch},
		{"a manager nowhere", manager, role(RoleCashier, 1), nil, ErrBranches},
		{"a manager a role that may more", manager, role(RoleCashier, 1, 3), []int64{1}, ErrExceedsOwnRights},
		{"an administrator nowhere", admin, role(RoleCashier), nil, ErrBranches},
		{"an administrator a member", admin, role(RoleUser), nil, nil},
	} {
		if err := c.by.MayAssign(c.role, c.branches); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestPrincipal_MayGrant(t *testing.T) {
	chef := role("CHEF", 1, 9)
	for _, c := range []struct {
		name string
		by   Principal
		of   Role
		to   []int64
		want error
	}{
		{"to the owner", owner, role(RoleOwner), nil, ErrOwnerAll},
		{"anything", owner, chef, []int64{1, 2, 77}, nil},
		{"their own", admin, chef, []int64{2, 9}, nil},
		{"revoking what they lack", admin, chef, []int64{1}, ErrExceedsOwnRights},
		{"granting what they lack", admin, chef, []int64{1, 9, 10}, ErrExceedsOwnRights},
		{"to a higher rank", manager, role(RoleAdmin), nil, ErrRank},
	} {
		if err := c.by.MayGrant(c.of, c.to); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// No sequence of permitted changes raises a user above the rank or the permissions of the highest user at the start.
func TestPrincipal_never_escalates(t *testing.T) {
	roles := []Role{
		role(RoleOwner), role(RoleAdmin, 1, 2, 3), role(RoleManager, 1, 2), role(RoleCashier, 1), role("CHEF", 4), role(RoleUser),
	}
	rapid.Check(t, func(t *rapid.T) {
		people := []Principal{admin, manager, cashier, otherBranch, member}
		people[0].Role = roles[1] // permissions 1, 2 and 3
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			by := people[rapid.IntRange(0, len(people)-1).Draw(t, "by")]
			i := rapid.IntRange(0, len(people)-1).Draw(t, "of")
			r := rapid.SampledFrom(roles).Draw(t, "role")
			branches := rapid.SliceOfN(rapid.Int64Range(1, 3), 0, 2).Draw(t, "branches")
			if by.MayChange(people[i]) == nil && by.MayAssign(r, branches) == nil {
				people[i].Role, people[i].Branches = r, BranchesOf(r.Name, branches)
			}
		}
		for _, p := range people {
			if p.Role.Name == RoleOwner || slices.Contains(p.Role.Permissions, 4) {
				t.Fatalf("%+v has become an owner or may do what only owners may", p)
			}
		}
	})
}

func TestBranchesOf(t *testing.T) {
	for name, want := range map[string][]int64{RoleOwner: nil, RoleUser: nil, RoleCashier: {1, 2}, "CHEF": {1, 2}} {
		if got := BranchesOf(name, []int64{2, 1, 2}); !slices.Equal(got, want) {
			t.Errorf("BranchesOf(%s) = %v, want %v", name, got, want)
		}
	}
}
