package catalog

import (
	"cmp"
	"encoding/json"
	"time"
)

// Status is the state of a menu version. It moves from DRAFT to PUBLISHED to CLOSED and never back.
type Status string

// The statuses of a menu version.
const (
	Draft     Status = "DRAFT"
	Published Status = "PUBLISHED"
	Closed    Status = "CLOSED"
)

// Version is a menu version without its content.
type Version struct {
	ID          int64
	MenuID      int64
	BranchID    int64
	Number      int // counts up within one menu
	Status      Status
	CreatedAt   time.Time
	PublishedAt time.Time // zero until published
}

// Entry is the price, quota and place of one menu item in a version. The quota takes effect when the version is
// published.
type Entry struct {
	Price  int64
	Quota  *int64 // nil is unlimited
	Active bool
	Sort   *int64 // place within the category; nil keeps it, or appends a new item
}

// maxSort is the highest position in a list.
const maxSort = 1_000_000

// checkSort validates a position; nil means that it was not set.
func checkSort(sort *int64) error {
	if sort != nil && (*sort < 0 || *sort > maxSort) {
		return invalid("A position is a whole number from 0 to %d.", maxSort)
	}
	return nil
}

// Check returns an error if the entry is not valid in any version.
func (e Entry) Check() error {
	return cmp.Or(CheckPrice(e.Price), checkSort(e.Sort), CheckQuota(e.Quota))
}

// Category is a group of dishes. An Edition has only ID and Names; the other fields are loaded for the staff and are not
// part of the copy in Redis.
type Category struct {
	ID           int64     `json:"id"`
	Names        Texts     `json:"names"`
	Sort         int64     `json:"-"`
	Descriptions Texts     `json:"-"`
	Dishes       int64     `json:"-"` // number of dishes, retired ones included
	UpdatedAt    time.Time `json:"-"`
	Branches     []int64   `json:"-"` // branches that have its dishes on a menu; only in lists
}

// Item is a menu item of one version.
type Item struct {
	ID           int64  `json:"id"`
	DishID       int64  `json:"dishId"`
	CategoryID   int64  `json:"categoryId"`
	Price        int64  `json:"price"`
	Active       bool   `json:"active"`
	Names        Texts  `json:"names"`
	Descriptions Texts  `json:"descriptions,omitempty"`
	ImageURL     string `json:"imageUrl,omitempty"` // empty for none
	TaxClass     string `json:"taxClass,omitempty"` // at the time of loading, like the names; empty: not stated
	Declaration         // likewise

	Groups []OptionGroup `json:"groups,omitempty"` // options in menu order

	// In a combination of versions: the version of the item, and the kinds of orders that it is offered to; empty: all.
	Version int64       `json:"version,omitempty"`
	Kinds   []OrderKind `json:"kinds,omitempty"`
	// Regular is the higher price of the dish on another menu of the combination, as during a happy hour; 0 for none.
	Regular int64 `json:"regular,omitempty"`
}

// Edition is the content of a menu version, or of a combination of versions. Its items and prices never change once a
// version is published (I13); names, tax classes, allergens and diets are those at the time of loading. It is immutable and
// may be shared.
type Edition struct {
	VersionID  int64 // see CombinationID
	BranchID   int64
	Categories []Category // in menu order; each has items
	Items      []Item     // in menu order, grouped by category

	index map[int64]int   // item id to its place in Items
	dish  map[int64][]int // dish id to the places of its items
}

// NewEdition returns an edition that takes ownership of the slices.
func NewEdition(version, branch int64, categories []Category, items []Item) *Edition {
	e := &Edition{VersionID: version, BranchID: branch, Categories: categories, Items: items}
	e.index, e.dish = make(map[int64]int, len(items)), make(map[int64][]int, len(items))
	for i := range items {
		e.index[items[i].ID] = i
		e.dish[items[i].DishID] = append(e.dish[items[i].DishID], i)
	}
	return e
}

// OfDish returns the item that sells a dish to one of these kinds of orders, else one that is shown to them, else another
// item of the dish; ok is false if there is none.
func (e *Edition) OfDish(dish int64, kinds ...OrderKind) (it Item, ok bool) {
	places := e.dish[dish]
	if len(places) == 0 {
		return Item{}, false
	}
	best := places[0]
	for _, i := range places {
		switch it := &e.Items[i]; {
		case !it.Shown(kinds...):
		case it.Active:
			return *it, true
		case !e.Items[best].Shown(kinds...):
			best = i
		}
	}
	return e.Items[best], true
}

// Item returns an item of the version; ok is false if the version does not have it.
func (e *Edition) Item(id int64) (it Item, ok bool) {
	i, ok := e.index[id]
	if !ok {
		return Item{}, false
	}
	return e.Items[i], true
}

