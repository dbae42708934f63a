package catalog

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/menufile"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// keysOf returns the key of each item: the stored one, else one derived from the name. Derived keys depend only on the
// menu, so that a file exported earlier still matches.
func keysOf(s MenuState) []string {
	keys, taken := make([]string, len(s.Items)), map[string]bool{}
	for i, it := range s.Items {
		keys[i] = it.ImportKey
		taken[it.ImportKey] = true
	}
	// Keys are assigned in the order of ids: moving an item within the menu must not change its key.
	order := make([]int, len(s.Items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.Items[a].ItemID, s.Items[b].ItemID) })
	for _, i := range order {
		if keys[i] != "" {
			continue
		}
		made := []rune(menufile.KeyOf(s.Items[i].Names.In(s.base())))
		key := string(made)
		for n := 2; taken[key]; n++ {
			suffix := "-" + strconv.Itoa(n)
			key = string(made[:min(len(made), menufile.MaxKey-len(suffix))]) + suffix
		}
		keys[i], taken[key] = key, true
	}
	return keys
}

// planner compares a file with a menu.
type planner struct {
	MenuState
	by       authz.Actor
	images   map[string]Image
	stored   map[int64]int  // index in change.Categories by id
	made     map[string]int // index of new categories by folded name
	taken    map[int64]bool // dishes of rows
	byName   map[dishName][]MenuItemState
	change   MenuChange
	problems []menufile.CellProblem
}

// planImport returns the changes that the rows of a file make, or the problems that depend on the stored menu.
func planImport(
	s MenuState, by authz.Actor, rows []menufile.DishRow, images map[string]Image, keysOnly bool,
) (MenuChange, []menufile.CellProblem) {
	p := &planner{
		MenuState: s, by: by, images: images, stored: map[int64]int{}, made: map[string]int{}, taken: map[int64]bool{},
		byName: map[dishName][]MenuItemState{},
	}
	p.change.Source = "file"
	byKey := map[string]MenuItemState{}
	for i, key := range keysOf(s) {
		byKey[key] = s.Items[i]
	}
	for _, row := range rows {
		if it, found := byKey[row.Key]; found {
			p.taken[it.DishID] = true
		}
	}
	p.indexNames()
	for _, row := range rows {
		it, found := byKey[row.Key]
		if !found && !keysOnly {
			if it, found = p.sameDish(row); found {
				row.Name = maps.Clone(row.Name)
				delete(row.Name, string(p.base())) // at most another spelling of the same name
			}
		}
		p.row(row, it)
	}
	return p.change, p.problems
}

// dishName is the folded name of a dish and its category in the branch's first language.
type dishName struct{ category, dish string }

// indexNames indexes the dishes by name, because a file and a menu may have thousands each. A dish of another menu follows
// those of this menu; its item has no id, as it is new.
func (p *planner) indexNames() {
	categories := make(map[int64]string, len(p.Categories))
	for _, c := range p.Categories {
		categories[c.ID] = p.folded(c.Names)
	}
	add := func(it MenuItemState) {
		name := dishName{categories[it.CategoryID], p.folded(it.Names)}
		p.byName[name] = append(p.byName[name], it)
	}
	for _, it := range p.Items {
		add(it)
	}
	for _, d := range p.Others {
		add(MenuItemState{
			DishID: d.ID, CategoryID: d.CategoryID, Names: d.Names, Descriptions: d.Descriptions, ImageURL: d.ImageURL,
			TaxClass: d.TaxClass, Declaration: d.Declaration,
		})
	}
}

// sameDish returns the item of a row whose key is on no dish of the menu: that of a dish with the row's name and category,
// which files of other menus and files without keys have. Menus of other branches are not searched: their dishes would
// change unnoticed.
func (p *planner) sameDish(row menufile.DishRow) (it MenuItemState, found bool) {
	base := string(p.base())
	same := p.byName[dishName{menufile.Fold(row.Category[base]), menufile.Fold(row.Name[base])}]
	i := slices.IndexFunc(same, func(it MenuItemState) bool { return !p.taken[it.DishID] })
	if i < 0 {
		return MenuItemState{}, false
	}
	p.taken[same[i].DishID] = true
	return same[i], true
}

// folded returns a text in the branch's first language for comparisons.
func (p *planner) folded(t Texts) string { return menufile.Fold(strings.TrimSpace(t.In(p.base()))) }

func (p *planner) problem(row menufile.DishRow, column string, code menufile.ProblemCode, message string) {
	p.problems = append(p.problems, menufile.CellProblem{Row: row.Number, Column: column, Code: code, Message: message})
}

