package catalog

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// ErrCurrencies refuses to copy prices between branches with different currencies.
var ErrCurrencies = fault.New(fault.Conflict, "currencies_differ",
	"The branches have different currencies, so prices cannot be copied.")

// MenuState is a branch's menu as imports and exports see it: the newest draft, else the published version.
type MenuState struct {
	Branch     Branch
	MenuID     int64 // 0: the branch has no menu
	DraftID    int64 // 0: there is no draft
	Items      []MenuItemState
	Categories []Category        // of the installation, in menu order
	Images     map[string]bool   // ids of stored images
	DishUse    map[int64][]int64 // other branches whose menus have a dish of this menu
	UsedBy     map[int64][]int64 // branches whose menus have dishes of a category
}

// MenuItemState is an item of a menu whose dish is not retired, in menu order.
type MenuItemState struct {
	ItemID       int64
	DishID       int64
	CategoryID   int64
	ImportKey    string // empty: it was in no file yet
	Names        Texts
	Descriptions Texts
	ImageURL     string
	Listed       bool // on the version; the entry is zero otherwise
	Entry
}

// MenuChange is what an import writes. Rows refer to categories by their place.
type MenuChange struct {
	Categories []CategoryWrite
	Items      []ItemWrite
	Created    int
	Updated    int
	Source     string // for the audit log: what was imported
	Rows       bool   // the audit log has an entry for each item, not one for the import
}

// CategoryWrite creates a category, or changes the names of one.
type CategoryWrite struct {
	ID    int64 // 0: new
	Names Texts
	Write bool // false: only referred to
}

// ItemWrite creates or changes a dish and its item.
type ItemWrite struct {
	ItemID    int64 // 0: new
	Dish      Dish  // with id 0 it is new; its category is that of Category
	Category  int   // place in MenuChange.Categories; -1 keeps the dish's
	WriteDish bool
	Key       string // stored for the item; empty keeps what is stored
	List      bool   // writes the entry
	Entry     Entry
}

// MenuFileStore stores imported menus; catalogsql implements it.
type MenuFileStore interface {
	// MenuState returns a branch's menu, or ErrBranch if the actor may not see the branch.
	MenuState(ctx context.Context, by authz.Actor, branch int64) (MenuState, error)
	// PublishedMenu is MenuState of the published version, whatever drafts there are. A menu that was never published is that
	// of its newest draft.
	PublishedMenu(ctx context.Context, by authz.Actor, branch int64) (MenuState, error)
	// ImportMenu stores images and the result of change in one transaction, and publishes the draft if asked to. It calls
	// change under the locks of all branches, and writes nothing if that fails. It returns the draft that was written, 0 for
	// none, and the branches whose menus show something else afterwards.
	ImportMenu(ctx context.Context, by authz.Actor, branch int64, w MenuImport, now time.Time,
		change func(MenuState) (MenuChange, error)) (version int64, branches []int64, err error)
}

// MenuImport is what an import does beside the change.
type MenuImport struct {
	Images  []Image
	Version int64 // the draft to write; 0: the newest one of the branch's menu, or a new one
	Publish bool
}
