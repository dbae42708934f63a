package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/menufile"
	"comanda/internal/visit"
	"comanda/internal/visit/visitsql"
)

// planBranches plans the branches of the file, each with its tables and its menu. A branch is known by its name, because
// the file has no ids. Branches that the file does not list stay as they are.
func (p *restaurantSetup) planBranches(ctx context.Context) error {
	all, err := p.Branches.Branches(ctx, authz.System())
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range p.parsedSetup.Branches {
		b := &p.parsedSetup.Branches[i]
		b.Name = strings.TrimSpace(b.Name)
		if seen[b.Name] {
			p.wrong("This name is listed twice.", "branches", i, "name")
			continue
		}
		seen[b.Name] = true
		r := b.request()
		wanted, err := r.Branch()
		if err != nil {
			path := []any{"branches", i}
			if f, ok := errors.AsType[*fault.Error](err); ok {
				if field, ok := f.Extra["field"].(string); ok {
					path = append(path, field)
				}
			}
			p.wrong(detail(err), path...)
			continue
		}
		var stored *catalog.Branch
		if j := slices.IndexFunc(all, func(o catalog.Branch) bool { return o.Name == wanted.Name }); j >= 0 {
			stored = &all[j]
			p.ids[b.Name] = stored.ID
			p.planEdit(i, *stored, wanted)
			wanted = *stored
		} else {
			what := string(wanted.Country) + ", " + string(wanted.Currency)
			p.add(SetupStep{"branch", b.Name, stepCreate, what, func(ctx context.Context) error {
				made, err := p.Branches.Create(ctx, authz.System(), r)
				// The key of an earlier run returns the branch that it has created, whose menu must not be replaced by this one.
				if err == nil && (made.Name != r.Name || !made.RetiredAt.IsZero()) {
					return fmt.Errorf("the branch %q was created by an earlier run, and is now %q or archived; choose another name",
						r.Name, made.Name)
				}
				p.ids[b.Name] = made.ID
				return err
			}})
		}
		if err := p.planTables(ctx, i, stored); err != nil {
			return err
		}
		if err := p.planMenu(ctx, i, stored, wanted); err != nil {
			return err
		}
	}
	return nil
}

// planEdit plans the changes of a branch. Country, currency and time zone of a branch never change, because orders and
// reports depend on them.
func (p *restaurantSetup) planEdit(i int, stored, wanted catalog.Branch) {
	file := p.parsedSetup.Branches[i]
	for _, c := range []struct{ field, stored, wanted string }{
		{"country", string(stored.Country), string(wanted.Country)},
		{"currency", string(stored.Currency), string(wanted.Currency)},
		{"timezone", stored.Timezone, wanted.Timezone},
	} {
		if c.stored != "" && c.stored != c.wanted {
			p.wrong(fmt.Sprintf("The branch has %s, which cannot be changed.", c.stored), "branches", i, c.field)
			return
		}
	}
	var e catalog.BranchEdit
	var what []string
	if len(file.Locales) > 0 && !slices.Equal(stored.Locales, wanted.Locales) {
		e.Locales, what = wanted.Locales, append(what, "locales")
	}
	if file.DayStart != nil && stored.DayStart != wanted.DayStart {
		e.DayStart, what = &wanted.DayStart, append(what, "dayStart")
	}
	if len(what) == 0 {
		p.add(SetupStep{"branch", stored.Name, stepKeep, "", nil})
		return
	}
	p.add(SetupStep{"branch", stored.Name, stepChange, strings.Join(what, ", "), func(ctx context.Context) error {
		_, err := p.Branches.Edit(ctx, authz.System(), stored.ID, e)
		return err
	}})
}

