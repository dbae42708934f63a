package cataloghttp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

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
	Images       *catalog.Images
}

// Staff registers the routes by which the staff manage branches, dishes and menus.
func Staff(a *httpapi.API, services Services) {
	s := &staff{services}
	s.registerBranches(a)
	s.registerDishes(a)
	s.registerVersions(a)
	s.registerOffItems(a)
	registerImages(a, services.Images)
	tags := []string{"Menus"}
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-branch-list", Method: http.MethodGet, Path: "/api/branches", Tags: []string{"Branches"},
		Summary: "All branches",
	}, httpapi.Staff, s.branches)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-quota-set", Method: http.MethodPut, Path: "/api/menu-items/{id}/quota", Tags: tags,
		Summary: "Sets the daily quota of an item, from today on",
	}, httpapi.Staff, s.setQuota)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-version-draft", Method: http.MethodPost, Path: "/api/menus/{id}/versions", Tags: tags,
		DefaultStatus: http.StatusCreated, Summary: "Creates a draft from the published version",
	}, httpapi.Staff, s.draft)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-version-edit", Method: http.MethodPut, Path: "/api/menu-versions/{id}/items/{itemId}", Tags: tags,
		Summary: "Changes an item of a draft, or adds it",
	}, httpapi.Staff, s.edit)
	httpapi.Register(a, huma.Operation{
		OperationID: "staff-version-publish", Method: http.MethodPost, Path: "/api/menu-versions/{id}/publish", Tags: tags,
		Summary: "Publishes a draft and closes the previous version",
	}, httpapi.Staff, s.publish)
}

type staff struct{ Services }

// Paging is httpapi.Paging with a default size for menus, which are shown whole. It is exported because huma only reads
// exported embedded fields.
type Paging struct {
	Page int `query:"page" default:"1" minimum:"1" maximum:"1000000"`
	Size int `query:"size" default:"100" minimum:"1" maximum:"100"`
}

func (p Paging) offset() int { return httpapi.Paging(p).Offset() }

type branch struct {
	ID               string           `json:"id"`
	Name             string           `json:"name"`
	Currency         money.Currency   `json:"currency"`
	Timezone         string           `json:"timezone"`
	BizDayStartHour  int              `json:"bizDayStartHour"`
	BizDate          string           `json:"bizDate" doc:"The business date now."`
	Locales          []catalog.Locale `json:"locales"`
	AutoCloseMinutes int              `json:"autoCloseMinutes"`
	IsOpen           bool             `json:"isOpen"`
	Paused           *pausedBranch    `json:"paused" doc:"null while it takes orders."`
}

func (s *staff) branchOf(b catalog.Branch) branch {
	now := s.Menus.Now()
	return branch{
		ID: decimal(b.ID), Name: b.Name, Currency: b.Currency, Timezone: b.Timezone, BizDayStartHour: b.DayStart,
		BizDate: b.Calendar().BizDate(now), Locales: b.Locales,
		AutoCloseMinutes: int(b.AutoClose / time.Minute), IsOpen: b.Open, Paused: pausedOf(b.Paused(now)),
	}
}

type branchList struct {
	Items []branch `json:"items"`
	Total int      `json:"total"`
}

func (s *staff) branches(ctx context.Context, _ *struct{}) (*httpapi.Output[branchList], error) {
	all, err := s.Branches.Branches(ctx, authz.ActorOf(ctx))
	if err != nil {
		return nil, err
	}
	list := branchList{make([]branch, len(all)), len(all)}
	for i, b := range all {
		list.Items[i] = s.branchOf(b)
	}
	return httpapi.OutputOf(list), nil
}

type quotaIn struct {
	ID   int64 `path:"id"`
	Body quotaRequest
}

type quotaRequest struct {
	DailyQuota *int64 `json:"dailyQuota" doc:"null for no quota, 0 to take it off the day."`
}

type quota struct {
	ItemID     string `json:"itemId"`
	DailyQuota *int64 `json:"dailyQuota"`
}

func (s *staff) setQuota(ctx context.Context, in *quotaIn) (*httpapi.Output[quota], error) {
	if err := s.Menus.SetQuota(ctx, authz.ActorOf(ctx), in.ID, in.Body.DailyQuota); err != nil {
		return nil, err
	}
	return httpapi.OutputOf(quota{decimal(in.ID), in.Body.DailyQuota}), nil
}

type idIn struct {
	ID int64 `path:"id"`
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
		ID: decimal(v.ID), MenuID: decimal(v.MenuID), BranchID: decimal(v.BranchID), Number: v.Number, Status: v.Status,
		CreatedAt: v.CreatedAt, PublishedAt: instant(v.PublishedAt),
	}
}

// instant returns a pointer to a time, or nil for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s *staff) draft(ctx context.Context, in *idIn) (*httpapi.Output[Version], error) {
	v, err := s.Menus.Draft(ctx, authz.ActorOf(ctx), in.ID)
	return httpapi.Answer(versionOf, v, err)
}

func (s *staff) publish(ctx context.Context, in *idIn) (*httpapi.Output[Version], error) {
	v, err := s.Menus.Publish(ctx, authz.ActorOf(ctx), in.ID)
	return httpapi.Answer(versionOf, v, err)
}

// entry is the price, quota and place of an item in a draft.
type entry struct {
	Price      int64  `json:"price" minimum:"0" doc:"In minor units of the branch's currency."`
	DailyQuota *int64 `json:"dailyQuota" doc:"Comes into force with the publishing; null for no quota."`
	IsActive   bool   `json:"isActive"`
	Sort       *int64 `json:"sort,omitempty" doc:"Its place within the category; left out it stays where it is, or comes last."`
}

func (e entry) wanted() catalog.Entry {
	return catalog.Entry{Price: e.Price, Quota: e.DailyQuota, Active: e.IsActive, Sort: e.Sort}
}

type entryIn struct {
	ID     int64 `path:"id"`
	ItemID int64 `path:"itemId"`
	Body   entry
}

func (s *staff) edit(ctx context.Context, in *entryIn) (*httpapi.Output[entry], error) {
	if err := s.Menus.Edit(ctx, authz.ActorOf(ctx), in.ID, in.ItemID, in.Body.wanted()); err != nil {
		return nil, err
	}
	return httpapi.OutputOf(in.Body), nil
}
