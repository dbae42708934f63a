package cataloghttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

func (s *staff) registerOffItems(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-item-off", "POST /api/menu-items/{id}/86",
		"86 a dish: take it off sale for a while", s.takeOff)
	httpapi.Register(ops, "staff-item-restore", "POST /api/menu-items/{id}/restore", "Put a dish back on sale", s.restore)
}

type offRequest struct {
	Until string `json:"until" text:"exact" minLength:"1" maxLength:"40" doc:"RESTORED, END_OF_DAY, or an instant."`
}

// offItem is a menu item that is off sale (86).
type offItem struct {
	ItemID string    `json:"itemId"`
	Since  time.Time `json:"since"`
	Until  string    `json:"eightySixedUntil" doc:"RESTORED, or an instant."`
	By     string    `json:"eightySixedBy"`
	Holds  int64     `json:"holds" doc:"Number of today's unpaid orders that contain the dish. They keep it."`
	Units  int64     `json:"heldUnits" doc:"Units in these orders."`
	Carts  int64     `json:"carts" doc:"Number of members' carts that contain the dish. Guests' own carts are stored on their phones and not counted."`
}

func (s *staff) takeOff(ctx context.Context, in *httpapi.BodyByID[offRequest]) (offItem, error) {
	until, err := catalog.ParseUntil(in.Body.Until)
	if err != nil {
		return offItem{}, err
	}
	a, hits, err := s.Availability.TakeOff(ctx, authz.ActorOf(ctx), in.ID, until)
	return offItem{httpapi.FormatID(a.Item), a.Since, endOf(a), a.By, hits.Holds, hits.Units, hits.Carts}, err
}

// endOf formats the end of an OffItem: RESTORED or an instant.
func endOf(a catalog.OffItem) string {
	return untilText(a.Until)
}

func untilText(until time.Time) string {
	if until.IsZero() {
		return catalog.UntilRestored
	}
	return until.Format(time.RFC3339Nano)
}

type restored struct {
	ItemID string `json:"itemId"`
}

func (s *staff) restore(ctx context.Context, in *httpapi.ByID) (restored, error) {
	return restored{httpapi.FormatID(in.ID)}, s.Availability.Restore(ctx, authz.ActorOf(ctx), in.ID)
}

// itemAvailability is an item with the ledger's counters.
type itemAvailability struct {
	ItemID        string        `json:"itemId"`
	DishID        string        `json:"dishId"`
	CategoryID    string        `json:"categoryId"`
	CategoryNames catalog.Texts `json:"categoryNames"`
	Names         catalog.Texts `json:"names"`
	IsActive      bool          `json:"isActive"`
	DailyQuota    *int64        `json:"dailyQuota" doc:"The daily quota; null for none."`
	Cap           *int64        `json:"cap" doc:"Today's cap; null for none, 0 while the dish is 86'd."`
	Held          int64         `json:"held" doc:"Units in unpaid orders."`
	Used          int64         `json:"used" doc:"Units in paid orders."`
	Left          *int64        `json:"left" doc:"Units left today, also limited by the stock of the recipe; null for no limit."`
	OffUntil      *string       `json:"eightySixedUntil" doc:"RESTORED or an instant; null while the dish is on sale."`
	OffBy         *string       `json:"eightySixedBy"`
}

func itemAvailabilityOf(c *catalog.CountedMenu, category catalog.Texts, it *catalog.Item) itemAvailability {
	out := itemAvailability{
		ItemID: httpapi.FormatID(it.ID), DishID: httpapi.FormatID(it.DishID), CategoryID: httpapi.FormatID(it.CategoryID),
		CategoryNames: category, Names: it.Names, IsActive: it.Active, Left: c.Left(it.ID),
	}
	if quota, limited := c.Quota(it.ID); limited {
		// Before the first order of the day there is no counter, and the cap will be the quota.
		out.DailyQuota, out.Cap = &quota, &quota
	}
	if t, ok := c.Counters[it.ID]; ok {
		out.Cap, out.Held, out.Used = t.Cap, t.Held, t.Used
	}
	// This case is last, because SQL decides that an item is off, whatever its counter shows.
	if a, ok := c.OffItems[it.ID]; ok {
		out.Cap, out.OffUntil, out.OffBy = new(int64), new(endOf(a)), &a.By
	}
	return out
}

type branchAvailability struct {
	BranchID      string             `json:"branchId"`
	MenuVersionID string             `json:"menuVersionId" doc:"0 if no version is published."`
	BizDate       string             `json:"bizDate"`
	Paused        *pausedBranch      `json:"paused"`
	Items         []itemAvailability `json:"items" doc:"All items, in the order of the menu."`
	Total         int                `json:"total"`

	Options []optionAvailability `json:"options" doc:"The options of the menu, each once."`
}

// availability returns one list without pages: the list is as long as the menu, which phones load completely too.
func (s *staff) availability(ctx context.Context, in *httpapi.ByID) (branchAvailability, error) {
	c, err := s.Availability.Menu(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return branchAvailability{}, err
	}
	out := branchAvailability{
		BranchID: httpapi.FormatID(c.BranchID), MenuVersionID: httpapi.FormatID(c.VersionID), BizDate: c.Date,
		Paused: pausedOf(c.Pause), Items: make([]itemAvailability, len(c.Items)), Total: len(c.Items),
		Options: optionAvailabilitiesOf(c),
	}
	categories := seq.Index(c.Categories, func(c catalog.Category) int64 { return c.ID })
	for i := range c.Items {
		it := &c.Items[i]
		out.Items[i] = itemAvailabilityOf(c, categories[it.CategoryID].Names, it)
	}
	return out, nil
}
