package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
)

// RestaurantSetup is the input of SetUpRestaurant.
type RestaurantSetup struct {
	File     []byte
	Dir      string                 // the file's directory; other files that it names are relative to it
	Password func() (string, error) // the owner's password, if the file does not say where to read it
	DryRun   bool
}

// SetupStep is one change that the set-up makes, or would make. Each step is a transaction of its own.
type SetupStep struct {
	Kind   string `json:"kind"`   // owner, settings, branch, tables, menu or person
	Name   string `json:"name"`   // such as the name of the branch
	Action string `json:"action"` // create, change or keep
	Detail string `json:"detail,omitempty"`

	run func(context.Context) error
}

// The actions of steps.
const (
	stepCreate = "create"
	stepChange = "change"
	stepKeep   = "keep"
)

// RestaurantSetupResult is the result of SetUpRestaurant. If it has problems, nothing was changed.
type RestaurantSetupResult struct {
	DryRun   bool           `json:"dryRun"`
	Steps    []SetupStep    `json:"steps"`
	Problems []SetupProblem `json:"problems"`
}

// usualSeats is the number of seats of a table for which the file states none.
const usualSeats = 4

// setupKey returns the idempotency key of a branch.
func setupKey(name string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(name)))
	return "setup-" + hex.EncodeToString(sum[:16])
}

// detail returns the sentence of a fault, or the text of any other error.
func detail(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Detail
	}
	return err.Error()
}

// SetUpRestaurant applies a set-up file to an installation. It changes nothing that the file does not mention. The whole
// file is checked before the first change. It migrates an empty database; a dry run uses a temporary one instead.
func SetUpRestaurant(ctx context.Context, c Config, s RestaurantSetup) (RestaurantSetupResult, error) {
	result := RestaurantSetupResult{DryRun: s.DryRun, Steps: []SetupStep{}, Problems: []SetupProblem{}}
	h := parseSetup(s.File, s.Dir)
	if len(h.problems) > 0 {
		result.Problems = h.problems
		return result, nil
	}
	c, done, err := c.migrated(ctx, s.DryRun)
	if err != nil {
		return result, err
	}
	defer done()
	return WithCore(ctx, c, func(k *Core) (RestaurantSetupResult, error) {
		p := &restaurantSetup{Core: k, parsedSetup: h, ids: map[string]int64{}, password: s.Password}
		if err := p.plan(ctx); err != nil || len(p.problems) > 0 {
			result.Problems = append(result.Problems, p.problems...)
			return result, err
		}
		result.Steps = append(result.Steps, p.steps...)
		for _, step := range p.steps {
			if s.DryRun || step.run == nil {
				continue
			}
			if err := step.run(ctx); err != nil {
				return result, fmt.Errorf("%s %s: %w", step.Kind, step.Name, err)
			}
		}
		return result, nil
	})
}

// migrated applies all migrations to an empty database, and returns the configuration to work with. For a dry run that
// is a temporary database.
func (c Config) migrated(ctx context.Context, dryRun bool) (Config, func(), error) {
	done := func() {}
	empty, err := c.isEmpty(ctx, dryRun)
	if err != nil {
		return c, done, err
	}
	if empty && dryRun {
		dir, err := os.MkdirTemp("", "comanda-setup-")
		if err != nil {
			return c, done, fmt.Errorf("dry run: %w", err)
		}
		done = func() { _ = os.RemoveAll(dir) }
		c.DataDir, c.DatabaseURL, c.RedisURL = dir, "sqlite:"+filepath.Join(dir, "comanda.db"), ""
	}
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return c, done, err
	}
	defer db.Close()
	if empty {
		if err := db.Migrate(ctx); err != nil {
			return c, done, err
		}
	}
	if dryRun && !empty {
		return c, done, nil
	}
	return c, done, storePermissions(ctx, c, db)
}

// isEmpty reports whether no migration has been applied or, for a dry run, whether there are no roles yet, because
// neither a server nor a set-up has run. It does not create a SQLite file.
func (c Config) isEmpty(ctx context.Context, dryRun bool) (bool, error) {
	if c.checkDatabase() != nil {
		return true, nil
	}
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return false, err
	}
	defer db.Close()
	all, err := db.Migrations(ctx)
	if err != nil || !slices.ContainsFunc(all, func(m sqldb.Migration) bool { return m.Applied }) {
		return true, err
	}
	if !dryRun {
		return false, nil
	}
	roles, err := authzsql.NewRoles(db).Roles(ctx)
	return len(roles) == 0, err
}

// restaurantSetup plans and runs the steps of a set-up file.
type restaurantSetup struct {
	*Core
	*parsedSetup

	steps    []SetupStep
	ids      map[string]int64 // branch ids by name, known when their step has run
	password func() (string, error)
}

func (p *restaurantSetup) add(s SetupStep) { p.steps = append(p.steps, s) }

