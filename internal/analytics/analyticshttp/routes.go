// Package analyticshttp receives views and searches from phones, and serves popular dishes, suggestions and members'
// histories.
package analyticshttp

import (
	"context"

	"comanda/internal/analytics"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

// Guest is the guest of a customer token.
type Guest struct {
	Branch int64
	Visit  string
	Hash   string // of the token
}

// GuestFinder returns the guest of a customer token while the visit is open.
type GuestFinder interface {
	Guest(ctx context.Context, token string) (Guest, error)
}

type routes struct {
	service  *analytics.Service
	activity *analytics.Activity
	guests   GuestFinder
}

// Register adds the routes.
func Register(a *httpapi.API, service *analytics.Service, activity *analytics.Activity, guests GuestFinder) {
	r := routes{service, activity, guests}
	httpapi.RegisterOutput(a.Operations("Menus", httpapi.Guest), "guest-views", "POST /cis/views",
		"Report dishes that a guest has looked at or added, and searches", r.guestViews)
	httpapi.Register(a.Operations("Menus", httpapi.Public), "popular", "GET /cis/branch/{branchId}/popular",
		"List the dishes that sell best today and can be ordered now", r.popular)
	httpapi.Register(a.Operations("Menus", httpapi.Public), "suggestions", "GET /cis/branch/{branchId}/suggestions",
		"Suggest searches and dishes while a guest types", r.suggestions)
	ops := a.Operations("Members", httpapi.Member)
	httpapi.RegisterOutput(ops, "me-views", "POST /me/views", "Report dishes that you have looked at or added, and searches",
		r.memberViews)
	httpapi.Register(ops, "me-dishes", "GET /me/dishes", "View the dishes that you have seen and order often", r.history)
	httpapi.Register(a.Operations("Reports", httpapi.Staff), "report-online", "GET /api/reports/online",
		"View how many guests and members are here now", r.online)
	httpapi.RegisterOutput(ops, "me-dishes-clear", "DELETE /me/dishes", "Delete your history of dishes", r.clear)
}

// ViewsBody is a batch of views. Dishes that are not on the menu are ignored. It is exported, because huma reads exported
// embedded types only.
type ViewsBody struct {
	Viewed []string `json:"viewed,omitempty" maxItems:"100" pattern:"^[1-9][0-9]{0,17}$" doc:"Dishes whose card or details were looked at."`
	Added  []string `json:"added,omitempty" maxItems:"100" pattern:"^[1-9][0-9]{0,17}$" doc:"Dishes that were added to a cart."`
	Pages  []string `json:"pages,omitempty" maxItems:"20" enum:"menu,dish,cart,checkout" doc:"Pages that were opened."`

	Searches []string `json:"searches,omitempty" maxItems:"10" text:"line" maxLength:"100" doc:"Texts that were searched for. They are counted without who typed them; addresses, numbers and long texts are ignored."`
}

func (b ViewsBody) views() analytics.Views {
	return analytics.Views{
		Viewed: seq.Map(b.Viewed, httpapi.IDOf), Added: seq.Map(b.Added, httpapi.IDOf),
		Pages: seq.Map(b.Pages, func(p string) analytics.Page { return analytics.Page(p) }), Searches: b.Searches,
	}
}

type guestViewsInput struct {
	httpapi.GuestHeader
	Body ViewsBody
}

// limitViews is the policy of one device: a guest's phone, or a member's session.
const limitViews = "views_device"

func (r routes) guestViews(ctx context.Context, in *guestViewsInput) (*struct{}, error) {
	g, err := r.guests.Guest(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	if err := httpapi.Allow(ctx, limitViews, g.Hash); err != nil {
		return nil, err
	}
	v := in.Body.views()
	v.Visit = g.Visit
	return nil, r.service.Record(ctx, g.Branch, v)
}

type memberViewsInput struct {
	Body struct {
		ViewsBody

		BranchID string   `json:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
		Opened   []string `json:"opened,omitempty" maxItems:"100" pattern:"^[1-9][0-9]{0,17}$" doc:"Dishes whose details you opened; they are your history."`
	}
}

func (r routes) memberViews(ctx context.Context, in *memberViewsInput) (*struct{}, error) {
	by := authz.ActorOf(ctx)
	if err := httpapi.Allow(ctx, limitViews, by.Session); err != nil {
		return nil, err
	}
	v := in.Body.views()
	v.User, v.Opened = by.UserID, seq.Map(in.Body.Opened, httpapi.IDOf)
	return nil, r.service.Record(ctx, httpapi.IDOf(in.Body.BranchID), v)
}

type popularInput struct {
	BranchID string `path:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
}

type popularView struct {
	DishIDs []string `json:"dishIds" doc:"Best first; empty if too few dishes have sold enough."`
}

func (r routes) popular(ctx context.Context, in *popularInput) (popularView, error) {
	dishes, err := r.service.Popular(ctx, httpapi.IDOf(in.BranchID))
	return popularView{seq.Map(dishes, httpapi.FormatID)}, err
}

type suggestionsInput struct {
	httpapi.Language
	BranchID string `path:"branchId" pattern:"^[1-9][0-9]{0,17}$"`
	Q        string `query:"q" text:"line" maxLength:"100" doc:"What was typed; empty for popular searches only."`
}

type suggestedDish struct {
	DishID string `json:"dishId"`
	Name   string `json:"name"`
}

type suggestionsView struct {
	Searches []string        `json:"searches" doc:"At most 6 popular searches that contain the typed words, spelled as on the menu. At least 5 different visitors searched each within 30 days."`
	Dishes   []suggestedDish `json:"dishes" doc:"At most 6 dishes with the typed words in their names; those that begin with them first."`
}

func (r routes) suggestions(ctx context.Context, in *suggestionsInput) (suggestionsView, error) {
	found, err := r.service.Suggest(ctx, httpapi.IDOf(in.BranchID), in.Q, func(b catalog.Branch) catalog.Locale {
		if l := catalog.Locale(in.Locale); b.Offers(l) {
			return l
		}
		return httpapi.Locale(in.AcceptLanguage, b.Locales...)
	})
	return suggestionsView{
		append([]string{}, found.Searches...), seq.Map(found.Dishes, func(d analytics.Suggested) suggestedDish {
			return suggestedDish{httpapi.FormatID(d.Dish), d.Name}
		}),
	}, err
}

type historyView struct {
	Seen  []string `json:"seen" doc:"Dishes that you have looked at, newest first."`
	Usual []string `json:"usual" doc:"Dishes that you have ordered at least twice within a year, most orders first."`
}

func (r routes) history(ctx context.Context, _ *struct{}) (historyView, error) {
	h, err := r.service.HistoryOf(ctx, authz.ActorOf(ctx))
	return historyView{
		seq.Map(h.Seen, func(d analytics.Seen) string { return httpapi.FormatID(d.Dish) }),
		seq.Map(h.Usual, func(d analytics.Usual) string { return httpapi.FormatID(d.Dish) }),
	}, err
}

func (r routes) clear(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, r.service.ClearHistory(ctx, authz.ActorOf(ctx))
}

type onlineBranch struct {
	BranchID string `json:"branchId"`
	Guests   int64  `json:"guests" doc:"Guests' phones in open visits."`
}

type onlineView struct {
	Minutes  int            `json:"minutes" doc:"A phone is here for so long after its last request."`
	Members  int64          `json:"members" doc:"Members of the restaurant, wherever they are."`
	Branches []onlineBranch `json:"branches" doc:"The branches that you may see."`
}

func (r routes) online(ctx context.Context, _ *struct{}) (onlineView, error) {
	o, err := r.activity.Online(ctx, authz.ActorOf(ctx))
	return onlineView{
		Minutes: int(analytics.OnlineWindow.Minutes()), Members: o.Members,
		Branches: seq.Map(o.Branches, func(b analytics.BranchOnline) onlineBranch {
			return onlineBranch{httpapi.FormatID(b.Branch), b.Guests}
		}),
	}, err
}
