package cataloghttp

import (
	"context"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
)

// BranchLister lists all branches; catalogsql.Store implements it.
type BranchLister interface {
	Branches(ctx context.Context) ([]catalog.Branch, error)
}

// PublicBranches registers the list of branches for guests who are not at a table.
func PublicBranches(a *httpapi.API, lister BranchLister, now func() time.Time) {
	httpapi.Register(a.Operations("Menus", httpapi.Public), "branch-list", "GET /branches",
		"List the branches, for guests who order from home", publicBranches{lister, now}.branches)
}

type publicBranches struct {
	lister BranchLister
	now    func() time.Time
}

// publicBranch is a branch as guests see it before they choose one. The list has no pages: an installation has few
// branches.
type publicBranch struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Currency money.Currency   `json:"currency"`
	Timezone string           `json:"timezone"`
	Locales  []catalog.Locale `json:"locales"`
	IsOpen   bool             `json:"isOpen" doc:"false: it is closed or paused, and takes no orders at the moment."`
	OpensAt  *time.Time       `json:"opensAt" doc:"When it opens next by its hours; null while it is within them."`
}

func (p publicBranches) branches(ctx context.Context, _ *struct{}) (httpapi.List[publicBranch], error) {
	all, err := p.lister.Branches(ctx)
	return httpapi.ListOf(all, len(all), p.branchOf), err
}

func (p publicBranches) branchOf(b catalog.Branch) publicBranch {
	now := p.now()
	closure, _ := b.Closed(now)
	return publicBranch{
		ID: httpapi.FormatID(b.ID), Name: b.Name, Currency: b.Currency, Timezone: b.Timezone, Locales: b.Locales,
		IsOpen: closure == nil && b.Paused(now) == nil, OpensAt: httpapi.TimeOrNull(b.OpensAt(now)),
	}
}