// row adds the changes that one row of the file makes.
func (p *planner) row(row menufile.DishRow, it MenuItemState) {
	category := p.category(row, it)
	w := ItemWrite{ItemID: it.ItemID, Category: category, Entry: it.Entry, Dish: it.dish(), TaxClassBefore: it.TaxClass}
	w.Dish.Names, w.Dish.Descriptions = maps.Clone(it.Names), maps.Clone(it.Descriptions)
	w.WriteDish = p.texts(&w.Dish.Names, row.Name, text.Line)
	w.WriteDish = p.texts(&w.Dish.Descriptions, row.Description, text.Lines) || w.WriteDish
	w.WriteDish = p.image(row, &w.Dish) || w.WriteDish
	w.WriteDish = p.facts(row, &w.Dish) || w.WriteDish
	if id := p.change.Categories[category].ID; it.DishID == 0 || id == 0 || id != it.CategoryID {
		w.WriteDish = true
	}
	optionsChanged := p.options(row, it, &w)
	quotaChanged := row.Quota.Given && !equalQuota(it.Quota, row.Quota.Units)
	w.List = !it.Listed || it.Price != row.Price || quotaChanged || optionsChanged
	w.Entry.Price, w.Entry.Sort = row.Price, nil
	if row.Quota.Given {
		w.Entry.Quota = row.Quota.Units
	}
	if !it.Listed {
		w.Entry.Active = true
	}
	if it.ImportKey == "" {
		w.Key = row.Key
	}
	shown := PreviewRow{row.Key, w.Dish.Names, p.change.Categories[category].Names, row.Price, it.previousPrice(), RowUnchanged}
	switch {
	case it.ItemID == 0:
		p.change.Created++
		shown.Change = RowCreated
	case w.WriteDish || w.List:
		p.change.Updated++
		shown.Change = RowUpdated
	}
	p.change.Preview = append(p.change.Preview, shown)
	if shown.Change == RowUnchanged && w.Key == "" {
		return
	}
	if w.WriteDish && !p.seesAll(p.DishUse[it.DishID]) {
		p.problem(row, "name", menufile.Shared, ErrShared.Detail)
	}
	p.change.Items = append(p.change.Items, w)
}

