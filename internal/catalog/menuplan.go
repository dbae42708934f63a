package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"comanda/internal/authz"
	"comanda/internal/menufile"
	"comanda/internal/text"
)

func compare(a, b string) int { return cmp.Compare(a, b) }

// keysOf returns the key of each item: the stored one, else one made from the name. Made keys depend only on the menu, so
// that a file exported before is understood.
func keysOf(s MenuState) []string {
	keys, taken := make([]string, len(s.Items)), map[string]bool{}
	for i, it := range s.Items {
		keys[i] = it.ImportKey
		taken[it.ImportKey] = true
	}
	// By id and not by place: a new place in the menu must not change a key.
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
	stored   map[int64]int  // place in change.Categories by id
	made     map[string]int // place of new categories by folded name
	change   MenuChange
	problems []menufile.CellProblem
}

// planImport returns what the rows of a file change, or the problems that only the stored menu shows.
func planImport(
	s MenuState, by authz.Actor, rows []menufile.DishRow, images map[string]Image,
) (MenuChange, []menufile.CellProblem) {
	p := &planner{MenuState: s, by: by, images: images, stored: map[int64]int{}, made: map[string]int{}}
	p.change.Source = "file"
	byKey := map[string]MenuItemState{}
	for i, key := range keysOf(s) {
		byKey[key] = s.Items[i]
	}
	for _, row := range rows {
		it, found := byKey[row.Key]
		p.row(row, it, found)
	}
	return p.change, p.problems
}

func (p *planner) problem(row menufile.DishRow, column string, code menufile.ProblemCode, message string) {
	p.problems = append(p.problems, menufile.CellProblem{Row: row.Number, Column: column, Code: code, Message: message})
}

// row adds what a row of the file changes.
func (p *planner) row(row menufile.DishRow, it MenuItemState, found bool) {
	category := p.category(row, it)
	w := ItemWrite{
		ItemID: it.ItemID, Category: category, Entry: it.Entry,
		Dish: Dish{
			ID: it.DishID, CategoryID: it.CategoryID, Names: maps.Clone(it.Names), Descriptions: maps.Clone(it.Descriptions),
			ImageURL: it.ImageURL,
		},
	}
	w.WriteDish = p.texts(&w.Dish.Names, row.Name, text.Line)
	w.WriteDish = p.texts(&w.Dish.Descriptions, row.Description, text.Lines) || w.WriteDish
	w.WriteDish = p.image(row, &w.Dish) || w.WriteDish
	if id := p.change.Categories[category].ID; !found || id == 0 || id != it.CategoryID {
		w.WriteDish = true
	}
	w.List = !found || !it.Listed || it.Price != row.Price || row.Quota.Given && !equalQuota(it.Quota, row.Quota.Units)
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
	switch {
	case !found:
		p.change.Created++
	case w.WriteDish || w.List:
		p.change.Updated++
	case w.Key == "":
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

// texts writes the texts of a row into stored ones and reports whether that changes them. An empty text removes one. What
// guests read today in the branch's first language is no change, also where it is the text of another language.
func (p *planner) texts(stored *Texts, row map[string]string, kind text.Kind) (changed bool) {
	for locale, s := range row {
		l := Locale(locale)
		was, has := (*stored)[l]
		if l == p.base() && s != "" {
			was = stored.In(l)
		}
		switch {
		case s == "" && has:
			delete(*stored, l)
		case s == "" || same(was, s, kind):
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

// same reports whether a file has a stored text. Texts that were stored before there were rules for typed text are
// cleaned for it, as the file's are.
func same(stored, s string, kind text.Kind) bool {
	if stored == s {
		return true
	}
	clean, err := kind.Clean(stored)
	return err == nil && clean == s
}

// image writes a row's picture into a dish and reports whether that changes it.
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

// category returns the place of a row's category among those of the change.
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

// findCategory returns a stored category of a name, or a new one: the item's own, one of this menu, or any.
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
	var found []Category
	for _, c := range p.Categories {
		if menufile.Fold(strings.TrimSpace(c.Names.In(p.base()))) == folded {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return CategoryWrite{}
	}
	c := slices.MinFunc(found, func(a, b Category) int { return cmp.Compare(rank(a), rank(b)) })
	return CategoryWrite{ID: c.ID, Names: maps.Clone(c.Names)}
}

// planCopy returns what puts the items of one menu on another. Dishes are shared; only entries differ.
func planCopy(from, to MenuState) MenuChange {
	c := MenuChange{Source: "branch " + strconv.FormatInt(from.Branch.ID, 10)}
	keys, taken := keysOf(from), map[string]bool{}
	for _, key := range keysOf(to) {
		taken[key] = true
	}
	for i, it := range from.Items {
		if !it.Listed {
			continue
		}
		at := slices.IndexFunc(to.Items, func(o MenuItemState) bool { return o.DishID == it.DishID })
		w := ItemWrite{Dish: Dish{ID: it.DishID, CategoryID: it.CategoryID}, Category: -1, List: true, Entry: it.Entry}
		w.Entry.Sort = nil
		if at < 0 {
			if !taken[keys[i]] {
				w.Key = keys[i]
			}
			c.Created++
			c.Items = append(c.Items, w)
			continue
		}
		was := to.Items[at]
		w.ItemID = was.ItemID
		if !was.Listed || was.Price != it.Price || was.Active != it.Active || !equalQuota(was.Quota, it.Quota) {
			c.Updated++
			c.Items = append(c.Items, w)
		}
	}
	return c
}
