package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"comanda/internal/account"
	"comanda/internal/authz"
)

func (p *houseSetup) planOwner(ctx context.Context) error {
	needed, err := p.Setup.Needed(ctx)
	switch {
	case err != nil:
		return err
	case p.Owner == nil && needed:
		p.wrong("There is no owner yet: add owner with an email.")
		return nil
	case p.Owner == nil:
		return nil
	case p.Owner.Role != "" || len(p.Owner.Branches) > 0:
		p.wrong("The owner has no role and no branches: owners may do everything.", "owner")
	}
	p.Owner.Role = authz.RoleOwner
	return p.planPerson(ctx, *p.Owner, "owner", []any{"owner"})
}

func (p *houseSetup) planPeople(ctx context.Context) error {
	seen := map[string]bool{}
	if p.Owner != nil {
		seen[strings.ToLower(p.Owner.Email)] = true
	}
	for i, person := range p.People {
		path := []any{"people", i}
		if seen[strings.ToLower(person.Email)] {
			p.wrong("This address is listed twice.", append(path, "email")...)
			continue
		}
		seen[strings.ToLower(person.Email)] = true
		if err := p.planPerson(ctx, person, "person", path); err != nil {
			return err
		}
	}
	return nil
}

// planPerson plans an account. An account that exists keeps its password: a file must not take it back.
func (p *houseSetup) planPerson(ctx context.Context, person housePerson, kind string, path []any) error {
	at := func(field string) []any { return append(slices.Clone(path), field) }
	email, ok := account.NormalizeEmail(person.Email)
	if !ok {
		p.wrong("This is not an e-mail address.", at("email")...)
		return nil
	}
	roles, err := p.Roles.Store.Roles(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(roles, func(r authz.Role) bool { return r.Name == strings.ToUpper(person.Role) })
	if i < 0 {
		p.wrong(fmt.Sprintf("There is no role %q.", person.Role), at("role")...)
		return nil
	}
	role := roles[i]
	if authz.WorksInEveryBranch(role.Name) != (len(person.Branches) == 0) {
		p.wrong("Owners and administrators have no branches; all others need at least one.", at("branches")...)
	}
	for j, name := range person.Branches {
		if !slices.ContainsFunc(p.parsedHouse.Branches, func(b houseBranch) bool { return b.Name == name }) {
			p.wrong(fmt.Sprintf("The file has no branch %q.", name), append(at("branches"), j)...)
		}
	}
	profile := account.Profile{Email: email, FirstName: person.Name}
	if profile, err = profile.Normalized(); err != nil {
		p.wrong(detail(err), at("name")...)
		return nil
	}
	u, found, err := p.AccountStore.Find(ctx, email, "")
	if err != nil {
		return err
	}
	if found {
		p.changePerson(u, person, profile, role, kind)
		return nil
	}
	password := ""
	switch {
	case person.Password == nil && kind == "owner":
		password, err = p.password()
	case person.Password == nil: // set with a code that is sent to the address
	case person.Password.Text != "":
		err = errors.New("a password does not stand in this file: use file or env")
	default:
		password, err = person.Password.read(p.dir)
	}
	if err == nil && (password != "" || person.Password != nil || kind == "owner") {
		err = account.CheckPassword(password, true, email)
	}
	if err != nil {
		p.wrong(detail(err), at("password")...)
		return nil
	}
	p.add(HouseStep{kind, email, stepCreate, role.Name, func(ctx context.Context) error {
		n := account.NewUser{Profile: profile, Password: password}
		_, err := p.Administration.CreateUser(ctx, authz.System(), n, p.assignment(role, person))
		return err
	}})
	return nil
}

func (p *houseSetup) assignment(role authz.Role, person housePerson) account.Assignment {
	a := account.Assignment{RoleID: role.ID}
	for _, name := range person.Branches {
		a.Branches = append(a.Branches, p.ids[strings.TrimSpace(name)])
	}
	return a
}

// changePerson plans what differs of an account that exists. A role is changed only here, and never the owner's.
func (p *houseSetup) changePerson(
	u account.User, person housePerson, profile account.Profile, role authz.Role, kind string,
) {
	if kind == "owner" && u.Role != role.Name {
		p.wrong("This address belongs to an account that is not an owner.", "owner", "email")
		return
	}
	renamed := profile.FirstName != "" && profile.FirstName != u.FirstName
	known := p.assignment(role, person) // of branches that exist; a new one has id 0
	slices.Sort(known.Branches)
	moved := u.RoleID != role.ID || !slices.Equal(known.Branches, slices.Sorted(slices.Values(u.Branches)))
	if !renamed && !moved {
		p.add(HouseStep{kind, u.Email, stepKeep, role.Name, nil})
		return
	}
	p.add(HouseStep{kind, u.Email, stepChange, role.Name, func(ctx context.Context) error {
		if renamed {
			changes := account.ProfileChanges{FirstName: &profile.FirstName}
			if _, err := p.Administration.UpdateUser(ctx, authz.System(), u.ID, changes); err != nil {
				return err
			}
		}
		if !moved {
			return nil
		}
		_, err := p.Administration.Assign(ctx, authz.System(), u.ID, p.assignment(role, person))
		return err
	}})
}
