package cataloghttp

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

func (s *staff) registerVersions(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-menu-list", "GET /api/menus", "List the menus of a branch", s.menus)
	httpapi.Register(ops, "staff-menu-add", "POST /api/menus", "Create an empty menu", s.addMenu, httpapi.Created)
	httpapi.Register(ops, "staff-menu-schedule", "PUT /api/menus/{id}/schedule",
		"Set when a menu is offered, and to which kinds of orders", s.setSchedule)
	httpapi.Register(ops, "staff-menu-withdraw", "POST /api/menus/{id}/withdraw",
		"Take a menu off sale until a version of it is published again", s.withdraw)
	httpapi.Register(ops, "staff-version-list", "GET /api/menus/{id}/versions",
		"List the versions of a menu, newest first", s.versions)
	httpapi.Register(ops, "staff-version-get", "GET /api/menu-versions/{id}", "View a menu version with its dishes", s.lines)
	httpapi.RegisterOutput(ops, "staff-version-discard", "DELETE /api/menu-versions/{id}", "Discard a draft", s.discard)
	httpapi.Register(ops, "staff-version-add", "POST /api/menu-versions/{id}/items",
		"Add a dish to a draft", s.addLine, httpapi.Created)
	httpapi.RegisterOutput(ops, "staff-version-remove", "DELETE /api/menu-versions/{id}/items/{itemId}",
		"Remove a dish from a draft", s.removeLine)
	httpapi.RegisterOutput(ops, "staff-version-preview", "GET /api/menu-versions/{id}/preview",
		"Preview a menu version as guests would see it", s.preview, menuResponses)
}

// menuInfo is a menu as the staff see it.
type menuInfo struct {
	ID        string  `json:"id"`
	BranchID  string  `json:"branchId"`
	Name      string  `json:"name"`
	Published *string `json:"publishedVersionId" doc:"The published version; null if there is none."`
	Drafts    int64   `json:"drafts"`

	Schedule catalog.MenuSchedule `json:"schedule"`
}

// menuInfoOf returns a menu as the API shows it, with ids as strings.
func menuInfoOf(m catalog.Menu) menuInfo {
	return menuInfo{
		httpapi.FormatID(m.ID), httpapi.FormatID(m.BranchID), m.Name, httpapi.IDOrNull(m.Published), m.Drafts,
		m.Schedule.Filled(),
	}
}

type menusIn struct {
	httpapi.LongPaging
	BranchID int64 `query:"branchId" minimum:"0" doc:"If omitted, all branches that the caller may see."`
}

// menus returns a page of the complete list: a branch has only a handful of menus.
func (s *staff) menus(ctx context.Context, in *menusIn) (httpapi.Listed[menuInfo], error) {
	all, err := s.Menus.MenusOf(ctx, authz.ActorOf(ctx), in.BranchID)
	p := httpapi.Paging(in.LongPaging)
	return httpapi.ListedOf(p, httpapi.PageOf(p, all), int64(len(all)), menuInfoOf), err
}

type menuAddIn struct{ Body newMenu }

