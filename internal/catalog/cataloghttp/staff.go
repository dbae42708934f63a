// Package cataloghttp serves menus to guests and the routes by which the staff edit them.
//
// The guests' menu is the most requested resource, so nothing is rendered per request: a page is rendered and compressed
// once per branch, locale and change. A client that has the current page gets 304.
package cataloghttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
)

// Services are the use cases behind the staff's routes.
type Services struct {
	Branches     *catalog.BranchAdmin
	Dishes       *catalog.DishService
	Menus        *catalog.MenuEditor
	Availability *catalog.Availability
	Options      *catalog.OptionService
	Images       *catalog.Images
	Files        *catalog.MenuFiles
	Pricing      *catalog.PricingService
}

// RegisterStaff registers the routes by which the staff manage branches, dishes and menus.
func RegisterStaff(a *httpapi.API, services Services) {
	s := &staff{services}
	branches, menus := a.Operations("Branches", httpapi.Staff), a.Operations("Menus", httpapi.Staff)
	s.registerBranches(branches)
	s.registerDishes(menus)
	s.registerVersions(menus)
	s.registerOffItems(menus)
	s.registerOptions(menus)
	registerImages(a, services.Images)
	s.registerMenuFiles(a, menus)
	s.registerMenuRows(menus)
	s.registerPricing(a.Operations("Taxes", httpapi.Staff))
	httpapi.Register(branches, "staff-branch-list", "GET /api/branches", "List branches", s.branches)
	httpapi.Register(menus, "staff-quota-set", "PUT /api/menu-items/{id}/quota",
		"Set the daily limit of a dish, from today on", s.setQuota)
	httpapi.Register(menus, "staff-version-draft", "POST /api/menus/{id}/versions",
		"Start a draft from the live version", s.draft, httpapi.Created)
	httpapi.Register(menus, "staff-version-edit", "PUT /api/menu-versions/{id}/items/{itemId}",
		"Edit a dish of a draft, or add it", s.edit)
	httpapi.Register(menus, "staff-version-publish", "POST /api/menu-versions/{id}/publish",
		"Publish a draft, which replaces the live version", s.publish)
}

type staff struct{ Services }

type branch struct {
	ID               string           `json:"id"`
	Name             string           `json:"name"`
	Country          *string          `json:"country" doc:"ISO 3166-1, two letters; null if not stated."`
	Currency         money.Currency   `json:"currency"`
	Timezone         string           `json:"timezone"`
	BizDayStartHour  int              `json:"bizDayStartHour"`
	BizDate          string           `json:"bizDate" doc:"The current business date."`
	Locales          []catalog.Locale `json:"locales"`
	AutoCloseMinutes int              `json:"autoCloseMinutes"`
	IsOpen           bool             `json:"isOpen"`
	SharedCart       bool             `json:"sharedCart" doc:"Whether the phones of a table share one cart."`
	Paused           *pausedBranch    `json:"paused" doc:"null while ordering is not paused."`

	MailFrom *string `json:"mailFrom" doc:"Sender of e-mails about its orders; null: the branch's name with the restaurant's address."`

	HasOrders bool       `json:"hasOrders" doc:"Whether country, currency, time zone and start of the business day can no longer be changed."`
	RetiredAt *time.Time `json:"retiredAt" doc:"When the branch was retired; null while it is in use."`

	OpeningHours catalog.OpeningHours `json:"openingHours"`
	IsOpenNow    bool                 `json:"isOpenNow" doc:"Whether the current time is within the opening hours."`
	HoursChange  *time.Time           `json:"hoursChange" doc:"When it next opens or closes by its hours; null if not within a year."`
}

func (s *staff) branchOf(b catalog.Branch) branch { return branchOf(b, s.Menus.Now()) }

// BranchJSON returns a branch in the form of the staff's routes, for commands.
func BranchJSON(b catalog.Branch, now time.Time) any { return branchOf(b, now) }