func equalQuota(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// seesAll reports whether the actor may change what is on the menus of branches.
func (p *planner) seesAll(branches []int64) bool {
	return !slices.ContainsFunc(branches, func(b int64) bool { return !p.by.Sees(b) })
}

// texts writes the texts of a row into stored ones and reports whether they changed. An empty text removes a text. A
// text equal to the one that guests read today in the branch's first language is no change, even if it is in another
// language.
func (p *planner) texts(stored *Texts, row map[string]string, kind text.Kind) (changed bool) {
	for locale, s := range row {
		l := Locale(locale)
		current, has := (*stored)[l]
		if l == p.base() && s != "" {
			current = stored.In(l)
		}
		switch {
		case s == "" && has:
			delete(*stored, l)
		case s == "" || same(current, s, kind):
			continue
		default:
			if *stored == nil {
				*stored = Texts{}
			}
			(*stored)[l] = s
		}
		changed = true
	}
	return changed
}

// same reports whether the text in a file equals a stored text. Texts that were stored before typed text was
// normalized are normalized for the comparison, like those of the file.
func same(stored, s string, kind text.Kind) bool {
	if stored == s {
		return true
	}
	clean, err := kind.Clean(stored)
	return err == nil && clean == s
}

// image writes a row's picture into a dish and reports whether the dish changed.
func (p *planner) image(row menufile.DishRow, d *Dish) bool {
	url := d.ImageURL
	picture, sent := p.images[row.Image]
	switch {
	case row.Image == "":
	case row.Image == menufile.Clear:
		url = ""
	case sent:
		url = ImageURL(picture.ID)
	case row.Image == d.ImageURL:
	case p.Images[ImageIDOf(row.Image)]:
		url = row.Image
	default:
		p.problem(row, "image", menufile.ImageMissing, "This picture is not stored. Send its file in a .zip file with the menu.")
	}
	changed := url != d.ImageURL
	d.ImageURL = url
	return changed
}

// facts writes a row's tax class, allergens and diets into a dish and reports whether the dish changed.
func (p *planner) facts(row menufile.DishRow, d *Dish) bool {
	before := *d
	switch {
	case row.TaxClass == "" || row.TaxClass == d.TaxClass:
	case row.TaxClass == menufile.Clear:
		d.TaxClass = ""
	case p.knowsTaxClass(row.TaxClass):
		d.TaxClass = row.TaxClass
	default:
		p.problem(row, "tax_class", menufile.TaxClassUnknown, "This tax class does not exist.")
	}
	var edit DeclarationEdit
	if a := row.Allergens; a.Given {
		code := func(s string) Allergen { return Allergen(s) }
		edit.Allergens = &AllergensEdit{a.Declared, Allergens{seq.Map(a.Contains, code), seq.Map(a.MayContain, code)}}
	}
	if row.Diets.Given {
		edit.Diets = new(seq.Map(row.Diets.Codes, func(s string) Diet { return Diet(s) }))
	}
	var wrong fault.Problems
	d.Declaration = edit.apply(d.Declaration, &wrong)
	// The file has checked its words, so only a contradiction is left: of its own cells, or with what is stored.
	for _, f := range fault.FieldsOf(wrong.Err()) {
		p.problem(row, "diets", menufile.DietConflict, "This dish "+fault.PublicText(f)+".")
	}
	return d.TaxClass != before.TaxClass || !d.equal(before.Declaration)
}

// category returns the index of a row's category in change.Categories. It appends the category if it is missing.
func (p *planner) category(row menufile.DishRow, it MenuItemState) int {
	base := string(p.base())
	folded := menufile.Fold(row.Category[base])
	found := p.findCategory(folded, it)
	at, known := p.stored[found.ID]
	if found.ID == 0 {
		at, known = p.made[folded]
	}
	if !known {
		at = len(p.change.Categories)
		p.change.Categories = append(p.change.Categories, found)
		if found.ID == 0 {
			p.made[folded] = at
		} else {
			p.stored[found.ID] = at
		}
	}
	c := &p.change.Categories[at]
	names := maps.Clone(row.Category)
	if c.ID != 0 || len(c.Names) > 0 {
		delete(names, base) // another spelling of the same name
	}
	if !p.texts(&c.Names, names, text.Line) {
		return at
	}
	c.Write = true
	if !p.seesAll(p.UsedBy[c.ID]) {
		p.problem(row, "category", menufile.Shared, ErrShared.Detail)
	}
	return at
}

// findCategory returns a stored category with the name, or a new one: the item's own, else one of this menu, else any.
func (p *planner) findCategory(folded string, it MenuItemState) CategoryWrite {
	rank := func(c Category) int {
		switch {
		case c.ID == it.CategoryID:
			return 0
		case slices.ContainsFunc(p.Items, func(o MenuItemState) bool { return o.CategoryID == c.ID }):
			return 1
		}
		return 2
	}
	found := seq.Filter(p.Categories, func(c Category) bool {
		return p.folded(c.Names) == folded
	})
	if len(found) == 0 {
		return CategoryWrite{}
	}
	c := slices.MinFunc(found, func(a, b Category) int { return cmp.Compare(rank(a), rank(b)) })
	return CategoryWrite{ID: c.ID, Names: maps.Clone(c.Names)}
}

// planCopy returns the changes that put the items of one menu on another. Dishes are shared; only entries differ.
func planCopy(from, to MenuState) MenuChange {
	c := MenuChange{
		Source: "branch " + strconv.FormatInt(from.Branch.ID, 10), SourceBranch: from.Branch.Name, OptionsOf: from.VersionID,
	}
	keys, taken := keysOf(from), seq.Set(keysOf(to))
	for i, it := range from.Items {
		if !it.Listed {
			continue
		}
		at := slices.IndexFunc(to.Items, func(o MenuItemState) bool { return o.DishID == it.DishID })
		w := ItemWrite{Dish: Dish{ID: it.DishID, CategoryID: it.CategoryID}, Category: -1, List: true, Entry: it.Entry}
		w.Entry.Sort = nil
		category := slices.IndexFunc(from.Categories, func(c Category) bool { return c.ID == it.CategoryID })
		shown := PreviewRow{keys[i], it.Names, from.Categories[category].Names, it.Price, nil, RowUnchanged}
		if at < 0 {
			if !taken[keys[i]] {
				w.Key = keys[i]
			}
			c.Created++
			shown.Change = RowCreated
		} else {
			current := to.Items[at]
			w.ItemID, shown.PreviousPrice = current.ItemID, current.previousPrice()
			if !current.Listed || current.Price != it.Price || current.Active != it.Active || !equalQuota(current.Quota, it.Quota) {
				c.Updated++
				shown.Change = RowUpdated
			}
		}
		if c.Preview = append(c.Preview, shown); shown.Change != RowUnchanged {
			c.Items = append(c.Items, w)
		}
	}
	return c
}

// ErrCurrencies refuses to copy prices between branches with different currencies.
var ErrCurrencies = fault.New(fault.Conflict, "currencies_differ",
	"The branches have different currencies, so prices cannot be copied.")

// MenuState is a menu of a branch as imports and exports see it: the newest draft, else the published version.
type MenuState struct {
	Branch     Branch
	MenuID     int64 // 0: the branch has no menu
	DraftID    int64 // 0: there is no draft
	VersionID  int64 // the version that Items describes; 0: none
	Items      []MenuItemState
	Others     []Dish            // dishes of the branch's other menus that this one lacks, by id
	Categories []Category        // all categories of the installation, in menu order
	Library    []LibraryGroup    // option groups that are not retired
	Images     map[string]bool   // ids of stored images
	TaxClasses map[string]bool   // codes
	DishUse    map[int64][]int64 // other branches whose menus have a dish of this menu
	UsedBy     map[int64][]int64 // branches whose menus have dishes of a category
}

// knowsTaxClass reports whether a dish can have a tax class; empty is none.
func (s MenuState) knowsTaxClass(code string) bool { return code == "" || s.TaxClasses[code] }

// MenuItemState is an item of a menu whose dish is not retired, in menu order.
type MenuItemState struct {
	ItemID       int64
	DishID       int64
	CategoryID   int64
	ImportKey    string // empty: no file has named the item yet
	Names        Texts
	Descriptions Texts
	ImageURL     string
	TaxClass     string
	Declaration
	Listed bool // on the version; the entry is zero otherwise
	Entry
	Groups []VersionGroup // on the version
}

// dish returns the dish of the item as it is stored.
func (it MenuItemState) dish() Dish {
	return Dish{
		ID: it.DishID, CategoryID: it.CategoryID, Names: it.Names, Descriptions: it.Descriptions, ImageURL: it.ImageURL,
		TaxClass: it.TaxClass, Declaration: it.Declaration,
	}
}

// MenuChange is the data that an import writes. Its rows refer to categories by index.
type MenuChange struct {
	Categories []CategoryWrite
	Groups     []GroupWrite
	Items      []ItemWrite
	Created    int
	Updated    int
	Preview    []PreviewRow // all dishes of the import, also unchanged ones
	Source     string       // the source of the import, for the audit log
	Rows       bool         // the audit log gets an entry for each item, instead of one for the import
	OptionsOf  int64        // the version from which the draft's dishes get their options; 0: they keep them

	SourceBranch string // name of the branch whose menu is copied, for the audit log; empty for an import of a file
}

// CategoryWrite creates a category, or changes the names of one.
type CategoryWrite struct {
	ID    int64 // 0: new
	Names Texts
	Write bool // false: the category is only referred to
}

// ItemWrite creates or changes a dish and its item.
type ItemWrite struct {
	ItemID    int64 // 0: new
	Dish      Dish  // id 0 for a new dish; its category is Category
	Category  int   // index in MenuChange.Categories; -1 keeps the dish's category
	WriteDish bool
	// TaxClassBefore is the stored tax class of the dish: a change is checked against the rates of branches.
	TaxClassBefore string
	Key            string // stored for the item; empty keeps what is stored
	List           bool   // writes the entry in the version
	Entry          Entry
	Groups         *[]GroupUse // replaces the options in the version; nil keeps them
}

// MenuFileStore stores imported menus; catalogsql implements it.
type MenuFileStore interface {
	// MenuState returns a menu of a branch, ErrBranch if the actor may not see the branch, or ErrMenu if the menu is not
	// one of the branch. Menu 0 is the oldest one with a published version, else the oldest one; the state has no menu if
	// the branch has none.
	MenuState(ctx context.Context, by authz.Actor, branch, menu int64) (MenuState, error)
	// PublishedMenus returns the menus of a branch with a published version, by id and with that version, even if there
	// are drafts. If no menu is published, it returns the oldest one with its newest draft; none if there is no menu.
	PublishedMenus(ctx context.Context, by authz.Actor, branch int64) ([]SourceMenu, error)
	// ImportMenu stores images and the result of change in one transaction, and publishes the draft if w.Publish is
	// set. It calls change under the locks of all branches, and writes nothing if change fails. It returns the draft
	// that was written, 0 for none, and the branches whose menus have changed for guests.
	ImportMenu(ctx context.Context, by authz.Actor, branch int64, w MenuImport, now time.Time,
		change func(MenuState) (MenuChange, error)) (version int64, branches []int64, err error)
}

// MenuImport contains the parameters of ImportMenu other than the change.
type MenuImport struct {
	Images  []Image
	MenuID  int64    // the menu to write; 0: the one that MenuState returns for 0
	DraftID int64    // the draft to write; 0: the newest draft of the menu, or a new one
	New     *NewMenu // writes a new menu instead
	Publish bool
}

// NewMenu is a menu that an import creates. It does nothing if the branch has more than Before menus, so that a repeated
// copy creates none twice.
type NewMenu struct {
	Name     string
	Schedule MenuSchedule
	Before   int
}

// SourceMenu is a menu as a copy of its branch takes it over.
type SourceMenu struct {
	Name     string
	Schedule MenuSchedule
	MenuState
}