type newMenu struct {
	BranchID string `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
	Name     string `json:"name" text:"line"`
}

func (s *staff) addMenu(ctx context.Context, in *menuAddIn) (menuInfo, error) {
	m, err := s.Menus.AddMenu(ctx, authz.ActorOf(ctx), httpapi.IDOf(in.Body.BranchID), in.Body.Name)
	return menuInfoOf(m), err
}

func (s *staff) setSchedule(ctx context.Context, in *httpapi.BodyByID[catalog.MenuSchedule]) (menuInfo, error) {
	m, err := s.Menus.SetSchedule(ctx, authz.ActorOf(ctx), in.ID, in.Body)
	return menuInfoOf(m), err
}

func (s *staff) withdraw(ctx context.Context, in *httpapi.ByID) (menuInfo, error) {
	m, err := s.Menus.Withdraw(ctx, authz.ActorOf(ctx), in.ID)
	return menuInfoOf(m), err
}

type versionsIn struct {
	httpapi.LongPaging
	ID int64 `path:"id"`
}

func (s *staff) versions(ctx context.Context, in *versionsIn) (httpapi.Listed[Version], error) {
	page, total, err := s.Menus.Versions(ctx, authz.ActorOf(ctx), in.ID, in.Size, in.Offset())
	return httpapi.ListedOf(httpapi.Paging(in.LongPaging), page, total, versionOf), err
}

// line is one item of a version.
type line struct {
	ItemID        string        `json:"itemId"`
	DishID        string        `json:"dishId"`
	CategoryID    string        `json:"categoryId"`
	CategoryNames catalog.Texts `json:"categoryNames"`
	Names         catalog.Texts `json:"names"`
	ImageURL      *string       `json:"imageUrl"`
	Price         int64         `json:"price" doc:"In minor units of the branch's currency."`
	DailyQuota    *int64        `json:"dailyQuota" doc:"The quota in this version; null for none."`
	IsActive      bool          `json:"isActive"`
	Sort          int64         `json:"sort"`
	Groups        []lineGroup   `json:"groups" doc:"Options, in the order in which guests see them."`
}

// lineOf requires l.Sort, which is set in every line that is read from SQL.
func lineOf(l catalog.Line) line {
	return line{
		ItemID: httpapi.FormatID(l.ItemID), DishID: httpapi.FormatID(l.DishID), CategoryID: httpapi.FormatID(l.CategoryID),
		CategoryNames: l.Category, Names: l.Names, Price: l.Price, DailyQuota: l.Quota, IsActive: l.Active, Sort: *l.Sort,
		ImageURL: httpapi.OrNull(l.ImageURL), Groups: seq.Map(l.Groups, lineGroupOf),
	}
}

type versionDetail struct {
	Version

	Items []line `json:"items" doc:"In the order of the menu."`
	Total int    `json:"total"`
}

func (s *staff) lines(ctx context.Context, in *httpapi.ByID) (versionDetail, error) {
	v, all, err := s.Menus.Lines(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return versionDetail{}, err
	}
	return versionDetail{Version: versionOf(v), Items: seq.Map(all, lineOf), Total: len(all)}, nil
}

func (s *staff) discard(ctx context.Context, in *httpapi.ByID) (*struct{}, error) {
	return nil, s.Menus.Discard(ctx, authz.ActorOf(ctx), in.ID)
}

type newLine struct {
	DishID     string `json:"dishId" pattern:"^[1-9][0-9]{0,17}$"`
	Price      int64  `json:"price" minimum:"0" doc:"In minor units of the branch's currency."`
	DailyQuota *int64 `json:"dailyQuota" doc:"Takes effect when the draft is published; null for no quota."`
	IsActive   bool   `json:"isActive"`
	Sort       *int64 `json:"sort,omitempty" doc:"Position within the category; if omitted, it comes last."`
}

func (s *staff) addLine(ctx context.Context, in *httpapi.BodyByID[newLine]) (line, error) {
	l, err := s.Menus.AddLine(ctx, authz.ActorOf(ctx), in.ID, httpapi.IDOf(in.Body.DishID), catalog.Entry{
		Price: in.Body.Price, Quota: in.Body.DailyQuota, Active: in.Body.IsActive, Sort: in.Body.Sort,
	})
	if err != nil {
		return line{}, err
	}
	return lineOf(l), nil
}

type lineIn struct {
	ID     int64 `path:"id"`
	ItemID int64 `path:"itemId"`
}

func (s *staff) removeLine(ctx context.Context, in *lineIn) (*struct{}, error) {
	return nil, s.Menus.RemoveLine(ctx, authz.ActorOf(ctx), in.ID, in.ItemID)
}

type previewIn struct {
	ID             int64  `path:"id"`
	Locale         string `query:"locale" text:"exact" maxLength:"16" doc:"Takes precedence over Accept-Language."`
	AcceptLanguage string `header:"Accept-Language"`
}

// previewOut is a menu in the form in which guests receive it.
type previewOut struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *staff) preview(ctx context.Context, in *previewIn) (*previewOut, error) {
	b, err := s.Menus.Preview(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	body, err := render(b, choose(b.Branch, in.Locale, in.AcceptLanguage), atTable)
	return &previewOut{"application/json", body}, err
}