func branchOf(b catalog.Branch, now time.Time) branch {
	return branch{
		ID: httpapi.FormatID(b.ID), Name: b.Name, Currency: b.Currency, Timezone: b.Timezone, BizDayStartHour: b.DayStart,
		BizDate: b.Calendar().BizDate(now), Locales: b.Locales,
		AutoCloseMinutes: int(b.AutoClose / time.Minute), IsOpen: b.Open, SharedCart: b.SharedCart,
		Paused:  pausedOf(b.Paused(now)),
		Country: httpapi.OrNull(string(b.Country)), OpeningHours: b.Hours.Filled(),
		MailFrom:  httpapi.OrNull(b.MailFrom),
		HasOrders: b.HasOrders, RetiredAt: httpapi.TimeOrNull(b.RetiredAt),
		IsOpenNow: b.OpenAt(now), HoursChange: httpapi.TimeOrNull(b.HoursChange(now)),
	}
}

type branchListIn struct {
	Retired bool `query:"retired" doc:"Returns the retired branches instead."`
}

func (s *staff) branches(ctx context.Context, in *branchListIn) (httpapi.List[branch], error) {
	list := s.Branches.Branches
	if in.Retired {
		list = s.Branches.Retired
	}
	all, err := list(ctx, authz.ActorOf(ctx))
	return httpapi.ListOf(all, len(all), s.branchOf), err
}

type quotaRequest struct {
	DailyQuota *int64 `json:"dailyQuota" doc:"null for no quota, 0 to sell none."`
}

type quota struct {
	ItemID     string `json:"itemId"`
	DailyQuota *int64 `json:"dailyQuota"`
}

func (s *staff) setQuota(ctx context.Context, in *httpapi.BodyByID[quotaRequest]) (quota, error) {
	err := s.Menus.SetQuota(ctx, authz.ActorOf(ctx), in.ID, in.Body.DailyQuota)
	return quota{httpapi.FormatID(in.ID), in.Body.DailyQuota}, err
}

// Version is a menu version. It is exported because huma only reads exported embedded fields.
type Version struct {
	ID          string         `json:"id"`
	MenuID      string         `json:"menuId"`
	BranchID    string         `json:"branchId"`
	Number      int            `json:"number"`
	Status      catalog.Status `json:"status" enum:"DRAFT,PUBLISHED,CLOSED"`
	CreatedAt   time.Time      `json:"createdAt"`
	PublishedAt *time.Time     `json:"publishedAt"`
}

func versionOf(v catalog.Version) Version {
	return Version{
		ID: httpapi.FormatID(v.ID), MenuID: httpapi.FormatID(v.MenuID), BranchID: httpapi.FormatID(v.BranchID),
		Number: v.Number, Status: v.Status, CreatedAt: v.CreatedAt, PublishedAt: httpapi.TimeOrNull(v.PublishedAt),
	}
}

func (s *staff) draft(ctx context.Context, in *httpapi.ByID) (Version, error) {
	v, err := s.Menus.Draft(ctx, authz.ActorOf(ctx), in.ID)
	return versionOf(v), err
}

func (s *staff) publish(ctx context.Context, in *httpapi.ByID) (Version, error) {
	v, err := s.Menus.Publish(ctx, authz.ActorOf(ctx), in.ID)
	return versionOf(v), err
}

// entry is the price, quota and place of an item in a draft.
type entry struct {
	Price      int64  `json:"price" minimum:"0" doc:"In minor units of the branch's currency."`
	DailyQuota *int64 `json:"dailyQuota" doc:"Takes effect when the draft is published; null for no quota."`
	IsActive   bool   `json:"isActive"`
	Sort       *int64 `json:"sort,omitempty" doc:"Position within the category; if omitted, it stays unchanged, or comes last for a new item."`
}

func (e entry) wanted() catalog.Entry {
	return catalog.Entry{Price: e.Price, Quota: e.DailyQuota, Active: e.IsActive, Sort: e.Sort}
}

type entryIn struct {
	ID     int64 `path:"id"`
	ItemID int64 `path:"itemId"`
	Body   entry
}

func (s *staff) edit(ctx context.Context, in *entryIn) (entry, error) {
	return in.Body, s.Menus.Edit(ctx, authz.ActorOf(ctx), in.ID, in.ItemID, in.Body.wanted())
}
