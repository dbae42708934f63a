package catalog

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/menufile"
	"comanda/internal/seq"
)

// MenuFiles imports and exports menus as spreadsheets. Changes are visible at once in this process and within a second
// in others.
type MenuFiles struct {
	Store     MenuFileStore
	Menus     *MenuCache
	Resize    func(ctx context.Context, raw []byte) (Image, error) // same as Images.Resize
	Templates []MenuTemplate
	Now       func() time.Time
}

// ImportOptions control an import.
type ImportOptions struct {
	DryRun  bool // write nothing
	Publish bool // publish the draft, with all that it has already

	MenuID int64 // the menu to change; 0: the oldest published one, else the oldest one or a new one

	// keysOnly finds dishes by their keys only, and not by their names.
	keysOnly bool
}

// MenuImportResult is the result of an import or, for a dry run, the expected result. With problems nothing was
// written.
type MenuImportResult struct {
	Created  int                    `json:"created" doc:"Dishes that are new on the branch's menu."`
	Updated  int                    `json:"updated" doc:"Dishes that the file changes; those that stay are not counted."`
	Problems []menufile.CellProblem `json:"problems" doc:"Empty if the file was imported."`
	// Extra fields of a dry run without problems.
	Rows      []PreviewRow `json:"rows,omitempty" doc:"Only of a dry run: the dishes of the file, changed ones first, at most 50."`
	TotalRows int          `json:"totalRows,omitempty" doc:"Only of a dry run: the number of dishes of the file."`
}

// errProblems rolls an import back; the problems themselves are in the result.
var errProblems = errors.New("the menu file has problems")

// Import changes a menu of a branch by a file. Dishes that the file does not mention stay as they are. A row is the dish
// with its key, else the dish of the branch's menus with its name and category, else a new dish.
//
// New prices, quotas and dishes are written to the newest draft, or to a new one; guests see them when it is published.
// Names, descriptions, pictures and categories belong to the dish and not to a version, so guests see those at once.
func (m *MenuFiles) Import(
	ctx context.Context, by authz.Actor, branch int64, raw []byte, o ImportOptions,
) (MenuImportResult, error) {
	state, err := m.Store.MenuState(ctx, by, branch, o.MenuID)
	if err != nil {
		return MenuImportResult{}, err
	}
	file, problems := menufile.Read(raw, fileOptions(state.Branch))
	if len(problems) > 0 {
		return refused(problems), nil
	}
	images, problems, err := m.resize(ctx, file)
	if err != nil || len(problems) > 0 {
		return refused(problems), err
	}
	var result MenuImportResult
	// The function may run again, if the transaction is retried or the menu has changed meanwhile.
	change := func(s MenuState) (MenuChange, error) {
		c, problems := planImport(s, by, file.Rows, images, o.keysOnly)
		if len(problems) > 0 {
			result = refused(problems)
			return c, errProblems
		}
		result = c.result(o)
		return c, nil
	}
	if o.DryRun {
		_, err = change(state)
	} else {
		w := MenuImport{Images: slices.Collect(maps.Values(images)), MenuID: o.MenuID, Publish: o.Publish}
		_, err = m.write(ctx, by, branch, w, change)
	}
	if err != nil && !errors.Is(err, errProblems) {
		return MenuImportResult{}, err
	}
	return result, nil
}

func refused(problems []menufile.CellProblem) MenuImportResult {
	return MenuImportResult{Problems: problems}
}

// write stores a change and invalidates the menus that show it. It returns the version that was written, if any.
func (m *MenuFiles) write(
	ctx context.Context, by authz.Actor, branch int64, w MenuImport, change func(MenuState) (MenuChange, error),
) (version int64, err error) {
	// Images are stored in one order, so that two imports cannot deadlock.
	slices.SortFunc(w.Images, func(a, b Image) int { return strings.Compare(a.ID, b.ID) })
	w.Images = slices.CompactFunc(w.Images, func(a, b Image) bool { return a.ID == b.ID })
	version, changed, err := m.Store.ImportMenu(ctx, by, branch, w, m.Now(), change)
	m.Menus.changed(ctx, err, changed...)
	return version, err
}

// resize makes the images of a file's pictures, by name. A picture that cannot be read is a problem of the rows that
// name it.
func (m *MenuFiles) resize(ctx context.Context, file menufile.File) (map[string]Image, []menufile.CellProblem, error) {
	images := map[string]Image{}
	faults := map[string]*fault.Error{}
	var problems []menufile.CellProblem
	for _, row := range file.Rows {
		raw, ok := file.Pictures[row.Image]
		if _, done := images[row.Image]; !ok || done {
			continue
		}
		if faults[row.Image] == nil {
			image, err := m.Resize(ctx, raw)
			f, ok := errors.AsType[*fault.Error](err)
			switch {
			case err == nil:
				images[row.Image] = image
				continue
			case !ok || f.Kind != fault.Invalid:
				return nil, nil, err
			}
			faults[row.Image] = f // so that it is not read again for each row
		}
		problems = append(problems, menufile.CellProblem{
			Row: row.Number, Column: "image", Code: menufile.ImageUnreadable, Message: faults[row.Image].Detail,
		})
	}
	return images, problems, nil
}