// Content is a branch's published menus as they are loaded from SQL and shared through Redis.
type Content struct {
	Revision int64           // the branch's revision, read before the other fields
	Menus    []PublishedMenu // empty: one menu without a schedule, that of Edition
	Edition  *Edition        // all published versions together, whatever their schedules
	Quotas   map[int64]int64 // standing quotas by item, of all menu items of the branch that have one
	Off      []int64         // items that are off, see OffItem

	OffOptions []int64 // options that are off, see OffOption
}

// Snapshot is a branch's menu at one moment. It is immutable and may be shared.
type Snapshot struct {
	Branch   Branch
	*Edition // of the menus in force
	Quotas   map[int64]int64
	Off      []int64 // items that are off, see OffItem

	OffOptions []int64 // options that are off, see OffOption

	// MenusChange is when other menus come into force by their schedules; zero: never.
	MenusChange time.Time

	since time.Time // instant for which the menus in force were computed

	menus     menuSet
	published *Edition            // of all published menus
	names     map[int64]string    // by item; see EncodedNames
	ends      map[int64]time.Time // by menu version; see Ends
}

// newSnapshot returns the menu of a branch at an instant.
func newSnapshot(b Branch, c Content, now time.Time) (*Snapshot, error) {
	menus := c.Menus
	if len(menus) == 0 {
		menus = []PublishedMenu{{VersionID: c.Edition.VersionID}}
	}
	set, err := newMenuSet(menus, b.Calendar())
	if err != nil {
		return nil, err
	}
	s := &Snapshot{
		Branch: b, Quotas: c.Quotas, Off: c.Off, OffOptions: c.OffOptions, menus: set, published: c.Edition,
		names: make(map[int64]string, len(c.Edition.Items)),
	}
	for i := range c.Edition.Items {
		s.names[c.Edition.Items[i].ID] = c.Edition.Items[i].Names.Encode(b.Locales...)
	}
	return s.at(now), nil
}

// EncodedNames returns the names of an item in the locales of the branch as JSON, for order lines. Lines keep them as
// text, because placing and settling read lines often and never need the names. The snapshot encodes them once: for each
// order it would take a twenty-fifth of the server's time.
func (s *Snapshot) EncodedNames(it Item) string {
	if names, ok := s.names[it.ID]; ok {
		return names
	}
	return it.Names.Encode(s.Branch.Locales...) // of a snapshot without a cache, such as a preview of a menu
}

// at returns the snapshot with the menus in force at an instant.
func (s *Snapshot) at(now time.Time) *Snapshot {
	next := *s
	parts, changes := s.menus.at(now)
	next.since, next.ends = now, s.menus.ends(now)
	if next.MenusChange = changes; s.Edition == nil || s.VersionID != CombinationID(s.Branch.ID, parts) {
		next.Edition = s.published.Combine(parts)
	}
	return &next
}

// ended reports whether other menus may be in force: their time has come, or the clock was set back.
func (s *Snapshot) ended(now time.Time) bool {
	return !s.MenusChange.IsZero() && (!now.Before(s.MenusChange) || now.Before(s.since))
}

// Published returns the snapshot with all published menus, whatever their schedules.
func (s *Snapshot) Published() *Snapshot {
	all := *s
	all.Edition = s.published
	return &all
}

// Quota returns the standing daily quota of an item, whether or not the version has it; limited is false if there is
// none. It does not account for today's sales.
func (s *Snapshot) Quota(item int64) (quota int64, limited bool) {
	quota, limited = s.Quotas[item]
	return quota, limited
}

// contentJSON is the JSON form of Content. Its names are stored in Redis. A release that changes their meaning must
// change the key too.
type contentJSON struct {
	Revision   int64           `json:"revision"`
	VersionID  int64           `json:"versionId"`
	BranchID   int64           `json:"branchId"`
	Categories []Category      `json:"categories"`
	Items      []Item          `json:"items"`
	Menus      []PublishedMenu `json:"menus,omitempty"`
	Quotas     map[int64]int64 `json:"quotas"`
	Off        []int64         `json:"off,omitempty"`
	OffOptions []int64         `json:"offOptions,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (c Content) MarshalJSON() ([]byte, error) {
	e := c.Edition
	return json.Marshal(contentJSON{
		c.Revision, e.VersionID, e.BranchID, e.Categories, e.Items, c.Menus, c.Quotas, c.Off, c.OffOptions,
	})
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(b []byte) error {
	var j contentJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	edition := NewEdition(j.VersionID, j.BranchID, j.Categories, j.Items)
	*c = Content{j.Revision, j.Menus, edition, j.Quotas, j.Off, j.OffOptions}
	return nil
}
