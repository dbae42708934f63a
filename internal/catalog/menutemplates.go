package catalog

import (
	"context"
	"slices"
	"strings"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/menufile"
)

// MenuTemplate is a menu that a restaurant can start with.
type MenuTemplate struct {
	Name string
	// Rows returns its dishes in a branch's currency and languages, with their prices.
	Rows func(menufile.Options) ([]menufile.DishRow, error)
}

// MenuTemplates returns the templates of this program.
func MenuTemplates() []MenuTemplate {
	names := menufile.TemplateNames()
	all := make([]MenuTemplate, len(names))
	for i, name := range names {
		all[i] = MenuTemplate{name, func(o menufile.Options) ([]menufile.DishRow, error) { return menufile.TemplateRows(name, o) }}
	}
	return all
}

// OfferedTemplate is a template as a branch would import it.
type OfferedTemplate struct {
	Name   string
	Dishes []menufile.DishRow
}

// Categories returns the number of its categories.
func (t OfferedTemplate) Categories(base Locale) int {
	seen := map[string]bool{}
	for _, d := range t.Dishes {
		seen[d.Category[string(base)]] = true
	}
	return len(seen)
}

// OfferedTemplates returns all templates in a branch's currency and languages.
func (m *MenuFiles) OfferedTemplates(ctx context.Context, by authz.Actor, branch int64) (Branch, []OfferedTemplate, error) {
	state, err := m.Store.MenuState(ctx, by, branch)
	if err != nil {
		return Branch{}, nil, err
	}
	all := make([]OfferedTemplate, len(m.Templates))
	for i, t := range m.Templates {
		rows, err := t.Rows(fileOptions(state.Branch))
		if err != nil {
			return Branch{}, nil, fault.Wrap("menu template "+t.Name, err)
		}
		all[i] = OfferedTemplate{t.Name, rows}
	}
	return state.Branch, all, nil
}

// ImportTemplate imports a template as a file with the same dishes: those that the branch has from it already are
// changed back, and the others stay.
func (m *MenuFiles) ImportTemplate(
	ctx context.Context, by authz.Actor, branch int64, name string, o ImportOptions,
) (MenuImportResult, error) {
	state, err := m.Store.MenuState(ctx, by, branch)
	if err != nil {
		return MenuImportResult{}, err
	}
	raw, err := m.TemplateFile(state.Branch, name)
	if err != nil {
		return MenuImportResult{}, err
	}
	return m.Import(ctx, by, branch, raw, o)
}

// TemplateFile returns a template as a file for a branch, which need not exist yet.
func (m *MenuFiles) TemplateFile(b Branch, name string) ([]byte, error) {
	i := slices.IndexFunc(m.Templates, func(t MenuTemplate) bool { return t.Name == name })
	if i < 0 {
		return nil, m.unknownTemplate(name)
	}
	rows, err := m.Templates[i].Rows(fileOptions(b))
	if err != nil {
		return nil, fault.Wrap("menu template "+name, err)
	}
	raw, err := menufile.Write(menufile.CSV, fileOptions(b), rows)
	return raw, fault.Wrap("menu template "+name, err)
}

// CheckFile returns the problems of a file for a branch that does not exist yet.
func (m *MenuFiles) CheckFile(b Branch, raw []byte) []menufile.CellProblem {
	_, problems := menufile.Read(raw, fileOptions(b))
	return problems
}

func (m *MenuFiles) unknownTemplate(name string) error {
	names := make([]string, len(m.Templates))
	for i, t := range m.Templates {
		names[i] = t.Name
	}
	return fault.Newf(fault.Invalid, "menu_template_unknown", "There is no menu template %q. There are %s.", name,
		strings.Join(names, ", "))
}
