package cataloghttp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/identity"
)

func (s *staff) keepSold(a *httpapi.API) {
	op := func(id, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: "staff-item-" + id, Method: http.MethodPost, Path: "/api/menu-items/{id}" + path, Tags: []string{"Menus"},
			Summary: summary,
		}
	}
	httpapi.Register(a, op("off", "/86", "Sells none of it for a while, from now on"), httpapi.Staff, s.takeOff)
	httpapi.Register(a, op("restore", "/restore", "Sells it again, as many as its quota says"), httpapi.Staff, s.restore)
}

type offIn struct {
	ID   int64 `path:"id"`
	Body offRequest
}

type offRequest struct {
	Until string `json:"until" text:"exact" minLength:"1" maxLength:"40" doc:"RESTORED, END_OF_DAY, or an instant."`
}

// off is an item that is not sold.
type off struct {
	ItemID string    `json:"itemId"`
	Since  time.Time `json:"since"`
	Until  string    `json:"eightySixedUntil" doc:"RESTORED, or an instant."`
	By     string    `json:"eightySixedBy"`
	Holds  int64     `json:"holds" doc:"Orders of today that have some of it and are not paid yet. They keep it."`
	Units  int64     `json:"heldUnits" doc:"What they have of it."`
	Carts  int64     `json:"carts" doc:"Carts of members with the dish in them. Those of guests are on their phones."`
}

type offOut struct{ Body off }

func (s *staff) takeOff(ctx context.Context, in *offIn) (*offOut, error) {
	until, err := catalog.ParseUntil(in.Body.Until)
	if err != nil {
		return nil, err
	}
	a, hits, err := s.Kitchen.TakeOff(ctx, identity.ActorOf(ctx), in.ID, until)
	if err != nil {
		return nil, err
	}
	return &offOut{off{decimal(a.Item), a.Since, endOf(a), a.By, hits.Holds, hits.Units, hits.Carts}}, nil
}

// endOf is when an item is back, in a word or as an instant.
func endOf(a catalog.Absence) string {
	if a.Until.IsZero() {
		return catalog.UntilRestored
	}
	return a.Until.Format(time.RFC3339Nano)
}

type restored struct {
	ItemID string `json:"itemId"`
}

type restoredOut struct{ Body restored }

func (s *staff) restore(ctx context.Context, in *idIn) (*restoredOut, error) {
	if err := s.Kitchen.Restore(ctx, identity.ActorOf(ctx), in.ID); err != nil {
		return nil, err
	}
	return &restoredOut{restored{decimal(in.ID)}}, nil
}

// counted is an item of a branch's menu with what the ledger counts of it.
type counted struct {
	ItemID        string        `json:"itemId"`
	DishID        string        `json:"dishId"`
	CategoryID    string        `json:"categoryId"`
	CategoryNames catalog.Texts `json:"categoryNames"`
	Names         catalog.Texts `json:"names"`
	IsActive      bool          `json:"isActive"`
	DailyQuota    *int64        `json:"dailyQuota" doc:"Standing; null for none."`
	Cap           *int64        `json:"cap" doc:"Of today; null for none. 0 while it is off."`
	Held          int64         `json:"held" doc:"In orders that are not paid yet."`
	Used          int64         `json:"used" doc:"In paid orders."`
	Left          *int64        `json:"left" doc:"Also by what the stock is enough for; null for any number."`
	OffUntil      *string       `json:"eightySixedUntil" doc:"RESTORED or an instant; null while it is sold."`
	OffBy         *string       `json:"eightySixedBy"`
}

func countedOf(c *catalog.Counted, category catalog.Texts, it *catalog.Item) counted {
	out := counted{
		ItemID: decimal(it.ID), DishID: decimal(it.DishID), CategoryID: decimal(it.CategoryID), CategoryNames: category,
		Names: it.Names, IsActive: it.Active, Left: c.Left(it.ID),
	}
	if quota, limited := c.Quota(it.ID); limited {
		out.DailyQuota, out.Cap = &quota, &quota
	}
	if t, ok := c.Tallies[it.ID]; ok {
		out.Cap, out.Held, out.Used = t.Cap, t.Held, t.Used
	}
	if a, ok := c.Absent[it.ID]; ok {
		out.Cap, out.OffUntil, out.OffBy = new(int64), new(endOf(a)), &a.By
	}
	return out
}

type stand struct {
	BranchID      string        `json:"branchId"`
	MenuVersionID string        `json:"menuVersionId"`
	BizDate       string        `json:"bizDate"`
	Paused        *pausedBranch `json:"paused"`
	Items         []counted     `json:"items" doc:"All of the menu, in its order."`
	Total         int           `json:"total"`
}

type standOut struct{ Body stand }

// availability is one list without pages: it is the menu that phones are sent whole.
func (s *staff) availability(ctx context.Context, in *idIn) (*standOut, error) {
	c, err := s.Kitchen.Availability(ctx, identity.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	out := stand{
		BranchID: decimal(c.BranchID), MenuVersionID: decimal(c.VersionID), BizDate: c.Date, Paused: pausedOf(c.Pause),
		Items: make([]counted, len(c.Items)), Total: len(c.Items),
	}
	headings := make(map[int64]catalog.Texts, len(c.Categories))
	for _, h := range c.Categories {
		headings[h.ID] = h.Names
	}
	for i := range c.Items {
		it := &c.Items[i]
		out.Items[i] = countedOf(c, headings[it.CategoryID], it)
	}
	return &standOut{out}, nil
}