// planTables plans the missing tables. Existing tables stay unchanged, because their codes may be printed.
func (p *restaurantSetup) planTables(ctx context.Context, i int, stored *catalog.Branch) error {
	name := p.parsedSetup.Branches[i].Name
	labels, like := p.tables(i)
	if stored != nil && len(labels) > 0 {
		tables, err := visitsql.New(p.DB).Tables(ctx, stored.ID)
		if err != nil {
			return err
		}
		for _, t := range tables {
			labels = slices.DeleteFunc(labels, func(l string) bool { return l == t.Label })
		}
	}
	if len(labels) == 0 {
		if len(like) > 0 {
			p.add(SetupStep{"tables", name, stepKeep, fmt.Sprintf("%d tables", len(like)), nil})
		}
		return nil
	}
	// Tables with equal properties are created by one call of AddTables. After a failure, the next run creates the
	// missing ones.
	alike := map[visit.Table][]string{}
	for _, l := range labels {
		alike[like[l]] = append(alike[like[l]], l)
	}
	kinds := slices.SortedFunc(maps.Keys(alike), func(a, b visit.Table) int {
		return cmp.Or(cmp.Compare(a.Seats, b.Seats), cmp.Compare(a.Section, b.Section))
	})
	for _, t := range kinds {
		for some := range slices.Chunk(alike[t], visit.MaxTablesAtOnce) {
			what := fmt.Sprintf("%d tables for %d", len(some), t.Seats)
			if t.Section != "" {
				what += ", " + t.Section
			}
			p.add(SetupStep{"tables", name, stepCreate, what, func(ctx context.Context) error {
				of := t
				of.BranchID = p.ids[name] // known once the branch is created
				_, err := p.Floor.AddTables(ctx, authz.System(), some, of)
				return err
			}})
		}
	}
	return nil
}

// planMenu plans the import of a menu, which is published. A branch that does not exist yet has no dry run; its file is
// read for the languages and currency that it will have.
func (p *restaurantSetup) planMenu(ctx context.Context, i int, stored *catalog.Branch, wanted catalog.Branch) error {
	file := p.parsedSetup.Branches[i]
	if file.Menu == nil {
		return nil
	}
	if (file.Menu.Template == "") == (file.Menu.File == "") {
		p.wrong("A menu is either a template or a file.", "branches", i, "menu")
		return nil
	}
	var raw []byte
	var err error
	field := "template"
	if file.Menu.File != "" {
		field = "file"
		raw, err = readNamedFile(p.dir, file.Menu.File, menufile.MaxArchive)
	} else {
		raw, err = p.CatalogServices.Files.TemplateFile(wanted, file.Menu.Template)
	}
	if err != nil {
		p.wrong(detail(err), "branches", i, "menu", field)
		return nil
	}
	step := SetupStep{"menu", file.Name, stepCreate, file.Menu.Template + filepath.Base("/"+file.Menu.File), nil}
	step.Detail = strings.Trim(step.Detail, "/")
	problems, err := p.checkMenu(ctx, stored, wanted, raw, &step)
	if err != nil {
		return err
	}
	for _, m := range problems {
		p.wrong(fmt.Sprintf("row %d, %s: %s", m.Row, m.Column, m.Message), "branches", i, "menu", field)
	}
	if step.Action != stepKeep {
		step.run = func(ctx context.Context) error {
			r, err := p.CatalogServices.Files.Import(ctx, authz.System(), p.ids[file.Name], raw, catalog.ImportOptions{Publish: true})
			if err == nil && len(r.Problems) > 0 {
				err = fmt.Errorf("row %d, %s: %s", r.Problems[0].Row, r.Problems[0].Column, r.Problems[0].Message)
			}
			return err
		}
	}
	p.add(step)
	return nil
}

// checkMenu returns the problems of a menu file, and sets the action of its step.
func (p *restaurantSetup) checkMenu(
	ctx context.Context, stored *catalog.Branch, wanted catalog.Branch, raw []byte, step *SetupStep,
) ([]menufile.CellProblem, error) {
	if stored == nil {
		return p.CatalogServices.Files.CheckFile(wanted, raw), nil
	}
	r, err := p.CatalogServices.Files.Import(ctx, authz.System(), stored.ID, raw, catalog.ImportOptions{DryRun: true})
	switch {
	case r.Created > 0:
	case r.Updated > 0:
		step.Action = stepChange
	default:
		step.Action = stepKeep
	}
	return r.Problems, err
}
