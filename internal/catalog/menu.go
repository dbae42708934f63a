package catalog

import (
	"encoding/json"
	"time"
)

// Status is where a menu version is in its life: DRAFT, then PUBLISHED, then CLOSED, never back.
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
	Number      int // counts the versions of one menu
	Status      Status
	CreatedAt   time.Time
	PublishedAt time.Time // zero until published
}

// Entry is what a version says about one menu item. Its quota comes into force with the publishing.
type Entry struct {
	Price  int64
	Quota  *int64 // nil is unlimited
	Active bool
	Sort   *int64 // place within its category; nil leaves it where it is, a new one at the end
}

// maxSort bounds places in an order.
const maxSort = 1_000_000

func checkSort(sort *int64) error {
	if sort != nil && (*sort < 0 || *sort > maxSort) {
		return invalid("A place is a whole number from 0 to %d.", maxSort)
	}
	return nil
}

// Check refuses an entry that no version may have.
func (e Entry) Check() error {
	if err := CheckPrice(e.Price); err != nil {
		return err
	}
	if err := checkSort(e.Sort); err != nil {
		return err
	}
	return CheckQuota(e.Quota)
}

// Category is a group of dishes as a menu shows it.
type Category struct {
	ID    int64 `json:"id"`
	Names Texts `json:"names"`
}

// Item is a menu item as one version has it.
type Item struct {
	ID           int64  `json:"id"`
	DishID       int64  `json:"dishId"`
	CategoryID   int64  `json:"categoryId"`
	Price        int64  `json:"price"`
	Active       bool   `json:"active"`
	Names        Texts  `json:"names"`
	Descriptions Texts  `json:"descriptions,omitempty"`
	ImageURL     string `json:"imageUrl,omitempty"` // empty: no image
}

// Edition is the content of a menu version. Its items and prices never change once it is published (I13); names are as
// they were when it was loaded. It is immutable and may be shared.
type Edition struct {
	VersionID  int64
	MenuID     int64
	BranchID   int64
	Categories []Category // in the order of the menu; each has items
	Items      []Item     // in the order of the menu, those of one category together

	index map[int64]int
	dish  map[int64]int // to the dish's first item that is active, or its first
}

// NewEdition takes the content over; the caller must not change it any more.
func NewEdition(version, menu, branch int64, categories []Category, items []Item) *Edition {
	e := &Edition{VersionID: version, MenuID: menu, BranchID: branch, Categories: categories, Items: items}
	e.index, e.dish = make(map[int64]int, len(items)), make(map[int64]int, len(items))
	for i := range items {
		e.index[items[i].ID] = i
		if first, ok := e.dish[items[i].DishID]; !ok || !items[first].Active && items[i].Active {
			e.dish[items[i].DishID] = i
		}
	}
	return e
}

// OfDish gives the item under which the version sells a dish; ok is false when it does not.
func (e *Edition) OfDish(dish int64) (it Item, ok bool) {
	i, ok := e.dish[dish]
	if !ok {
		return Item{}, false
	}
	return e.Items[i], true
}

// Item gives an item of the version; ok is false when the version does not have it.
func (e *Edition) Item(id int64) (it Item, ok bool) {
	i, ok := e.index[id]
	if !ok {
		return Item{}, false
	}
	return e.Items[i], true
}

// Content is what a branch's published menu consists of, as it is stored in Redis.
type Content struct {
	Revision int64           // the branch's revision, read before the rest
	Edition  *Edition        // the published version
	Quotas   map[int64]int64 // standing quotas of all the branch's menu items that have one
	Off      []int64         // items that are off, see Absence
}

// Snapshot is a branch's menu at one moment. It is immutable and may be shared.
type Snapshot struct {
	Branch Branch
	*Edition
	Quotas map[int64]int64
	Off    []int64 // items that are off, see Absence
}

// Quota gives the standing daily quota of an item, also of one that the version does not have; limited is false where
// there is none. What is left of it today is not known here.
func (s *Snapshot) Quota(item int64) (quota int64, limited bool) {
	quota, limited = s.Quotas[item]
	return quota, limited
}

// contentJSON is the stored form of Content.
type contentJSON struct {
	Revision   int64           `json:"revision"`
	VersionID  int64           `json:"versionId"`
	MenuID     int64           `json:"menuId"`
	BranchID   int64           `json:"branchId"`
	Categories []Category      `json:"categories"`
	Items      []Item          `json:"items"`
	Quotas     map[int64]int64 `json:"quotas"`
	Off        []int64         `json:"off,omitempty"`
}

// MarshalJSON writes the stored form.
func (c Content) MarshalJSON() ([]byte, error) {
	e := c.Edition
	return json.Marshal(contentJSON{
		c.Revision, e.VersionID, e.MenuID, e.BranchID, e.Categories, e.Items, c.Quotas, c.Off,
	})
}

// UnmarshalJSON reads the stored form.
func (c *Content) UnmarshalJSON(b []byte) error {
	var j contentJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	edition := NewEdition(j.VersionID, j.MenuID, j.BranchID, j.Categories, j.Items)
	*c = Content{j.Revision, edition, j.Quotas, j.Off}
	return nil
}