// Export returns a menu of a branch as a file that Import accepts: the newest draft, else the published version.
// Menu 0 is the one that Import changes for 0.
func (m *MenuFiles) Export(ctx context.Context, by authz.Actor, branch, menu int64, f menufile.Format) ([]byte, error) {
	state, err := m.Store.MenuState(ctx, by, branch, menu)
	if err != nil {
		return nil, err
	}
	raw, err := menufile.Write(f, fileOptions(state.Branch), exportRows(state))
	return raw, fault.Wrap("export menu", err)
}

// Template returns a file with examples in a branch's currency and languages.
func (m *MenuFiles) Template(ctx context.Context, by authz.Actor, branch int64, f menufile.Format) ([]byte, error) {
	state, err := m.Store.MenuState(ctx, by, branch, 0)
	if err != nil {
		return nil, err
	}
	raw, err := menufile.Template(f, fileOptions(state.Branch))
	return raw, fault.Wrap("menu template", err)
}

// MenuRef names a menu of a branch. Menu 0 is the oldest published one, else the oldest one.
type MenuRef struct {
	BranchID int64
	MenuID   int64
}

// Copy puts the dishes of a menu on one of another branch, with prices, quotas and keys. Both menus then share the
// dishes, so a translation has to be changed only once.
func (m *MenuFiles) Copy(
	ctx context.Context, by authz.Actor, from MenuRef, to int64, o ImportOptions,
) (MenuImportResult, error) {
	source, err := m.Store.MenuState(ctx, by, from.BranchID, from.MenuID)
	if err != nil {
		return MenuImportResult{}, err
	}
	return m.copyTo(ctx, by, source, to, nil, o)
}

// copyTo puts the dishes of a menu on a branch's menu, or on a new one.
func (m *MenuFiles) copyTo(
	ctx context.Context, by authz.Actor, source MenuState, to int64, made *NewMenu, o ImportOptions,
) (MenuImportResult, error) {
	var result MenuImportResult
	change := func(s MenuState) (MenuChange, error) {
		if s.Branch.Currency != source.Branch.Currency {
			return MenuChange{}, ErrCurrencies
		}
		c := planCopy(source, s)
		result = c.result(o)
		return c, nil
	}
	if !o.DryRun {
		_, err := m.write(ctx, by, to, MenuImport{New: made, MenuID: o.MenuID, Publish: o.Publish}, change)
		return result, err
	}
	target, err := m.Store.MenuState(ctx, by, to, o.MenuID)
	if err == nil {
		_, err = change(target)
	}
	return result, err
}

func fileOptions(b Branch) menufile.Options {
	return menufile.Options{
		Currency: b.Currency, Locales: seq.Map(b.Locales, func(l Locale) string { return string(l) }),
	}
}

// exportRows returns the items of a menu as rows of a file.
func exportRows(s MenuState) []menufile.DishRow {
	keys := keysOf(s)
	var rows []menufile.DishRow
	for i, it := range s.Items {
		if !it.Listed {
			continue
		}
		category := slices.IndexFunc(s.Categories, func(c Category) bool { return c.ID == it.CategoryID })
		rows = append(rows, menufile.DishRow{
			Key: keys[i], Category: s.columns(s.Categories[category].Names), Name: s.columns(it.Names),
			Description: s.texts(it.Descriptions), Price: it.Price, Image: it.ImageURL,
			Quota: menufile.QuotaCell{Given: it.Quota != nil, Units: it.Quota}, TaxClass: it.TaxClass,
			Allergens: allergensCell(it.Allergens), Options: s.optionsCell(it.Groups),
			Diets: menufile.DietsCell{
				Given: len(it.Diets) > 0, Codes: seq.Map(it.Diets, func(d Diet) string { return string(d) }),
			},
		})
	}
	return rows
}

func allergensCell(a *Allergens) menufile.AllergensCell {
	if a == nil {
		return menufile.AllergensCell{}
	}
	code := func(a Allergen) string { return string(a) }
	return menufile.AllergensCell{
		Given: true, Declared: true, Contains: seq.Map(a.Contains, code), MayContain: seq.Map(a.MayContain, code),
	}
}

// columns returns the texts of a name in the branch's languages. The text of the first language is never empty: it is
// the text that guests would read instead.
func (s MenuState) columns(t Texts) map[string]string {
	out := s.texts(t)
	out[string(s.base())] = t.In(s.base())
	return out
}

func (s MenuState) texts(t Texts) map[string]string {
	out := map[string]string{}
	for _, l := range s.Branch.Locales {
		if text := t[l]; text != "" {
			out[string(l)] = text
		}
	}
	return out
}

func (s MenuState) base() Locale { return s.Branch.Locales[0] }

// MenuTemplate is a menu that a restaurant can start with.
type MenuTemplate struct {
	Name string
	// Rows returns the template's dishes in a branch's currency and languages, with their prices.
	Rows func(menufile.Options) ([]menufile.DishRow, error)
}

