package cataloghttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

func (s *staff) registerVersions(a *httpapi.API) {
	op := func(id, method, path, summary string, status int) huma.Operation {
		return huma.Operation{
			OperationID: "staff-" + id, Method: method, Path: "/api" + path, Tags: []string{"Menus"}, Summary: summary,
			DefaultStatus: status,
		}
	}
	httpapi.Register(a, op("menu-list", http.MethodGet, "/menus", "The menus of a branch", http.StatusOK),
		httpapi.Staff, s.menus)
	httpapi.Register(a, op("menu-add", http.MethodPost, "/menus", "Creates an empty menu", http.StatusCreated),
		httpapi.Staff, s.addMenu)
	httpapi.Register(a, op("version-list", http.MethodGet, "/menus/{id}/versions",
		"The versions of a menu, newest first", http.StatusOK), httpapi.Staff, s.versions)
	httpapi.Register(a, op("version-get", http.MethodGet, "/menu-versions/{id}",
		"A version with its items", http.StatusOK), httpapi.Staff, s.lines)
	httpapi.Register(a, op("version-discard", http.MethodDelete, "/menu-versions/{id}",
		"Deletes a draft", http.StatusNoContent), httpapi.Staff, s.discard)
	httpapi.Register(a, op("version-add", http.MethodPost, "/menu-versions/{id}/items",
		"Puts a dish on a draft", http.StatusCreated), httpapi.Staff, s.addLine)
	httpapi.Register(a, op("version-remove", http.MethodDelete, "/menu-versions/{id}/items/{itemId}",
		"Removes an item from a draft", http.StatusNoContent), httpapi.Staff, s.removeLine)
	preview := op("version-preview", http.MethodGet, "/menu-versions/{id}/preview",
		"A version as guests would see it", http.StatusOK)
	preview.Responses = menuResponses()
	httpapi.Register(a, preview, httpapi.Staff, s.preview)
}

// menuInfo is a menu as the staff see it.
type menuInfo struct {
	ID        string  `json:"id"`
	BranchID  string  `json:"branchId"`
	Name      string  `json:"name"`
	Published *string `json:"publishedVersionId" doc:"null while none of its versions is in force."`
	Drafts    int64   `json:"drafts"`
}

// menuInfoOf returns a menu as the API shows it, with ids as strings.
func menuInfoOf(m catalog.Menu) menuInfo {
	out := menuInfo{ID: decimal(m.ID), BranchID: decimal(m.BranchID), Name: m.Name, Drafts: m.Drafts}
	if m.Published != 0 {
		out.Published = new(decimal(m.Published))
	}
	return out
}

type menusIn struct {
	Paging
	BranchID int64 `query:"branchId" minimum:"0" doc:"All branches that the caller sees where it is left out."`
}

// menus cuts the page out of the whole list: a branch has a handful of menus.
func (s *staff) menus(ctx context.Context, in *menusIn) (*httpapi.Output[httpapi.Listed[menuInfo]], error) {
	all, err := s.Menus.MenusOf(ctx, authz.ActorOf(ctx), in.BranchID)
	if err != nil {
		return nil, err
	}
	page := all[min(in.offset(), len(all)):]
	page = page[:min(in.Size, len(page))]
	return httpapi.OutputOf(httpapi.ListedOf(httpapi.Paging(in.Paging), page, int64(len(all)), menuInfoOf)), nil
}

type menuAddIn struct{ Body newMenu }

type newMenu struct {
	BranchID string `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
	Name     string `json:"name" text:"line"`
}

func (s *staff) addMenu(ctx context.Context, in *menuAddIn) (*httpapi.Output[menuInfo], error) {
	branch, _ := parseID(in.Body.BranchID) // the pattern lets nothing else through
	m, err := s.Menus.AddMenu(ctx, authz.ActorOf(ctx), branch, in.Body.Name)
	return httpapi.Answer(menuInfoOf, m, err)
}

type versionsIn struct {
	Paging
	ID int64 `path:"id"`
}

func (s *staff) versions(ctx context.Context, in *versionsIn) (*httpapi.Output[httpapi.Listed[Version]], error) {
	page, total, err := s.Menus.Versions(ctx, authz.ActorOf(ctx), in.ID, in.Size, in.offset())
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(httpapi.ListedOf(httpapi.Paging(in.Paging), page, total, versionOf)), nil
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
	DailyQuota    *int64        `json:"dailyQuota" doc:"As the version has it; null for none."`
	IsActive      bool          `json:"isActive"`
	Sort          int64         `json:"sort"`
}

// lineOf requires l.Sort, which is set in every line that is read from SQL.
func lineOf(l catalog.Line) line {
	out := line{
		ItemID: decimal(l.ItemID), DishID: decimal(l.DishID), CategoryID: decimal(l.CategoryID), CategoryNames: l.Category,
		Names: l.Names, Price: l.Price, DailyQuota: l.Quota, IsActive: l.Active, Sort: *l.Sort,
	}
	if l.ImageURL != "" {
		out.ImageURL = &l.ImageURL
	}
	return out
}

type versionDetail struct {
	Version

	Items []line `json:"items" doc:"In the order of the menu."`
	Total int    `json:"total"`
}

func (s *staff) lines(ctx context.Context, in *idIn) (*httpapi.Output[versionDetail], error) {
	v, all, err := s.Menus.Lines(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	out := versionDetail{Version: versionOf(v), Items: make([]line, len(all)), Total: len(all)}
	for i, l := range all {
		out.Items[i] = lineOf(l)
	}
	return httpapi.OutputOf(out), nil
}

func (s *staff) discard(ctx context.Context, in *idIn) (*struct{}, error) {
	return nil, s.Menus.Discard(ctx, authz.ActorOf(ctx), in.ID)
}

type lineAddIn struct {
	ID   int64 `path:"id"`
	Body newLine
}

type newLine struct {
	DishID     string `json:"dishId" pattern:"^[1-9][0-9]{0,17}$"`
	Price      int64  `json:"price" minimum:"0" doc:"In minor units of the branch's currency."`
	DailyQuota *int64 `json:"dailyQuota" doc:"Comes into force with the publishing; null for no quota."`
	IsActive   bool   `json:"isActive"`
	Sort       *int64 `json:"sort,omitempty" doc:"Its place within the category; left out it comes last."`
}

func (s *staff) addLine(ctx context.Context, in *lineAddIn) (*httpapi.Output[line], error) {
	dish, _ := parseID(in.Body.DishID) // the pattern lets nothing else through
	l, err := s.Menus.AddLine(ctx, authz.ActorOf(ctx), in.ID, dish, catalog.Entry{
		Price: in.Body.Price, Quota: in.Body.DailyQuota, Active: in.Body.IsActive, Sort: in.Body.Sort,
	})
	return httpapi.Answer(lineOf, l, err)
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
	Locale         string `query:"locale" text:"exact" maxLength:"16" doc:"Goes before Accept-Language."`
	AcceptLanguage string `header:"Accept-Language"`
}

// previewOut is the menu as it is rendered for guests.
type previewOut struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *staff) preview(ctx context.Context, in *previewIn) (*previewOut, error) {
	b, err := s.Menus.Preview(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	body, err := render(b, choose(b.Branch, in.Locale, in.AcceptLanguage))
	return &previewOut{"application/json", body}, err
}