// plan compares the file with the installation. It writes nothing.
func (p *restaurantSetup) plan(ctx context.Context) error {
	for _, step := range []func(context.Context) error{p.planOwner, p.planSettings, p.planBranches, p.planPeople} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// planSettings plans the settings of the file. It checks them together with the stored ones, because some are valid only
// in combination. If any has a problem, it plans none.
func (p *restaurantSetup) planSettings(ctx context.Context) error {
	v, err := p.Settings.Load(ctx)
	if err != nil {
		return err
	}
	changes, before := map[string]*string{}, len(p.problems)
	for _, name := range slices.Sorted(maps.Keys(p.parsedSetup.Settings)) {
		source := p.parsedSetup.Settings[name]
		i := slices.IndexFunc(variables, func(s setting) bool { return s.house && s.houseName() == name })
		switch {
		case i < 0:
			p.wrong("Setting not found; see docs/configuration.md.", "settings", name)
			continue
		case p.Config.given[variables[i].Name]:
			p.wrong("It is fixed by "+variables[i].Name+" of the environment, flags or configuration file.", "settings", name)
			continue
		case variables[i].secret && source.Text != "":
			p.wrong("A secret does not stand in this file: use file or env.", "settings", name)
			continue
		}
		value, err := source.read(p.dir)
		if err != nil {
			p.wrong(err.Error(), "settings", name)
			continue
		}
		if v.ByName[name] != value {
			changes[name] = &value
		}
		v.ByName[name] = value
		v.Unreadable = slices.DeleteFunc(v.Unreadable, func(n string) bool { return n == name })
	}
	if len(p.problems) > before || len(p.parsedSetup.Settings) == 0 {
		return nil
	}
	if err := p.Settings.Check(v); err != nil {
		fields := fault.FieldsOf(err)
		for _, f := range fields {
			p.wrong(f.Sentence(), "settings", f.Field)
		}
		if len(fields) == 0 {
			p.wrong(detail(err), "settings")
		}
		return nil
	}
	if len(changes) == 0 {
		p.add(SetupStep{"settings", "", stepKeep, "", nil})
		return nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(changes)), ", ")
	p.add(SetupStep{"settings", names, stepChange, "", func(ctx context.Context) error {
		return p.Settings.Change(ctx, authz.System(), changes)
	}})
	return nil
}

// planOwner plans the owner. A new installation needs one: without one, no account could add the others.
func (p *restaurantSetup) planOwner(ctx context.Context) error {
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

// planPeople plans the accounts of the staff. Addresses are compared without case, as logins are.
func (p *restaurantSetup) planPeople(ctx context.Context) error {
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

// planPerson plans an account. An existing account keeps its password: a file must not reset it.
func (p *restaurantSetup) planPerson(ctx context.Context, person setupPerson, kind string, path []any) error {
	at := func(field string) []any { return append(slices.Clone(path), field) }
	email, ok := account.NormalizeEmail(person.Email)
	if !ok {
		p.wrong("This is not a valid e-mail address.", at("email")...)
		return nil
	}
	roles, err := p.Roles.Store.Roles(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(roles, func(r authz.Role) bool { return authz.SameRoleName(r.Name, person.Role) })
	if i < 0 {
		p.wrong(fmt.Sprintf("Role %q not found.", person.Role), at("role")...)
		return nil
	}
	role := roles[i]
	inBranches := authz.IsStaff(role.Name) && !authz.WorksInEveryBranch(role.Name)
	if inBranches != (len(person.Branches) > 0) {
		p.wrong("Owners, administrators and members have no branches; all others need at least one.", at("branches")...)
	}
	for j, name := range person.Branches {
		if !slices.ContainsFunc(p.parsedSetup.Branches, func(b setupBranch) bool { return b.Name == name }) {
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
	p.add(SetupStep{kind, email, stepCreate, role.Name, func(ctx context.Context) error {
		n := account.NewUser{Profile: profile, Password: password}
		_, err := p.Administration.CreateUser(ctx, authz.System(), n, p.assignment(role, person))
		return err
	}})
	return nil
}

// assignment returns the role and the branches of a person as they are stored, so that they can be compared. Branches that
// do not exist yet have the id 0.
func (p *restaurantSetup) assignment(role authz.Role, person setupPerson) account.Assignment {
	ids := make([]int64, len(person.Branches))
	for i, name := range person.Branches {
		ids[i] = p.ids[strings.TrimSpace(name)]
	}
	return account.Assignment{RoleID: role.ID, Branches: authz.BranchesOf(role.Name, ids)}
}

// changePerson plans the changes of an existing account. It may change a role, but never that of the owner.
func (p *restaurantSetup) changePerson(
	u account.User, person setupPerson, profile account.Profile, role authz.Role, kind string,
) {
	if kind == "owner" && u.Role != role.Name {
		p.wrong("This address belongs to an account that is not an owner.", "owner", "email")
		return
	}
	renamed := profile.FirstName != "" && profile.FirstName != u.FirstName
	moved := u.RoleID != role.ID ||
		!slices.Equal(p.assignment(role, person).Branches, slices.Sorted(slices.Values(u.Branches)))
	if !renamed && !moved {
		p.add(SetupStep{kind, u.Email, stepKeep, role.Name, nil})
		return
	}
	p.add(SetupStep{kind, u.Email, stepChange, role.Name, func(ctx context.Context) error {
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