// MenuTemplates returns the templates of this program.
func MenuTemplates() []MenuTemplate {
	return seq.Map(menufile.TemplateNames(), func(name string) MenuTemplate {
		return MenuTemplate{name, func(o menufile.Options) ([]menufile.DishRow, error) { return menufile.TemplateRows(name, o) }}
	})
}

// OfferedTemplate is a template as a branch would import it.
type OfferedTemplate struct {
	Name   string
	Dishes []menufile.DishRow
}

// Categories returns the number of the template's categories.
func (t OfferedTemplate) Categories(base Locale) int {
	return len(seq.Index(t.Dishes, func(d menufile.DishRow) string { return d.Category[string(base)] }))
}

// OfferedTemplates returns all templates in a branch's currency and languages.
func (m *MenuFiles) OfferedTemplates(ctx context.Context, by authz.Actor, branch int64) (Branch, []OfferedTemplate, error) {
	state, err := m.Store.MenuState(ctx, by, branch, 0)
	if err != nil {
		return Branch{}, nil, err
	}
	all, err := seq.TryMap(m.Templates, func(t MenuTemplate) (OfferedTemplate, error) {
		rows, err := t.Rows(fileOptions(state.Branch))
		return OfferedTemplate{t.Name, rows}, fault.Wrap("menu template "+t.Name, err)
	})
	return state.Branch, all, err
}

// ImportTemplate imports a template like a file with the same dishes. Dishes that the branch has from the template
// already get the template's values again; other dishes stay.
func (m *MenuFiles) ImportTemplate(
	ctx context.Context, by authz.Actor, branch int64, name string, o ImportOptions,
) (MenuImportResult, error) {
	state, err := m.Store.MenuState(ctx, by, branch, o.MenuID)
	if err != nil {
		return MenuImportResult{}, err
	}
	raw, err := m.templateFile(state.Branch, name, state.knowsTaxClass)
	if err != nil {
		return MenuImportResult{}, err
	}
	o.keysOnly = true // the prices and texts of a template must not replace those of a dish with the same name
	return m.Import(ctx, by, branch, raw, o)
}

// TemplateFile returns a template as a file for a branch, which need not exist yet.
func (m *MenuFiles) TemplateFile(b Branch, name string) ([]byte, error) {
	return m.templateFile(b, name, func(string) bool { return true })
}

// templateFile is TemplateFile with those tax classes that the restaurant has: an owner may have deleted some.
func (m *MenuFiles) templateFile(b Branch, name string, has func(class string) bool) ([]byte, error) {
	i := slices.IndexFunc(m.Templates, func(t MenuTemplate) bool { return t.Name == name })
	if i < 0 {
		return nil, m.unknownTemplate(name)
	}
	rows, err := m.Templates[i].Rows(fileOptions(b))
	if err != nil {
		return nil, fault.Wrap("menu template "+name, err)
	}
	for i := range rows {
		if !has(rows[i].TaxClass) {
			rows[i].TaxClass = ""
		}
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
	names := seq.Map(m.Templates, func(t MenuTemplate) string { return t.Name })
	return fault.Newf(fault.Invalid, "menu_template_unknown", "Menu template %q not found. Available: %s.", name,
		strings.Join(names, ", "))
}

// MaxPreviewRows is the largest number of dishes that a dry run lists.
const MaxPreviewRows = 50

// RowChange is the change that an import makes to a dish on the branch's menu.
type RowChange string

// The changes.
const (
	RowCreated   RowChange = "created" // the dish was never on this menu
	RowUpdated   RowChange = "updated"
	RowUnchanged RowChange = "unchanged"
)

// PreviewRow is a dish as an import would write it.
type PreviewRow struct {
	Key           string    `json:"key"`
	Name          Texts     `json:"name" doc:"By locale."`
	Category      Texts     `json:"category" doc:"By locale."`
	Price         int64     `json:"price" doc:"In minor units of the branch's currency."`
	PreviousPrice *int64    `json:"previousPrice" doc:"null for a dish that is not on the menu now."`
	Change        RowChange `json:"change" enum:"created,updated,unchanged"`
}

// previousPrice returns the price of an item that is on the version, else nil.
func (it MenuItemState) previousPrice() *int64 {
	if !it.Listed {
		return nil
	}
	return &it.Price
}

// result returns the result of an import. Only a dry run lists the dishes: after an import the menu itself shows them.
func (c MenuChange) result(o ImportOptions) MenuImportResult {
	r := MenuImportResult{Created: c.Created, Updated: c.Updated, Problems: []menufile.CellProblem{}}
	if !o.DryRun {
		return r
	}
	rows := slices.Clone(c.Preview)
	rank := map[RowChange]int{RowUnchanged: 1} // a long file can change only its last dishes
	slices.SortStableFunc(rows, func(a, b PreviewRow) int { return cmp.Compare(rank[a.Change], rank[b.Change]) })
	r.Rows, r.TotalRows = rows[:min(len(rows), MaxPreviewRows)], len(rows)
	return r
}
